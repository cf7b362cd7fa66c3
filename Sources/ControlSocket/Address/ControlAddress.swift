import CLinux
import Foundation

/// Where the socket is (<doc:Protocol>): the same rule for the daemon and its clients.
public enum ControlAddress {
    /// Bytes of a socket's path at most; a limit of the kernel's (`sun_path`).
    public static let maximumPathBytes = Int(CLINUX_UNIX_PATH_MAXIMUM)

    /// The first of: `option` (`--socket`), `SMILEPILE_SOCKET`, `$XDG_RUNTIME_DIR/smilepile/control.sock`,
    /// `$RUNTIME_DIRECTORY/control.sock` (a system service of its own user), `/run/smilepile/control.sock` for root,
    /// and for a user without a session `~/.local/state/smilepile/control.sock`: their own folder, where nobody can
    /// put a socket first, which a name in `/tmp` would allow.
    public static func resolve(
        option: String? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        uid: UInt32 = geteuid()
    ) -> String {
        if let option, !option.isEmpty { return option }
        if let named = environment["SMILEPILE_SOCKET"], !named.isEmpty { return named }
        if let runtime = absolute(environment["XDG_RUNTIME_DIR"]) { return runtime + "/smilepile/control.sock" }
        if let own = absolute(environment["RUNTIME_DIRECTORY"]) { return own + "/control.sock" }
        if uid == 0 { return "/run/smilepile/control.sock" }
        return stateFolder(environment) + "/control.sock"
    }

    /// What a user's programs leave for their next run, and their logs: `$XDG_STATE_HOME/smilepile`, else
    /// `~/.local/state/smilepile`. Not made.
    public static func stateFolder(_ environment: [String: String]) -> String {
        if let state = absolute(environment["XDG_STATE_HOME"]) { return state + "/smilepile" }
        // HOME before what the password file says: whoever sets it means it.
        return (absolute(environment["HOME"]) ?? NSHomeDirectory()) + "/.local/state/smilepile"
    }

    /// Nil for relative paths, which the XDG specification says to ignore, and for lists of folders.
    private static func absolute(_ folder: String?) -> String? {
        guard let folder, folder.hasPrefix("/"), !folder.contains(":") else { return nil }
        return folder.hasSuffix("/") ? String(folder.dropLast()) : folder
    }

    static func checkLength(_ path: String) throws(ControlError) {
        guard path.utf8.count <= maximumPathBytes, !path.utf8.contains(0), !path.isEmpty else {
            throw ControlError.unusableAddress(
                path: String(path.prefix(200)),
                reason: path.isEmpty
                    ? "the path is empty; name a file with --socket"
                    : "its path has \(path.utf8.count) bytes, and the system allows \(maximumPathBytes); choose a "
                        + "shorter one with --socket or SMILEPILE_SOCKET")
        }
    }
}
