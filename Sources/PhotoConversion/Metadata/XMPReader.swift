/// Goes through a packet's tags once and notes where its properties stand.
///
/// Its memory is bounded by counts far above what programs write (a packet with every setting of a raw converter has 400
/// properties and 40 namespaces), and its time by the packet's length: only the innermost declarations are looked through.
struct XMPReader {
    private static let mostDepth = 64
    private static let mostNamespaces = 128
    private static let mostProperties = 4096
    private static let mostDescriptions = 256

    private(set) var properties: [XMPPacket.Property] = []
    private(set) var descriptions: [XMPPacket.Description] = []

    private struct Declaration {
        /// Empty for the default one, which attributes do not have.
        var prefix: Range<Int>
        var namespace: XMPPacket.Namespace?
        var span: Range<Int>
    }

    private struct OpenElement {
        var name: Range<Int>
        /// How many declarations there were outside of it.
        var declarations: Int
    }

    private let bytes: [UInt8]
    private var scanner: XMLScanner
    private var declarations: [Declaration] = []
    private var open: [OpenElement] = []
    private var hasRoot = false
    /// How deep the `rdf:RDF` is whose descriptions are read; nil outside of one.
    private var rdfDepth: Int?
    /// Whether the content of the property that is open is one text so far, or none.
    private var isSimple = true

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        scanner = XMLScanner(bytes)
    }

    mutating func read() throws(XMLScanner.NotWellFormed) {
        while let token = try scanner.next() {
            switch token {
            case .start(let tag): try begin(tag)
            case .end(let tag): try end(tag)
            case .text(let range, let isRaw): try take(range, isRaw: isRaw)
            }
        }
        guard hasRoot, open.isEmpty else { throw XMLScanner.NotWellFormed() }
    }

    private mutating func take(_ range: Range<Int>, isRaw: Bool) throws(XMLScanner.NotWellFormed) {
        // A section whose characters mean something else makes the value one that cannot be read as it is written.
        if isRaw { isSimple = false }
        // Behind the document some writers leave the zeros of their buffers.
        if open.isEmpty, !bytes[range].allSatisfy({ XMLScanner.isSpace($0) || $0 == 0 }) {
            throw XMLScanner.NotWellFormed()
        }
    }

    private mutating func begin(_ tag: XMLScanner.Tag) throws(XMLScanner.NotWellFormed) {
        guard open.count < Self.mostDepth, !(open.isEmpty && hasRoot) else { throw XMLScanner.NotWellFormed() }
        hasRoot = true
        let outside = declarations.count
        try declare(tag)
        open.append(OpenElement(name: tag.name, declarations: outside))
        switch rdfDepth.map({ open.count - $0 }) {
        case nil where isRDF(tag.name, "RDF"): rdfDepth = open.count
        case 1: try beginDescription(tag)
        case 2: try beginProperty(tag)
        case .some(let depth) where depth > 2: isSimple = false
        default: break
        }
        if tag.isEmpty { try end(XMLScanner.Tag(name: tag.name, span: tag.span.upperBound..<tag.span.upperBound)) }
    }

    private mutating func end(_ tag: XMLScanner.Tag) throws(XMLScanner.NotWellFormed) {
        guard let element = open.last, bytes[element.name].elementsEqual(bytes[tag.name]) else {
            throw XMLScanner.NotWellFormed()
        }
        switch rdfDepth.map({ open.count - $0 }) {
        case 0: rdfDepth = nil
        case 2:
            guard let index = properties.indices.last else { break }
            let start = properties[index].span.upperBound
            if isSimple, start <= tag.span.lowerBound { properties[index].value = start..<tag.span.lowerBound }
            properties[index].span = properties[index].span.lowerBound..<tag.span.upperBound
        default: break
        }
        open.removeLast()
        declarations.removeLast(declarations.count - element.declarations)
    }

    private mutating func beginDescription(_ tag: XMLScanner.Tag) throws(XMLScanner.NotWellFormed) {
        guard descriptions.count < Self.mostDescriptions else { throw XMLScanner.NotWellFormed() }
        var description = XMPPacket.Description(
            attributes: tag.name.upperBound, about: nil, declarations: declarations.map(\.span))
        for attribute in tag.attributes where !isDeclaration(attribute) {
            let found = name(attribute.name, isAttribute: true)
            if found.namespace == .rdf {
                if isNamed(found.local, "about") { description.about = attribute.span }
                continue
            }
            if bytes[attribute.name].starts(with: "xml:".utf8) { continue }
            try add(
                XMPPacket.Property(
                    namespace: found.namespace, name: found.local, span: attribute.span, isAttribute: true,
                    value: attribute.value, description: descriptions.count))
        }
        descriptions.append(description)
    }

    private mutating func beginProperty(_ tag: XMLScanner.Tag) throws(XMLScanner.NotWellFormed) {
        let found = name(tag.name)
        // One that ends at once has its parts in attributes, where it has any.
        isSimple = !tag.isEmpty
        // Until its end is met, the span is that of its tag.
        try add(
            XMPPacket.Property(
                namespace: found.namespace, name: found.local, span: tag.span, isAttribute: false, value: nil,
                description: descriptions.count - 1))
    }

    private mutating func add(_ property: XMPPacket.Property) throws(XMLScanner.NotWellFormed) {
        guard properties.count < Self.mostProperties else { throw XMLScanner.NotWellFormed() }
        properties.append(property)
    }

    // MARK: Names

    private struct Name {
        var namespace: XMPPacket.Namespace?
        var local: Range<Int>
    }

    private func isNamed(_ local: Range<Int>, _ name: StaticString) -> Bool {
        name.withUTF8Buffer { bytes[local].elementsEqual($0) }
    }

    /// The name before its namespace, because every tag is asked and few have it.
    private func isRDF(_ range: Range<Int>, _ local: StaticString) -> Bool {
        guard isNamed(max(range.lowerBound, range.upperBound - local.utf8CodeUnitCount)..<range.upperBound, local)
        else {
            return false
        }
        let found = name(range)
        return found.namespace == .rdf && isNamed(found.local, local)
    }

    private func name(_ range: Range<Int>, isAttribute: Bool = false) -> Name {
        guard let colon = bytes[range].firstIndex(of: UInt8(ascii: ":")) else {
            let declaration = isAttribute ? nil : declarations.last { $0.prefix.isEmpty }
            return Name(namespace: declaration?.namespace, local: range)
        }
        let prefix = bytes[range.lowerBound..<colon]
        let declaration = declarations.last { bytes[$0.prefix].elementsEqual(prefix) }
        return Name(namespace: declaration?.namespace, local: colon + 1..<range.upperBound)
    }

    private func isDeclaration(_ attribute: XMLScanner.Attribute) -> Bool {
        let name = bytes[attribute.name]
        return name.starts(with: "xmlns:".utf8) || name.elementsEqual("xmlns".utf8)
    }

    private mutating func declare(_ tag: XMLScanner.Tag) throws(XMLScanner.NotWellFormed) {
        for attribute in tag.attributes where isDeclaration(attribute) {
            guard declarations.count < Self.mostNamespaces else { throw XMLScanner.NotWellFormed() }
            let colon = bytes[attribute.name].firstIndex(of: UInt8(ascii: ":"))
            let known = XMPPacket.Namespace.allCases.first { bytes[attribute.value].elementsEqual($0.rawValue.utf8) }
            declarations.append(
                Declaration(
                    prefix: (colon.map { $0 + 1 } ?? attribute.name.upperBound)..<attribute.name.upperBound,
                    namespace: known, span: attribute.span))
        }
    }
}
