import CSodium

/// A value as it is stored: version, key id, nonce, ciphertext with its tag.
///
///     1 byte        version, 1
///     16 bytes      id of the data key
///     24 bytes      nonce, random for each sealing
///     n + 16 bytes  XChaCha20-Poly1305 of n bytes, and its tag
///
/// A nonce of 24 bytes may be drawn at random for as many values as anybody will ever seal with one key; with the 12 of
/// the other construction a counter would have to be kept, and a restored backup would repeat it.
package struct SealedValue: Sendable, Equatable {
    package static let version: UInt8 = 1
    static let nonceBytes = 24
    static let tagBytes = 16
    /// Bytes that a sealed value has more than what is in it.
    package static let overhead = 1 + KeyID.count + nonceBytes + tagBytes

    package let keyID: KeyID
    let nonce: ArraySlice<UInt8>
    /// With the tag at its end.
    let ciphertext: ArraySlice<UInt8>

    init(keyID: KeyID, nonce: [UInt8], ciphertext: [UInt8]) {
        self.keyID = keyID
        self.nonce = nonce[...]
        self.ciphertext = ciphertext[...]
    }

    /// - Parameter bytes: as they are stored. Whether they are anything is found out by opening them.
    /// - Throws: ``SealingError/malformed``, ``SealingError/unknownVersion(_:)``.
    package init(_ bytes: [UInt8]) throws(SealingError) {
        guard let version = bytes.first else { throw .malformed }
        guard version == Self.version else { throw .unknownVersion(version) }
        guard bytes.count >= Self.overhead else { throw .malformed }
        keyID = KeyID(bytes[1..<1 + KeyID.count])
        nonce = bytes[1 + KeyID.count..<1 + KeyID.count + Self.nonceBytes]
        ciphertext = bytes[(1 + KeyID.count + Self.nonceBytes)...]
    }

    package var bytes: [UInt8] { [Self.version] + keyID.bytes + nonce + ciphertext }
}

/// Which data key something is sealed with. No secret.
package struct KeyID: Sendable, Hashable, CustomStringConvertible {
    package static let count = 16

    let bytes: [UInt8]

    init(_ bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        precondition(self.bytes.count == Self.count, "a key id has 16 bytes")
    }

    /// - Parameter text: 32 hexadecimal digits; nil for anything else.
    package init?(_ text: String) {
        guard let bytes = Hex.bytes(text), bytes.count == Self.count else { return nil }
        self.bytes = bytes
    }

    static func random() -> KeyID {
        _ = Sodium.isReady
        var bytes = [UInt8](repeating: 0, count: count)
        randombytes_buf(&bytes, count)
        return KeyID(bytes)
    }

    /// Lower-case hexadecimal digits.
    package var description: String { Hex.text(bytes) }
}

/// Why something sealed could not be opened.
package enum SealingError: Error, Equatable {
    /// Too short for a sealed value, or not in its form.
    case malformed
    /// Of a later version of this program, or damaged.
    case unknownVersion(UInt8)
    /// Sealed with a key that is not here.
    case unknownKey(KeyID)
    /// It was changed, or stood somewhere else when it was sealed.
    case notAuthentic
}

/// Hexadecimal digits of what is no secret: how long this takes depends on the bytes.
enum Hex {
    private static let digits = Array("0123456789abcdef".utf8)

    static func text(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    static func bytes(_ text: String) -> [UInt8]? {
        let values = text.utf8.map { digits.firstIndex(of: $0) }
        guard values.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: values.count, by: 2) {
            guard let high = values[index], let low = values[index + 1] else { return nil }
            bytes.append(UInt8(high << 4 | low))
        }
        return bytes
    }
}
