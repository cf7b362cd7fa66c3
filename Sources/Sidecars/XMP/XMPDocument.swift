/// A sidecar that this program writes: `x.jpg.xmp`, with the properties that exiftool, darktable, digiKam and Lightroom read.
///
/// ```swift
/// var document = XMPDocument(entry: LibraryEntry(category: "Family"))
/// (document.date, document.isFavorite) = ("1978-08", true)
/// try file.write(document.bytes)
/// ```
///
/// The same photo makes the same bytes: there is no time of writing and no version of the program in it, so that an export
/// that brings a folder up to date leaves what is the same.
///
/// One fixed template with texts in it needs no library. libexiv2 was rejected: it is C++ that parses what is hostile, and lives
/// in the image worker's cell alone, and this is written by the daemon.
public struct XMPDocument: Equatable, Sendable {
    /// Of ``LibraryEntry``. A UUID of our own: there is no domain whose owner we are.
    static let namespace = "urn:uuid:5d0c1e0a-7b62-4d5c-9a55-2f3f6a1e8c47#"

    /// How every document begins. Programs that write a sidecar again put their own name there.
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="SmilePile 1">

        """

    /// When it was taken, in XMP's form of ISO 8601, cut behind what is known: `1978-08`, `2019-06-12T14:05:33.250+02:00`.
    public var date: String?
    public var entry: LibraryEntry
    public var caption: String?
    /// Five stars, which is what other programs have for it.
    public var isFavorite = false
    /// Whatever else is to be found under it: tags.
    public var subjects: [String] = []
    /// Whom it shows.
    public var people: [String] = []
    /// A place in words.
    public var place: String?
    /// Degrees north and east.
    public var position: (latitude: Double, longitude: Double)? {
        get { coordinates.map { ($0.latitude, $0.longitude) } }
        set { coordinates = newValue.map { Coordinates(latitude: $0.latitude, longitude: $0.longitude) } }
    }
    /// Texts that no standard has a property for, by the names of ours: `Notes`.
    public var texts: [(name: String, text: String)] {
        get { notes.map { ($0.name, $0.text) } }
        set { notes = newValue.map { Note(name: $0.name, text: $0.text) } }
    }

    private struct Coordinates: Equatable {
        let latitude, longitude: Double
    }

    private struct Note: Equatable {
        let name, text: String
    }

    private var coordinates: Coordinates?
    private var notes: [Note] = []

    public init(entry: LibraryEntry) { self.entry = entry }

    /// Whether a file is such a document as this program has written it, and no other program has written it again since.
    public static func isWritten(_ beginning: some Sequence<UInt8>) -> Bool {
        beginning.prefix(head.utf8.count).elementsEqual(head.utf8)
    }

    /// Of the beginning that ``isWritten(_:)`` looks at.
    public static let beginningLength = head.utf8.count

    public var bytes: [UInt8] { Array(text.utf8) }

    public var text: String {
        var lines: [String] = []
        func add(_ property: String, _ value: String?) {
            guard let value, !value.isEmpty else { return }
            lines.append("   <\(property)>\(Self.escaped(value))</\(property)>")
        }
        func add(_ property: String, _ array: String, _ values: [String], attributes: String = "") {
            guard !values.isEmpty else { return }
            let items = values.map { "     <rdf:li\(attributes)>\(Self.escaped($0))</rdf:li>" }
            lines += ["   <\(property)>", "    <rdf:\(array)>"] + items + ["    </rdf:\(array)>", "   </\(property)>"]
        }
        add("exif:DateTimeOriginal", date)
        add("photoshop:DateCreated", date)
        if let coordinates {
            add("exif:GPSLatitude", Self.degrees(coordinates.latitude, "N", "S"))
            add("exif:GPSLongitude", Self.degrees(coordinates.longitude, "E", "W"))
        }
        add("xmp:Rating", isFavorite ? "5" : nil)
        add("dc:description", "Alt", caption.map { [$0] } ?? [], attributes: " xml:lang=\"x-default\"")
        add("dc:subject", "Bag", [entry.category] + subjects.filter { $0 != entry.category })
        // A bar parts the levels.
        add("lr:hierarchicalSubject", "Bag", ["SmilePile|" + entry.category.replacing("|", with: "/")])
        add("Iptc4xmpExt:PersonInImage", "Bag", people)
        add("Iptc4xmpCore:Location", place)
        add("smilepile:Category", entry.category)
        add("smilepile:Name", entry.name)
        add("smilepile:DateSource", entry.dateSource)
        add("smilepile:MinutesFromUTC", entry.minutesFromUTC.map { String($0) })
        add("smilepile:Rotation", entry.rotation.map { String($0) })
        for note in notes { add("smilepile:\(note.name)", note.text) }
        return Self.head + """
             <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
              <rdf:Description rdf:about=""
                xmlns:dc="http://purl.org/dc/elements/1.1/"
                xmlns:exif="http://ns.adobe.com/exif/1.0/"
                xmlns:lr="http://ns.adobe.com/lightroom/1.0/"
                xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/"
                xmlns:xmp="http://ns.adobe.com/xap/1.0/"
                xmlns:Iptc4xmpCore="http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/"
                xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
                xmlns:smilepile="\(Self.namespace)">
            \(lines.joined(separator: "\n"))
              </rdf:Description>
             </rdf:RDF>
            </x:xmpmeta>

            """
    }

    /// What XML takes for itself is written as it says; what it has no place for at all, not even escaped, is left out. A
    /// carriage return is escaped, which readers would take for the end of a line.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\r": escaped += "&#13;"
            case "\t", "\n": escaped.unicodeScalars.append(scalar)
            case "\u{0}"..."\u{1F}", "\u{FFFE}", "\u{FFFF}": break
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// `54,19.279800N`: XMP's form, whole degrees and minutes to a millionth, which is two millimetres.
    private static func degrees(_ value: Double, _ positive: String, _ negative: String) -> String? {
        guard value.isFinite, abs(value) <= 180 else { return nil }
        let millionths = Int((abs(value) * 60_000_000).rounded())
        let (minutes, rest) = (millionths / 1_000_000, millionths % 1_000_000)
        let fraction = String(rest + 1_000_000).dropFirst()
        return "\(minutes / 60),\(minutes % 60).\(fraction)\(value < 0 ? negative : positive)"
    }
}
