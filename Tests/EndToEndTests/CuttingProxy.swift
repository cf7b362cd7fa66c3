import Executors
import Foundation
import Synchronization
import TestSupport

/// Stands between two machines, and cuts connections after so many bytes of an answer, or of a request.
final class CuttingProxy: Sendable {
    private let listener: Int32
    private let target: UInt16
    private let threads = BlockingPool(name: "proxy", threads: 24)
    /// Bytes that the next request with a picture may have, and the next answer with one; nil for all.
    private let limits = Mutex<[Int?]>([nil, nil])
    private let cuts = Awaited(0)
    private let open = Mutex<Set<Int32>>([])
    let port: UInt16

    var cutCount: Int { cuts.value }

    /// Returns once so many were cut.
    func hasCut(_ count: Int) async { await cuts.meets { $0 >= count } }

    init(to target: UInt16) throws {
        self.target = target
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        self.listener = listener
        var address = Self.address(0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let bound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, address, &length) == 0
            }
        }
        guard bound else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        port = UInt16(bigEndian: address.sin_port)
        Task {
            _ = try? await threads.run { [weak self] in
                while true {
                    let client = accept(listener, nil, nil)
                    guard client >= 0 else { return }
                    guard let self else {
                        close(client)
                        return
                    }
                    Task { _ = try? await self.threads.run { self.carry(client, to: target) } }
                }
            }
        }
    }

    private static func address(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        return address
    }

    /// The next answer of more than this ends there, once.
    func cut(after bytes: Int) { limits.withLock { $0[1] = bytes } }

    /// The next request of more than this ends there, once.
    func cutRequest(after bytes: Int) { limits.withLock { $0[0] = bytes } }

    func stop() async {
        shutdown(listener, Int32(SHUT_RDWR))
        open.withLock { for socket in $0 { shutdown(socket, Int32(SHUT_RDWR)) } }
        await threads.shutDown()
        close(listener)
    }

    /// Both ways of one connection, until one side ends.
    private func carry(_ client: Int32, to port: UInt16) {
        defer { close(client) }
        let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(server) }
        var address = Self.address(port)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else { return }
        open.withLock { _ = $0.insert(client) }
        defer { open.withLock { _ = $0.remove(client) } }
        // Of a request, and of its answer, their headers among them.
        var carried = [0, 0]
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var sides = [
                pollfd(fd: client, events: Int16(POLLIN), revents: 0),
                pollfd(fd: server, events: Int16(POLLIN), revents: 0),
            ]
            guard poll(&sides, 2, 60_000) > 0 else { return }
            for (from, to) in [(0, server), (1, client)] where sides[from].revents != 0 {
                let count = recv(sides[from].fd, &buffer, buffer.count, 0)
                guard count > 0 else { return }
                var length = count
                carried[1 - from] = 0
                let sent = carried[from]
                let rest = limits.withLock { limits -> Int? in
                    guard let most = limits[from], sent + count > most else { return nil }
                    limits[from] = nil
                    return max(0, most - sent)
                }
                carried[from] += count
                if let rest {
                    cuts.change { $0 += 1 }
                    length = rest
                }
                var done = 0
                while done < length {
                    let wrote = buffer.withUnsafeBytes {
                        send(to, $0.baseAddress! + done, length - done, Int32(MSG_NOSIGNAL))
                    }
                    guard wrote > 0 else { return }
                    done += wrote
                }
                if length < count {
                    // A reset and no end: what is still on the way is lost, as it is when a cable is pulled.
                    var now = linger(l_onoff: 1, l_linger: 0)
                    for socket in [client, server] {
                        setsockopt(socket, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
                    }
                    return
                }
            }
        }
    }
}
