/// A strict, byte-level reader of JSON text (RFC 8259) that finds where values begin and end and builds nothing.
///
/// It stands before every decoder: what passes here is valid UTF-8, well formed, and nested at most
/// ``maximumDepth`` levels, so that a recursive decoder behind it cannot be driven into stack overflow.
/// What the other readers of JSON are for, `JSONPlace` of BackupFormats says.
/// `Span` checks its bounds in release builds too; an unsafe pointer was rejected because the bytes are hostile.
enum JSONSyntax {
    /// Levels of objects and arrays, the outermost one included.
    static let maximumDepth = 64

    /// Where the text stops being JSON, and why.
    struct Fault: Error, Equatable {
        let offset: Int
        let reason: String
    }

    /// Calls `visit` for each member of the object that is the whole of `text`, in order, with the range of the
    /// name between its quotes and the range of the value.
    static func members(
        of text: Span<UInt8>, visit: (_ name: Range<Int>, _ value: Range<Int>) -> Void
    ) throws(Fault) {
        var at = 0
        skipSpace(text, &at)
        try expect(UInt8(ascii: "{"), text, &at, "an object")
        skipSpace(text, &at)
        if at < text.count, text[at] == UInt8(ascii: "}") {
            at += 1
        } else {
            while true {
                let name = try memberName(text, &at)
                let begin = at
                try skipValue(text, &at, depth: 1)
                visit(name, begin..<at)
                if try endsAfterElement(text, &at, closing: UInt8(ascii: "}")) { break }
                skipSpace(text, &at)
            }
        }
        skipSpace(text, &at)
        guard at == text.count else { throw Fault(offset: at, reason: "there is more after the object") }
    }

    static func skipSpace(_ text: Span<UInt8>, _ at: inout Int) {
        while at < text.count {
            switch text[at] {
            case 0x20, 0x09, 0x0A, 0x0D: at += 1
            default: return
            }
        }
    }

    /// Steps over the value that begins at `at`. `depth` is the number of levels around it.
    static func skipValue(_ text: Span<UInt8>, _ at: inout Int, depth: Int) throws(Fault) {
        guard at < text.count else { throw Fault(offset: at, reason: "a value is missing") }
        switch text[at] {
        case UInt8(ascii: "\""): try skipString(text, &at)
        case UInt8(ascii: "{"): try skipObject(text, &at, depth: depth)
        case UInt8(ascii: "["): try skipArray(text, &at, depth: depth)
        case UInt8(ascii: "t"): try skipWord("true", text, &at)
        case UInt8(ascii: "f"): try skipWord("false", text, &at)
        case UInt8(ascii: "n"): try skipWord("null", text, &at)
        case UInt8(ascii: "-"), 0x30...0x39: try skipNumber(text, &at)
        default: throw Fault(offset: at, reason: "this is not the beginning of a value")
        }
    }

    private static func skipObject(_ text: Span<UInt8>, _ at: inout Int, depth: Int) throws(Fault) {
        try checkDepth(depth, at)
        at += 1
        skipSpace(text, &at)
        if at < text.count, text[at] == UInt8(ascii: "}") {
            at += 1
            return
        }
        repeat {
            skipSpace(text, &at)
            _ = try memberName(text, &at)
            try skipValue(text, &at, depth: depth + 1)
        } while try !endsAfterElement(text, &at, closing: UInt8(ascii: "}"))
    }

    private static func skipArray(_ text: Span<UInt8>, _ at: inout Int, depth: Int) throws(Fault) {
        try checkDepth(depth, at)
        at += 1
        skipSpace(text, &at)
        if at < text.count, text[at] == UInt8(ascii: "]") {
            at += 1
            return
        }
        repeat {
            skipSpace(text, &at)
            try skipValue(text, &at, depth: depth + 1)
        } while try !endsAfterElement(text, &at, closing: UInt8(ascii: "]"))
    }

    private static func checkDepth(_ depth: Int, _ at: Int) throws(Fault) {
        guard depth < maximumDepth else {
            throw Fault(offset: at, reason: "it is nested more than \(maximumDepth) levels deep")
        }
    }

    /// A name, the colon, and the space around them.
    private static func memberName(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) -> Range<Int> {
        guard at < text.count, text[at] == UInt8(ascii: "\"") else {
            throw Fault(offset: at, reason: "a member's name is missing")
        }
        let begin = at + 1
        try skipString(text, &at)
        let name = begin..<(at - 1)
        skipSpace(text, &at)
        try expect(UInt8(ascii: ":"), text, &at, "a colon")
        skipSpace(text, &at)
        return name
    }

    /// After an element: true at the closing bracket, false at a comma.
    private static func endsAfterElement(
        _ text: Span<UInt8>, _ at: inout Int, closing: UInt8
    ) throws(Fault) -> Bool {
        skipSpace(text, &at)
        guard at < text.count else { throw Fault(offset: at, reason: "it ends too early") }
        defer { at += 1 }
        if text[at] == closing { return true }
        guard text[at] == UInt8(ascii: ",") else { throw Fault(offset: at, reason: "a comma is missing") }
        return false
    }

    private static func expect(
        _ byte: UInt8, _ text: Span<UInt8>, _ at: inout Int, _ name: String
    ) throws(Fault) {
        guard at < text.count, text[at] == byte else { throw Fault(offset: at, reason: "\(name) is missing") }
        at += 1
    }

    private static func skipWord(_ word: StaticString, _ text: Span<UInt8>, _ at: inout Int) throws(Fault) {
        let count = word.utf8CodeUnitCount
        guard text.count - at >= count else { throw Fault(offset: at, reason: "it ends too early") }
        let matches = word.withUTF8Buffer { bytes in
            for index in 0..<count where bytes[index] != text[at + index] { return false }
            return true
        }
        guard matches else { throw Fault(offset: at, reason: "this is not the beginning of a value") }
        at += count
    }

    private static func skipNumber(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) {
        if text[at] == UInt8(ascii: "-") { at += 1 }
        if at < text.count, text[at] == UInt8(ascii: "0") {
            at += 1
        } else {
            try skipDigits(text, &at)
        }
        if at < text.count, text[at] == UInt8(ascii: ".") {
            at += 1
            try skipDigits(text, &at)
        }
        if at < text.count, text[at] | 0x20 == UInt8(ascii: "e") {
            at += 1
            if at < text.count, text[at] == UInt8(ascii: "+") || text[at] == UInt8(ascii: "-") { at += 1 }
            try skipDigits(text, &at)
        }
    }

    private static func skipDigits(_ text: Span<UInt8>, _ at: inout Int) throws(Fault) {
        let begin = at
        while at < text.count, text[at] >= 0x30, text[at] <= 0x39 { at += 1 }
        guard at > begin else { throw Fault(offset: at, reason: "a digit is missing") }
    }
}
