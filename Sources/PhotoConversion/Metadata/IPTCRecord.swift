import DateTexts

/// IPTC's records (IIM): numbered data sets, each with its length.
///
/// Read here and not by libexiv2, which makes `143305+0000` of a time without an offset: UTC, where the picture has said
/// nothing of it.
struct IPTCRecord {
    private let bytes: [UInt8]
    private var sets: [UInt16: Range<Int>] = [:]

    /// The data sets that are read, as record and number.
    private enum Number {
        static let characterSet: UInt16 = 1 << 8 | 90
        static let dateCreated: UInt16 = 2 << 8 | 55
        static let timeCreated: UInt16 = 2 << 8 | 60
        static let dateDigitized: UInt16 = 2 << 8 | 62
        static let timeDigitized: UInt16 = 2 << 8 | 63
        static let caption: UInt16 = 2 << 8 | 120
        static let all = [characterSet, dateCreated, timeCreated, dateDigitized, timeDigitized, caption]
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
            if Number.all.contains(number), sets[number] == nil { sets[number] = offset..<offset + length }
            offset += length
        }
    }

    var created: WrittenDate? { date(Number.dateCreated, Number.timeCreated) }

    var digitized: WrittenDate? { date(Number.dateDigitized, Number.timeDigitized) }

    var caption: String? { text(Number.caption, upTo: EmbeddedText.captionBytes) }

    private func date(_ date: UInt16, _ time: UInt16) -> WrittenDate? {
        text(date).flatMap { WrittenDate(iptc: $0, time: text(time)) }
    }

    /// Of the sets' own name for their characters one is believed, ESC % G for UTF-8: what else stands there is as often wrong
    /// as right. A text that says it is UTF-8 and is none was cut within a character, which goes.
    private func text(_ number: UInt16, upTo limit: Int = 64) -> String? {
        guard let set = sets[number] else { return nil }
        let text = EmbeddedText.prefix(bytes[set], upTo: limit)
        guard sets[Number.characterSet].map({ bytes[$0].elementsEqual([0x1B, 0x25, 0x47]) }) ?? false else {
            return EmbeddedText.decoded(text)
        }
        return String(decoding: text, as: UTF8.self).filter { $0 != "\u{FFFD}" }
    }
}
