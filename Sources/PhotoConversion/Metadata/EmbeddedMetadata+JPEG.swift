import ImageWorkerProtocol

extension EmbeddedMetadata {
    /// JPEG: the APP1 named Exif, the first that is XMP and what goes on with it, the APP2 parts of a profile in the
    /// order of their numbers, and IPTC among the resources in APP13.
    init(jpeg bytes: ByteView) {
        self.init()
        var profile = ProfileParts()
        var rest = ExtendedXMPParts()
        var resources: [ByteView] = []
        Self.forEachSegment(of: bytes) { marker, body in
            switch marker {
            case 0xE1:
                if body.starts(with: Self.exifName) {
                    if exif == nil {
                        exif = Self.exifBlock(body)
                    } else if furtherExif.count < Self.mostFurtherExif, let block = Self.exifBlock(body) {
                        furtherExif.append(block)
                    }
                } else if body.starts(with: XMPSegments.standardName) {
                    if xmp == nil { xmp = Self.xmpPacket(body.part(from: XMPSegments.standardName.count)) }
                } else if body.starts(with: XMPSegments.extensionName) {
                    rest.add(body.part(from: XMPSegments.extensionName.count))
                }
            case 0xE2: profile.add(body)
            case 0xED where body.starts(with: PhotoshopResources.segmentName):
                if resources.count < Self.mostResourceParts {
                    resources.append(body.part(from: PhotoshopResources.segmentName.count))
                }
            default: break
            }
        }
        self.profile = profile.assembled
        extendedXMP = rest.isEmpty ? nil : xmp.flatMap(XMPPacket.init).flatMap(rest.assembled)
        iptc = Self.iptc(resources)
    }

    /// Up to the first scan: each marker with a length, and what the length covers.
    private static func forEachSegment(of bytes: ByteView, _ body: (UInt8, ByteView) -> Void) {
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
            if marker == 0xDA || marker == 0xD9 { return }
            if marker == 0 || marker == 1 || (0xD0...0xD8).contains(marker) {
                offset += 2
                continue
            }
            let length = Int(bytes.bigEndian16(at: offset + 2))
            guard length >= 2 else { return }
            body(marker, bytes.part(from: offset + 4, count: length - 2))
            offset += 2 + length
        }
    }

    private static let mostFurtherExif = 3

    /// Segments of resources, which go on from one to the next wherever it ends: 16 MiB of them.
    private static let mostResourceParts = 256

    private static func iptc(_ resources: [ByteView]) -> [UInt8]? {
        guard resources.count > 1 else { return resources.first.flatMap(PhotoshopResources.iptc) }
        return resources.flatMap(\.array).withUnsafeBytes { PhotoshopResources.iptc(in: ByteView($0)) }
    }
}

/// A profile in numbered segments.
private struct ProfileParts {
    private var parts: [Int: ByteView] = [:]
    private var count = 0

    mutating func add(_ body: ByteView) {
        guard body.count > 14, body.text(at: 0, count: 12) == "ICC_PROFILE\0" else { return }
        if parts[Int(body[12])] == nil { parts[Int(body[12])] = body.part(from: 14) }
        count = Int(body[13])
    }

    var assembled: ColourProfile? {
        var assembled: [UInt8] = []
        for number in 1..<(count + 1) where count > 0 {
            guard let part = parts[number], assembled.count + part.count <= ImageLimits.profileBytes else { return nil }
            assembled += part.array
        }
        return assembled.count >= 128 ? .icc(assembled) : nil
    }
}

/// The second part of a long XMP packet, in segments that say where in it they belong: those of the digest that the first
/// part names, and without a gap.
private struct ExtendedXMPParts {
    private struct Part {
        var digest: ByteView
        var total: Int
        var offset: Int
        var bytes: ByteView
    }

    /// Parts as short as any program makes them, up to the limit of the whole.
    private static let mostParts = 1024
    private static let digestBytes = 32

    private var parts: [Part] = []

    var isEmpty: Bool { parts.isEmpty }

    mutating func add(_ body: ByteView) {
        guard body.count > Self.digestBytes + 8, parts.count < Self.mostParts else { return }
        parts.append(
            Part(
                digest: body.part(from: 0, count: Self.digestBytes),
                total: Int(body.bigEndian32(at: Self.digestBytes)),
                offset: Int(body.bigEndian32(at: Self.digestBytes + 4)), bytes: body.part(from: Self.digestBytes + 8)))
    }

    func assembled(for packet: XMPPacket) -> [UInt8]? {
        guard let digest = packet.text(.note, "HasExtendedXMP").map({ Array($0.utf8) }),
            digest.count == Self.digestBytes
        else { return nil }
        let own = parts.filter { $0.digest.starts(with: digest) }.sorted { $0.offset < $1.offset }
        guard let total = own.first?.total, total > 0, total <= ImageLimits.xmpBytes else { return nil }
        var assembled: [UInt8] = []
        assembled.reserveCapacity(total)
        for part in own where part.offset == assembled.count && part.total == total {
            guard assembled.count + part.bytes.count <= total else { return nil }
            assembled += part.bytes.array
        }
        return assembled.count == total ? assembled : nil
    }
}
