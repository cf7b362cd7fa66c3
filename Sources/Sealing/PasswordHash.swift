import CSodium

/// What is kept of a secret that people type: argon2id's hash of it, with the salt and the cost that it was made with.
///
/// A hash keeps the secret from whoever reads it, as far as trying them all takes too long; with the ten thousand PINs of
/// four digits it does not. Both directions take the cost in time and memory, so ``KeyDeriver`` alone makes and compares them.
package struct PasswordHash: Sendable, Equatable {
    package enum Failure: Error, Equatable {
        /// The memory that hashing takes is not there.
        case outOfMemory
        /// The text is none that this type writes, or asks for more than it ever would.
        case notAHash
    }

    /// What one hash costs.
    package struct Cost: Sendable, Equatable {
        /// Over the whole memory: 1…10.
        package let passes: Int
        /// In KiB: 8…262,144.
        package let memory: Int

        /// 64 MiB, twice: a tenth of a second, and little enough for the smallest machine that keeps photos.
        package static let standard = Cost(passes: 2, memory: 64 << 10)

        /// Nil out of these ranges: a text from a damaged file could otherwise ask for hours, or all memory.
        package init?(passes: Int, checkedMemory memory: Int) {
            guard Argon2.passes.contains(passes), Argon2.kibibytes.contains(memory) else { return nil }
            self.init(passes: passes, memory: memory)
        }

        private init(passes: Int, memory: Int) {
            self.passes = passes
            self.memory = memory
        }
    }

    private static let saltBytes = 16
    private static let hashBytes = 32
    private static let variant = sodium_base64_VARIANT_ORIGINAL_NO_PADDING

    package let cost: Cost
    private let salt: [UInt8]
    private let hash: [UInt8]

    /// Hashes a secret with a salt of its own. Blocks for as long as the cost says.
    /// - Throws: ``Failure/outOfMemory``.
    init(of secret: [UInt8], cost: Cost = .standard) throws(Failure) {
        _ = Sodium.isReady
        var salt = [UInt8](repeating: 0, count: Self.saltBytes)
        randombytes_buf(&salt, salt.count)
        self.cost = cost
        self.salt = salt
        hash = try Self.hash(secret, salt, cost)
    }

    /// Reads what ``text`` wrote.
    /// - Throws: ``Failure/notAHash``.
    package init(text: String) throws(Failure) {
        _ = Sodium.isReady
        // $argon2id$v=19$m=65536,t=2,p=1$salt$hash
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard text.utf8.count <= 200, parts.count == 6, parts[0].isEmpty, parts[1] == "argon2id", parts[2] == "v=19"
        else { throw .notAHash }
        let numbers = parts[3].split(separator: ",", omittingEmptySubsequences: false)
        guard numbers.count == 3, let memory = Self.number(numbers[0], "m="),
            let passes = Self.number(numbers[1], "t="), numbers[2] == "p=1",
            let cost = Cost(passes: passes, checkedMemory: memory),
            let salt = Self.bytes(parts[4], count: Self.saltBytes),
            let hash = Self.bytes(parts[5], count: Self.hashBytes)
        else { throw .notAHash }
        self.cost = cost
        self.salt = salt
        self.hash = hash
    }

    /// The form in which argon2 hashes are exchanged, which libsodium's own functions read too.
    package var text: String {
        "$argon2id$v=19$m=\(cost.memory),t=\(cost.passes),p=1$\(Self.base64(salt))$\(Self.base64(hash))"
    }

    /// Whether this is the secret. Blocks for as long as the cost says, whatever the secret is.
    /// - Throws: ``Failure/outOfMemory``: then nothing is known.
    func matches(_ secret: [UInt8]) throws(Failure) -> Bool {
        let other = try Self.hash(secret, salt, cost)
        // Compared in constant time, as a habit: who could measure this has the hash already.
        return sodium_memcmp(other, hash, hash.count) == 0
    }

    private static func hash(_ secret: [UInt8], _ salt: [UInt8], _ cost: Cost) throws(Failure) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: hashBytes)
        guard
            Argon2.hash(
                secret.map(CChar.init(bitPattern:)), salt: salt, passes: cost.passes, kibibytes: cost.memory,
                into: &hash, count: hashBytes)
        else { throw .outOfMemory }
        return hash
    }

    private static func number(_ text: Substring, _ name: String) -> Int? {
        guard text.hasPrefix(name) else { return nil }
        let digits = text.dropFirst(name.count)
        return digits.allSatisfy { ("0"..."9").contains($0) } ? Int(digits) : nil
    }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(bytes.count, variant))
        sodium_bin2base64(&text, text.count, bytes, bytes.count, variant)
        return String(decoding: text.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func bytes(_ text: Substring, count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var read = 0
        let text = String(text)
        let result = sodium_base642bin(&bytes, count, text, text.utf8.count, nil, &read, nil, variant)
        return result == 0 && read == count ? bytes : nil
    }
}
