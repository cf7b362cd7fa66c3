import CSodium
import ServiceMesh

/// Bytes of a key: in pages of their own that are neither swapped out nor part of a core dump, between pages that may
/// not be touched, and zeroed when the last one lets go of them.
///
/// A Swift array would be copied wherever a value semantics' copy is made, and leave each copy's bytes in freed memory.
final class SecretBytes: @unchecked Sendable {
    // Unchecked, because a pointer is not Sendable: the memory is written in `init`, before anybody else has this
    // object, and read-only from there to `deinit`, which the last one who has it runs.
    private let memory: UnsafeMutableRawPointer
    let count: Int

    /// - Parameter fill: writes all of the bytes, which are zero before.
    /// - Throws: `resource_exhausted` where there is no memory; what `fill` throws.
    init(count: Int, _ fill: (UnsafeMutablePointer<UInt8>) throws -> Void) throws {
        _ = Sodium.isReady
        guard let memory = sodium_malloc(count) else {
            throw MeshError(.resourceExhausted, "There is no memory for a key. Close other programs and try again.")
        }
        do {
            sodium_memzero(memory, count)
            try fill(memory.assumingMemoryBound(to: UInt8.self))
        } catch {
            sodium_free(memory)
            throw error
        }
        sodium_mprotect_readonly(memory)
        self.memory = memory
        self.count = count
    }

    /// Random ones.
    static func random(count: Int) throws -> SecretBytes {
        try SecretBytes(count: count) { randombytes_buf($0, count) }
    }

    // Frees and zeroes, whatever the protection.
    deinit { sodium_free(memory) }

    func withBytes<Result>(_ body: (UnsafePointer<UInt8>) throws -> Result) rethrows -> Result {
        try body(UnsafePointer(memory.assumingMemoryBound(to: UInt8.self)))
    }

    /// Compared in a time that says nothing of where they differ.
    func isEqual(to other: SecretBytes) -> Bool {
        count == other.count && sodium_memcmp(memory, other.memory, count) == 0
    }
}
