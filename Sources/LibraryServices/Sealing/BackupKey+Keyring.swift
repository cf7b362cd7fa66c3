import Foundation
import LibraryModel
import Sealing
import ServiceMesh

extension BackupKey {
    package init(_ wrapped: WrappedBackupKey) {
        self.init(export: wrapped.export, sealed: Data(wrapped.sealed).base64EncodedString())
    }

    /// - Throws: `invalid_argument` where none of these keys wrapped it.
    package func opened(_ keyring: Keyring?) throws -> DataKey {
        guard let keyring, let sealed = Data(base64Encoded: sealed),
            let key = try? keyring.unwrap(WrappedBackupKey(export: export, sealed: Array(sealed)))
        else {
            throw MeshError(
                .invalidArgument,
                "The 'key' does not open with this library's keys. Make it again: backup.makeKey, or backup.openKey.")
        }
        return key
    }

    /// The same under the active one of these keys.
    /// - Throws: `invalid_argument` where none of them wrapped it.
    package func rewrapped(_ keyring: Keyring) throws -> BackupKey {
        BackupKey(try keyring.wrapBackupKey([try opened(keyring)], export: export))
    }
}
