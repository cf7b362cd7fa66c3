/// Reads XML 1.0 with namespaces front to back and checks that it is well formed.
///
/// Foundation's parser (libxml2) was rejected: it knows document types, entities and other files, and those are what
/// makes XML dangerous. Here a document type is an error, so that the five entities of XML and numbered characters are
/// the only ones there are, and reading takes time and memory in proportion to the text.
///
/// PhotoConversion has another one for the packets inside pictures, and it is not the same work. That one tells where things
/// stand, so that a packet of 16 MiB is written again with a few values changed and every other byte as it was; it puts up
/// with what cameras leave behind (prefixes that nobody binds, a buffer's zeros after the end) and says of what it gives up
/// only that. This one tells what texts mean, of files of 1 MiB, and says what is wrong and where, because a person can mend
/// the file. One for both would have each of its rules twice.
struct XMLScanner {
    /// A name with its namespace; the empty one where it has none.
    struct Name: Hashable {
        let namespace: String
        let local: String
    }

    enum Event {
        case start(Name, attributes: [(name: Name, value: String)])
        /// Of the element that began last and has not ended.
        case end
        case text(String)
    }

    private struct OpenElement {
        let name: [UInt8]
        /// What it binds, to be undone at its end.
        let prefixes: [String]
    }

    private let bytes: [UInt8]
    private var at = 0
    private var open: [OpenElement] = []
    private var bindings: [String: [String]] = ["xml": ["http://www.w3.org/XML/1998/namespace"]]
    private var hasRoot = false
    /// An element without contents was begun, and is to be ended.
    private var endsAtOnce = false

    /// - Parameter text: valid UTF-8.
    init(_ text: [UInt8]) { bytes = text }

    private func fault(_ what: String) -> SidecarError { .malformed(what, offset: at) }

    /// What comes next; nil at the end of a well-formed document.
    mutating func next() throws(SidecarError) -> Event? {
        if endsAtOnce {
            endsAtOnce = false
            close()
            return .end
        }
        while at < bytes.count {
            guard bytes[at] == UInt8(ascii: "<") else {
                if let text = try text() { return .text(text) }
                continue
            }
            if starts("<?") {
                try skip("<?", to: "?>", "a processing instruction")
            } else if starts("<!--") {
                try skip("<!--", to: "-->", "a comment")
            } else if starts("<![CDATA[") {
                return .text(try characterData())
            } else if starts("<!") {
                throw .documentType
            } else if starts("</") {
                try endTag()
                return .end
            } else {
                return try startTag()
            }
        }
        guard open.isEmpty else { throw fault("an element does not end") }
        guard hasRoot else { throw fault("there is no element") }
        return nil
    }

    private func starts(_ mark: String) -> Bool { bytes[at...].starts(with: mark.utf8) }

    private mutating func skip(_ begin: String, to end: String, _ what: String) throws(SidecarError) {
        let from = at
        at += begin.utf8.count
        while at < bytes.count, !starts(end) { at += 1 }
        guard at < bytes.count else {
            at = from
            throw fault("\(what) does not end")
        }
        at += end.utf8.count
    }

    private mutating func skipSpace() {
        while at < bytes.count, Self.isSpace(bytes[at]) { at += 1 }
    }

    /// XML's space, which is JSON's too.
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    // MARK: Text

    /// Nil for space outside of the root.
    private mutating func text() throws(SidecarError) -> String? {
        let begin = at
        while at < bytes.count, bytes[at] != UInt8(ascii: "<") { at += 1 }
        let raw = bytes[begin..<at]
        if open.isEmpty {
            guard raw.allSatisfy(Self.isSpace) else { throw fault("text stands outside of the elements") }
            return nil
        }
        return try unescaped(raw)
    }

    private mutating func characterData() throws(SidecarError) -> String {
        guard !open.isEmpty else { throw fault("text stands outside of the elements") }
        let begin = at + "<![CDATA[".utf8.count
        try skip("<![CDATA[", to: "]]>", "a CDATA section")
        let raw = bytes[begin..<at - 3]
        guard !raw.contains(0) else { throw fault("a zero byte stands in the text") }
        return String(decoding: raw, as: UTF8.self)
    }

    private static let entities: [String: String] = ["lt": "<", "gt": ">", "amp": "&", "quot": "\"", "apos": "'"]

