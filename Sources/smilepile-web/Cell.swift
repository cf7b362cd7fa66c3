import CCell
import CWorkQueue
import Foundation

/// What this program gives up before the first request: every file that is not open yet, every address that it does not
/// listen on, every program that it could start.
enum Cell {
    /// Connections, their files, and the daemon's.
    private static let descriptors: UInt64 = 8_192

    /// While there is one thread: a new one gets what its parent has, an old one nothing.
    /// - Returns: what the kernel did not grant, for the log.
    static func enter() -> [String] {
        var missing: [String] = []
        if ccell_limit_server(descriptors) != 0 { missing.append("limits") }
        // No descriptor is closed: what is open is wanted, and the rest was closed by who started this program.
        if ccell_detach(UInt32.max) != 0 { missing.append("no new privileges") }
        // Not to be gone without: the first look at a thread would end the process.
        if cworkqueue_answer_ourselves() != 0 { return ["anything: " + reason(errno)] }
        let landlock = ccell_forbid_files()
        if landlock < 0 { missing.append("Landlock: " + reason(-landlock)) }
        // A sanitizer's own thread does what no cell allows.
        let calls = ccell_is_sanitized() == 1 ? 0 : ccell_keep_network_calls()
        if calls < 0 { missing.append("seccomp: " + reason(-calls)) }
        return missing
    }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
}
