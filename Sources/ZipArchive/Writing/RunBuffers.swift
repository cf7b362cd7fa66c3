import Foundation
import Synchronization

/// The memory of those who copy runs of entries into one archive: used again for the next run, and gone with the archive's writer.
final class RunBuffers: Sendable {
    private let idle = Mutex<[RunBuffer]>([])

    func take() -> RunBuffer { idle.withLock { $0.popLast() } ?? RunBuffer() }

    func give(_ buffer: RunBuffer) { idle.withLock { $0.append(buffer) } }
}

/// What one thread needs to copy a run of entries.
///
/// Unchecked, because the compiler cannot see this: a buffer is either in the idle list, where nothing touches it, or held by the
/// one run that `take()` gave it to, until that run gives it back.
final class RunBuffer: @unchecked Sendable {
    static let capacity = 2 << 20

    /// As the bytes will be in the file, and as they came back from the disk.
    let bytes = RunBuffer.pages()
    let readBack = RunBuffer.pages()
    let hasher = ContentHasher()

    deinit {
        free(bytes.baseAddress)
        free(readBack.baseAddress)
    }

    /// In one piece where the system has such: of single pages, the disk is handed 254 at a time, and each of them is looked up.
    private static func pages() -> UnsafeMutableRawBufferPointer {
        guard let start = aligned_alloc(capacity, capacity) else { fatalError("no memory for a backup") }
        _ = madvise(start, capacity, MADV_HUGEPAGE)
        return UnsafeMutableRawBufferPointer(start: start, count: capacity)
    }
}
