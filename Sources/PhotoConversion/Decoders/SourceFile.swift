import CLinux
import Glibc
import ImageWorkerProtocol

/// A source file, mapped for as long as this value lives.
///
/// Mapped, not read: every decoder here takes memory, the page cache already holds the bytes, and what is
/// mapped can be dropped again by the kernel. A file that shrinks meanwhile ends the worker (SIGBUS), which the
/// pool reports for that photo alone.
final class SourceFile {
    private let mapped: UnsafeMutableRawPointer?
    let count: Int

    /// Maps the whole file behind `descriptor`, which stays the caller's.
    init(descriptor: Int32) throws(ImagingError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw .io("the source: " + describe(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .unsupported("it is not a regular file") }
        guard status.st_size > 0 else { throw .unsupported("it is empty") }
        guard status.st_size <= ImageLimits.sourceBytes else {
            throw .tooLarge("\(status.st_size) bytes; the limit is \(ImageLimits.sourceBytes)")
        }
        count = status.st_size
        let address = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0)
        guard let address, address != MAP_FAILED else { throw .io("mapping the source: " + describe(errno)) }
        mapped = address
        _ = madvise(address, count, MADV_SEQUENTIAL)
    }

    deinit { if let mapped { munmap(mapped, count) } }

    /// Valid while this value lives, which whoever takes it must see to.
    var bytes: ByteView { ByteView(UnsafeRawBufferPointer(start: mapped, count: count)) }
}

/// The system's words for an error number.
func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
