import Foundation
import LibraryModel
import ServiceMesh
import Testing

/// What an import makes of the sidecars that a library has written beside its photos.
@Suite(.timeLimit(.minutes(3))) struct LibrarySidecarImportTests {
    private typealias Album = SidecarImportTests.Album

    private static func entry(_ category: String, source: String?, _ properties: String) -> String {
        let said = source.map { "<smilepile:DateSource>\($0)</smilepile:DateSource>" } ?? ""
        return """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"
             xmlns:smilepile="urn:uuid:5d0c1e0a-7b62-4d5c-9a55-2f3f6a1e8c47#" \(properties)>
            <smilepile:Category>\(category)</smilepile:Category>\(said)</rdf:Description></rdf:RDF></x:xmpmeta>
            """
    }

    @Test func aLibrarysOwnSidecarNamesTheCategoryAndMakesIt() async throws {
        let album = try await Album()
        for name in ["a.jpg", "b.jpg", "c.jpg", "d.jpg", "e.jpg"] { try album.picture(name) }
        try album.write("a.jpg.xmp", Self.entry("Grandma", source: nil, ""))
        try album.write("b.jpg.xmp", Self.entry("GRANDMA", source: nil, ""))
        try album.write("c.jpg.xmp", Self.entry("cars", source: nil, ""))
        // A number is no name of a category: the photo is worth more than that.
        try album.write("d.jpg.xmp", Self.entry("2025", source: nil, ""))
        let before = try await album.test.mesh.send(ListCategories()).categories
        let job = try await album.test.importing(album.folder)
        #expect(job.state == .finished)
        let photos = try await album.test.allPhotos()
        let categories = try await album.test.mesh.send(ListCategories()).categories
        #expect(categories.count == before.count + 1)
        let names = Dictionary(uniqueKeysWithValues: categories.map { ($0.id, $0.displayName.lowercased()) })
        let found = Dictionary(uniqueKeysWithValues: photos.map { ($0.name, names[$0.categoryId]) })
        #expect(found == ["a": "grandma", "b": "grandma", "c": "cars", "d": "family", "e": "family"])
        let lines = try await album.test.lines(job.id)
        #expect(
            try JSONDecoder().decode(ImportReceipt.self, from: JSONEncoder().encode(#require(job.receipt))).elsewhere
                == 3)
        #expect(lines.count { $0.detail?.contains("as its sidecar says") == true } == 3)
        #expect(lines.count { $0.detail?.contains("which cannot be made") == true } == 1)
        await album.test.library.close()
    }

    @Test func anImportThatWasToldACategoryAsksNoSidecar() async throws {
        let album = try await Album()
        try album.picture("a.jpg")
        try album.write("a.jpg.xmp", Self.entry("Grandma", source: nil, ""))
        let cars = try await album.test.mesh.send(GetCategory(displayName: "Cars")).id
        _ = try await album.test.run(ImportPhotos(paths: [album.folder], categoryId: cars))
        #expect(try await album.test.allPhotos().map(\.categoryId) == [cars])
        #expect(try await album.test.mesh.send(ListCategories()).categories.count == 4)
        await album.test.library.close()
    }

    @Test func aPersonsDateGoesBeforeThePicturesAndAGuessStaysOne() async throws {
        let album = try await Album()
        for name in ["person.jpg", "guess.jpg", "offset.jpg"] { try album.picture(name, isDated: true) }
        for name in ["app.jpg", "none.jpg", "odd.jpg"] { try album.picture(name) }
        func write(_ name: String, _ source: String?, _ date: String) throws {
            let property = date.isEmpty ? "" : "exif:DateTimeOriginal=\"\(date)\""
            try album.write(name + ".jpg.xmp", Self.entry("Family", source: source, property))
        }
        try write("person", "person", "1978-08")
        try write("guess", "file_name", "1978-08")
        try write("offset", "exif", "2024-06-01T12:00:00.250+05:00")
        try write("app", "app", "1978-08-12T10:00:00")
        try write("none", nil, "")
        try write("odd", "exif", "1978-08-12T10:00:00")
        let (photos, _, _) = try await album.imported()
        let person = try #require(photos["person.jpg"])
        #expect(person.takenAt == LocalDateTime("1978-08-01") && person.datePrecision == .month)
        #expect(person.dateSource == .person)
        #expect(photos["guess.jpg"]?.takenAt == LocalDateTime("2024-06-01T12:00:00.250"))
        #expect(photos["guess.jpg"]?.dateSource == .exif)
        #expect(photos["offset.jpg"]?.takenOffset == 300 && photos["offset.jpg"]?.dateSource == .exif)
        #expect(
            photos["app.jpg"]?.dateSource == .app && photos["app.jpg"]?.takenAt == LocalDateTime("1978-08-12T10:00:00"))
        #expect(photos["none.jpg"]?.takenAt == nil && photos["none.jpg"]?.dateSource == nil)
        // What the picture no longer says, the sidecar does.
        #expect(photos["odd.jpg"]?.dateSource == .sidecar)
    }

    /// Out of one library and into another.
    @Test func aPhotoComesBackWithItsSidecarAsItWas() async throws {
        let first = try await Album()
        try first.picture("x.jpg", isDated: true)
        _ = try await first.test.importing(first.folder)
        let mesh = first.test.mesh
        let id = try #require(try await first.test.allPhotos().first).id
        let grandma = try await mesh.send(AddCategory(displayName: "Grandma & <Opa>")).id
        _ = try await mesh.send(
            EditPhoto(
                id: id, name: "x: 1/2", caption: "zwei\nZeilen & mehr", categoryId: grandma, isFavorite: true,
                takenAt: LocalDateTime("1978-08-01"), datePrecision: .month, takenOffset: 60))
        let was = try await mesh.send(GetPhoto(id: id))
        let sidecar = try await mesh.send(GetPhotoSidecar(id: id))

        let second = try await Album()
        // As an export calls it.
        try Data(contentsOf: URL(fileURLWithPath: first.folder + "/x.jpg"))
            .write(to: URL(fileURLWithPath: second.folder + "/x_ 1_2 (2).jpg"))
        try second.write("x_ 1_2 (2).jpg.xmp", sidecar.text)
        _ = try await second.test.importing(second.folder)
        let now = try #require(try await second.test.allPhotos().first)
        #expect(now.name == "x: 1/2")
        #expect(now.caption == was.caption && now.caption == "zwei\nZeilen & mehr" && now.isFavorite)
        #expect(now.takenAt == was.takenAt && now.datePrecision == .month && now.takenOffset == 60)
        #expect(now.dateSource == .person && now.contentDigest == was.contentDigest)
        #expect(try await second.test.mesh.send(GetCategory(id: now.categoryId)).displayName == "Grandma & <Opa>")
        #expect(try await second.test.mesh.send(GetPhotoSidecar(id: now.id)).text == sidecar.text)
        // What is kept beside it says the same when it is asked again.
        _ = try await second.test.run(RedatePhotos(PhotoFilter()))
        #expect(try await second.test.mesh.send(GetPhoto(id: now.id)).hasSameDate(as: now))
        await first.test.library.close()
        await second.test.library.close()
    }
}

extension Photo {
    fileprivate func hasSameDate(as other: Photo) -> Bool {
        takenAt == other.takenAt && datePrecision == other.datePrecision && takenOffset == other.takenOffset
            && dateSource == other.dateSource
    }
}
