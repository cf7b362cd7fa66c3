import CLinux
import Glibc
import ImageWorkerProtocol

/// A file in memory that a worker writes, and that becomes a file of the library only as a copy.
///
/// A worker that a photo has taken over keeps what it was given: through a mapping of the library's own file it could change
/// the photo years after it was accepted. So a worker has no descriptor of a file of the library but to read it. What it writes
/// is bounded from its first byte, and is sealed before anything of it is looked at, which the kernel refuses while somebody
/// could still write: what was checked is what is copied.
final class WorkerOutput: Sendable {
    let descriptor: Int32

    /// - Parameter bytes: what it may have at most.
    init(upTo bytes: Int) throws(ImagingError) {
        descriptor = clinux_output_file("smilepile-output", Int64(bytes))
        guard descriptor >= 0 else { throw .io("no memory for an output: " + String(cString: strerror(errno))) }
    }

    deinit { close(descriptor) }

    /// Ends all changes. Nil where the worker could make some, which no worker of ours can, and where it is empty.
    func seal() -> SealedOutput? {
        guard clinux_seal(descriptor) == 0 else { return nil }
        let size = size(of: descriptor)
        return size > 0 ? SealedOutput(descriptor: descriptor, size: size) : nil
    }
}

/// Bytes that do not change any more. Valid while the ``WorkerOutput`` lives.
struct SealedOutput {
    let descriptor: Int32
    let size: Int64

    /// Whether it is a JPEG from its beginning to its end, of so many pixels.
    func isJPEG(width: Int, height: Int) -> Bool {
        guard size >= 4, let last = bytes(at: size - 2, 2), last == [0xFF, 0xD9],
            let shape = JPEGFrame(of: descriptor, size: size)
        else { return false }
        return shape.width == width && shape.height == height
    }

    /// Whether it is a PNG of so many pixels.
    func isPNG(width: Int, height: Int) -> Bool {
        guard let head = bytes(at: 0, 24), head[..<8].elementsEqual([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
            head[12..<16].elementsEqual("IHDR".utf8)
        else { return false }
        func number(_ start: Int) -> Int { head[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } }
        return number(16) == width && number(20) == height
    }

    /// Whether it is a WebP of so many pixels as this version makes previews: chunks that fill it from its beginning to its end, none
    /// but those that a preview has.
    /// - Parameter turned: as the worker was told.
    func isPreview(width: Int, height: Int, turned: Int = 0) -> Bool {
        let headBytes = 48
        guard size >= headBytes + PreviewMaker.tailBytes, let head = bytes(at: 0, headBytes),
            let tail = bytes(at: size - Int64(PreviewMaker.tailBytes), PreviewMaker.tailBytes),
            tail == PreviewMaker.tail(turned: turned)
        else { return false }
        func number(_ start: Int, _ count: Int) -> Int {
            head[start..<start + count].reversed().reduce(0) { $0 << 8 | Int($1) }
        }
        func begins(_ text: StaticString, at start: Int) -> Bool {
            head[start...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
        }
        let picture = number(34, 4)
        return begins("RIFF", at: 0) && number(4, 4) == Int(size) - 8 && begins("WEBPVP8X", at: 8)
            && number(16, 4) == 10 && number(20, 4) == 0
            && number(24, 3) == width - 1 && number(27, 3) == height - 1
            && begins("VP8 ", at: 30) && picture + picture & 1 == Int(size) - 38 - PreviewMaker.tailBytes
            // A key frame's mark, and its size without a scale.
            && head[41..<44] == [0x9D, 0x01, 0x2A] && number(44, 2) == width && number(46, 2) == height
    }

    private func bytes(at position: Int64, _ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        return pread(descriptor, &bytes, count, off_t(position)) == count ? bytes : nil
    }
}

/// The size that a JPEG says it has: its first frame header, found by the lengths of the segments before it. Nothing is decoded.
struct JPEGFrame: Equatable {
    let width: Int
    let height: Int

    /// Segments that are passed over at most.
    private static let mostSegments = 4_096

    /// Nil where there is none in the first ``mostSegments`` segments, or what stands between them is none.
    init?(of descriptor: Int32, size: Int64) {
        func read(_ position: Int64, _ count: Int) -> [UInt8]? {
            var bytes = [UInt8](repeating: 0, count: count)
            return pread(descriptor, &bytes, count, off_t(position)) == count ? bytes : nil
        }
        guard read(0, 2) == [0xFF, 0xD8] else { return nil }
        var position: Int64 = 2
        for _ in 0..<Self.mostSegments {
            guard position < size, let head = read(position, 4), head[0] == 0xFF else { return nil }
            let length = Int64(head[2]) << 8 | Int64(head[3])
            switch head[1] {
            // Frames of every kind; between them the tables of Huffman and arithmetic codes, and an extension.
            case 0xC0...0xC3, 0xC5...0xC7, 0xC9...0xCB, 0xCD...0xCF:
                guard let frame = read(position + 5, 4) else { return nil }
                height = Int(frame[0]) << 8 | Int(frame[1])
                width = Int(frame[2]) << 8 | Int(frame[3])
                return
            // A scan, the end, or what has no length: no frame comes before it.
            case 0x00, 0x01, 0xD0...0xDA, 0xFF: return nil
            default:
                guard length >= 2 else { return nil }
                position += 2 + length
            }
        }
        return nil
    }
}
