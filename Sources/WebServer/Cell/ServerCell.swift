import CCell
import CWorkQueue
import Foundation

/// What a web program gives up before the first request: every file that is not open yet, every address that it does not
/// listen on, every program that it could start, every socket that it has not got.
public enum ServerCell {
    /// Connections, their files, and the daemon's.
    private static let descriptors: UInt64 = 8_192

    /// While there is one thread: a new one gets what its parent has, an old one nothing.
    /// - Returns: what the kernel did not grant, for the log.
    public static func enter() -> [String] {
        var missing: [String] = []
        func note(_ wall: String, _ status: Int32) {
            if status < 0 { missing.append(wall + ": " + reason(-status)) }
        }
        if ccell_limit_server(descriptors) != 0 { missing.append("limits") }
        // A sanitizer's own thread does what no cell allows.
        let isSanitized = ccell_is_sanitized() == 1
        // First: a process that may not be dumped may not say which users there are either.
        note("namespaces", isSanitized ? 0 : ccell_leave_namespaces())
        // No descriptor is closed: the open ones are wanted, and the program that started this one has closed the rest.
        if ccell_detach(UInt32.max) != 0 { missing.append("no new privileges") }
        // Not to be gone without: the first look at a thread would end the process.
        if cworkqueue_answer_ourselves() != 0 { return ["anything: " + reason(errno)] }
        note("Landlock", ccell_forbid_files())
        note("seccomp", isSanitized ? 0 : ccell_keep_network_calls())
        return missing
    }

    /// What a process gives up that helps such a program from outside: to be looked into, to get new rights, to keep a folder in use.
    public static func detach() { _ = ccell_detach(UInt32.max) }

    private static func reason(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
}
