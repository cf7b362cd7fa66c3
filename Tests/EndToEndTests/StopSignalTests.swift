import EndToEndSupport
import Foundation
import Testing

/// A daemon that is told to stop while it starts.
@Suite(.serialized, .timeLimit(.minutes(5))) struct StopSignalTests {
    /// Whether a signal no longer has its default action in a process: it is caught, or ignored.
    private func isTaken(_ signal: Int32, in pid: Int32) -> Bool {
        guard let text = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8) else { return true }
        return text.split(separator: "\n").contains { line in
            guard line.hasPrefix("SigCgt:") || line.hasPrefix("SigIgn:") else { return false }
            let mask = UInt64(line.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) ?? 0
            return mask & (1 << UInt64(signal - 1)) != 0
        }
    }

    /// The kernel tells nobody when a process takes a signal, so this looks until it has; from that moment on the
    /// signal must not be lost. A Dispatch source ignored it for up to some milliseconds then.
    @Test(arguments: [SIGTERM, SIGINT])
    func isHeardFromTheMomentThatItNoLongerEndsTheProcess(_ signal: Int32) async throws {
        let place = try Installation("stop-signal")
        for _ in 1...10 {
            let daemon = try place.start("smilepiled", ["--library", place.library, "--socket", place.socket])
            while !isTaken(signal, in: daemon.pid) {}
            kill(daemon.pid, signal)
            let outcome = try await daemon.outcome()
            #expect(outcome.status == 0 && outcome.errors.contains("stopped"), "\(outcome)")
        }
    }

    @Test func isHeardAmongManyThatAskToReload() async throws {
        let place = try Installation("stop-signal")
        let daemon = try place.start("smilepiled", ["--library", place.library, "--socket", place.socket])
        while !isTaken(SIGTERM, in: daemon.pid) {}
        for _ in 1...100 { kill(daemon.pid, SIGHUP) }
        kill(daemon.pid, SIGTERM)
        kill(daemon.pid, SIGHUP)
        #expect(try await daemon.outcome().status == 0)
    }
}
