import CGD
import ImageWorkerProtocol

/// The first frame of a GIF through gd, which shows it where the frame says, on its own.
struct GIFPicture: PictureDecoder {
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let source: SourceFile

    var memory: Int { size.pixels * GDImage.bytesPerPixel }

    init(_ source: SourceFile) throws(ImagingError) {
        self.source = source
        let bytes = source.bytes
        size = PixelSize(
            width: Int(bytes.littleEndian16(at: 6)), height: Int(bytes.littleEndian16(at: 8)))
        try ImageLimits.check(width: size.width, height: size.height)
        metadata = EmbeddedMetadata(gif: bytes)
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        try GDImage.lines(source, size, type: "GIF") { count, address in
            gdImageCreateFromGifPtr(count, address)
        }
    }
}

/// A picture in gd's memory.
final class GDImage {
    /// What gd takes at most: its own four where it has no palette, and its lists of lines.
    static let bytesPerPixel = 5

    private let image: gdImagePtr

    private init(_ image: gdImagePtr) { self.image = image }

    deinit { gdImageDestroy(image) }

    /// Decodes the whole file and gives its rows with alpha.
    static func lines(
        _ source: SourceFile, _ size: PixelSize, type: String,
        decode: (Int32, UnsafeMutableRawPointer) -> gdImagePtr?
    ) throws(ImagingError) -> any LineSource {
        cgd_be_quiet()
        let bytes = source.bytes
        // gd takes a mutable address and an int, and only reads; the file's limit keeps the count within it.
        guard let address = bytes.base,
            let decoded = decode(Int32(bytes.count), UnsafeMutableRawPointer(mutating: address))
        else {
            throw .damaged("its \(type) data cannot be decoded")
        }
        let image = GDImage(decoded)
        let width = Int(decoded.pointee.sx)
        let height = Int(decoded.pointee.sy)
        guard width == size.width, height == size.height else {
            throw .damaged("its \(type) header and data disagree on the size")
        }
        return RowLines(size: size, format: .rgba) { (line, row) throws(ImagingError) in
            image.read(line: line, into: row)
        }
    }

    private func read(line: Int, into row: UnsafeMutablePointer<UInt8>) {
        let width = Int(image.pointee.sx)
        if image.pointee.trueColor != 0 {
            guard let pixels = image.pointee.tpixels[line] else { return }
            for x in 0..<width {
                let pixel = UInt32(bitPattern: pixels[x])
                row[x &* 4] = UInt8(truncatingIfNeeded: pixel >> 16)
                row[x &* 4 &+ 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                row[x &* 4 &+ 2] = UInt8(truncatingIfNeeded: pixel)
                row[x &* 4 &+ 3] = Self.opacity(pixel >> 24)
            }
        } else {
            for x in 0..<width {
                let pixel = UInt32(bitPattern: gdImageGetTrueColorPixel(image, Int32(x), Int32(line)))
                row[x &* 4] = UInt8(truncatingIfNeeded: pixel >> 16)
                row[x &* 4 &+ 1] = UInt8(truncatingIfNeeded: pixel >> 8)
                row[x &* 4 &+ 2] = UInt8(truncatingIfNeeded: pixel)
                row[x &* 4 &+ 3] = Self.opacity(pixel >> 24)
            }
        }
    }

    /// gd's alpha is transparency in 7 bits.
    private static func opacity(_ transparency: UInt32) -> UInt8 {
        UInt8(truncatingIfNeeded: (127 &- min(127, transparency)) &* 255 / 127)
    }
}