    private func unescaped(_ raw: ArraySlice<UInt8>) throws(SidecarError) -> String {
        guard !raw.contains(0) else { throw fault("a zero byte stands in the text") }
        guard raw.contains(UInt8(ascii: "&")) else { return String(decoding: raw, as: UTF8.self) }
        var text: [UInt8] = []
        var rest = raw
        while let byte = rest.first {
            rest = rest.dropFirst()
            guard byte == UInt8(ascii: "&") else {
                text.append(byte)
                continue
            }
            // The longest is `#x0010FFFF`, zeros at will.
            guard let end = rest.prefix(16).firstIndex(of: UInt8(ascii: ";")) else {
                throw fault("an entity does not end")
            }
            let name = String(decoding: rest[..<end], as: UTF8.self)
            if let replacement = Self.entities[name] {
                text += Array(replacement.utf8)
            } else if let scalar = Self.scalar(name) {
                text += Array(Character(scalar).utf8)
            } else {
                throw fault("an entity is not one of XML's own")
            }
            rest = rest[(end + 1)...]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Of `#233` and `#xE9`; nil for what is no character of XML.
    private static func scalar(_ name: String) -> Unicode.Scalar? {
        guard name.hasPrefix("#") else { return nil }
        let isHexadecimal = name.hasPrefix("#x")
        let digits = name.dropFirst(isHexadecimal ? 2 : 1)
        guard digits.utf8.first != UInt8(ascii: "+"), digits.utf8.first != UInt8(ascii: "-"),
            let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), value != 0
        else { return nil }
        return Unicode.Scalar(value)
    }

    // MARK: Tags

    private mutating func endTag() throws(SidecarError) {
        let from = at
        at += 2
        let name = try rawName()
        skipSpace()
        guard at < bytes.count, bytes[at] == UInt8(ascii: ">") else { throw fault("a tag does not end") }
        guard open.last?.name == name else {
            at = from
            throw fault("an element ends that did not begin")
        }
        at += 1
        close()
    }

    private mutating func close() {
        for prefix in open.popLast()?.prefixes ?? [] { _ = bindings[prefix]?.popLast() }
    }

    private mutating func startTag() throws(SidecarError) -> Event {
        guard !hasRoot || !open.isEmpty else { throw fault("there is more than one root element") }
        guard open.count < SidecarLimits.depth else { throw .nestedTooDeeply }
        at += 1
        let name = try rawName()
        let raw = try rawAttributes()
        if bytes[at] == UInt8(ascii: "/") {
            at += 1
            endsAtOnce = true
        }
        guard at < bytes.count, bytes[at] == UInt8(ascii: ">") else { throw fault("a tag does not end") }
        at += 1
        hasRoot = true
        open.append(OpenElement(name: name, prefixes: bind(raw)))
        var attributes: [(name: Name, value: String)] = []
        var seen: Set<Name> = []
        for (name, value) in raw where Self.boundPrefix(name) == nil {
            let expanded = try expanded(name, isAttribute: true)
            guard seen.insert(expanded).inserted else { throw fault("an element has an attribute twice") }
            attributes.append((expanded, value))
        }
        return .start(try expanded(name, isAttribute: false), attributes: attributes)
    }

    /// Up to the `>` or `/` of the tag.
    private mutating func rawAttributes() throws(SidecarError) -> [(name: [UInt8], value: String)] {
        var attributes: [(name: [UInt8], value: String)] = []
        var seen: Set<[UInt8]> = []
        while true {
            let hadSpace = at < bytes.count && Self.isSpace(bytes[at])
            skipSpace()
            guard at < bytes.count else { throw fault("a tag does not end") }
            if bytes[at] == UInt8(ascii: ">") || bytes[at] == UInt8(ascii: "/") { return attributes }
            guard hadSpace else { throw fault("there is no space before an attribute") }
            let name = try rawName()
            guard seen.insert(name).inserted else { throw fault("an element has an attribute twice") }
            skipSpace()
            guard at < bytes.count, bytes[at] == UInt8(ascii: "=") else { throw fault("an attribute has no value") }
            at += 1
            skipSpace()
            attributes.append((name, try attributeValue()))
        }
    }

    private mutating func attributeValue() throws(SidecarError) -> String {
        guard at < bytes.count, bytes[at] == 0x22 || bytes[at] == 0x27 else { throw fault("a value has no quotes") }
        let quote = bytes[at]
        let begin = at + 1
        at = begin
        while at < bytes.count, bytes[at] != quote {
            guard bytes[at] != UInt8(ascii: "<") else { throw fault("a tag begins inside a value") }
            at += 1
        }
        guard at < bytes.count else { throw fault("a value does not end") }
        defer { at += 1 }
        return try unescaped(bytes[begin..<at])
    }

    /// All of ASCII but letters, digits and `-._:` ends it; what other scripts may use in a name is not checked, since
    /// only known names are looked for.
    private mutating func rawName() throws(SidecarError) -> [UInt8] {
        let begin = at
        while at < bytes.count,
            DigitText.isLetter(bytes[at]) || DigitText.isDigit(bytes[at]) || Self.isMark(bytes[at])
        {
            at += 1
        }
        guard at > begin, DigitText.isLetter(bytes[begin]) || bytes[begin] == UInt8(ascii: "_") else {
            throw fault("a name is missing")
        }
        return Array(bytes[begin..<at])
    }

    private static func isMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
    }

    // MARK: Namespaces

    /// The prefix that an attribute binds: empty for `xmlns`, nil where it binds none.
    private static func boundPrefix(_ name: [UInt8]) -> String? {
        if name.elementsEqual("xmlns".utf8) { return "" }
        guard name.starts(with: "xmlns:".utf8) else { return nil }
        return String(decoding: name.dropFirst("xmlns:".utf8.count), as: UTF8.self)
    }

    private mutating func bind(_ attributes: [(name: [UInt8], value: String)]) -> [String] {
        var prefixes: [String] = []
        for (name, value) in attributes {
            guard let prefix = Self.boundPrefix(name) else { continue }
            bindings[prefix, default: []].append(value)
            prefixes.append(prefix)
        }
        return prefixes
    }

    private func expanded(_ name: [UInt8], isAttribute: Bool) throws(SidecarError) -> Name {
        guard let colon = name.firstIndex(of: UInt8(ascii: ":")) else {
            // A default namespace is for elements; an attribute without a prefix has none.
            let namespace = isAttribute ? "" : bindings[""]?.last ?? ""
            return Name(namespace: namespace, local: String(decoding: name, as: UTF8.self))
        }
        guard let namespace = bindings[String(decoding: name[..<colon], as: UTF8.self)]?.last else {
            throw fault("a prefix is not bound to a namespace")
        }
        return Name(namespace: namespace, local: String(decoding: name[(colon + 1)...], as: UTF8.self))
    }
}
