/// Where a library is that nobody has named: the same rule for the daemon and for what looks for its library without it.
public enum LibraryPlace {
    /// The first of: `$STATE_DIRECTORY` (a system service), `$XDG_DATA_HOME/smilepile`, `~/.local/share/smilepile`. Relative
    /// paths of XDG are passed over, as its specification says.
    /// - Parameter home: where `HOME` is not set.
    public static func usual(_ environment: [String: String], home: String) -> String {
        // systemd lists several folders with colons; the first is the one that the unit names first.
        if let state = environment["STATE_DIRECTORY"]?.split(separator: ":").first { return String(state) }
        if let data = environment["XDG_DATA_HOME"], data.hasPrefix("/") { return data + "/smilepile" }
        return (environment["HOME"] ?? home) + "/.local/share/smilepile"
    }
}
