import CXXHash

/// 128 bits by which bytes that were read or written a moment ago are known again when they come from the disk: XXH3, at the
/// speed of memory. A failing disk, or a program that writes to the file meanwhile, does not find other bytes with the same; a
/// person who wants to might, so nothing is kept by it: what a library or a backup remembers of bytes is their SHA-256.
struct Fingerprint: Hashable, Sendable {
    let size: Int64
    let low: UInt64
    let high: UInt64
}

/// A running ``Fingerprint``. For one thread at a time.
final class FingerprintHasher {
    private let state: OpaquePointer
    private var size: Int64 = 0

    init() {
        guard let state = XXH3_createState() else { fatalError("no memory for a fingerprint") }
        self.state = state
        XXH3_128bits_reset(state)
    }

    deinit { XXH3_freeState(state) }

    func update(_ bytes: UnsafeRawBufferPointer) {
        XXH3_128bits_update(state, bytes.baseAddress, bytes.count)
        size += Int64(bytes.count)
    }

    /// Of all bytes since the last `finish()`; the hasher then starts anew.
    func finish() -> Fingerprint {
        let hash = XXH3_128bits_digest(state)
        let fingerprint = Fingerprint(size: size, low: hash.low64, high: hash.high64)
        XXH3_128bits_reset(state)
        size = 0
        return fingerprint
    }
}
