import CCell
import Glibc
import ImageWorkerProtocol

/// A source file's bytes, as they were at one moment.
///
/// Read once into memory of this process, and not mapped: what is decoded, digested and stored are then the same bytes,
/// whoever writes to the file meanwhile, and a file that is cut does not end the worker (SIGBUS). Reading costs a copy
/// that the page cache holds already; a mapping's page faults cost about as much.
final class SourceFile {
    private let memory: UnsafeMutableRawPointer
    let count: Int
    /// Whether its state cannot tell that it was written to since.
    let isFresh: Bool

    /// Reads the whole file behind `descriptor`, which stays the caller's.
    /// - Parameters:
    ///   - ask: gets the memory for a big one. For all there is, because what decoding takes is not known before it is
    ///     read, and nobody may ask for more who has some already.
    ///   - isOurs: whether it is the library's own, which nobody else writes to.
    /// - Throws: ``ImagingError/changed`` where somebody wrote to it meanwhile.
    init(
        descriptor: Int32, memory ask: PhotoConverter.AskForMemory = PhotoConverter.unshared,
        isOurs: Bool = false
    ) throws(ImagingError) {
        let before = try Self.status(descriptor)
        guard before.st_mode & S_IFMT == S_IFREG else { throw .unsupported("it is not a regular file") }
        guard before.st_size > 0 else { throw .damaged("it is empty") }
        guard before.st_size <= ImageLimits.sourceBytes else {
            throw .tooLarge("\(before.st_size) bytes; the limit is \(ImageLimits.sourceBytes)")
        }
        count = before.st_size
        if count > ImageLimits.freeSourceAllowance {
            let granted = try ask(.max)
            guard granted >= count else { throw .needsMemory("a file of \(count >> 20) MiB, of \(granted >> 20)") }
        }
        guard let memory = malloc(count) else { throw .lackOfMemory }
        let state = FileState(before)
        isFresh = state.isFresh
        // From here on this value is whole, so that whatever is thrown ends in `deinit`.
        self.memory = memory
        try Self.read(descriptor, into: UnsafeMutableRawBufferPointer(start: memory, count: count))
        // Two reads that agree had nobody writing between them; where the clock's tick may hide that, only they tell.
        if !isOurs, isFresh { try Self.compare(descriptor, with: bytes.buffer) }
        guard FileState(try Self.status(descriptor)) == state else { throw .changed }
    }

    deinit { free(memory) }

    /// Valid while this value lives, which whoever takes it must see to.
    var bytes: ByteView { ByteView(UnsafeRawBufferPointer(start: memory, count: count)) }

    private static func status(_ descriptor: Int32) throws(ImagingError) -> stat {
        var status = stat()
        guard ccell_status(descriptor, &status) == 0 else { throw .io("the source: " + describe(errno)) }
        return status
    }

    private static func read(_ descriptor: Int32, into memory: UnsafeMutableRawBufferPointer) throws(ImagingError) {
        var position = 0
        while position < memory.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: memory[position...])
            let part = try read(descriptor, into: rest, at: position)
            // It ends before the size that it had.
            guard part > 0 else { throw .changed }
            position += part
        }
    }

    private static func compare(_ descriptor: Int32, with bytes: UnsafeRawBufferPointer) throws(ImagingError) {
        let part = min(bytes.count, 256 << 10)
        guard let again = malloc(part) else { throw .lackOfMemory }
        defer { free(again) }
        var position = 0
        while position < bytes.count {
            let buffer = UnsafeMutableRawBufferPointer(start: again, count: min(part, bytes.count - position))
            let count = try read(descriptor, into: buffer, at: position)
            guard count > 0, let base = bytes.baseAddress, memcmp(again, base + position, count) == 0 else {
                throw .changed
            }
            position += count
        }
    }

    private static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer, at position: Int)
        throws(ImagingError) -> Int
    {
        while true {
            let count = pread(descriptor, buffer.baseAddress, buffer.count, off_t(position))
            if count >= 0 { return count }
            guard errno == EINTR else { throw .io("reading the source: " + describe(errno)) }
        }
    }
}

/// The system's words for an error number.
func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
