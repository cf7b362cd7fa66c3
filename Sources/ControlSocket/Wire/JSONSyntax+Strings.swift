extension JSONSyntax {
    /// Steps over the string whose opening quote is at `at`: escapes well formed, surrogates in pairs, UTF-8 valid.
    static func skipString(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) {
        at += 1
        while at < text.count {
            let byte = text[at]
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                return
            case UInt8(ascii: "\\"): try skipEscape(text, &at)
            case 0x00..<0x20: throw Fault(offset: at, reason: "a control character in a string must be escaped")
            case 0x80...: try skipMultibyte(text, &at)
            default: at += 1
            }
        }
        throw Fault(offset: at, reason: "a string does not end")
    }

    private static func skipEscape(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) {
        guard at + 1 < text.count else { throw Fault(offset: at, reason: "a string does not end") }
        switch text[at + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            at += 2
        case UInt8(ascii: "u"):
            let begin = at
            let unit = try codeUnit(text, &at)
            if unit & 0xFC00 == 0xD800 {
                guard at + 1 < text.count, text[at] == UInt8(ascii: "\\"), text[at + 1] == UInt8(ascii: "u"),
                    try codeUnit(text, &at) & 0xFC00 == 0xDC00
                else { throw Fault(offset: begin, reason: "half a surrogate pair") }
            } else if unit & 0xFC00 == 0xDC00 {
                throw Fault(offset: begin, reason: "half a surrogate pair")
            }
        default: throw Fault(offset: at, reason: "an unknown escape in a string")
        }
    }

    /// The four hexadecimal digits of the `\u` at `at`, and past them.
    private static func codeUnit(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) -> UInt32 {
        guard text.count - at >= 6 else { throw Fault(offset: at, reason: "a string does not end") }
        var unit: UInt32 = 0
        for index in (at + 2)..<(at + 6) {
            let digit: UInt8
            switch text[index] {
            case 0x30...0x39: digit = text[index] - 0x30
            case 0x41...0x46: digit = text[index] - 0x37
            case 0x61...0x66: digit = text[index] - 0x57
            default: throw Fault(offset: index, reason: "an unknown escape in a string")
            }
            unit = unit << 4 | UInt32(digit)
        }
        at += 6
        return unit
    }

    /// One character of two to four bytes: no overlong form, no surrogate, nothing past U+10FFFF (RFC 3629).
    private static func skipMultibyte(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) {
        let (more, second): (Int, ClosedRange<UInt8>) =
            switch text[at] {
            case 0xC2...0xDF: (1, 0x80...0xBF)
            case 0xE0: (2, 0xA0...0xBF)
            case 0xED: (2, 0x80...0x9F)
            case 0xE1...0xEF: (2, 0x80...0xBF)
            case 0xF0: (3, 0x90...0xBF)
            case 0xF1...0xF3: (3, 0x80...0xBF)
            case 0xF4: (3, 0x80...0x8F)
            default: (0, 0x80...0xBF)
            }
        guard more > 0, text.count - at > more, second.contains(text[at + 1]) else {
            throw Fault(offset: at, reason: "it is not valid UTF-8")
        }
        for index in 1..<(more + 1) where text[at + index] & 0xC0 != 0x80 {
            throw Fault(offset: at, reason: "it is not valid UTF-8")
        }
        at += more + 1
    }

    /// The text of a string that ``skipString(_:_:)`` has accepted, given the range between its quotes.
    static func text(of range: Range<Int>, in text: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var at = range.lowerBound
        while at < range.upperBound {
            guard text[at] == UInt8(ascii: "\\") else {
                bytes.append(text[at])
                at += 1
                continue
            }
            switch text[at + 1] {
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0C)
            case UInt8(ascii: "n"): bytes.append(0x0A)
            case UInt8(ascii: "r"): bytes.append(0x0D)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"):
                bytes.append(contentsOf: Character(scalar(text, &at)).utf8)
                continue
            default: bytes.append(text[at + 1])
            }
            at += 2
        }
        return bytes
    }

    /// The character of the `\u` escape, or of the pair of them, at `at`.
    private static func scalar(_ text: Span<UInt8>, _ at: inout Int) -> Unicode.Scalar {
        guard let first = try? codeUnit(text, &at) else { return "\u{FFFD}" }
        guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        guard let second = try? codeUnit(text, &at) else { return "\u{FFFD}" }
        return Unicode.Scalar(0x10000 + ((first & 0x3FF) << 10 | second & 0x3FF)) ?? "\u{FFFD}"
    }

    /// `bytes` (valid UTF-8) as a JSON string with its quotes.
    static func quoted(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        var quoted: [UInt8] = [UInt8(ascii: "\"")]
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): quoted += [UInt8(ascii: "\\"), byte]
            case 0x00..<0x20: quoted += "\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8
            default: quoted.append(byte)
            }
        }
        quoted.append(UInt8(ascii: "\""))
        return quoted
    }
}
