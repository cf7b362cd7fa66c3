import Glibc
import ImageWorkerProtocol

/// What a worker is given to read, as it was when it was given.
///
/// The parent says which bytes they were: a worker says it only where nothing else can, and what it says then is held against the
/// file, so that a lie costs its own photo.
struct WorkerSource {
    let descriptor: Int32
    private let state: FileState
    let size: Int64

    init(_ descriptor: Int32) throws(ImagingError) {
        self.descriptor = descriptor
        let status = try Self.status(descriptor)
        state = FileState(status)
        size = Int64(status.st_size)
    }

    /// Whether it begins as files of this type do.
    func begins(as mediaType: String) -> Bool {
        var head = [UInt8](repeating: 0, count: FilmSignature.length)
        let count = pread(descriptor, &head, head.count, 0)
        guard count >= 12 else { return false }
        switch mediaType {
        case "image/jpeg": return head.starts(with: [0xFF, 0xD8, 0xFF])
        case "image/png": return head.starts(with: [0x89, 0x50, 0x4E, 0x47])
        case "image/gif": return head.starts(with: "GIF8".utf8)
        case "image/bmp": return head.starts(with: "BM".utf8)
        case "image/tiff": return head.starts(with: [0x49, 0x49]) || head.starts(with: [0x4D, 0x4D])
        case "image/webp": return head.starts(with: "RIFF".utf8) && head[8..<12].elementsEqual("WEBP".utf8)
        case "image/heic", "image/avif": return head[4..<8].elementsEqual("ftyp".utf8)
        case "image/jxl":
            return head.starts(with: [0xFF, 0x0A]) || head.starts(with: [0, 0, 0, 0x0C] + Array("JXL ".utf8))
        case "image/jp2":
            return head.starts(with: [0xFF, 0x4F, 0xFF, 0x51])
                || head.starts(with: [0, 0, 0, 0x0C] + Array("jP  ".utf8))
        case "image/x-canon-cr3": return head[4..<12].elementsEqual("ftypcrx ".utf8)
        case "image/x-fuji-raf": return head.starts(with: "FUJIFILM".utf8)
        case "image/x-dcraw" where head.starts(with: "\0MRM".utf8) || head[6..<10].elementsEqual("HEAP".utf8):
            return true
        case let raw where WorkerProtocol.rawTypes.contains(raw):
            return head.starts(with: [0x49, 0x49]) || head.starts(with: [0x4D, 0x4D])
        default: return FilmSignature(of: head)?.isPossible(as: mediaType) ?? false
        }
    }

    /// The frame that it says it has; nil where it is no JPEG, or one of which that cannot be told at once.
    var frame: JPEGFrame? { JPEGFrame(of: descriptor, size: size) }

    /// Its bytes and their digest, and a copy of them in `target`, where there is one. Blocks.
    /// - Parameter fresh: what the worker says of the bytes that it decoded (``MadePhoto/freshDigest``).
    /// - Throws: ``ImagingError/changed`` where these are not the bytes that were given; what ``FileCopy`` throws.
    func copy(to target: Int32?, fresh: String?) throws(ImagingError) -> (size: Int64, digest: String) {
        let copied = try FileCopy.copy(descriptor, to: target)
        guard copied.size == size, FileState(try Self.status(descriptor)) == state,
            fresh.map({ $0 == copied.digest }) ?? true
        else { throw .changed }
        return copied
    }

    private static func status(_ descriptor: Int32) throws(ImagingError) -> stat {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            throw errno == EBADF
                ? .io("a descriptor that is not open") : .io("the source: " + String(cString: strerror(errno)))
        }
        return status
    }
}
