import CSodium
import Foundation
import ServiceMesh

/// Data keys sealed with a passphrase: a text that is kept somewhere else, for the day when the key file is gone.
///
/// The text is `smilepile-keys-1 ` and Base64 of these bytes:
///
///     1 byte     version, 1
///     4 bytes    passes of argon2id, little-endian
///     4 bytes    its memory in KiB, little-endian
///     16 bytes   salt
///     24 bytes   nonce
///     n bytes    XChaCha20-Poly1305 of the keys (an id of 16 bytes and a key of 32, each), and its tag
///
/// What stands before the nonce is authenticated with it.
package enum KeyExport {
    /// What guessing one passphrase costs.
    package struct Cost: Sendable {
        /// Passes over the memory.
        package let passes: UInt32
        package let kibibytes: UInt32

        package init(passes: UInt32, kibibytes: UInt32) {
            self.passes = passes
            self.kibibytes = kibibytes
        }

        /// Some 0.4 s on a small machine.
        package static let standard = Cost(passes: 4, kibibytes: 128 << 10)

        /// - Throws: `invalid_argument`: an export may be anybody's, and could else ask for all memory and for minutes.
        func checked() throws {
            if Argon2.passes.contains(Int(passes)), Argon2.kibibytes.contains(Int(kibibytes)) { return }
            let most = (memory: Argon2.kibibytes.upperBound >> 10, passes: Argon2.passes.upperBound)
            throw MeshError(
                .invalidArgument,
                "Opening these keys would take \(kibibytes >> 10) MiB of memory and \(passes) passes over it; "
                    + "\(most.memory) MiB and \(most.passes) passes are the most that is spent on one. SmilePile writes none "
                    + "like it: use what it wrote.", details: ["reason": "cost"])
        }
    }

    /// Characters that a passphrase has, after normalization.
    package static let passphraseLength = 8...1_000
    /// Characters that an export has at most.
    package static let maximumLength = 100_000

    private static let beginning = "smilepile-keys-1 "
    private static let version: UInt8 = 1
    private static let saltBytes = 16
    private static let headerBytes = 1 + 4 + 4 + saltBytes
    private static let entryBytes = KeyID.count + DataKey.bytes
    private static let place = SealedPlace(table: "export", column: "keys", row: "")

    /// Takes as long as its cost says: ``KeyDeriver`` calls it.
    /// - Throws: `invalid_argument` for a passphrase that is too short or too long.
    static func seal(_ keys: [DataKey], passphrase: String, cost: Cost = .standard) throws -> String {
        _ = Sodium.isReady
        var header = [version]
        withUnsafeBytes(of: cost.passes.littleEndian) { header += $0 }
        withUnsafeBytes(of: cost.kibibytes.littleEndian) { header += $0 }
        var salt = [UInt8](repeating: 0, count: saltBytes)
        randombytes_buf(&salt, saltBytes)
        header += salt
        let wrapping = try key(passphrase, salt: salt, cost)
        let plaintext = try SecretBytes(count: keys.count * entryBytes) { room in
            for (index, key) in keys.enumerated() {
                let entry = room + index * entryBytes
                entry.update(from: key.id.bytes, count: KeyID.count)
                key.secret.withBytes { (entry + KeyID.count).update(from: $0, count: DataKey.bytes) }
            }
        }
        let (nonce, ciphertext) = plaintext.withBytes { bytes in
            wrapping.withBytes {
                Cipher.seal(
                    bytes, count: plaintext.count, key: $0,
                    associated: associated(header))
            }
        }
        return beginning + Data(header + nonce + ciphertext).base64EncodedString() + "\n"
    }

    /// Takes as long as the export's cost says: ``KeyDeriver`` calls it.
    /// - Throws: `invalid_argument` for what is no export, one of a later version, one that costs too much, or a wrong
    ///   passphrase.
    static func open(_ text: String, passphrase: String) throws -> [DataKey] {
        let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
        guard text.utf8.count <= maximumLength, text.hasPrefix(beginning),
            let data = Data(base64Encoded: String(text.dropFirst(beginning.count)))
        else {
            throw MeshError(
                .invalidArgument, "This is no export of keys, or it is not whole. Name a file that 'keys export' wrote."
            )
        }
        let bytes = Array(data)
        guard bytes.first == version else {
            throw MeshError(.invalidArgument, "A later version wrote this export of keys. Import it with that version.")
        }
        let rest = bytes.dropFirst(headerBytes)
        let ciphertext = rest.dropFirst(SealedValue.nonceBytes)
        let length = ciphertext.count - SealedValue.tagBytes
        let cost = Cost(passes: number(bytes, at: 1), kibibytes: number(bytes, at: 5))
        guard length > 0, length.isMultiple(of: entryBytes) else {
            throw MeshError(.invalidArgument, "This export of keys is damaged. Use another copy of it.")
        }
        try cost.checked()
        let header = Array(bytes.prefix(headerBytes))
        let wrapping = try key(passphrase, salt: Array(header.suffix(saltBytes)), cost)
        let plaintext = try SecretBytes(count: length) { room in
            let isAuthentic = wrapping.withBytes {
                Cipher.open(
                    ciphertext, nonce: rest.prefix(SealedValue.nonceBytes), key: $0, associated: associated(header),
                    into: room)
            }
            guard isAuthentic else {
                throw MeshError(
                    .invalidArgument,
                    "The passphrase is not the one of this export, or the export is damaged. Try again.")
            }
        }
        return try (0..<length / entryBytes).map { index in
            try plaintext.withBytes { bytes in
                let entry = bytes + index * entryBytes
                let secret = try SecretBytes(count: DataKey.bytes) {
                    $0.update(from: entry + KeyID.count, count: DataKey.bytes)
                }
                return DataKey(id: KeyID(UnsafeBufferPointer(start: entry, count: KeyID.count)), secret: secret)
            }
        }
    }

    private static func associated(_ header: [UInt8]) -> [UInt8] {
        place.associatedData(version: version) + header
    }

    /// 0 where there are not so many bytes.
    private static func number(_ bytes: [UInt8], at start: Int) -> UInt32 {
        guard bytes.count >= start + 4 else { return 0 }
        return (0..<4).reduce(0) { $0 | UInt32(bytes[start + $1]) << UInt32($1 * 8) }
    }

    private static func key(_ passphrase: String, salt: [UInt8], _ cost: Cost) throws -> SecretBytes {
        // The same characters, however a keyboard composes them.
        let normalized = passphrase.precomposedStringWithCanonicalMapping
        guard passphrase.utf8.count <= passphraseLength.upperBound * 16, passphraseLength.contains(normalized.count)
        else {
            throw MeshError(
                .invalidArgument,
                "A passphrase has \(passphraseLength.lowerBound) to \(passphraseLength.upperBound) characters. Choose several words."
            )
        }
        let bytes = normalized.utf8.map(CChar.init(bitPattern:))
        return try SecretBytes(count: DataKey.bytes) { room in
            let isThere = Argon2.hash(
                bytes, salt: salt, passes: Int(cost.passes), kibibytes: Int(cost.kibibytes), into: room,
                count: DataKey.bytes)
            guard isThere else {
                throw MeshError(
                    .resourceExhausted,
                    "There is not enough memory for the passphrase (\(cost.kibibytes >> 10) MiB). Close other programs and try again."
                )
            }
        }
    }
}
