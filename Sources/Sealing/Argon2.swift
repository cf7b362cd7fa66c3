import CSodium

/// argon2id: the one place that calls it.
enum Argon2 {
    /// Passes over the memory that are ever made, whoever asks: an export may be anybody's.
    static let passes = 1...10
    /// In KiB: 256 MiB at most, which the smallest machine that keeps photos has.
    static let kibibytes = 8...(256 << 10)

    /// Blocks for as long as the cost says: ``KeyDeriver`` calls it on a thread of its own.
    /// - Parameter secret: of any length, none too.
    /// - Returns: whether the memory for it was there. `output` is the hash then.
    static func hash(
        _ secret: [CChar], salt: [UInt8], passes: Int, kibibytes: Int, into output: UnsafeMutablePointer<UInt8>,
        count: Int
    ) -> Bool {
        precondition(Self.passes.contains(passes) && Self.kibibytes.contains(kibibytes), "a cost was not checked")
        _ = Sodium.isReady
        // One byte more than is read: an empty array may have no address, which the function does not take.
        return crypto_pwhash(
            output, UInt64(count), secret + [0], UInt64(secret.count), salt, UInt64(passes), kibibytes << 10,
            crypto_pwhash_alg_argon2id13()) == 0
    }
}
