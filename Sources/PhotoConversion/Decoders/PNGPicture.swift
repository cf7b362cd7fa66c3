import CPNG
import Glibc
import ImageWorkerProtocol

/// PNG, by libpng directly and line by line: gd holds the whole picture twice. Profile and EXIF are read from the chunks
/// by our own code.
struct PNGPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let session: Session
    private let header: cpng_header

    /// Lines as they come. Interlaced, the first line is whole with the last pass only.
    var memory: Int { header.is_interlaced != 0 ? size.pixels * Int(header.pixel_bytes) : 0 }

    var inks: ColourTransform.Inks { header.channels == 1 ? .grey : .rgb }

    init(_ source: SourceFile) throws(ImagingError) {
        let bytes = source.bytes
        guard bytes.text(at: 12, count: 4) == "IHDR" else { throw .damaged("a PNG without its header") }
        size = PixelSize(
            width: Int(bytes.bigEndian32(at: 16)), height: Int(bytes.bigEndian32(at: 20)))
        // Before libpng sees it, which says of a size that it does not like only that it is invalid.
        try ImageLimits.check(width: size.width, height: size.height)
        var metadata = EmbeddedMetadata(png: bytes)
        if ColourProfile.hasNumbers(bytes) {
            metadata.profile = ColourProfile(pngNumbers: bytes)
        } else if metadata.profile == nil {
            metadata.profile = ColourProfile(pngColours: bytes)
        }
        self.metadata = metadata
        session = try Session(source)
        var header = cpng_header()
        let isDeep = if case .highRange = metadata.profile { true } else { false }
        try session.check(cpng_decoder_read_header(session.handle, isDeep ? 1 : 0, &header))
        self.header = header
        guard Int(header.width) == size.width, Int(header.height) == size.height else {
            throw .damaged("its PNG header and data disagree on the size")
        }
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let read = try rows()
        if case .highRange(let range) = metadata.profile {
            guard let channels = DeepRowLines.Channels(rawValue: Int(header.channels)) else {
                throw .damaged("rows of an unknown kind")
            }
            return DeepRowLines(size: size, channels: channels, white: range.whiteSample) {
                (line, row) throws(ImagingError) in
                try read(line, UnsafeMutableRawPointer(row))
            }
        }
        let format: RowFormat =
            switch header.channels {
            case 1: .grey
            case 3: .rgb
            default: .rgba
            }
        return RowLines(size: size, format: format) { (line, row) throws(ImagingError) in
            try read(line, UnsafeMutableRawPointer(row))
        }
    }

    private typealias ReadRow = (_ line: Int, _ row: UnsafeMutableRawPointer) throws(ImagingError) -> Void

    /// What gives the rows, in order.
    private func rows() throws(ImagingError) -> ReadRow {
        let session = session
        guard header.is_interlaced != 0 else {
            return { (_, row) throws(ImagingError) in
                try session.check(cpng_decoder_read_row(session.handle, row))
            }
        }
        let picture = try Interlaced(session, size, bytesPerPixel: Int(header.pixel_bytes))
        return { (line, row) throws(ImagingError) in picture.read(line: line, into: row) }
    }

    /// libpng's state, and the bytes it reads.
    fileprivate final class Session {
        let handle: OpaquePointer
        private let source: SourceFile

        init(_ source: SourceFile) throws(ImagingError) {
            self.source = source
            let bytes = source.bytes
            guard let handle = cpng_decoder_create(bytes.base, bytes.count, UInt32(ImageLimits.side)) else {
                throw .lackOfMemory
            }
            self.handle = handle
        }

        deinit { cpng_decoder_free(handle) }

        func check(_ status: Int32) throws(ImagingError) {
            switch Int(status) {
            case cpng_ok: return
            case cpng_no_memory: throw .lackOfMemory
            default:
                throw .damaged("its PNG data cannot be decoded: " + String(cString: cpng_decoder_message(handle)))
            }
        }
    }

    /// All of a picture whose lines come in passes.
    private final class Interlaced {
        private let pixels: UnsafeMutablePointer<UInt8>
        private let stride: Int

        init(_ session: Session, _ size: PixelSize, bytesPerPixel: Int) throws(ImagingError) {
            stride = size.width * bytesPerPixel
            // Zeros, for the passes add to what is there.
            guard let memory = calloc(size.height, stride) else { throw .lackOfMemory }
            pixels = memory.assumingMemoryBound(to: UInt8.self)
            try session.check(cpng_decoder_read_all(session.handle, pixels))
        }

        deinit { free(pixels) }

        func read(line: Int, into row: UnsafeMutableRawPointer) {
            row.copyMemory(from: pixels + line * stride, byteCount: stride)
        }
    }
}
