import CLinux
import Foundation

/// Where the socket is (<doc:Protocol>): the same rule for the daemon and its clients.
public enum ControlAddress {
    /// Bytes of a socket's path at most; a limit of the kernel's (`sun_path`).
    public static let maximumPathBytes = Int(CLINUX_UNIX_PATH_MAXIMUM)

    /// The first of: `option` (`--socket`), `SMILEPILE_SOCKET`, `$XDG_RUNTIME_DIR/smilepile/control.sock` (``runtimeFolder(_:uid:)``),
    /// `$RUNTIME_DIRECTORY/control.sock` (a system service of its own user), `/run/smilepile/control.sock` for root,
    /// and for a user without a session `~/.local/state/smilepile/control.sock`: their own folder, where nobody can
    /// put a socket first, which a name in `/tmp` would allow.
    public static func resolve(
        option: String? = nil, environment: [String: String] = ProcessInfo.processInfo.environment,
        uid: UInt32 = geteuid()
    ) -> String {
        if let option, !option.isEmpty { return option }
        if let named = environment["SMILEPILE_SOCKET"], !named.isEmpty { return named }
        if let runtime = runtimeFolder(environment, uid: uid) { return runtime + "/smilepile/control.sock" }
        if let own = absolute(environment["RUNTIME_DIRECTORY"]) { return own + "/control.sock" }
        if uid == 0 { return "/run/smilepile/control.sock" }
        return stateFolder(environment) + "/control.sock"
    }

    /// Where the program that serves the page comes in, of a daemon that listens at `socket`: its connections are nobody's until
    /// a device's token has come over them.
    public static func door(of socket: String) -> String { socket + ".door" }

    /// `$XDG_RUNTIME_DIR`, unless others could exchange what is in it: the XDG specification asks for a folder of this user's own that
    /// only they may enter. One that is not there is made so.
    public static func runtimeFolder(_ environment: [String: String], uid: UInt32 = geteuid()) -> String? {
        guard let folder = absolute(environment["XDG_RUNTIME_DIR"]) else { return nil }
        return isUnsafe(folder, uid) ? nil : folder
    }

    /// What a person is told where `$XDG_RUNTIME_DIR` is passed over and something would stand in it; nil where all is well.
    public static func warning(
        _ environment: [String: String] = ProcessInfo.processInfo.environment, uid: UInt32 = geteuid()
    ) -> String? {
        guard let folder = absolute(environment["XDG_RUNTIME_DIR"]), isUnsafe(folder, uid) else { return nil }
        return "XDG_RUNTIME_DIR is passed over: others can write in \(folder), or it is theirs. Make it your own with "
            + "mode 0700, or unset it."
    }

    private static func isUnsafe(_ folder: String, _ uid: UInt32) -> Bool {
        var found = stat()
        guard stat(folder, &found) == 0 else { return false }
        return found.st_uid != uid || found.st_mode & 0o022 != 0
    }

    /// What a user's programs leave for their next run, and their logs: `$XDG_STATE_HOME/smilepile`, else
    /// `~/.local/state/smilepile`. Not made.
    public static func stateFolder(_ environment: [String: String]) -> String {
        if let state = absolute(environment["XDG_STATE_HOME"]) { return state + "/smilepile" }
        // HOME before the password file's entry: a person who sets it means it.
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
