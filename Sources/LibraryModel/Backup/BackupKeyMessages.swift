import ServiceMesh

/// Makes a key for one backup, under a passphrase: given to ``CreateBackup/key``, the sealed fields in that backup can be
/// opened with the passphrase on any machine. Without one they are saved as they are, for this library's keys only.
/// Takes some half a second, on purpose: so does each guess.
///
/// It is a message of its own so that no job has a passphrase: what jobs are asked is kept on disk, to go on after a restart.
/// Errors: `invalid_argument` (a passphrase outside of 8…1000 characters); `failed_precondition` where the library's own keys
/// do not open; `resource_exhausted` (memory).
public struct MakeBackupKey: Message {
    public typealias Reply = BackupKey
    public static let method = "backup.makeKey"
    public static let access = Role.parent
    /// Where nothing was ever sealed it makes the library's keys.
    public static let kind = MessageKind.write
    public static let summary = "A key for the sealed fields of one backup, under a passphrase."
    public let passphrase: String
    public init(passphrase: String) { self.passphrase = passphrase }
}

/// Opens the key of a backup that was made with a passphrase, for ``RestoreBackup/key`` and ``VerifyBackup/key``. The library
/// that made the backup does not need it. Takes as long as ``MakeBackupKey``.
/// Errors: `not_found`, `data_loss` (a damaged backup); `invalid_argument` (a wrong passphrase, or a backup without one);
/// `failed_precondition` where this library's own keys cannot be used; `resource_exhausted` (memory).
public struct OpenBackupKey: Message {
    public typealias Reply = BackupKey
    public static let method = "backup.openKey"
    public static let access = Role.parent
    /// Where nothing was ever sealed it makes the library's keys.
    public static let kind = MessageKind.write
    public static let summary = "The key of a backup's sealed fields, by its passphrase."
    /// Absolute.
    public let path: String
    /// As ``InspectBackup/snapshot``.
    public let snapshot: String?
    public let passphrase: String

    public init(path: String, snapshot: String? = nil, passphrase: String) {
        self.path = path
        self.snapshot = snapshot
        self.passphrase = passphrase
    }
}

/// A backup's own key, wrapped twice. Neither form says anything without a passphrase or this library's keys.
public struct BackupKey: Codable, Sendable, Hashable {
    /// The key under the passphrase, as ``ExportedKeys/text``; it stands in the backup.
    public let export: String
    /// The key under this library's own key, Base64.
    public let sealed: String

    public init(export: String, sealed: String) {
        self.export = export
        self.sealed = sealed
    }
}
