import CGD
import ImageWorkerProtocol

/// BMP: uncompressed ones read here line by line, because gd knows neither the newer headers nor alpha;
/// run-length coded ones by gd.
struct BMPPicture: PictureDecoder {
    let size: PixelSize
    let metadata = EmbeddedMetadata()
    private let source: SourceFile
    private let pixels: BMPPixels?

    /// Line by line, or as gd holds it.
    var memory: Int { pixels == nil ? size.pixels * GDImage.bytesPerPixel : 0 }

    init(_ source: SourceFile) throws(ImagingError) {
        self.source = source
        let header = BMPHeader(source.bytes)
        try ImageLimits.check(width: header.width, height: header.height)
        size = PixelSize(width: header.width, height: header.height)
        switch header.compression {
        case 0, 3, 6: pixels = try BMPPixels(header, source.bytes)
        case 1, 2: pixels = nil
        default: throw .unsupported("a BMP of compression \(header.compression)")
        }
    }

    func lines(atLeast side: Int, inks: RowConverter?) throws(ImagingError) -> any LineSource {
        guard let pixels else {
            return try GDImage.lines(source, size, type: "BMP") { count, address in
                gdImageCreateFromBmpPtr(count, address)
            }
        }
        let source = source
        return RowLines(size: size, format: .rgba) { (line, row) throws(ImagingError) in
            pixels.read(line: line, into: row)
            withExtendedLifetime(source) {}
        }
    }
}

/// The fields of a BMP's two headers, whichever of their versions.
struct BMPHeader {
    let headerSize: Int
    let pixelOffset: Int
    let width: Int
    let height: Int
    let isTopDown: Bool
    let depth: Int
    let compression: Int
    let coloursUsed: Int

    init(_ bytes: ByteView) {
        headerSize = Int(bytes.littleEndian32(at: 14))
        pixelOffset = Int(bytes.littleEndian32(at: 10))
        if headerSize == 12 {
            width = Int(bytes.littleEndian16(at: 18))
            height = Int(bytes.littleEndian16(at: 20))
            isTopDown = false
            depth = Int(bytes.littleEndian16(at: 24))
            compression = 0
            coloursUsed = 0
        } else {
            width = Int(Int32(bitPattern: bytes.littleEndian32(at: 18)))
            let signed = Int(Int32(bitPattern: bytes.littleEndian32(at: 22)))
            height = abs(signed)
            isTopDown = signed < 0
            depth = Int(bytes.littleEndian16(at: 28))
            compression = Int(bytes.littleEndian32(at: 30))
            coloursUsed = Int(bytes.littleEndian32(at: 46))
        }
    }
}

/// Uncompressed BMP pixels: palettes of 1, 2, 4 and 8 bits, bit fields of 16 and 32, and 24.
struct BMPPixels {
    private let bytes: ByteView
    private let header: BMPHeader
    private let stride: Int
    /// Red, green, blue, opacity for each index.
    private var palette: [(UInt8, UInt8, UInt8, UInt8)] = []
    private var fields: [BitField] = []

    struct BitField {
        var shift: Int
        var bits: Int

        init(mask: UInt32) {
            shift = mask == 0 ? 0 : mask.trailingZeroBitCount
            bits = mask == 0 ? 0 : (~(mask >> shift)).trailingZeroBitCount
        }

        func value(_ pixel: UInt32) -> UInt8 {
            guard bits > 0 else { return 0 }
            let most = bits >= 32 ? UInt32.max : (1 << UInt32(bits)) - 1
            return UInt8(UInt64(pixel >> UInt32(shift) & most) * 255 / UInt64(most))
        }
    }

    init(_ header: BMPHeader, _ bytes: ByteView) throws(ImagingError) {
        self.header = header
        self.bytes = bytes
        stride = (header.width * header.depth + 31) / 32 * 4
        let masksAfterHeader = header.headerSize == 40 && header.compression != 0
        switch header.depth {
        case 1, 2, 4, 8:
            guard header.compression == 0 else { throw .unsupported("a BMP of compression \(header.compression)") }
            let entryBytes = header.headerSize == 12 ? 3 : 4
            let most = 1 << header.depth
            guard header.coloursUsed <= 256 else {
                throw .damaged("its BMP palette has \(header.coloursUsed) colours")
            }
            let count = header.coloursUsed == 0 ? most : min(most, header.coloursUsed)
            palette = (0..<most).map { index in
                guard index < count else { return (0, 0, 0, 255) }
                let offset = 14 + header.headerSize + index * entryBytes
                return (bytes[offset + 2], bytes[offset + 1], bytes[offset], 255)
            }
        case 16, 32:
            var masks: [UInt32] =
                header.depth == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF0000, 0xFF00, 0xFF, 0]
            if header.compression != 0 {
                let hasAlphaMask = header.headerSize >= 56 || (masksAfterHeader && header.compression == 6)
                for index in 0..<(hasAlphaMask ? 4 : 3) { masks[index] = bytes.littleEndian32(at: 54 + index * 4) }
            }
            fields = masks.map(BitField.init)
        case 24:
            guard header.compression == 0 else { throw .unsupported("a BMP of compression \(header.compression)") }
        default: throw .unsupported("a BMP of \(header.depth) bits a pixel")
        }
        let present = max(0, bytes.count - header.pixelOffset) / max(1, stride)
        guard header.pixelOffset >= 14 + header.headerSize, present * 16 >= header.height * 15 else {
            throw .damaged("it ends early: \(max(0, header.height - present)) of \(header.height) lines are missing")
        }
    }

    func read(line: Int, into row: UnsafeMutablePointer<UInt8>) {
        let stored = header.isTopDown ? line : header.height - 1 - line
        let start = header.pixelOffset + stored * stride
        for x in 0..<header.width {
            let (red, green, blue, opacity) = pixel(x, start)
            row[x &* 4] = red
            row[x &* 4 &+ 1] = green
            row[x &* 4 &+ 2] = blue
            row[x &* 4 &+ 3] = opacity
        }
    }

    private func pixel(_ x: Int, _ start: Int) -> (UInt8, UInt8, UInt8, UInt8) {
        switch header.depth {
        case 24:
            let offset = start + x * 3
            return (bytes[offset + 2], bytes[offset + 1], bytes[offset], 255)
        case 16, 32:
            let packed =
                header.depth == 32
                ? bytes.littleEndian32(at: start + x * 4) : UInt32(bytes.littleEndian16(at: start + x * 2))
            return (
                fields[0].value(packed), fields[1].value(packed), fields[2].value(packed),
                fields[3].bits == 0 ? 255 : fields[3].value(packed)
            )
        default:
            let bit = x * header.depth
            let byte = Int(bytes[start + bit / 8])
            return palette[byte >> (8 - header.depth - bit % 8) & (1 << header.depth - 1)]
        }
    }
}
