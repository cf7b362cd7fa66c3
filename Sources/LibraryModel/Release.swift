import CRelease

/// What was released.
public enum Release {
    /// The version of all programs of this package, and of what they write into backups. It stands here and in the heading
    /// of <doc:Changes>, and nowhere else: Scripts/lint looks. What is built between two releases has the version of the next
    /// one; its ``commit`` tells it apart.
    public static let version = "0.2.0"

    /// The commit that a released program was built from, by its first digits; a plus sign behind them says that the files were
    /// not as it has them. Nil in builds for tests.
    public static let commit: String? = {
        let commit = String(cString: crelease_commit())
        return commit.isEmpty ? nil : commit
    }()

    /// The format that these programs give catalogues. They open those of all formats before it, and convert them.
    public static let catalogueFormat = 25

    /// What a program prints for `--version`: `smilepile 1.2.3 (commit 0123456789ab, catalogue formats 1 to 23)`. The second
    /// word is the version.
    public static func line(_ program: String) -> String {
        let origin = commit.map { "commit \($0), " } ?? ""
        return "\(program) \(version) (\(origin)catalogue formats 1 to \(catalogueFormat))"
    }
}
