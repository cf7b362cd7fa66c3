import ImageWorkerProtocol

/// What the boxes around a JPEG 2000 codestream say (ISO/IEC 15444-1, annex I), and the codestream's own first lines.
/// Read here because OpenJPEG says what colours mean only when it has decoded them, and checks no size before it takes
/// memory.
struct J2KContainer {
    enum Meaning {
        /// Of a codestream alone, or with a profile.
        case unknown
        case grey, colours
        /// Brightness and two differences.
        case ycc
        case inks
        /// By the format's number.
        case other(UInt32)
    }

    private(set) var meaning = Meaning.unknown
    private(set) var profile: ColourProfile?
    /// Components that a palette makes of one.
    private(set) var paletteColumns: Int?
    /// The component that is opacity.
    private(set) var opacity: Int?
    private(set) var exif: [UInt8]?
    private(set) var xmp: [UInt8]?
    private(set) var iptc: [UInt8]?

    /// More components than any colours have.
    private static let mostComponents = 16

    /// - Throws: ``ImagingError/tooLarge(_:)`` and others by the sizes that it says.
    init(codestream bytes: ByteView) throws(ImagingError) { try Self.check(codestream: bytes) }

    /// - Throws: as ``init(codestream:)``.
    init(_ bytes: ByteView) throws(ImagingError) {
        var hasCodestream = false
        for box in BoxList(bytes) {
            switch box.type {
            case "ftyp" where box.body.text(at: 0, count: 4) == "mjp2": throw .unsupported("a film in JPEG 2000")
            case "jp2h": readHeader(box)
            case "uuid": read(uuid: box.body)
            case "xml " where xmp == nil: xmp = EmbeddedMetadata.xmpPacket(box.body)
            case "jp2c" where !hasCodestream:
                hasCodestream = true
                try Self.check(codestream: box.body)
            default: break
            }
        }
        guard hasCodestream else { throw .damaged("a JPEG 2000 without a picture") }
    }

    private static func check(codestream bytes: ByteView) throws(ImagingError) {
        guard bytes.starts(with: J2KPicture.codestream), bytes.count >= 42 else {
            throw .damaged("its JPEG 2000 header is broken or cut off")
        }
        func number(_ offset: Int) -> Int { Int(bytes.bigEndian32(at: offset)) }
        let (width, height) = (number(8) - number(16), number(12) - number(20))
        try ImageLimits.check(width: width, height: height)
        let components = Int(bytes.bigEndian16(at: 40))
        guard (1...mostComponents).contains(components) else {
            throw .unsupported("a JPEG 2000 of \(components) components")
        }
        guard number(24) > 0, number(28) > 0 else { throw .damaged("a JPEG 2000 with tiles of no size") }
    }

    private mutating func readHeader(_ header: Box) {
        for box in BoxList(header.body) {
            switch box.type {
            case "colr": read(colours: box.body)
            case "pclr" where paletteColumns == nil: paletteColumns = min(Int(box.body[2]), Self.mostComponents)
            case "cdef" where opacity == nil:
                for index in 0..<min(Int(box.body.bigEndian16(at: 0)), Self.mostComponents) {
                    let entry = 2 + index * 6
                    // 1 is opacity, 2 one with which the colours are multiplied.
                    guard [1, 2].contains(box.body.bigEndian16(at: entry + 2)) else { continue }
                    opacity = Int(box.body.bigEndian16(at: entry))
                    break
                }
            default: break
            }
        }
    }

    /// The first that is understood counts.
    private mutating func read(colours body: ByteView) {
        guard case .unknown = meaning, profile == nil else { return }
        switch body[0] {
        case 1:
            meaning =
                switch body.bigEndian32(at: 3) {
                case 12: .inks
                case 16: .colours
                case 17: .grey
                case 18: .ycc
                case let other: .other(other)
                }
        case 2, 3:
            let bytes = body.part(from: 3)
            guard bytes.count >= 128, bytes.count <= ImageLimits.profileBytes else { return }
            profile = .icc(bytes.array)
            // Which colours the profile is of stands in it.
            switch bytes.text(at: 16, count: 4) {
            case "GRAY": meaning = .grey
            case "CMYK": meaning = .inks
            default: break
            }
        default: break
        }
    }

    /// What programs have agreed upon: the numbers are Adobe's and Exiv2's.
    private mutating func read(uuid body: ByteView) {
        let content = body.part(from: 16)
        if body.starts(with: Array("JpgTiffExif->JP2".utf8)) {
            exif = exif ?? EmbeddedMetadata.exifBlock(content)
        } else if body.starts(with: [
            0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
        ]) {
            xmp = EmbeddedMetadata.xmpPacket(content) ?? xmp
        } else if body.starts(with: [
            0x33, 0xC7, 0xA4, 0xD2, 0xB8, 0x1D, 0x47, 0x23, 0xA0, 0xBA, 0xF1, 0xA3, 0xE0, 0x97, 0xAD, 0x38,
        ]) {
            iptc = iptc ?? EmbeddedMetadata.iptcRecords(content)
        }
    }
}
