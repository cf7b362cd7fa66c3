import CSodium

/// The key in a key file. Data keys are stored wrapped with it and nothing else is sealed with it, so that it is needed
/// once, when the library is opened, and values can be given another data key without another key file.
package struct WrappingKey: Sendable {
    let secret: SecretBytes
    /// Which one it is, 32 hexadecimal digits: a digest, from which the key does not follow.
    package let id: String

    static let bytes = 32

    static func random() throws -> WrappingKey { try WrappingKey(.random(count: bytes)) }

    init(_ secret: SecretBytes) {
        precondition(secret.count == Self.bytes, "a wrapping key has 32 bytes")
        self.secret = secret
        id = secret.withBytes { key in
            var digest = [UInt8](repeating: 0, count: KeyID.count)
            let purpose = Array("SmilePile key file".utf8)
            _ = crypto_generichash(&digest, digest.count, purpose, UInt64(purpose.count), key, Self.bytes)
            return Hex.text(digest)
        }
    }

    /// Where a wrapped key stands: not where any value does.
    private static func place(_ id: KeyID) -> SealedPlace {
        SealedPlace(table: "sealing_keys", column: "wrapped", row: id.description)
    }

    /// The form of a wrapped key: version, nonce, ciphertext with its tag.
    private static let wrappedBytes = 1 + SealedValue.nonceBytes + DataKey.bytes + SealedValue.tagBytes

    package func wrap(_ key: DataKey) -> [UInt8] {
        let associated = Self.place(key.id).associatedData(version: SealedValue.version)
        let (nonce, ciphertext) = key.secret.withBytes { plaintext in
            secret.withBytes {
                Cipher.seal(plaintext, count: DataKey.bytes, key: $0, associated: associated)
            }
        }
        return [SealedValue.version] + nonce + ciphertext
    }

    /// - Parameter id: of the data key that it is said to be.
    /// - Throws: ``SealingError``.
    package func unwrap(_ wrapped: [UInt8], id: KeyID) throws -> DataKey {
        guard let version = wrapped.first else { throw SealingError.malformed }
        guard version == SealedValue.version else { throw SealingError.unknownVersion(version) }
        guard wrapped.count == Self.wrappedBytes else { throw SealingError.malformed }
        let nonce = wrapped[1..<1 + SealedValue.nonceBytes]
        let ciphertext = wrapped[(1 + SealedValue.nonceBytes)...]
        let opened = try SecretBytes(count: DataKey.bytes) { room in
            let isAuthentic = secret.withBytes {
                Cipher.open(
                    ciphertext, nonce: nonce, key: $0,
                    associated: Self.place(id).associatedData(version: SealedValue.version), into: room)
            }
            guard isAuthentic else { throw SealingError.notAuthentic }
        }
        return DataKey(id: id, secret: opened)
    }
}
