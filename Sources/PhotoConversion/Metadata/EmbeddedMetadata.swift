import CZlib
import ImageWorkerProtocol

/// What a container carries beside its pixels: an EXIF block (beginning at its TIFF header) and a colour profile.
struct EmbeddedMetadata {
    var exif: [UInt8]?
    var profile: ColourProfile?
    /// Whether the container has turned the picture already, so that EXIF's orientation must not do it again.
    var isUpright = false

    private static let exifName: [UInt8] = Array("Exif\0\0".utf8)

    /// An EXIF block without the name that some writers put before it; nil where there is nothing or too much.
    static func exifBlock(_ bytes: ByteView) -> [UInt8]? {
        let block = bytes.starts(with: exifName) ? bytes.part(from: exifName.count) : bytes
        guard block.count > 8, block.count <= ImageLimits.exifBytes else { return nil }
        return block.array
    }

    private static func profile(_ bytes: ByteView) -> ColourProfile? {
        bytes.count >= 128 && bytes.count <= ImageLimits.profileBytes ? .icc(bytes.array) : nil
    }

    /// JPEG: the first APP1 named Exif, and the APP2 parts of a profile in the order of their numbers.
    init(jpeg bytes: ByteView) {
        var parts: [Int: ByteView] = [:]
        var partCount = 0
        var offset = 2
        while offset + 4 <= bytes.count {
            guard bytes[offset] == 0xFF else {
                // libjpeg skips what is no marker; so does this.
                offset += 1
                continue
            }
            let marker = bytes[offset + 1]
            if marker == 0xFF {
                offset += 1
                continue
            }
            if marker == 0xDA || marker == 0xD9 { break }
            if marker == 0 || marker == 1 || (0xD0...0xD8).contains(marker) {
                offset += 2
                continue
            }
            let length = Int(bytes.bigEndian16(at: offset + 2))
            guard length >= 2 else { break }
            let body = bytes.part(from: offset + 4, count: length - 2)
            if marker == 0xE1, exif == nil, body.starts(with: Self.exifName) {
                exif = Self.exifBlock(body)
            } else if marker == 0xE2, body.count > 14, body.text(at: 0, count: 12) == "ICC_PROFILE\0" {
                if parts[Int(body[12])] == nil { parts[Int(body[12])] = body.part(from: 14) }
                partCount = Int(body[13])
            }
            offset += 2 + length
        }
        var assembled: [UInt8] = []
        for number in 1..<(partCount + 1) where partCount > 0 {
            guard let part = parts[number], assembled.count + part.count <= ImageLimits.profileBytes else { return }
            assembled += part.array
        }
        if assembled.count >= 128 { profile = .icc(assembled) }
    }

    /// PNG: the chunks eXIf and iCCP, wherever they stand.
    init(png bytes: ByteView) {
        var offset = 8
        while offset + 12 <= bytes.count {
            let length = Int(bytes.bigEndian32(at: offset))
            let body = bytes.part(from: offset + 8, count: length)
            switch bytes.text(at: offset + 4, count: 4) {
            case "eXIf" where exif == nil: exif = Self.exifBlock(body)
            case "iCCP" where profile == nil:
                // A name of at most 79 bytes, a zero, the method (0 is deflate), then the data.
                var name = 0
                while name < 80, name < body.count, body[name] != 0 { name += 1 }
                if body[name + 1] == 0 { profile = Self.inflated(body.part(from: name + 2)) }
            case "IEND": return
            default: break
            }
            offset += 12 + length
        }
    }

    /// WebP: the RIFF chunks EXIF and ICCP.
    init(webp bytes: ByteView) {
        var offset = 12
        while offset + 8 <= bytes.count {
            let length = Int(bytes.littleEndian32(at: offset + 4))
            let body = bytes.part(from: offset + 8, count: length)
            switch bytes.text(at: offset, count: 4) {
            case "EXIF" where exif == nil: exif = Self.exifBlock(body)
            case "ICCP" where profile == nil: profile = Self.profile(body)
            default: break
            }
            offset += 8 + length + length % 2
        }
    }

    init(exif: [UInt8]? = nil, profile: ColourProfile? = nil, isUpright: Bool = false) {
        self.exif = exif
        self.profile = profile
        self.isUpright = isUpright
    }

    /// A deflated profile, or nil where it is broken or inflates past the limit.
    private static func inflated(_ bytes: ByteView) -> ColourProfile? {
        var target = [UInt8](repeating: 0, count: min(ImageLimits.profileBytes, max(64 << 10, bytes.count * 8)))
        while true {
            var length = uLong(target.count)
            let status = uncompress(&target, &length, bytes.base, uLong(bytes.count))
            if status == Z_OK { return length >= 128 ? .icc(Array(target[..<Int(length)])) : nil }
            guard status == Z_BUF_ERROR, target.count < ImageLimits.profileBytes else { return nil }
            target = [UInt8](repeating: 0, count: ImageLimits.profileBytes)
        }
    }
}
