/// An XMP packet whose properties have been found: where each stands, and which of them SmilePile knows.
///
/// XMP is RDF in XML. Of that it takes what programs write: one `rdf:RDF` with descriptions, in which a property is an
/// attribute or an element. Names are told by their namespaces, because a prefix means whatever the packet says.
struct XMPPacket {
    /// The namespaces of the properties that are read or corrected.
    enum Namespace: String, CaseIterable {
        case rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
        case xmp = "http://ns.adobe.com/xap/1.0/"
        case note = "http://ns.adobe.com/xmp/note/"
        case exif = "http://ns.adobe.com/exif/1.0/"
        case tiff = "http://ns.adobe.com/tiff/1.0/"
        case photoshop = "http://ns.adobe.com/photoshop/1.0/"
        case dublinCore = "http://purl.org/dc/elements/1.1/"
        case camera = "http://ns.google.com/photos/1.0/camera/"
        case container = "http://ns.google.com/photos/1.0/container/"
        case gainMap = "http://ns.adobe.com/hdr-gain-map/1.0/"
        case microsoft = "http://ns.microsoft.com/photo/1.0/"
    }

    struct Property {
        /// Nil for one that is not known.
        var namespace: Namespace?
        /// Without its prefix.
        var name: Range<Int>
        /// All of it: an attribute with the space before it, an element with its tags.
        var span: Range<Int>
        var isAttribute: Bool
        /// As written; nil for one with parts, or in a form that is not read.
        var value: Range<Int>?
        /// Of the packet's descriptions, the one that it is in.
        var description: Int
    }

    /// An `rdf:Description`, or an element that stands for one.
    struct Description {
        /// Where another attribute can be put in: behind the tag's name.
        var attributes: Int
        /// `rdf:about`, as written with its quotes.
        var about: Range<Int>?
        /// What the namespaces in it are declared with, each an attribute as written; the innermost last.
        var declarations: [Range<Int>]
    }

    let bytes: [UInt8]
    private(set) var properties: [Property] = []
    private(set) var descriptions: [Description] = []

    /// Nil where `bytes` are no well-formed XMP, or more of it than any program writes.
    init?(_ bytes: [UInt8]) {
        self.bytes = bytes
        do throws(XMLScanner.NotWellFormed) {
            var reader = XMPReader(bytes)
            try reader.read()
            (properties, descriptions) = (reader.properties, reader.descriptions)
        } catch {
            return nil
        }
    }

    /// The first one of that name.
    func property(_ namespace: Namespace, _ name: StaticString) -> Property? {
        properties.first { $0.namespace == namespace && isNamed($0, name) }
    }

    func isNamed(_ property: Property, _ name: StaticString) -> Bool {
        name.withUTF8Buffer { bytes[property.name].elementsEqual($0) }
    }

    /// A simple property's text as written, references and all; at most so many bytes of it.
    func text(_ namespace: Namespace, _ name: StaticString, upTo limit: Int = 256) -> String? {
        property(namespace, name)?.value.map {
            String(decoding: EmbeddedText.prefix(bytes[$0], upTo: limit), as: UTF8.self)
        }
    }

    // MARK: Changing

    /// A part of the packet, and what comes into its place.
    struct Edit {
        var range: Range<Int>
        var replacement: [UInt8] = []
    }

    /// The packet's bytes with `edits`, of which none may overlap another.
    func edited(_ edits: [Edit]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count + edits.reduce(0) { $0 + $1.replacement.count })
        var position = 0
        for edit in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            result += bytes[position..<edit.range.lowerBound]
            result += edit.replacement
            position = edit.range.upperBound
        }
        return result + bytes[position...]
    }
}
