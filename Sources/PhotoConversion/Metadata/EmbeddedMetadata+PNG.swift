import ImageWorkerProtocol

extension EmbeddedMetadata {
    /// PNG: the chunks eXIf and iCCP, the text that is XMP, those in which ImageMagick and others keep EXIF, XMP and IPTC, and
    /// those for people, wherever they stand.
    init(png bytes: ByteView) {
        self.init()
        var profiles = RawProfiles()
        var texts = 0
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
                if body[name + 1] == 0 { profile = Self.inflatedProfile(body.part(from: name + 2)) }
            case "tIME": self.texts.add(time: body)
            case let kind where ["tEXt", "zTXt", "iTXt"].contains(kind) && texts < Self.mostTexts:
                texts += 1
                if let text = PNGText(kind: kind, body) { take(text, &profiles) }
            case "IEND":
                take(profiles)
                return
            default: break
            }
            offset += 12 + length
        }
        take(profiles)
    }

    /// More than any program writes: each may be deflated.
    private static let mostTexts = 64

    private mutating func take(_ text: PNGText, _ profiles: inout RawProfiles) {
        switch text.keyword {
        case "xml:com.adobe.xmp" where text.kind == "iTXt":
            if xmp == nil {
                xmp = text.bytes(upTo: ImageLimits.xmpBytes)?.withUnsafeBytes { Self.xmpPacket(ByteView($0)) }
            }
        case let keyword where keyword.hasPrefix(RawProfiles.keyword):
            if let bytes = text.bytes(upTo: RawProfiles.mostTextBytes) {
                profiles.add(String(keyword.dropFirst(RawProfiles.keyword.count)), bytes)
            }
        case "creation time", "exif:datetimeoriginal", "description":
            guard let bytes = text.bytes(upTo: EmbeddedText.captionBytes) else { return }
            texts.add(text.keyword, EmbeddedText.decoded(bytes))
        default: break
        }
    }

    /// What stands in a chunk of its own counts before a text.
    private mutating func take(_ profiles: RawProfiles) {
        exif = exif ?? profiles.exif
        xmp = xmp ?? profiles.xmp
        iptc = profiles.iptc
    }
}

/// A text chunk: a keyword, and a text that may be deflated.
struct PNGText {
    let kind: String
    /// In lower case.
    let keyword: String
    private let text: ByteView
    private let isDeflated: Bool

    /// Nil where it has no keyword, or is deflated in a way that PNG does not have.
    init?(kind: String, _ body: ByteView) {
        var end = 0
        while end < 80, end < body.count, body[end] != 0 { end += 1 }
        guard end > 0, end < 80 else { return nil }
        self.kind = kind
        keyword = body.text(at: 0, count: end).lowercased()
        var offset = end + 1
        switch kind {
        case "zTXt":
            isDeflated = true
            guard body[offset] == 0 else { return nil }
            offset += 1
        case "iTXt":
            // Whether it is deflated, how, then a language and a translated keyword.
            isDeflated = body[offset] == 1
            guard !isDeflated || body[offset + 1] == 0 else { return nil }
            offset += 2
            for _ in 0..<2 {
                while offset < body.count, body[offset] != 0 { offset += 1 }
                offset += 1
            }
        default: isDeflated = false
        }
        text = body.part(from: offset)
    }

    /// Nil where it is broken, or longer.
    func bytes(upTo limit: Int) -> [UInt8]? {
        if isDeflated { return EmbeddedMetadata.inflated(text, upTo: limit) }
        return text.count <= limit ? text.array : nil
    }
}

/// Blocks of other formats in PNG's texts, in hexadecimal digits: `Raw profile type exif` and the like.
private struct RawProfiles {
    static let keyword = "raw profile type "
    /// Twice as many digits as the block has bytes, and their lines' ends.
    static let mostTextBytes = 4 << 20

    private(set) var exif: [UInt8]?
    private(set) var xmp: [UInt8]?
    private(set) var iptc: [UInt8]?

    /// - Parameter name: of the profile, in lower case.
    mutating func add(_ name: String, _ text: [UInt8]) {
        guard let bytes = Self.bytes(text) else { return }
        bytes.withUnsafeBytes { raw in
            let view = ByteView(raw)
            switch name {
            // What stands in a JPEG's segment of that name, which is the one or the other.
            case "exif", "app1":
                if view.starts(with: XMPSegments.standardName) {
                    xmp = xmp ?? EmbeddedMetadata.xmpPacket(view.part(from: XMPSegments.standardName.count))
                } else {
                    exif = exif ?? EmbeddedMetadata.exifBlock(view)
                }
            case "xmp": xmp = xmp ?? EmbeddedMetadata.xmpPacket(view)
            case "iptc", "8bim":
                let named = view.starts(with: PhotoshopResources.segmentName)
                let resources = named ? view.part(from: PhotoshopResources.segmentName.count) : view
                iptc = iptc ?? EmbeddedMetadata.iptcRecords(resources) ?? PhotoshopResources.iptc(in: resources)
            default: break
            }
        }
    }

    /// A line with the profile's name, one with its length, then digits. Nil where there are other than so many of them.
    private static func bytes(_ text: [UInt8]) -> [UInt8]? {
        var rest = text.drop { $0 == 0x0A }
        guard let name = rest.firstIndex(of: 0x0A) else { return nil }
        rest = rest[(name + 1)...].drop(while: XMLScanner.isSpace)
        let count = rest.prefix { (0x30...0x39).contains($0) }
        guard let length = Int(String(decoding: count, as: UTF8.self)), length <= mostTextBytes / 2 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(length)
        var upper: UInt8?
        for byte in rest.dropFirst(count.count) where !XMLScanner.isSpace(byte) {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init) else { return nil }
            if let first = upper {
                result.append(first << 4 | digit)
                upper = nil
            } else {
                upper = digit
            }
        }
        return result.count == length ? result : nil
    }
}
