import CSodium

/// A key that values are sealed with. It is stored wrapped alone, see ``WrappingKey``.
package struct DataKey: Sendable {
    package let id: KeyID
    let secret: SecretBytes

    static let bytes = 32

    /// A new one, at random.
    package init() throws {
        self.init(id: .random(), secret: try .random(count: Self.bytes))
    }

    init(id: KeyID, secret: SecretBytes) {
        precondition(secret.count == Self.bytes, "a data key has 32 bytes")
        self.id = id
        self.secret = secret
    }

    /// Whether it is the same key, and not only of the same id.
    package func isSame(as other: DataKey) -> Bool { id == other.id && secret.isEqual(to: other.secret) }

    package func seal(_ plaintext: [UInt8], at place: SealedPlace) -> SealedValue {
        let (nonce, ciphertext) = secret.withBytes {
            Cipher.seal(plaintext, key: $0, associated: place.associatedData(version: SealedValue.version))
        }
        return SealedValue(keyID: id, nonce: nonce, ciphertext: ciphertext)
    }

    /// - Throws: ``SealingError/unknownKey(_:)`` where another key sealed it, ``SealingError/notAuthentic``.
    package func open(_ value: SealedValue, at place: SealedPlace) throws(SealingError) -> [UInt8] {
        guard value.keyID == id else { throw .unknownKey(value.keyID) }
        let opened = secret.withBytes { key -> [UInt8]? in
            var plaintext = [UInt8](repeating: 0, count: max(0, value.ciphertext.count - SealedValue.tagBytes))
            let isAuthentic = Cipher.open(
                value.ciphertext, nonce: value.nonce, key: key,
                associated: place.associatedData(version: SealedValue.version), into: &plaintext)
            return isAuthentic ? plaintext : nil
        }
        guard let opened else { throw .notAuthentic }
        return opened
    }
}

/// XChaCha20-Poly1305, as libsodium calls it.
enum Cipher {
    /// - Returns: the nonce, drawn at random, and the ciphertext with its tag.
    static func seal(
        _ plaintext: [UInt8], key: UnsafePointer<UInt8>, associated: [UInt8]
    ) -> (nonce: [UInt8], ciphertext: [UInt8]) {
        seal(plaintext, count: plaintext.count, key: key, associated: associated)
    }

    static func seal(
        _ plaintext: UnsafePointer<UInt8>, count: Int, key: UnsafePointer<UInt8>, associated: [UInt8]
    ) -> (nonce: [UInt8], ciphertext: [UInt8]) {
        _ = Sodium.isReady
        var nonce = [UInt8](repeating: 0, count: SealedValue.nonceBytes)
        randombytes_buf(&nonce, nonce.count)
        var ciphertext = [UInt8](repeating: 0, count: count + SealedValue.tagBytes)
        // It fails for more bytes than a machine has.
        _ = crypto_aead_xchacha20poly1305_ietf_encrypt(
            &ciphertext, nil, plaintext, UInt64(count), associated, UInt64(associated.count), nil, nonce, key)
        return (nonce, ciphertext)
    }

    /// - Parameter plaintext: gets as many bytes as the ciphertext has without its tag.
    /// - Returns: whether it was sealed with this key, nonce and data; else there are zeros.
    static func open(
        _ ciphertext: ArraySlice<UInt8>, nonce: ArraySlice<UInt8>, key: UnsafePointer<UInt8>, associated: [UInt8],
        into plaintext: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        _ = Sodium.isReady
        guard nonce.count == SealedValue.nonceBytes, ciphertext.count >= SealedValue.tagBytes else { return false }
        return crypto_aead_xchacha20poly1305_ietf_decrypt(
            plaintext, nil, nil, Array(ciphertext), UInt64(ciphertext.count), associated, UInt64(associated.count),
            Array(nonce), key) == 0
    }
}
