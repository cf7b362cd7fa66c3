import Foundation

/// A connection that is held only to see it end: the kernel closes it when the daemon is gone, however that happens.
final class DaemonWatch: Sendable {
    private let descriptor: Int32
    private let pid: pid_t

    /// - Throws: ``CommandFailure`` where the process that is said to answer is not a daemon of ours.
    init(socket path: String, pid: pid_t) throws {
        // The number comes from the other side of the socket; no signal goes to a process that is not `smilepiled`.
        let name = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
        guard pid > 1, name == "smilepiled\n" else {
            throw CommandFailure.local(
                "Process \(pid), which answers at \(path), is not smilepiled. Stop the program that it belongs to.")
        }
        self.pid = pid
        descriptor = Int32(socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        guard descriptor >= 0, UnixAddress.with(path, { connect(descriptor, $0, $1) }) == 0 else {
            if descriptor >= 0 { close(descriptor) }
            throw CommandFailure.notRunning(socket: path)
        }
    }

    deinit { close(descriptor) }

    func askToStop() throws {
        guard kill(pid, SIGTERM) == 0 else {
            throw CommandFailure.local(
                "The daemon (process \(pid)) cannot be stopped: \(String(cString: strerror(errno))).")
        }
    }

    func untilGone() async {
        await withCheckedContinuation { continuation in
            Thread { [self] in
                var byte: UInt8 = 0
                while true {
                    let count = recv(descriptor, &byte, 1, 0)
                    if count > 0 || (count < 0 && errno == EINTR) { continue }
                    break
                }
                continuation.resume()
            }.start()
        }
    }
}
