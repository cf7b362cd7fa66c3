import CLinux
import Foundation
import TestSupport

/// A listening socket behind which is no daemon, but whatever a test does with the first connection.
final class StubServer: Sendable {
    let folder: TemporaryFolder
    let path: String
    private let listener: Int32

    /// - Parameter backlog: how many connections may wait to be taken.
    init(backlog: Int32 = 8) throws {
        folder = try TemporaryFolder("stub")
        path = folder.file("c.sock")
        listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard clinux_unix_bind(listener, path, 0o600) == 0, listen(listener, backlog) == 0 else {
            throw RawClient.Failure(reason: "listen: \(errno)")
        }
    }

    deinit { Glibc.close(listener) }

    /// Takes the next connection and, on a thread of its own, answers its lines: nil for those that get no answer.
    func serve(_ answer: @escaping @Sendable (Reply) -> [String]) {
        let listener = listener
        Thread.detachNewThread { [self] in
            let connection = accept(listener, nil, nil)
            defer {
                Glibc.close(connection)
                withExtendedLifetime(self) {}
            }
            var rest: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = recv(connection, &chunk, chunk.count, 0)
                guard count > 0 else { return }
                rest += chunk[..<count]
                while let end = rest.firstIndex(of: 0x0A) {
                    let line = String(decoding: rest[..<end], as: UTF8.self)
                    rest.removeSubrange(...end)
                    guard let request = try? Reply(line) else { return }
                    for answer in answer(request) {
                        let bytes = Array(answer.utf8) + [0x0A]
                        _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
                    }
                }
            }
        }
    }

    /// Takes a connection out of the queue, and ends it.
    func dropOne() { Glibc.close(accept(listener, nil, nil)) }
}
