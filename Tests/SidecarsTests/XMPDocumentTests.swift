import DateTexts
import Foundation
import Testing

@testable import Sidecars

/// What is written is read again as what it was.
struct XMPDocumentTests {
    private func facts(_ document: XMPDocument) throws -> SidecarFacts {
        try SidecarFacts(Data(document.bytes), named: "x.jpg.xmp", now: now)
    }

    private func document(_ category: String = "Family", source: String? = nil, minutes: Int? = nil) -> XMPDocument {
        XMPDocument(entry: LibraryEntry(category: category, dateSource: source, minutesFromUTC: minutes))
    }

    @Test(
        arguments: [
            ("1978", "1978-01-01T00:00:00", .year, nil), ("1978-08", "1978-08-01T00:00:00", .month, nil),
            ("1978-08-12", "1978-08-12T00:00:00", .day, nil),
            ("2019-06-12T14:05", "2019-06-12T14:05:00", .minute, nil),
            ("2019-06-12T14:05+02:00", "2019-06-12T14:05:00", .minute, 120),
            ("2019-06-12T14:05-04:00", "2019-06-12T14:05:00", .minute, -240),
            ("2019-06-12T14:05:33", "2019-06-12T14:05:33", .second, nil),
            ("2019-06-12T14:05:33-03:30", "2019-06-12T14:05:33", .second, -210),
        ] as [(String, String, DatePrecision, Int?)])
    func datesGoAsFarAsTheyAreKnown(_ text: String, _ clock: String, _ precision: DatePrecision, _ offset: Int?) throws
    {
        var document = document()
        document.date = text
        let expected = CaptureTime(
            milliseconds: try milliseconds(clock + "Z"), clock: .wall(offsetMinutes: offset), precision: precision)
        #expect(try facts(document).taken == expected)
    }

    @Test func aFileIsCalledByItsPhotoThoughItsNameWasCutAndNumbered() {
        let long = String(repeating: "y", count: 240) + "-one"
        let entry = LibraryEntry(category: "Family", name: long)
        for stem in [long, String(long.prefix(200)), long.prefix(200) + " (2)"] {
            #expect(entry.names(stem), "\(stem)")
        }
        #expect(LibraryEntry(category: "Family", name: "a/b (2)").names("a_b (2) (3)"))
        #expect(!entry.names("Ada (2)") && !entry.names("") && !entry.names("(2)"))
    }

    @Test func aDayKeepsItsOffset() throws {
        var document = document(minutes: -90)
        document.date = "1978-08"
        #expect(try facts(document).taken?.clock == .wall(offsetMinutes: -90))
    }

    @Test func aPersonMayHaveMeantMidnightOfAnUnsetClock() throws {
        var said = document(source: "person")
        said.date = "2000-01-01T00:00:00"
        #expect(try facts(said).taken != nil)
        var guessed = document(source: "app")
        guessed.date = said.date
        #expect(try facts(guessed).taken == nil && facts(guessed).entry?.dateSource == "app")
    }

    @Test(
        arguments: [
            "Am Meer", "a < b && c > \"d\" ]]> 'e'", "zwei\nZeilen\tmit Tab", "👩‍👩‍👧 e\u{301} Łódź", "<rdf:li>",
            "&#0; &amp;",
        ]) func textsComeBack(_ text: String) throws
    {
        var document = document(text.filter { $0 != "\n" && $0 != "\t" })
        document.caption = text
        let facts = try facts(document)
        #expect(facts.caption == text)
        #expect(facts.entry == document.entry)
    }

    @Test func whatXMLCannotSayIsLeftOut() throws {
        var document = document("A\u{1}B\u{FFFE}")
        document.caption = "a\u{0}b\u{8}c\u{B}d\u{1F}e\u{FFFF}f"
        let facts = try facts(document)
        #expect(facts.caption == "abcdef" && facts.entry?.category == "AB")
    }

    @Test func favouritesAndPlaces() throws {
        var document = document()
        #expect(try facts(document).rating == nil && facts(document).latitude == nil)
        document.isFavorite = true
        document.position = (-54.32133, 179.99999)
        let found = try facts(document)
        #expect(found.rating == 5)
        #expect(found.latitude.map { abs($0 + 54.32133) < 1e-7 } == true)
        #expect(found.longitude.map { abs($0 - 179.99999) < 1e-7 } == true)
    }

    @Test func foreignKeywordsAreNoEntry() throws {
        let foreign = xmp(
            "", "<dc:subject><rdf:Bag><rdf:li>SmilePile|Family</rdf:li><rdf:li>Family</rdf:li></rdf:Bag></dc:subject>")
        #expect(try SidecarFacts(Data(foreign.utf8), named: "x.jpg.xmp", now: now).entry == nil)
    }

    @Test func whatALibrarySaysGoesBeforeTheRest() throws {
        var other = SidecarFacts()
        (other.caption, other.rating, other.isFavorite) = ("of another", 5, true)
        other.taken = CaptureTime(milliseconds: 0, clock: .universal)
        (other.latitude, other.longitude) = (1, 2)
        let own = try facts(document("Trips"))
        for merged in [own.merging(other), other.merging(own)] {
            #expect(merged.caption == nil && merged.rating == nil && merged.isFavorite == nil && merged.taken == nil)
            #expect(merged.entry?.category == "Trips" && merged.latitude == 1)
        }
    }

    @Test func itsOwnAreKnownUntilAnotherProgramWritesThem() {
        let bytes = document().bytes
        #expect(XMPDocument.isWritten(bytes) && bytes == document().bytes)
        #expect(XMPDocument.isWritten(bytes.prefix(XMPDocument.beginningLength)))
        #expect(!XMPDocument.isWritten(bytes.prefix(XMPDocument.beginningLength - 1)))
        let again = String(decoding: bytes, as: UTF8.self).replacing("SmilePile 1", with: "Image::ExifTool 12.57")
        #expect(!XMPDocument.isWritten(again.utf8))
    }

    @Test(
        arguments: [
            ("beach", "beach", true), ("beach", "beach (2)", true), ("beach", "beach 2", true), ("a/b?", "a_b_", true),
            ("CON", "CON_", true), ("???", "___", true), ("a long one", "a lo", true), ("beach", "summer", false),
            ("beach", "my beach", false), ("beach", "", false),
        ]) func aNameComesBackWhileTheFileIsCalledByIt(_ name: String, _ stem: String, _ isNamed: Bool) throws
    {
        let document = XMPDocument(entry: LibraryEntry(category: "Family", name: name))
        let entry = try #require(try facts(document).entry)
        #expect(entry.name == name && entry.names(stem) == isNamed)
    }
}
