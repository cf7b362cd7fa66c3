/// Reads JSON (RFC 8259) front to back and keeps only what is asked for, so that memory does not depend on what else is
/// in it. Foundation's parser was rejected because it builds everything and keeps one of two members of the same name.
/// What the other readers of JSON are for, `JSONPlace` of BackupFormats says.
struct JSONScanner {
    /// A value that is one piece of text; what is an object or an array has been stepped over.
    enum Value: Equatable {
        case text(String)
        /// As it is written.
        case number(String)
        case truth(Bool)
        case null
        case other
    }

    private let bytes: [UInt8]
    private var at = 0
    private var depth = 0

    /// - Parameter text: valid UTF-8.
    init(_ text: [UInt8]) { bytes = text }

    private var byte: UInt8? { at < bytes.count ? bytes[at] : nil }

    private func fault(_ what: String) -> SidecarError { .malformed(what, offset: at) }

    private mutating func skipSpace() {
        while let byte, XMLScanner.isSpace(byte) { at += 1 }
    }

    /// Throws where anything but space follows.
    mutating func end() throws(SidecarError) {
        skipSpace()
        guard at == bytes.count else { throw fault("there is more after its end") }
    }

    mutating func beginsObject() -> Bool {
        skipSpace()
        return byte == UInt8(ascii: "{")
    }

    /// Reads an object. `visit` is given the name of each member and reads its value from the scanner.
    /// - Parameter wanted: names that may be there once only.
    mutating func object(
        wanted: Set<String>, _ visit: (String, inout JSONScanner) throws(SidecarError) -> Void
    ) throws(SidecarError) {
        var seen: Set<String> = []
        try enter(UInt8(ascii: "{"))
        defer { depth -= 1 }
        if take(UInt8(ascii: "}")) { return }
        repeat {
            skipSpace()
            guard byte == UInt8(ascii: "\"") else { throw fault("a member's name is missing") }
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
            if wanted.contains(name), !seen.insert(name).inserted { throw .duplicateMember(name) }
            try visit(name, &self)
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw fault("an object does not end") }
    }

    mutating func value() throws(SidecarError) -> Value {
        skipSpace()
        switch byte {
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "{"):
            try object(wanted: []) { (_, scanner) throws(SidecarError) in _ = try scanner.value() }
            return .other
        case UInt8(ascii: "["):
            try skipArray()
            return .other
        case UInt8(ascii: "t"):
            try word("true")
            return .truth(true)
        case UInt8(ascii: "f"):
            try word("false")
            return .truth(false)
        case UInt8(ascii: "n"):
            try word("null")
            return .null
        default: return .number(try number())
        }
    }

    private mutating func enter(_ bracket: UInt8) throws(SidecarError) {
        guard take(bracket) else { throw fault("an object is missing") }
        guard depth < SidecarLimits.depth else { throw .nestedTooDeeply }
        depth += 1
    }

    private mutating func take(_ wanted: UInt8) -> Bool {
        skipSpace()
        guard byte == wanted else { return false }
        at += 1
        return true
    }

    private mutating func skipArray() throws(SidecarError) {
        try enter(UInt8(ascii: "["))
        defer { depth -= 1 }
        if take(UInt8(ascii: "]")) { return }
        repeat { _ = try value() } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw fault("an array does not end") }
    }

    private mutating func word(_ word: String) throws(SidecarError) {
        guard bytes[at...].starts(with: word.utf8) else { throw fault("a value is missing") }
        at += word.utf8.count
    }

    private mutating func number() throws(SidecarError) -> String {
        let start = at
        if byte == UInt8(ascii: "-") { at += 1 }
        let first = at
        try digits()
        guard bytes[first] != UInt8(ascii: "0") || at == first + 1 else { throw fault("a number begins with 0") }
        if byte == UInt8(ascii: ".") {
            at += 1
            try digits()
        }
        if byte.map({ $0 | 0x20 }) == UInt8(ascii: "e") {
            at += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { at += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private mutating func digits() throws(SidecarError) {
        let start = at
        while let byte, DigitText.isDigit(byte) { at += 1 }
        guard at > start else { throw fault(at == bytes.count ? "it ends too early" : "a value is missing") }
    }

    private mutating func string() throws(SidecarError) -> String {
        at += 1
        var text: [UInt8] = []
        while let byte {
            switch byte {
            case UInt8(ascii: "\""):
                at += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw fault("a control character stands in a text")
            default:
                text.append(byte)
                at += 1
            }
        }
        throw fault("a text does not end")
    }

    private mutating func escape(into text: inout [UInt8]) throws(SidecarError) {
        at += 1
        guard let byte else { throw fault("a text does not end") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text += Array(Character(try unicodeEscape()).utf8)
        default: throw fault("an unknown escape stands in a text")
        }
    }

    /// After `\u`. Half a surrogate pair becomes U+FFFD: a caption that was cut in the middle of a smiley has one.
    private mutating func unicodeEscape() throws(SidecarError) -> Unicode.Scalar {
        let first = try codeUnit()
        guard first & 0xFC00 == 0xD800 else { return Unicode.Scalar(first) ?? "\u{FFFD}" }
        let second = at
        guard byte == UInt8(ascii: "\\"), at + 1 < bytes.count, bytes[at + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        at += 2
        let low = try codeUnit()
        guard low & 0xFC00 == 0xDC00 else {
            at = second
            return "\u{FFFD}"
        }
        return Unicode.Scalar(0x10000 + ((first & 0x3FF) << 10 | low & 0x3FF)) ?? "\u{FFFD}"
    }

    private mutating func codeUnit() throws(SidecarError) -> UInt32 {
        var unit: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch byte {
            case .some(let byte) where DigitText.isDigit(byte): digit = byte - 0x30
            case .some(let byte) where (0x61...0x66).contains(byte | 0x20): digit = (byte | 0x20) - 0x57
            default: throw fault("an unknown escape stands in a text")
            }
            unit = unit << 4 | UInt32(digit)
            at += 1
        }
        return unit
    }
}
