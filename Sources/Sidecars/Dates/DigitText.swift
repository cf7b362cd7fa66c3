/// Bytes of a text in which numbers stand at known places. Every look is bounds-checked: an index outside finds
/// nothing.
struct DigitText {
    let bytes: [UInt8]

    subscript(index: Int) -> UInt8? { bytes.indices.contains(index) ? bytes[index] : nil }

    func isDigit(_ index: Int) -> Bool { self[index].map(Self.isDigit) ?? false }

    static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A || byte >= 0x80 }

    func isAlphanumeric(_ index: Int) -> Bool { self[index].map { Self.isDigit($0) || Self.isLetter($0) } ?? false }

    /// The digits from `index` on; empty where there is none.
    func digits(at index: Int) -> Range<Int> {
        var end = index
        while isDigit(end) { end += 1 }
        return index..<end
    }

    /// The value of `count` digits at `index`; nil where one of them is none. At most 18 digits.
    func number(_ index: Int, _ count: Int) -> Int? {
        guard index >= 0, count <= 18 else { return nil }
        var value = 0
        for place in index..<index + count {
            guard let byte = self[place], Self.isDigit(byte) else { return nil }
            value = value * 10 + Int(byte - 0x30)
        }
        return value
    }

    /// Where UUIDs stand: what looks like a date in one is chance.
    var identifiers: [Range<Int>] {
        let groups = [8, 4, 4, 4, 12]
        let length = groups.reduce(groups.count - 1, +)
        var found: [Range<Int>] = []
        var start = 0
        while start + length <= bytes.count {
            var at = start
            let isOne = groups.allSatisfy { count in
                let isFirst = at == start
                guard isFirst || self[at] == UInt8(ascii: "-") else { return false }
                if !isFirst { at += 1 }
                defer { at += count }
                return (at..<at + count).allSatisfy { self[$0].map(Self.isHexadecimal) ?? false }
            }
            if isOne { found.append(start..<start + length) }
            start += isOne ? length : 1
        }
        return found
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        isDigit(byte) || (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66
    }
}
