/// The properties of a picture that are looked for in XMP, as text. Part 1 of the XMP specification (ISO 16684-1) lets
/// a simple property be an attribute of `rdf:Description` or an element in it, and a text in several languages be a
/// list.
struct XMPProperties {
    enum Property: Hashable {
        case dateTimeOriginal, dateCreated, createDate, dateTimeDigitized, description, title, rating
        case latitude, longitude
        case latitudeReference, longitudeReference, percentRating, sidecarExtension
        case category, name, dateSource, minutesFromUTC, rotation
    }

    private(set) var values: [Property: String] = [:]

    private static let rdf = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

    private static let names: [XMLScanner.Name: Property] = [
        .init(namespace: "http://ns.adobe.com/exif/1.0/", local: "DateTimeOriginal"): .dateTimeOriginal,
        .init(namespace: "http://ns.adobe.com/photoshop/1.0/", local: "DateCreated"): .dateCreated,
        .init(namespace: "http://ns.adobe.com/xap/1.0/", local: "CreateDate"): .createDate,
        .init(namespace: "http://ns.adobe.com/exif/1.0/", local: "DateTimeDigitized"): .dateTimeDigitized,
        .init(namespace: "http://ns.adobe.com/xap/1.0/", local: "Rating"): .rating,
        .init(namespace: "http://purl.org/dc/elements/1.1/", local: "description"): .description,
        .init(namespace: "http://purl.org/dc/elements/1.1/", local: "title"): .title,
        .init(namespace: "http://ns.adobe.com/exif/1.0/", local: "GPSLatitude"): .latitude,
        .init(namespace: "http://ns.adobe.com/exif/1.0/", local: "GPSLongitude"): .longitude,
        .init(namespace: "http://ns.adobe.com/exif/1.0/", local: "GPSLatitudeRef"): .latitudeReference,
        .init(namespace: "http://ns.adobe.com/exif/1.0/", local: "GPSLongitudeRef"): .longitudeReference,
        .init(namespace: "http://ns.microsoft.com/photo/1.0/", local: "Rating"): .percentRating,
        .init(namespace: "http://ns.microsoft.com/photo/1.2/", local: "Rating"): .percentRating,
        // Windows writes it without the slash as well.
        .init(namespace: "http://ns.microsoft.com/photo/1.0", local: "Rating"): .percentRating,
        .init(namespace: "http://ns.microsoft.com/photo/1.2", local: "Rating"): .percentRating,
        .init(namespace: "http://ns.adobe.com/photoshop/1.0/", local: "SidecarForExtension"): .sidecarExtension,
        .init(namespace: XMPDocument.namespace, local: "Category"): .category,
        .init(namespace: XMPDocument.namespace, local: "Name"): .name,
        .init(namespace: XMPDocument.namespace, local: "DateSource"): .dateSource,
        .init(namespace: XMPDocument.namespace, local: "MinutesFromUTC"): .minutesFromUTC,
        .init(namespace: XMPDocument.namespace, local: "Rotation"): .rotation,
    ]

    /// What an open element is. Only properties of the picture count: those inside a history or of another picture that
    /// this one was made from are in elements that are `other`.
    private enum Place {
        case other
        case rdf
        case description
        case property(Property)
        case list(Property)
        case item(Property, isDefault: Bool)
    }

    private var places: [Place] = []
    private var text = ""
    private var isFromDefaultItem: Set<Property> = []

    /// - Parameter text: valid UTF-8.
    init(_ text: [UInt8]) throws(SidecarError) {
        var scanner = XMLScanner(text)
        var hasRDF = false
        while let event = try scanner.next() {
            switch event {
            case .start(let name, let attributes):
                let place = place(of: name, attributes)
                if case .rdf = place { hasRDF = true }
                if case .description = place {
                    for (name, value) in attributes {
                        if let property = Self.names[name] { keep(value, property) }
                    }
                }
                // Of an element that has elements in it, only what stands in the innermost is its text.
                self.text = ""
                places.append(place)
            case .text(let more):
                switch places.last {
                case .property, .item: self.text += more
                default: break
                }
            case .end:
                switch places.popLast() {
                case .property(let property): keep(self.text, property)
                case .item(let property, let isDefault): keep(self.text, property, isDefault: isDefault)
                default: break
                }
                self.text = ""
            }
        }
        guard hasRDF else { throw .notXMP }
    }

    private func place(
        of name: XMLScanner.Name, _ attributes: [(name: XMLScanner.Name, value: String)]
    ) -> Place {
        let rdfName = name.namespace == Self.rdf ? name.local : ""
        switch places.last {
        case nil: return rdfName == "RDF" ? .rdf : .other
        case .rdf: return rdfName == "Description" ? .description : .other
        case .description: return Self.names[name].map(Place.property) ?? .other
        case .property(let property): return ["Alt", "Bag", "Seq"].contains(rdfName) ? .list(property) : .other
        case .list(let property):
            guard rdfName == "li" else { return .other }
            let language = attributes.first { $0.name.local == "lang" }?.value
            return .item(property, isDefault: language == "x-default")
        case .item: return .other
        // `x:xmpmeta` around it, or whatever a program wraps it in, but not RDF in RDF.
        case .other: return rdfName == "RDF" && !isInsideRDF ? .rdf : .other
        }
    }

    private var isInsideRDF: Bool {
        places.contains { if case .rdf = $0 { true } else { false } }
    }

    /// The first value that is one stays, except that the default language's takes another's place.
    private mutating func keep(_ value: String, _ property: Property, isDefault: Bool = false) {
        guard value.unicodeScalars.contains(where: { !$0.properties.isWhitespace }) else { return }
        if values[property] == nil || isDefault && isFromDefaultItem.insert(property).inserted {
            values[property] = value
        }
    }
}
