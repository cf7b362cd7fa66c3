import CLinux
import Foundation

/// The process of the daemon or of the web program, held so that its end is seen and no other is signalled in its
/// place.
///
/// Not the end of a connection: the daemon closes those first, and its library a moment later. Who started another at
/// once was told that the library is served already.
package final class DaemonWatch: Sendable {
    package let pid: pid_t
    private let process: Int32

    /// - Throws: ``CommandFailure`` where the process that is said to answer is not a daemon of ours.
    /// - Parameter program: as which it has to be known.
    package init(socket path: String, pid: pid_t, program: String = "smilepiled") throws {
        self.pid = pid
        process = pid > 1 ? clinux_process_open(pid) : -1
        guard process >= 0 else { throw Self.stranger(pid, path, program) }
        // The number comes from the other side of the socket; no signal goes to a process of another program.
        // Asked now that the number is held: before, another process could still take it.
        let name = (try? String(contentsOfFile: "/proc/\(pid)/comm", encoding: .utf8)) ?? ""
        guard name == program + "\n" else { throw Self.stranger(pid, path, program) }
    }

    deinit { if process >= 0 { close(process) } }

    private static func stranger(_ pid: pid_t, _ path: String, _ program: String) -> CommandFailure {
        .local("Process \(pid), which answers at \(path), is not \(program). Stop the program that it belongs to.")
    }

    package func askToStop() throws {
        // One that has ended meanwhile has stopped.
        guard clinux_process_signal(process, SIGTERM) == 0 || errno == ESRCH else {
            throw CommandFailure.local("Process \(pid) cannot be stopped: \(String(cString: strerror(errno))).")
        }
        // One that was suspended hears it only then. Service managers do the same.
        _ = clinux_process_signal(process, SIGCONT)
    }

    package func untilGone() async {
        await withCheckedContinuation { continuation in
            Thread { [self] in
                var watched = pollfd(fd: process, events: Int16(POLLIN), revents: 0)
                while poll(&watched, 1, -1) < 0 && errno == EINTR {}
                continuation.resume()
            }.start()
        }
    }
}
