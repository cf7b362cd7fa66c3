import CGD
import ImageWorkerProtocol

/// A picture in gd's memory.
final class GDImage {
    /// What gd takes at most: its own four where it has no palette, and its lists of lines.
    static let bytesPerPixel = 5

    private let image: gdImagePtr

    /// Decodes the whole file.
    init(_ bytes: ByteView, _ size: PixelSize, type: String, decode: (Int32, UnsafeMutableRawPointer) -> gdImagePtr?)
        throws(ImagingError)
    {
        cgd_be_quiet()
        // gd takes a mutable address and an int, and only reads; the file's limit keeps the count within it.
        guard let address = bytes.base,
            let decoded = decode(Int32(bytes.count), UnsafeMutableRawPointer(mutating: address))
        else {
            throw .damaged("its \(type) data cannot be decoded")
        }
        image = decoded
        // From here on `deinit` destroys it, also after a throw.
        guard Int(decoded.pointee.sx) == size.width, Int(decoded.pointee.sy) == size.height else {
            throw .damaged("its \(type) header and data disagree on the size")
        }
    }

    deinit { gdImageDestroy(image) }

    /// Decodes the whole file and gives its rows with alpha.
    static func lines(
        _ source: SourceFile, _ size: PixelSize, type: String,
        decode: (Int32, UnsafeMutableRawPointer) -> gdImagePtr?
    ) throws(ImagingError) -> any LineSource {
        let image = try GDImage(source.bytes, size, type: type, decode: decode)
        return RowLines(size: size, format: .rgba) { (line, row) throws(ImagingError) in
            image.read(line: line, into: row)
        }
    }

    func read(line: Int, into row: UnsafeMutablePointer<UInt8>) {
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
