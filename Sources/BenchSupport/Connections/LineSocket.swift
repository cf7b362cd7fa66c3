import Foundation
import ServiceMesh

/// A client that does the least that can be done: it writes a request, blocks until a whole line has come back, and
/// goes on. The same for every server, so that only the servers differ.
package final class LineSocket {
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)

    /// Connects to the Unix socket at `path`.
    package init(path: String) throws { descriptor = try Self.connected(to: path) }

    /// A socket, connected to the one at `path`, which the caller closes.
    static func connected(to path: String) throws -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "No socket could be made.") }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { space in
            guard path.utf8.count < space.count else { return false }
            space.copyBytes(from: path.utf8)
            return true
        }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let connected =
            fits
            && withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) == 0 }
            }
        guard connected else {
            close(descriptor)
            throw Failure(description: "Nobody answers at \(path).")
        }
        return descriptor
    }

    deinit { close(descriptor) }

    /// Connects as soon as the server of `process` listens.
    package static func waiting(for path: String, of process: Process) throws -> LineSocket {
        for _ in 0..<3000 {
            if let socket = try? LineSocket(path: path) { return socket }
            guard process.isRunning else { break }
            // A server does not tell us when it is ready; each does so in its own way, and this is measured by none.
            usleep(10_000)
        }
        throw Failure(description: "\(process.arguments?.first ?? "A server") did not start to listen at \(path).")
    }

    /// Sends `request` and returns the first bytes of its answer, which ends with a line feed.
    @discardableResult
    package func ask(_ request: [UInt8]) throws -> ArraySlice<UInt8> {
        guard write(descriptor, request, request.count) == request.count else {
            throw Failure(description: "The server takes no request.")
        }
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            guard count > 0 else { throw Failure(description: "The server has closed the connection.") }
            if buffer[count - 1] == 0x0A { return buffer[..<count] }
        }
    }

    /// Requests a second, one at a time.
    package func rate(_ request: [UInt8], requests: Int) throws -> Double {
        for _ in 0..<requests / 20 { try ask(request) }
        return Double(requests) / (try Measuring.blockingSeconds { for _ in 0..<requests { try ask(request) } })
    }
}
