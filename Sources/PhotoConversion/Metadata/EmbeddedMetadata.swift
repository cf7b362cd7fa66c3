import CZlib
import ImageWorkerProtocol

/// What a container carries beside its pixels: an EXIF block (beginning at its TIFF header), XMP, IPTC and a colour profile.
struct EmbeddedMetadata {
    var exif: [UInt8]?
    /// Of a JPEG those behind the first one: read where it lacks something, and not carried.
    var furtherExif: [[UInt8]] = []
    /// An XMP packet in UTF-8, well-formed or not.
    var xmp: [UInt8]?
    /// The second part of a packet that was too long for a JPEG's segment.
    var extendedXMP: [UInt8]?
    /// IPTC's records.
    var iptc: [UInt8]?
    /// What PNG has beside all of these.
    var texts = PNGTexts()
    var profile: ColourProfile?
    /// Whether the container has turned the picture already, so that EXIF's orientation must not do it again.
    var isUpright = false

    static let exifName: [UInt8] = Array("Exif\0\0".utf8)

    /// An EXIF block without the name that some writers put before it; nil where there is nothing or too much.
    static func exifBlock(_ bytes: ByteView) -> [UInt8]? {
        let block = bytes.starts(with: exifName) ? bytes.part(from: exifName.count) : bytes
        guard block.count > 8, block.count <= ImageLimits.exifBytes else { return nil }
        return block.array
    }

    /// Bytes that reading, correcting and writing these takes at most: a packet is there as found, as corrected, taken apart,
    /// in segments, and twice in the growing output.
    var memory: Int { [xmp, extendedXMP, iptc].reduce(0) { $0 + ($1?.count ?? 0) } * 8 }

    private static func profile(_ bytes: ByteView) -> ColourProfile? {
        bytes.count >= 128 && bytes.count <= ImageLimits.profileBytes ? .icc(bytes.array) : nil
    }

    /// WebP: the RIFF chunks EXIF, ICCP and XMP.
    init(webp bytes: ByteView) {
        var offset = 12
        while offset + 8 <= bytes.count {
            let length = Int(bytes.littleEndian32(at: offset + 4))
            let body = bytes.part(from: offset + 8, count: length)
            switch bytes.text(at: offset, count: 4) {
            case "EXIF" where exif == nil: exif = Self.exifBlock(body)
            case "ICCP" where profile == nil: profile = Self.profile(body)
            case "XMP " where xmp == nil: xmp = Self.xmpPacket(body)
            default: break
            }
            offset += 8 + length + length % 2
        }
    }

    init(
        exif: [UInt8]? = nil, xmp: [UInt8]? = nil, iptc: [UInt8]? = nil, profile: ColourProfile? = nil,
        isUpright: Bool = false
    ) {
        self.exif = exif
        self.xmp = xmp
        self.iptc = iptc
        self.profile = profile
        self.isUpright = isUpright
    }

    static func inflatedProfile(_ bytes: ByteView) -> ColourProfile? {
        inflated(bytes, upTo: ImageLimits.profileBytes).flatMap { $0.count >= 128 ? .icc($0) : nil }
    }

    /// Deflated data, or nil where they are broken or inflate past the limit.
    static func inflated(_ bytes: ByteView, upTo limit: Int) -> [UInt8]? {
        var target = [UInt8](repeating: 0, count: min(limit, max(64 << 10, bytes.count * 8)))
        while true {
            var length = uLong(target.count)
            let status = uncompress(&target, &length, bytes.base, uLong(bytes.count))
            if status == Z_OK {
                target.removeLast(target.count - Int(length))
                return target
            }
            guard status == Z_BUF_ERROR, target.count < limit else { return nil }
            target = [UInt8](repeating: 0, count: limit)
        }
    }
}
