import CGD
import Glibc
import ImageWorkerProtocol

/// The first frame of a GIF through gd, where it lies on the canvas, which is transparent elsewhere.
struct GIFPicture: PictureDecoder {
    /// Of the canvas.
    let size: PixelSize
    let metadata: EmbeddedMetadata
    private let source: SourceFile
    private let frame: Frame

    /// gd's picture, and a copy of the source where gd has to be told another size of the screen.
    var memory: Int { frame.size.pixels * GDImage.bytesPerPixel + (fitsScreen ? 0 : source.count) }

    init(_ source: SourceFile) throws(ImagingError) {
        self.source = source
        let bytes = source.bytes
        let screen = Self.screen(bytes)
        // Before a frame is looked for: what claims so much is refused for that, whatever else it lacks.
        if screen.width > 0, screen.height > 0 { try ImageLimits.check(width: screen.width, height: screen.height) }
        guard let frame = Frame(bytes) else { throw .damaged("a GIF without a picture") }
        self.frame = frame
        // A frame that does not fit makes the canvas larger, to the right and downwards, as in Pillow and Chromium: writers
        // that leave the screen's size at zero or at a thumbnail's are more usual than those who want a part hidden.
        // Rejected: to cut the frame, which would lose a part of the photo.
        size = PixelSize(
            width: max(screen.width, frame.left + frame.size.width),
            height: max(screen.height, frame.top + frame.size.height))
        try ImageLimits.check(width: size.width, height: size.height)
        try ImageLimits.check(width: frame.size.width, height: frame.size.height)
        metadata = EmbeddedMetadata(gif: bytes)
    }

    private static func screen(_ bytes: ByteView) -> PixelSize {
        PixelSize(width: Int(bytes.littleEndian16(at: 6)), height: Int(bytes.littleEndian16(at: 8)))
    }

    private var fitsScreen: Bool { Self.screen(source.bytes) == size }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        let image = try decoded()
        let (frame, width) = (frame, size.width)
        return RowLines(size: size, format: .rgba) { (line, row) throws(ImagingError) in
            if frame.size.width < width { row.update(repeating: 0, count: width * 4) }
            if (frame.top..<frame.top + frame.size.height).contains(line) {
                image.read(line: line - frame.top, into: row + frame.left * 4)
            } else {
                row.update(repeating: 0, count: width * 4)
            }
        }
    }

    private func decoded() throws(ImagingError) -> GDImage {
        let bytes = source.bytes
        if fitsScreen {
            return try GDImage(bytes, frame.size, type: "GIF") { gdImageCreateFromGifPtr($0, $1) }
        }
        // gd refuses a frame that goes past the screen, and looks at the screen for nothing else.
        guard let copy = malloc(bytes.count), let base = bytes.base else { throw .lackOfMemory }
        defer { free(copy) }
        copy.copyMemory(from: base, byteCount: bytes.count)
        for (offset, side) in [(6, size.width), (8, size.height)] {
            copy.storeBytes(of: UInt8(side & 255), toByteOffset: offset, as: UInt8.self)
            copy.storeBytes(of: UInt8(side >> 8), toByteOffset: offset + 1, as: UInt8.self)
        }
        let told = ByteView(UnsafeRawBufferPointer(start: copy, count: bytes.count))
        return try GDImage(told, frame.size, type: "GIF") { gdImageCreateFromGifPtr($0, $1) }
    }

    /// Where the first frame lies.
    private struct Frame {
        let left: Int
        let top: Int
        let size: PixelSize

        /// Nil where there is none. What is neither a frame nor an extension is passed over, as gd does.
        init?(_ bytes: ByteView) {
            let flags = bytes[10]
            var offset = 13 + (flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0)
            while offset < bytes.count, bytes[offset] != 0x2C {
                switch bytes[offset] {
                case 0x3B: return nil
                case 0x21:
                    offset += 2
                    while offset < bytes.count, bytes[offset] != 0 { offset += Int(bytes[offset]) + 1 }
                    offset += 1
                default: offset += 1
                }
            }
            guard offset < bytes.count else { return nil }
            left = Int(bytes.littleEndian16(at: offset + 1))
            top = Int(bytes.littleEndian16(at: offset + 3))
            size = PixelSize(
                width: Int(bytes.littleEndian16(at: offset + 5)), height: Int(bytes.littleEndian16(at: offset + 7)))
        }
    }
}
