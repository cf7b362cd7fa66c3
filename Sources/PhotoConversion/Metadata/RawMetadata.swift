import ImageWorkerProtocol

/// What a raw file carries beside its samples, wherever its maker puts it.
enum RawMetadata {
    static func read(_ bytes: ByteView, _ type: PictureType) -> EmbeddedMetadata {
        switch type {
        case .cr3:
            let boxes = CanonBoxes(bytes)
            return EmbeddedMetadata(exif: boxes.exif, xmp: boxes.xmp)
        // Its only directories are those of its preview.
        case .raf: return EmbeddedMetadata()
        default:
            let tags = TIFFTags(bytes)
            return EmbeddedMetadata(exif: TIFFExif.block(from: bytes), xmp: tags.xmp, iptc: tags.iptc)
        }
    }

    /// JPEGs inside that are to be found without knowing the camera.
    static func previews(_ bytes: ByteView, _ type: PictureType) -> [ByteView] {
        switch type {
        case .raf:
            [bytes.part(from: Int(bytes.bigEndian32(at: 84)), count: Int(bytes.bigEndian32(at: 88)))]
        case .cr3: CanonBoxes(bytes).previews
        default: RawDirectories(bytes).previews
        }
    }
}

extension EmbeddedMetadata {
    /// With what a raw file's preview says: its colours, and facts where the file itself has none.
    mutating func add(preview bytes: ByteView) {
        let found = EmbeddedMetadata(jpeg: bytes)
        profile = found.profile
        xmp = xmp ?? found.xmp
        iptc = iptc ?? found.iptc
        guard let block = found.exif else { return }
        if exif == nil { exif = block } else { furtherExif.append(block) }
    }
}

/// The boxes in which Canon's raw files keep what a TIFF has in its directories.
private struct CanonBoxes {
    private(set) var exif: [UInt8]?
    private(set) var xmp: [UInt8]?
    /// The camera's picture in full size, and a smaller one.
    private(set) var previews: [ByteView] = []

    private static let preview: [UInt8] = [
        0xEA, 0xF4, 0x2B, 0x5E, 0x1C, 0x98, 0x4B, 0x88, 0xB9, 0xFB, 0xB7, 0xDC, 0x40, 0x6E, 0x4D, 0x16,
    ]
    private static let mostTracks = 8
    private static let canon: [UInt8] = [
        0x85, 0xC0, 0xB6, 0x87, 0x82, 0x0F, 0x11, 0xE0, 0x81, 0x11, 0xF4, 0xCE, 0x46, 0x2B, 0x6A, 0x48,
    ]
    private static let packet: [UInt8] = [
        0xBE, 0x7A, 0xCF, 0xCB, 0x97, 0xA9, 0x42, 0xE8, 0x9C, 0x71, 0x99, 0x94, 0x91, 0xE3, 0xAF, 0xAC,
    ]

    init(_ bytes: ByteView) {
        for box in BoxList(bytes) {
            switch box.type {
            case "moov":
                for inner in BoxList(box.body) {
                    if inner.type == "uuid", exif == nil, inner.body.starts(with: Self.canon) {
                        exif = Self.exif(inner.body.part(from: Self.canon.count))
                    } else if inner.type == "trak", previews.count < Self.mostTracks {
                        previews += Self.sample(of: inner, in: bytes).map { [$0] } ?? []
                    }
                }
            case "uuid" where box.body.starts(with: Self.preview):
                // Eight bytes, and a box: a length, sizes and another length before the JPEG.
                for inner in BoxList(box.body.part(from: Self.preview.count + 8)) where inner.type == "PRVW" {
                    previews.append(inner.body.part(from: 16, count: Int(inner.body.bigEndian32(at: 12))))
                }
            case "uuid" where box.body.starts(with: Self.packet):
                xmp = xmp ?? EmbeddedMetadata.xmpPacket(box.body.part(from: Self.packet.count))
            default: break
            }
        }
    }

    /// The first of a track's, where that is a JPEG. What the sensor saw is in a track as well.
    private static func sample(of track: Box, in bytes: ByteView) -> ByteView? {
        var table = track.body
        for name in ["mdia", "minf", "stbl"] {
            guard let found = BoxList(table).first(where: { $0.type == name }) else { return nil }
            table = found.body
        }
        var (place, length): (Int?, Int?)
        for box in BoxList(table) {
            switch box.type {
            case "co64" where box.body.bigEndian32(at: 8) == 0: place = Int(box.body.bigEndian32(at: 12))
            case "stco": place = Int(box.body.bigEndian32(at: 8))
            // Of all samples, or of the first one.
            case "stsz":
                let all = Int(box.body.bigEndian32(at: 4))
                length = all > 0 ? all : Int(box.body.bigEndian32(at: 12))
            default: break
            }
        }
        guard let place, let length else { return nil }
        let found = bytes.part(from: place, count: length)
        return found.starts(with: [0xFF, 0xD8, 0xFF]) ? found : nil
    }

    /// Each directory is a TIFF of its own.
    private static func exif(_ bytes: ByteView) -> [UInt8]? {
        var parts: [String: ByteView] = [:]
        for box in BoxList(bytes) where parts[box.type] == nil { parts[box.type] = box.body }
        return parts["CMT1"].flatMap { TIFFExif.block(main: $0, exif: parts["CMT2"], gps: parts["CMT4"]) }
    }
}
