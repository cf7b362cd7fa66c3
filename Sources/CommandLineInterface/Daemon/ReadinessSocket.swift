import ControlSocket
import Foundation

/// The receiving end of sd_notify: a datagram socket on which the daemon says `READY=1` once it is (sd_notify(3)).
/// It lies in a folder that only this user may enter, so that nobody else can speak in the daemon's name.
final class ReadinessSocket: Sendable {
    /// To be passed as `NOTIFY_SOCKET`.
    let path: String
    private let folder: String
    private let descriptor: Int32

    init(environment: [String: String]) throws {
        let places = [ControlAddress.runtimeFolder(environment), environment["TMPDIR"], "/tmp"]
            .compactMap { $0 }.filter { $0.hasPrefix("/") }
        var made: String?
        // Not `lazy.compactMap(…).first`, which makes the folder once to look for it and once more to return it.
        for place in places where made == nil { made = Self.makeFolder(in: place) }
        guard let folder = made else {
            throw CommandFailure.local("No folder for a socket can be made in \(places.joined(separator: " or ")).")
        }
        self.folder = folder
        path = folder + "/notify"
        descriptor = Int32(socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard descriptor >= 0, Self.bind(descriptor, to: path) else {
            let reason = String(cString: strerror(errno))
            if descriptor >= 0 { Foundation.close(descriptor) }
            rmdir(folder)
            throw CommandFailure.local("The socket for the daemon's readiness cannot be made: \(reason).")
        }
    }

    deinit { Foundation.close(descriptor) }

    private static func makeFolder(in place: String) -> String? {
        // `mkdtemp` puts a name that is free in place of the six letters.
        var template = Array((place + "/smilepile-XXXXXX").utf8CString)
        // `/notify` and the terminating NUL have to fit into sun_path too.
        guard template.count + 7 <= 108, mkdtemp(&template) != nil else { return nil }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func bind(_ descriptor: Int32, to path: String) -> Bool {
        UnixAddress.with(path) { Foundation.bind(descriptor, $0, $1) == 0 } ?? false
    }

    /// Waits for the next notification and returns its lines; nil once the socket was shut. Blocks its thread.
    func next() -> [String]? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return nil }
            return String(decoding: buffer.prefix(count), as: UTF8.self).split(separator: "\n").map(String.init)
        }
    }

    /// Wakes whoever waits in ``next()``, and removes the socket and its folder: now and not when the last reference
    /// goes, because the program may end before the thread that holds it.
    func shut() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        unlink(path)
        rmdir(folder)
    }
}

/// A Unix socket's address as the system calls take it.
enum UnixAddress {
    /// Nil where the path is too long.
    static func with<Result>(
        _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result? {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return nil }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
