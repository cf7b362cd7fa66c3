import CWebP
import ImageWorkerProtocol

/// WebP, still or the first frame of an animation. Through libwebp directly: gd refuses animations.
struct WebPPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let source: SourceFile

    /// Four bytes a pixel come out; a lossless picture is held once more inside.
    var memory: Int { size.pixels * 10 }

    init(_ source: SourceFile) throws(ImagingError) {
        self.source = source
        let bytes = source.bytes
        let demuxer = try Demuxer(bytes)
        size = PixelSize(
            width: Int(WebPDemuxGetI(demuxer.handle, WEBP_FF_CANVAS_WIDTH)),
            height: Int(WebPDemuxGetI(demuxer.handle, WEBP_FF_CANVAS_HEIGHT)))
        try ImageLimits.check(width: size.width, height: size.height)
        metadata = EmbeddedMetadata(webp: bytes)
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let frame = try FirstFrame(Demuxer(source.bytes))
        let width = size.width
        return RowLines(size: size, format: .rgba) { (line, row) throws(ImagingError) in
            frame.read(line: line, width: width, into: row)
        }
    }

    private final class Demuxer {
        let handle: OpaquePointer

        init(_ bytes: ByteView) throws(ImagingError) {
            var data = WebPData(bytes: bytes.base, size: bytes.count)
            guard let handle = WebPDemux(&data) else { throw .damaged("its WebP structure is broken or cut off") }
            self.handle = handle
        }

        deinit { WebPDemuxDelete(handle) }
    }

    /// The first frame's pixels and where it lies on the canvas, which is transparent elsewhere.
    private final class FirstFrame {
        private let pixels: UnsafeMutablePointer<UInt8>
        private let left: Int
        private let top: Int
        private let size: PixelSize

        init(_ demuxer: Demuxer) throws(ImagingError) {
            var frame = WebPIterator()
            guard WebPDemuxGetFrame(demuxer.handle, 1, &frame) != 0 else { throw .damaged("a WebP without a frame") }
            defer { WebPDemuxReleaseIterator(&frame) }
            left = Int(frame.x_offset)
            top = Int(frame.y_offset)
            size = PixelSize(width: Int(frame.width), height: Int(frame.height))
            try ImageLimits.check(width: size.width, height: size.height)
            var width: Int32 = 0
            var height: Int32 = 0
            guard let pixels = WebPDecodeRGBA(frame.fragment.bytes, frame.fragment.size, &width, &height) else {
                throw .damaged("its WebP data cannot be decoded")
            }
            self.pixels = pixels
            // The demuxer has compared them, so a difference is a fault of ours; reading past the end is worse.
            guard Int(width) == size.width, Int(height) == size.height else {
                throw .damaged("its WebP frame is not as large as it says")
            }
        }

        deinit { WebPFree(pixels) }

        func read(line: Int, width: Int, into row: UnsafeMutablePointer<UInt8>) {
            let stored = line - top
            if left > 0 || size.width < width || stored < 0 || stored >= size.height {
                row.update(repeating: 0, count: width * 4)
            }
            guard stored >= 0, stored < size.height, left < width else { return }
            let count = min(size.width, width - left) * 4
            (row + left * 4).update(from: pixels + stored * size.width * 4, count: count)
        }
    }
}
