/// What was released.
public enum Release {
    /// The version of all programs of this package, and of what they write into backups. It stands here and in the heading
    /// of <doc:Changes>, and nowhere else: Scripts/lint looks.
    public static let version = "0.1.0"
}
