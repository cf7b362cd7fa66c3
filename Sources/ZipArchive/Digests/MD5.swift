import CCrypto

/// A running MD5, of which other programs' backups have checksums. It tells damage and no more: whoever wants to can make two
/// files that share one. For one thread at a time.
package final class MD5Hasher {
    private let context: OpaquePointer

    /// Nil where the system's libcrypto does not allow MD5.
    package init?() {
        guard let context = EVP_MD_CTX_new() else { fatalError("no memory for a digest") }
        self.context = context
        guard EVP_DigestInit_ex2(context, EVP_md5(), nil) == 1 else { return nil }
    }

    deinit { EVP_MD_CTX_free(context) }

    package func update(_ bytes: UnsafeRawBufferPointer) {
        precondition(EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1)
    }

    /// 32 lower-case hexadecimal digits. Nothing can be added after it.
    package func finish() -> String {
        let bytes = [UInt8](unsafeUninitializedCapacity: 16) { room, count in
            precondition(EVP_DigestFinal_ex(context, room.baseAddress, nil) == 1)
            count = 16
        }
        return bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
