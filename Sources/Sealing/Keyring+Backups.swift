/// A backup's own key, in the two forms in which it lies around: nothing of it is open.
package struct WrappedBackupKey: Sendable, Equatable {
    /// As ``KeyExport`` writes it, under the backup's passphrase.
    package let export: String
    /// Under a data key of the library that wrote the backup, or restores it: what that library needs no passphrase for.
    package let sealed: [UInt8]

    package init(export: String, sealed: [UInt8]) {
        self.export = export
        self.sealed = sealed
    }
}

/// Keys of backups: each backup that gets a passphrase gets a data key of its own, so that whoever has the passphrase of one
/// has no key of the library, nor of another backup.
extension Keyring {
    /// Where a backup's key stands. With its export: a key and an export that do not belong together, of which one would seal
    /// what the other never opens, are found out.
    private static func place(_ export: String) -> SealedPlace {
        SealedPlace(table: "backups", column: "key", row: export)
    }

    /// A new key, under the passphrase and under the active key. Takes as long as the cost says: ``KeyDeriver`` calls it.
    /// - Throws: `invalid_argument` for a passphrase that is too short or too long; `resource_exhausted`.
    func makeBackupKey(passphrase: String, cost: KeyExport.Cost = .standard) throws -> WrappedBackupKey {
        let key = try DataKey()
        return try wrapped(key, export: KeyExport.seal([key], passphrase: passphrase, cost: cost))
    }

    /// The key of a backup under the active key, once its passphrase has opened the export.
    /// - Parameter keys: what `KeyExport` found in `export`.
    /// - Throws: ``SealingError/malformed`` where that is not one key.
    package func wrapBackupKey(_ keys: [DataKey], export: String) throws -> WrappedBackupKey {
        guard let key = keys.first, keys.count == 1 else { throw SealingError.malformed }
        return try wrapped(key, export: export)
    }

    private func wrapped(_ key: DataKey, export: String) throws -> WrappedBackupKey {
        guard let own = self[active] else { preconditionFailure("the active key is one of them") }
        return WrappedBackupKey(export: export, sealed: try own.seal(key, at: Self.place(export)).bytes)
    }

    /// - Throws: ``SealingError`` where none of these keys sealed it, or not for this export.
    package func unwrap(_ wrapped: WrappedBackupKey) throws -> DataKey {
        let value = try SealedValue(wrapped.sealed)
        guard let own = self[value.keyID] else { throw SealingError.unknownKey(value.keyID) }
        return try own.openKey(value, at: Self.place(wrapped.export))
    }
}

extension DataKey {
    private static let entryBytes = KeyID.count + bytes

    /// Another key sealed with this one: its id and its bytes.
    fileprivate func seal(_ other: DataKey, at place: SealedPlace) throws -> SealedValue {
        let entry = try SecretBytes(count: Self.entryBytes) { room in
            room.update(from: other.id.bytes, count: KeyID.count)
            other.secret.withBytes { (room + KeyID.count).update(from: $0, count: Self.bytes) }
        }
        let associated = place.associatedData(version: SealedValue.version)
        let (nonce, ciphertext) = entry.withBytes { bytes in
            secret.withBytes { Cipher.seal(bytes, count: entry.count, key: $0, associated: associated) }
        }
        return SealedValue(keyID: id, nonce: nonce, ciphertext: ciphertext)
    }

    fileprivate func openKey(_ value: SealedValue, at place: SealedPlace) throws -> DataKey {
        guard value.ciphertext.count == Self.entryBytes + SealedValue.tagBytes else { throw SealingError.malformed }
        let associated = place.associatedData(version: SealedValue.version)
        let entry = try SecretBytes(count: Self.entryBytes) { room in
            let isAuthentic = secret.withBytes {
                Cipher.open(value.ciphertext, nonce: value.nonce, key: $0, associated: associated, into: room)
            }
            guard isAuthentic else { throw SealingError.notAuthentic }
        }
        return try entry.withBytes { bytes in
            let secret = try SecretBytes(count: Self.bytes) {
                $0.update(from: bytes + KeyID.count, count: Self.bytes)
            }
            return DataKey(id: KeyID(UnsafeBufferPointer(start: bytes, count: KeyID.count)), secret: secret)
        }
    }
}
