import CJXL
import Glibc
import ImageWorkerProtocol

/// JPEG XL, a codestream or its container, by libjxl; of an animation the first frame. The codestream says how the
/// picture lies, and EXIF's orientation must not turn it again.
struct JXLPicture: PictureDecoder {
    static let container: [UInt8] = [0, 0, 0, 0x0C] + Array("JXL \r\n\u{87}\n".unicodeScalars.map { UInt8($0.value) })

    let size: PixelSize
    let metadata: EmbeddedMetadata
    let orientation: Orientation
    private let session: Session
    private let header: cjxl_header
    /// Whether it is a JPEG that was packed again, which is never decoded but in blocks.
    private let isPackedJPEG: Bool
    /// Samples come in 16 bits where there is one.
    private let highLight: HighRange?

    init(_ source: SourceFile) throws(ImagingError) {
        let bytes = source.bytes
        let isContainer = bytes.starts(with: Self.container)
        session = try Session(source)
        var header = cjxl_header()
        let status = Int(cjxl_decoder_read_header(session.handle, ImageLimits.profileBytes, &header))
        // Two bytes are how a codestream begins, and so does one file of 65,536 that is anything else.
        guard isContainer || status == cjxl_ok || status == cjxl_no_memory else {
            throw .unsupported("its content is no picture type that is known")
        }
        try Self.check(status)
        self.header = header
        // Numbers of 30 bits.
        size = PixelSize(width: Int(header.width), height: Int(header.height))
        try ImageLimits.check(width: size.width, height: size.height)
        guard header.has_black == 0 else { throw .unsupported("a JPEG XL in printing inks") }
        orientation = Orientation(exif: Int(header.orientation))
        isPackedJPEG = isContainer && BoxList(bytes).contains { $0.type == "jbrd" }
        highLight = HighRange(transfer: UInt32(header.transfer), primaries: UInt32(header.primaries))
        let icc = header.profile.map { profile in
            ColourProfile.icc(Array(UnsafeBufferPointer(start: profile, count: header.profile_length)))
        }
        let profile = highLight.map(ColourProfile.highRange) ?? icc
        metadata =
            isContainer
            ? EmbeddedMetadata(exif: Self.exif(bytes), xmp: Self.xmp(bytes), profile: profile, isUpright: true)
            : EmbeddedMetadata(profile: profile, isUpright: true)
    }

    /// Measured, in bytes a pixel with those that come out: 4 of a JPEG that was packed; 6 of what is lossy, or 22
    /// where it is in libjxl's other mode, which only its frames say; without loss 15, 21 where it is progressive; with
    /// opacity 40. A channel beside the colours takes as much as all of them. Samples of 16 bits are as many bytes more.
    var memory: Int {
        size.pixels * (isPackedJPEG ? 6 : 24 + Int(header.extra_channels) * 18 + (highLight == nil ? 0 : channels))
    }

    private var channels: Int { Int(header.colours + header.has_alpha) }

    var inks: ColourTransform.Inks { header.colours == 1 && header.has_alpha == 0 ? .grey : .rgb }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let width = size.width
        if let highLight, let channels = DeepRowLines.Channels(rawValue: channels) {
            let picture = try Whole(session, size, bytesPerPixel: channels.rawValue * 2)
            return DeepRowLines(
                size: size, channels: channels, isPremultiplied: header.is_premultiplied != 0,
                white: highLight.whiteSample
            ) { line, row in
                UnsafeMutableRawPointer(row).copyMemory(
                    from: picture.line(line), byteCount: width * channels.rawValue * 2)
            }
        }
        let picture = try Whole(session, size, bytesPerPixel: channels)
        switch channels {
        case 1: return RowLines(size: size, format: .grey) { picture.copy(line: $0, into: $1) }
        case 2:
            return RowLines(size: size, format: alphaFormat) { line, row in
                let stored = picture.line(line)
                for x in 0..<width {
                    for ink in 0..<3 { row[x &* 4 &+ ink] = stored[x &* 2] }
                    row[x &* 4 &+ 3] = stored[x &* 2 &+ 1]
                }
            }
        case 3: return RowLines(size: size, format: .rgb) { picture.copy(line: $0, into: $1) }
        default: return RowLines(size: size, format: alphaFormat) { picture.copy(line: $0, into: $1) }
        }
    }

    private var alphaFormat: RowFormat { header.is_premultiplied != 0 ? .rgbaPremultiplied : .rgba }

    /// A box's content, packed or not.
    private static func box<Content>(
        _ type: String, _ bytes: ByteView, upTo most: Int, _ read: (ByteView) -> Content?
    ) -> Content? {
        var count = 0
        guard let content = cjxl_copy_box(bytes.base, bytes.count, type, most, &count) else { return nil }
        defer { free(content) }
        return read(ByteView(UnsafeRawBufferPointer(start: content, count: count)))
    }

    private static func exif(_ bytes: ByteView) -> [UInt8]? {
        // Four bytes say how far the TIFF header is from their end.
        box("Exif", bytes, upTo: ImageLimits.exifBytes) { content in
            EmbeddedMetadata.exifBlock(content.part(from: 4 + Int(content.bigEndian32(at: 0))))
        }
    }

    private static func xmp(_ bytes: ByteView) -> [UInt8]? {
        box("xml ", bytes, upTo: ImageLimits.xmpBytes) { EmbeddedMetadata.xmpPacket($0) }
    }

    private static func check(_ status: Int) throws(ImagingError) {
        switch status {
        case cjxl_ok: return
        case cjxl_no_memory: throw .lackOfMemory
        case cjxl_ends_early: throw .damaged("it ends early")
        default: throw .damaged("its JPEG XL data cannot be decoded")
        }
    }

    /// libjxl's state, and the bytes it reads.
    private final class Session {
        let handle: OpaquePointer
        private let source: SourceFile

        init(_ source: SourceFile) throws(ImagingError) {
            guard let handle = cjxl_decoder_create(source.bytes.base, source.count) else { throw .lackOfMemory }
            self.handle = handle
            self.source = source
        }

        deinit { cjxl_decoder_free(handle) }
    }

    /// All of a picture: libjxl gives its parts in no order.
    private final class Whole {
        private let pixels: UnsafeMutablePointer<UInt8>
        private let stride: Int

        init(_ session: Session, _ size: PixelSize, bytesPerPixel: Int) throws(ImagingError) {
            stride = size.width * bytesPerPixel
            guard let memory = malloc(stride * size.height) else { throw .lackOfMemory }
            pixels = memory.assumingMemoryBound(to: UInt8.self)
            try JXLPicture.check(Int(cjxl_decoder_read_all(session.handle, pixels)))
        }

        deinit { free(pixels) }

        func line(_ line: Int) -> UnsafeMutablePointer<UInt8> { pixels + line * stride }

        func copy(line: Int, into row: UnsafeMutablePointer<UInt8>) {
            row.update(from: self.line(line), count: stride)
        }
    }
}
