import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// Every filter in every message that takes filters: one that a message forgot would let more photos pass than were meant, and
/// some of these messages write.
@Suite(.timeLimit(.minutes(2))) struct FilteredMessageTests {
    private static let members = Set(Mirror(reflecting: PhotoFilter()).children.compactMap(\.label))

    private static let methods: Set = [
        SearchPhotos.method, CountPhotos.method, SelectPhotos.method, ObservePhotos.method, GetTimeline.method,
        MakeSheetPage.method, RedatePhotos.method,
    ]

    /// `categoryId` alone is no filter: imports and moves name a category too.
    @Test func whoeverTakesOneFilterTakesAll() async throws {
        let test = try await TestLibrary()
        let filters = Self.members.subtracting(["categoryId", "text"])
        var found: Set<String> = []
        for message in test.mesh.descriptions {
            guard case .object(let parameters)? = message.params["properties"] else { continue }
            guard !filters.isDisjoint(with: parameters.keys) else { continue }
            // A review's decision, and a favourite's category, have these words for what they do.
            guard parameters["favoritesOnly"] != nil || parameters["hasCamera"] != nil else { continue }
            found.insert(message.name)
            #expect(Self.members.isSubset(of: parameters.keys), "\(message.name)")
        }
        #expect(found == Self.methods)
        await test.library.close()
    }

    @Test func theFilterStandsAmongTheMessagesOwnMembers() throws {
        let filter = PhotoFilter(
            text: "a", words: ["b"], categoryId: 3, from: LocalDateTime("2025-01-01"), to: LocalDateTime("2025-02-01"),
            favoritesOnly: true, reviewed: true, decision: .keep, camera: "c", hasCamera: true, kind: .film)
        func check<M: FilteredMessage>(_ message: M, _ own: Set<String>) throws {
            let json = try JSONEncoder().encode(message)
            let object = try JSONDecoder().decode([String: JSONValue].self, from: json)
            #expect(Set(object.keys) == Self.members.union(own), "\(M.method)")
            #expect(try JSONDecoder().decode(M.self, from: json).filter == filter, "\(M.method)")
        }
        try check(SearchPhotos(filter, limit: 1, after: "x"), ["limit", "after"])
        try check(CountPhotos(filter), [])
        try check(
            SelectPhotos(filter, firstId: 1, lastId: 2, limit: 3, after: 4), ["firstId", "lastId", "limit", "after"])
        try check(ObservePhotos(filter, limit: 1, after: "x"), ["limit", "after"])
        try check(GetTimeline(filter, month: "2025-01"), ["month"])
        try check(
            MakeSheetPage(filter, after: "x", columns: 1, format: .png, heading: "h", page: 1),
            ["after", "columns", "format", "heading", "page"])
        try check(RedatePhotos(filter, dryRun: true), ["dryRun"])
    }

    /// Five photos that differ in everything a filter asks for.
    private func library() async throws -> (test: TestLibrary, category: Int64) {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (number, model) in ["Phone 12", "Phone 12", "Mark II", "Mark II"].enumerated() {
            let album = SampleAlbum(width: 32, height: 24, seed: UInt64(number + 1), model: model)
            try album.photo(number).write(to: URL(fileURLWithPath: folder + "/\(number).jpg"))
        }
        // Without its EXIF: its segment stands behind the first two bytes.
        let whole = try SampleAlbum(width: 32, height: 24, seed: 9).photo(4)
        let length = Int(whole[4]) << 8 | Int(whole[5])
        try (whole.prefix(2) + whole.dropFirst(4 + length)).write(to: URL(fileURLWithPath: folder + "/4.jpg"))
        _ = try await test.importing(folder)
        let mesh = test.mesh
        let photos = try await mesh.send(SearchPhotos()).photos.sorted { $0.name < $1.name }
        let category = try await mesh.send(ListCategories()).categories[1].id
        for (photo, year) in zip(photos, [2001, 2005, 2005, 2005, 2020]) {
            _ = try await mesh.send(EditPhoto(id: photo.id, takenAt: LocalDateTime("\(year)-06-15")))
        }
        _ = try await mesh.send(SetCaption(id: photos[0].id, caption: "at the seaside"))
        _ = try await mesh.send(MovePhotos(ids: [photos[1].id], categoryId: category))
        _ = try await mesh.send(SetFavorite(ids: [photos[2].id], isFavorite: true))
        try await test.library.catalogue.database.write { connection in
            try connection.execute("UPDATE photos SET kind = 'film' WHERE id = ?", photos[4].id)
        }
        let session = try await mesh.send(StartSwipeSession()).sessionID
        _ = try await mesh.send(
            RecordSwipe(
                sessionID: session, photoIdentifier: photos[3].uuid, contentDigest: photos[3].contentDigest,
                action: .trash))
        return (test, category)
    }

    @Test func everyFilterNarrowsEveryMessage() async throws {
        let (test, category) = try await library()
        let wanted: [String: (filter: PhotoFilter, names: Set<String>)] = [
            "text": (PhotoFilter(text: "the sea"), ["0"]),
            "words": (PhotoFilter(words: ["side", "sea"]), ["0"]),
            "categoryId": (PhotoFilter(categoryId: category), ["1"]),
            "from": (PhotoFilter(from: LocalDateTime("2015-01-01")), ["4"]),
            "to": (PhotoFilter(to: LocalDateTime("2002-01-01")), ["0"]),
            "favoritesOnly": (PhotoFilter(favoritesOnly: true), ["2"]),
            "reviewed": (PhotoFilter(reviewed: true), ["3"]),
            "decision": (PhotoFilter(decision: .trash), ["3"]),
            "camera": (PhotoFilter(camera: "mark"), ["2", "3"]),
            "hasCamera": (PhotoFilter(hasCamera: false), ["4"]),
            "kind": (PhotoFilter(kind: .film), ["4"]),
        ]
        #expect(Set(wanted.keys) == Self.members)
        let mesh = test.mesh
        for (name, (filter, names)) in wanted {
            let photos = try await mesh.send(SearchPhotos(filter)).photos
            #expect(Set(photos.map(\.name)) == names, "\(name)")
            #expect(try await mesh.send(CountPhotos(filter)).count == names.count, "\(name)")
            #expect(try await mesh.send(SelectPhotos(filter)).ids == photos.map(\.id).sorted(), "\(name)")
            #expect(try await mesh.send(GetTimeline(filter)).count == names.count, "\(name)")
            #expect(try await mesh.send(MakeSheetPage(filter)).photos == names.count, "\(name)")
            let watched = Watched.follow(ObservePhotos(filter), on: mesh)
            await watched.value { $0.photos == photos && $0.total == photos.count }
            await watched.end()
            let job = try await mesh.send(RedatePhotos(filter, dryRun: true)).job
            let redated = try await mesh.send(WaitForJob(job: job))
            #expect(redated.receipt?["photos"] == .integer(Int64(names.count)), "\(name)")
        }
        await test.library.close()
    }
}
