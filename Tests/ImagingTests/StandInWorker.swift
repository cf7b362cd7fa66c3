import Foundation
import Glibc
import TestSupport
import Testing

@testable import Imaging

/// A shell script that speaks just enough of the protocol to misbehave at a chosen moment. The real worker has no
/// hook for that, and needs none.
struct StandInWorker {
    let path: String

    /// Takes one request packet and its descriptors from the socket, and drops them.
    static let takeRequest = "dd bs=65536 count=1 of=/dev/null status=none\n"

    /// - Parameters:
    ///   - each: what it does first of all.
    ///   - afterReady: what it does once it has said that it is ready.
    init(_ folder: TemporaryFolder, each: String = "", afterReady: String) throws {
        path = folder.file("worker.sh")
        let script = """
            #!/bin/sh
            \(each)
            echo '{"outcome":{"ready":{}}}' >&0
            \(afterReady)
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o700) == 0)
    }

    /// Misbehaves the first time, and is the real worker ever after.
    init(_ folder: TemporaryFolder, firstTime: String) throws {
        path = folder.file("worker.sh")
        let mark = folder.file("has-run")
        let script = """
            #!/bin/sh
            if [ -e '\(mark)' ]; then exec '\(try workerExecutable())'; fi
            : > '\(mark)'
            echo '{"outcome":{"ready":{}}}' >&0
            \(firstTime)
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o700) == 0)
    }
}

/// A named pipe: the script writes a line, the test waits for it.
struct Signal {
    let path: String

    init(_ folder: TemporaryFolder) throws {
        path = folder.file("signal")
        try #require(mkfifo(path, 0o600) == 0)
    }

    /// Returns when somebody has opened the pipe for writing and closed it again.
    func wait() async {
        let path = path
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            Thread.detachNewThread {
                // Opening waits for somebody to open it for writing, reading for the line.
                let descriptor = open(path, O_RDONLY)
                var byte: UInt8 = 0
                while read(descriptor, &byte, 1) < 0 && errno == EINTR {}
                close(descriptor)
                continuation.resume()
            }
        }
    }
}

/// Waits until a child process has ended, and leaves it to be reaped by who started it.
func waitForEnd(of pid: pid_t) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        Thread.detachNewThread {
            var info = siginfo_t()
            while waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR {}
            continuation.resume()
        }
    }
}
