import ImageWorkerProtocol

/// What an iPhone puts into EXIF beside what the standard knows: a small TIFF directory behind `Apple iOS`, whose offsets count from the
/// note's own beginning. libexiv2 0.27 does not know it, and of all that it says one text is wanted.
struct AppleMakerNote {
    private static let name = Array("Apple iOS\0".utf8)
    /// Behind the name, two bytes of a version and two of the byte order.
    private static let directory = 14
    private static let contentIdentifier: UInt16 = 0x0011
    /// Today's phones write some forty.
    private static let mostEntries = 512
    private static let ascii: UInt16 = 2

    private let bytes: [UInt8]

    /// Nil for a note of another maker's, or in another form.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count > Self.directory + 2, bytes.starts(with: Self.name) else { return nil }
        self.bytes = Array(bytes)
        guard number(Self.directory - 2, 2) == 0x4D4D else { return nil }
    }

    /// The same in the film of a photo that moves, as `com.apple.quicktime.content.identifier`.
    var contentIdentifier: String? {
        let count = min(number(Self.directory, 2) ?? 0, Self.mostEntries)
        for entry in (0..<count).lazy.map({ Self.directory + 2 + $0 * 12 }) {
            guard let tag = number(entry, 2) else { return nil }
            guard tag == Int(Self.contentIdentifier) else { continue }
            return text(entry)
        }
        return nil
    }

    /// The ASCII of an entry up to its first zero; longer ones stand elsewhere, and none of four bytes is an identifier.
    private func text(_ entry: Int) -> String? {
        guard number(entry + 2, 2) == Int(Self.ascii), let count = number(entry + 4, 4), count > 4,
            count <= ImageLimits.contentIdentifierLength + 1, let start = number(entry + 8, 4),
            start <= bytes.count - count
        else { return nil }
        let text = String(decoding: bytes[start..<start + count].prefix { $0 != 0 }, as: UTF8.self)
        return PictureFacts.isContentIdentifier(text) ? text : nil
    }

    /// Big-endian; nil past the end.
    private func number(_ offset: Int, _ width: Int) -> Int? {
        guard offset >= 0, offset <= bytes.count - width else { return nil }
        return bytes[offset..<offset + width].reduce(0) { $0 << 8 | Int($1) }
    }
}
