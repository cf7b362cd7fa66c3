import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What a library writes beside copies of its photos.
@Suite(.timeLimit(.minutes(2))) struct PhotoSidecarTests {
    private let sample = SampleCatalogue()

    private func library(_ change: (inout Photo) -> Void = { _ in }) async throws -> TestLibrary {
        let test = try await TestLibrary("sidecar")
        let sourced = sample.photo(1, takenAt: 1_560_348_333_250)
        var photo = sourced.photo
        (photo.caption, photo.isFavorite, photo.dateSource) = (nil, false, .exif)
        change(&photo)
        _ = try await test.add([
            SourcedPhoto(photo: photo, sourceDigest: sourced.sourceDigest, sourceSize: sourced.sourceSize)
        ])
        return test
    }

    private func sidecar(_ test: TestLibrary, withDetails: Bool? = nil) async throws -> PhotoSidecar {
        try await test.mesh.send(GetPhotoSidecar(id: 1, withDetails: withDetails))
    }

    @Test func whatThePictureSaysItselfIsNoMore() async throws {
        let test = try await library()
        let found = try await sidecar(test)
        #expect(!found.saysMore)
        #expect(found.text.contains("<exif:DateTimeOriginal>2019-06-12T14:05:33.250</exif:DateTimeOriginal>"))
        #expect(found.text.contains("<smilepile:Category>Family</smilepile:Category>"))
        #expect(!found.text.contains("xmp:Rating") && !found.text.contains("dc:description"))
        let same = try await sidecar(test)
        #expect(same == found)
        // Nor is an offset, as each phone writes it; until a person says another.
        let abroad = try await library { $0.takenOffset = 120 }
        #expect(try await !sidecar(abroad).saysMore)
        _ = try await abroad.mesh.send(EditPhoto(id: abroad.allPhotos()[0].id, takenOffset: 60))
        let said = try await sidecar(abroad)
        #expect(said.saysMore && said.text.contains("14:05:33.250+01:00") && said.text.contains(">person<"))
        await abroad.library.close()
        await test.library.close()
    }

    @Test(arguments: ["caption", "favourite", "category", "no date", "person", "guess", "unknown"])
    func whatTheFamilyDidIsMore(_ what: String) async throws {
        let test = try await library { photo in
            switch what {
            case "caption": photo.caption = "Am Meer"
            case "favourite": photo.isFavorite = true
            case "category": photo.categoryId = 2
            case "no date": (photo.takenAt, photo.dateSource) = (nil, nil)
            case "person": photo.dateSource = .person
            case "guess": photo.dateSource = .fileTime
            default: photo.dateSource = nil
            }
        }
        let found = try await sidecar(test)
        #expect(found.saysMore)
        switch what {
        case "caption": #expect(found.text.contains("<rdf:li xml:lang=\"x-default\">Am Meer</rdf:li>"))
        case "favourite": #expect(found.text.contains("<xmp:Rating>5</xmp:Rating>"))
        case "category":
            #expect(
                found.text.contains("<rdf:li>SmilePile|Cars</rdf:li>") && found.text.contains("<rdf:li>Cars</rdf:li>"))
        case "no date": #expect(!found.text.contains("DateTimeOriginal") && !found.text.contains("DateSource"))
        case "guess": #expect(found.text.contains("<smilepile:DateSource>file_time</smilepile:DateSource>"))
        case "person": #expect(found.text.contains("<smilepile:DateSource>person</smilepile:DateSource>"))
        default: break
        }
        await test.library.close()
    }

    @Test(
        arguments: [
            (.year, nil, "2019", nil), (.month, 120, "2019-06", "120"), (.day, nil, "2019-06-12", nil),
            (.minute, -210, "2019-06-12T14:05-03:30", nil), (.second, 0, "2019-06-12T14:05:33.250+00:00", nil),
        ] as [(DatePrecision, Int?, String, String?)])
    func datesGoAsFarAsTheyAreKnown(_ precision: DatePrecision, _ offset: Int?, _ date: String, _ own: String?)
        async throws
    {
        let test = try await library { ($0.datePrecision, $0.takenOffset) = (precision, offset) }
        let text = try await sidecar(test).text
        #expect(text.contains("<photoshop:DateCreated>\(date)</photoshop:DateCreated>"))
        #expect(text.contains("MinutesFromUTC>") == (own != nil))
        if let own { #expect(text.contains("<smilepile:MinutesFromUTC>\(own)</smilepile:MinutesFromUTC>")) }
        await test.library.close()
    }

    @Test func sealedFieldsAreSaidToWhoAsksForThem() async throws {
        let test = try await library()
        // Nothing is sealed: no key is needed for them either.
        #expect(try await sidecar(test, withDetails: true).saysMore == false)
        _ = try await test.mesh.send(
            SetPhotoDetail(
                id: 1, childName: "Ylva", notes: "first\nsteps", tags: ["Sea"], location: "54.32133, -10.13489"))
        let plain = try await sidecar(test)
        for word in ["Ylva", "steps", "Sea", "GPS", "54"] { #expect(!plain.text.contains(word), "\(word)") }
        #expect(!plain.saysMore)
        let whole = try await sidecar(test, withDetails: true)
        #expect(whole.saysMore && whole.unreadable.isEmpty)
        for line in [
            "<rdf:li>Ylva</rdf:li>", "<rdf:li>Sea</rdf:li>", "<smilepile:Notes>first\nsteps</smilepile:Notes>",
            "<exif:GPSLatitude>54,19.279800N<", "<exif:GPSLongitude>10,8.093400W<",
        ] { #expect(whole.text.contains(line), "\(line)") }
        _ = try await test.mesh.send(SetPhotoDetail(id: 1, location: "Kiel, Schilksee"))
        let worded = try await sidecar(test, withDetails: true).text
        #expect(worded.contains("<Iptc4xmpCore:Location>Kiel, Schilksee<") && !worded.contains("GPS"))
        await test.library.close()
    }

    /// A copy of the turned pixels must not be turned again where it is imported with it.
    @Test func aTurnIsSaidBesideTheFileAndNotBesideWhatIsShown() async throws {
        let test = try await library { $0.turn(to: .quarter) }
        let plain = try await sidecar(test)
        #expect(plain.saysMore && plain.text.contains("<smilepile:Rotation>90</smilepile:Rotation>"))
        let shown = try await test.mesh.send(GetPhotoSidecar(id: 1, asShown: true))
        #expect(!shown.saysMore && !shown.text.contains("Rotation"))
        await test.library.close()
    }

    @Test func aPhotoThatIsNotThere() async throws {
        let test = try await library()
        await #expect(throws: MeshError.self) { try await test.mesh.send(GetPhotoSidecar(id: 99)) }
        await test.library.close()
    }
}
