/// The tags and texts of an XML document, one after another, as ranges of its bytes.
///
/// No general XML: no document types, so nothing expands, and nothing outside the document is named. It allocates nothing
/// but one tag's attributes, reads each byte once, and gives up at the first that does not fit. Sidecars has another one for
/// files beside pictures, and says why.
struct XMLScanner {
    /// Why it gave up does not matter: text that is no XML is not looked at any further.
    struct NotWellFormed: Error {}

    struct Attribute {
        var name: Range<Int>
        /// Between the quotes, as written.
        var value: Range<Int>
        /// With the white space before it, so that a tag without it is still one.
        var span: Range<Int>
    }

    struct Tag {
        var name: Range<Int>
        /// From `<` to behind `>`.
        var span: Range<Int>
        var attributes: [Attribute] = []
        /// `<name/>`: no end tag follows.
        var isEmpty = false
    }

    enum Token {
        case start(Tag)
        case end(Tag)
        /// Between two tags, as written. `isRaw` in a CDATA section, where no character stands for another.
        case text(Range<Int>, isRaw: Bool)
    }

    /// A tag with more is no picture's.
    private static let mostAttributes = 4096

    let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The next token; nil at the end. Comments and processing instructions are none.
    mutating func next() throws(NotWellFormed) -> Token? {
        while position < bytes.count {
            guard bytes[position] == UInt8(ascii: "<") else {
                let start = position
                position = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                return .text(start..<position, isRaw: false)
            }
            if has("<?") {
                try skip(to: "?>")
            } else if has("<!--") {
                position += 4
                try skip(to: "-->")
            } else if has("<![CDATA[") {
                let start = position + 9
                position = start
                try skip(to: "]]>")
                return .text(start..<position - 3, isRaw: true)
            } else if has("</") {
                return .end(try endTag())
            } else {
                return .start(try startTag())
            }
        }
        return nil
    }

    private func has(_ text: StaticString) -> Bool {
        guard position + text.utf8CodeUnitCount <= bytes.count else { return false }
        for index in 0..<text.utf8CodeUnitCount where bytes[position + index] != text.utf8Start[index] {
            return false
        }
        return true
    }

    private mutating func skip(to end: StaticString) throws(NotWellFormed) {
        while let found = bytes[position...].firstIndex(of: end.utf8Start[0]) {
            position = found
            if has(end) {
                position += end.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw NotWellFormed()
    }

    private mutating func endTag() throws(NotWellFormed) -> Tag {
        let start = position
        position += 2
        let name = try name()
        skipSpace()
        try take(UInt8(ascii: ">"))
        return Tag(name: name, span: start..<position)
    }

    private mutating func startTag() throws(NotWellFormed) -> Tag {
        let start = position
        position += 1
        var tag = Tag(name: try name(), span: start..<start)
        while true {
            let gap = position
            skipSpace()
            guard position < bytes.count else { throw NotWellFormed() }
            if bytes[position] == UInt8(ascii: "/") {
                position += 1
                tag.isEmpty = true
            }
            if tag.isEmpty || bytes[position] == UInt8(ascii: ">") {
                try take(UInt8(ascii: ">"))
                tag.span = start..<position
                return tag
            }
            guard position > gap, tag.attributes.count < Self.mostAttributes else { throw NotWellFormed() }
            tag.attributes.append(try attribute(from: gap))
        }
    }

    private mutating func attribute(from gap: Int) throws(NotWellFormed) -> Attribute {
        let name = try name()
        skipSpace()
        try take(UInt8(ascii: "="))
        skipSpace()
        guard position < bytes.count else { throw NotWellFormed() }
        let quote = bytes[position]
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else { throw NotWellFormed() }
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != quote {
            guard bytes[position] != UInt8(ascii: "<") else { throw NotWellFormed() }
            position += 1
        }
        let value = start..<position
        try take(quote)
        return Attribute(name: name, value: value, span: gap..<position)
    }

    private mutating func name() throws(NotWellFormed) -> Range<Int> {
        let start = position
        while position < bytes.count, Self.isName(bytes[position]) { position += 1 }
        guard position > start else { throw NotWellFormed() }
        return start..<position
    }

    private mutating func take(_ byte: UInt8) throws(NotWellFormed) {
        guard position < bytes.count, bytes[position] == byte else { throw NotWellFormed() }
        position += 1
    }

    private mutating func skipSpace() {
        while position < bytes.count, Self.isSpace(bytes[position]) { position += 1 }
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// What a name may have anywhere; with what it may begin is not looked at.
    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x3A, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D, 0x2E, 0x80...0xFF: true
        default: false
        }
    }
}
