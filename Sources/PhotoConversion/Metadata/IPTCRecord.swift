/// IPTC's records (IIM): numbered data sets, each with its length.
struct IPTCRecord {
    private let bytes: [UInt8]
    private var sets: [UInt16: Range<Int>] = [:]

    /// The data sets that are read, as record and number: the character set's name is not, because what it says is as often
    /// wrong as right.
    private enum Number {
        static let dateCreated: UInt16 = 2 << 8 | 55
        static let timeCreated: UInt16 = 2 << 8 | 60
        static let caption: UInt16 = 2 << 8 | 120
    }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        var offset = 0
        while offset + 5 <= bytes.count, bytes[offset] == 0x1C {
            let number = UInt16(bytes[offset + 1]) << 8 | UInt16(bytes[offset + 2])
            var length = Int(bytes[offset + 3]) << 8 | Int(bytes[offset + 4])
            offset += 5
            if length & 0x8000 != 0 {
                // The length of the length; no field that is read is ever so long.
                let digits = length & 0x7FFF
                guard digits <= 4, offset + digits <= bytes.count else { return }
                length = bytes[offset..<offset + digits].reduce(0) { $0 << 8 | Int($1) }
                offset += digits
            }
            guard length <= bytes.count - offset else { return }
            switch number {
            case Number.dateCreated, Number.timeCreated, Number.caption:
                if sets[number] == nil { sets[number] = offset..<offset + length }
            default: break
            }
            offset += length
        }
    }

    var date: WallClock? {
        guard let date = text(Number.dateCreated) else { return nil }
        return WallClock(iptc: date, time: text(Number.timeCreated))
    }

    var caption: String? { text(Number.caption, upTo: PhotoFacts.captionBytes) }

    private func text(_ number: UInt16, upTo limit: Int = 64) -> String? {
        sets[number].map { EmbeddedText.decoded(EmbeddedText.prefix(bytes[$0], upTo: limit)) }
    }
}
