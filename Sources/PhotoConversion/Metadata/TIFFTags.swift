import ImageWorkerProtocol

/// XMP and IPTC of a TIFF file, classic or big, which stand in its first directory as they are.
///
/// Read here and not by libtiff, which turns the bytes of what it takes for numbers: some programs say that their IPTC is
/// made of them.
struct TIFFTags {
    private static let xmp: UInt16 = 700
    private static let iptc: UInt16 = 33723
    private static let photoshop: UInt16 = 34377
    private static let mostEntries = 4096

    private let file: ByteView
    private let isBigEndian: Bool
    private let isBig: Bool
    private var values: [UInt16: ByteView] = [:]

    init(_ file: ByteView) {
        self.file = file
        isBigEndian = file[0] == 0x4D
        isBig = file[2] == 0x2B || file[3] == 0x2B
        let start = number(isBig ? 8 : 4, isBig ? 8 : 4)
        let count = number(start, isBig ? 8 : 2)
        for index in 0..<min(count, Self.mostEntries) {
            read(start + (isBig ? 8 + index * 20 : 2 + index * 12))
        }
    }

    var xmp: [UInt8]? { values[Self.xmp].flatMap(EmbeddedMetadata.xmpPacket) }

    var iptc: [UInt8]? {
        values[Self.iptc].flatMap(EmbeddedMetadata.iptcRecords)
            ?? values[Self.photoshop].flatMap(PhotoshopResources.iptc)
    }

    private mutating func read(_ entry: Int) {
        let tag = UInt16(truncatingIfNeeded: number(entry, 2))
        guard [Self.xmp, Self.iptc, Self.photoshop].contains(tag), values[tag] == nil else { return }
        // BYTE, ASCII, UNDEFINED, or LONG.
        let widths = [1: 1, 2: 1, 7: 1, 4: 4]
        guard let width = widths[number(entry + 2, 2)] else { return }
        let count = number(entry + 4, isBig ? 8 : 4)
        guard count > 8, count <= ImageLimits.sourceBytes else { return }
        let value = file.part(from: number(entry + (isBig ? 12 : 8), isBig ? 8 : 4), count: count * width)
        if value.count == count * width { values[tag] = value }
    }

    /// Where it is past all that can be, the greatest number that is safe to count from.
    private func number(_ offset: Int, _ width: Int) -> Int {
        let value = (0..<width).reduce(UInt64(0)) { sum, index in
            sum << 8 | UInt64(file[offset + (isBigEndian ? index : width - 1 - index)])
        }
        return Int(min(value, 1 << 48))
    }
}
