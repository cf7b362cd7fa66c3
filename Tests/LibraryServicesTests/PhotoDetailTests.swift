import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
@testable import LibraryServices
import SampleAlbum
@testable import SQLiteCatalogue
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// The sealed fields as clients set and see them, and where they go with their photos.
@Suite(.timeLimit(.minutes(2))) struct PhotoDetailTests {
    private let sample = SampleCatalogue()

    /// Photos 1…`count` of category 1; photo `n` was taken at `n` seconds.
    private func library(_ count: Int = 4) async throws -> TestLibrary {
        let test = try await TestLibrary("detail")
        _ = try await test.add((1...count).map { sample.photo($0, takenAt: Int64($0) * 1000) })
        return test
    }

    private let whole = SetPhotoDetail(
        id: 2, childName: " Ylva-Möwe ", childAge: "3½", notes: "took her first steps\non the beach 🏖",
        tags: ["Sea", "sea", " first "],
        milestone: "Walks", location: "Kiel, Schilksee", metadata: "{\"lens\": \"scratched\"}")
    private let said = PhotoDetail(
        photoId: 2, childName: "Ylva-Möwe", childAge: "3½", notes: "took her first steps\non the beach 🏖",
        tags: ["Sea", "first"], milestone: "Walks", location: "Kiel, Schilksee", metadata: "{\"lens\": \"scratched\"}")

    private func detail(_ test: TestLibrary, _ id: Int64) async throws -> PhotoDetail {
        try await test.mesh.send(GetPhotoDetail(id: id))
    }

    private func error(_ body: () async throws -> Void) async -> MeshError? {
        do {
            try await body()
            return nil
        } catch {
            return MeshError(describing: error)
        }
    }

    // MARK: Writing and reading

    @Test func allSevenFieldsAreWrittenReadAndCleared() async throws {
        let test = try await library()
        #expect(try await detail(test, 2) == PhotoDetail(photoId: 2))
        // Reading what is not there needs no key.
        #expect(!FileManager.default.fileExists(atPath: test.keyFile))
        #expect(try await test.mesh.send(whole) == said)
        #expect(try await detail(test, 2) == said)
        #expect(try await detail(test, 1) == PhotoDetail(photoId: 1))
        let changed = try await test.mesh.send(
            SetPhotoDetail(id: 2, childAge: "4", notes: "  ", tags: [], clear: [.metadata, .milestone]))
        #expect(
            changed
                == PhotoDetail(photoId: 2, childName: "Ylva-Möwe", childAge: "4", location: "Kiel, Schilksee"))
        await test.library.close()
        let library = try await test.reopened()
        #expect(try await library.mesh.send(GetPhotoDetail(id: 2)) == changed)
        #expect(try await library.mesh.send(ListSealedPhotos()).photos.map(\.id) == [2])
        await library.close()
    }

    @Test func whatIsSealedIsInNoFileOfTheLibrary() async throws {
        let test = try await library()
        _ = try await test.mesh.send(whole)
        // A second value over the first, and one that is gone again.
        _ = try await test.mesh.send(SetPhotoDetail(id: 2, notes: "Ylva-Möwe at the zoo", clear: [.milestone]))
        #expect(try plaintexts(test).isEmpty)
        await test.library.close()
        #expect(try plaintexts(test).isEmpty)
    }

    /// Those that some file of the library has in it.
    private func plaintexts(_ test: TestLibrary) throws -> [String] {
        let texts = ["Ylva", "first steps", "Walks", "Schilksee", "scratched", "at the zoo", "3½"]
        let files = try #require(FileManager.default.enumerator(atPath: test.path))
        var contents: [Data] = []
        for case let path as String in files {
            if let data = FileManager.default.contents(atPath: test.path + "/" + path) { contents.append(data) }
        }
        #expect(contents.contains { $0.range(of: Data("sealing_keys".utf8)) != nil }, "the catalogue is looked at")
        return texts.filter { text in contents.contains { $0.range(of: Data(text.utf8)) != nil } }
    }

    @Test func valuesOutOfTheirBoundsAreRefused() async throws {
        let test = try await library()
        let wrong: [SetPhotoDetail] = [
            SetPhotoDetail(id: 2), SetPhotoDetail(id: 2, clear: []),
            SetPhotoDetail(id: 2, childName: String(repeating: "x", count: 201)),
            SetPhotoDetail(id: 2, childName: "two\nlines"), SetPhotoDetail(id: 2, notes: "a\u{0}b"),
            SetPhotoDetail(id: 2, notes: "a\u{1B}[31m"), SetPhotoDetail(id: 2, notes: "a", clear: [.notes]),
            SetPhotoDetail(id: 2, notes: String(repeating: "x", count: 20_001)),
            // One character of a hundred thousand marks.
            SetPhotoDetail(id: 2, childAge: "a" + String(repeating: "\u{301}", count: 100_000)),
            SetPhotoDetail(id: 2, tags: (0...100).map(String.init)),
            SetPhotoDetail(id: 2, tags: [String(repeating: "x", count: 101)]),
        ]
        for request in wrong {
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        // None of them was a reason to make a key, nor a photo that is not there.
        #expect(await status { _ = try await test.mesh.send(SetPhotoDetail(id: 99, notes: "x")) } == .notFound)
        #expect(await status { _ = try await self.detail(test, 99) } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: test.keyFile))
        let most = SetPhotoDetail(
            id: 3, notes: String(repeating: "ä", count: 20_000), tags: (0..<100).map { "tag \($0)" })
        #expect(try await test.mesh.send(most).tags?.count == 100)
        await test.library.close()
    }

    @Test func onlyParentsMay() async throws {
        let test = try await library()
        _ = try await test.mesh.send(whole)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(await status { _ = try await test.mesh.send(GetPhotoDetail(id: 2), in: kid) } == .permissionDenied)
        #expect(await status { _ = try await test.mesh.send(self.whole, in: kid) } == .permissionDenied)
        let search = SearchPhotoDetails(text: "sea")
        #expect(await status { _ = try await test.mesh.send(search, in: kid) } == .permissionDenied)
        #expect(await status { _ = try await test.mesh.send(GetKeyStatus(), in: kid) } == .permissionDenied)
        await test.library.close()
    }

    @Test func writersThatMeetAllWrite() async throws {
        let test = try await library(40)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in 1...40 {
                group.addTask { _ = try await test.mesh.send(SetPhotoDetail(id: Int64(id), notes: "note \(id)")) }
            }
            try await group.waitForAll()
        }
        for id in 1...40 { #expect(try await detail(test, Int64(id)).notes == "note \(id)") }
        #expect(try await test.mesh.send(GetKeyStatus()).keys.count == 1)
        await test.library.close()
    }

    // MARK: With their photos

    private func values(_ test: TestLibrary) async throws -> Int {
        try await test.mesh.send(GetKeyStatus()).values
    }

    @Test func theyStayThroughTheTrashAndGoWithThePurge() async throws {
        let test = try await library()
        _ = try await test.mesh.send(whole)
        _ = try await test.mesh.send(SetPhotoDetail(id: 3, notes: "stays"))
        _ = try await test.mesh.send(DeletePhotos(ids: [2]))
        #expect(try await values(test) == 8)
        #expect(await status { _ = try await self.detail(test, 2) } == .notFound)
        #expect(try await test.mesh.send(ListSealedPhotos()).total == 1)
        _ = try await test.mesh.send(RestorePhotos(ids: [2]))
        #expect(try await detail(test, 2) == said)
        // A whole category, too, and one that is gone.
        _ = try await test.mesh.send(DeleteCategory(id: 1, deletePhotos: true))
        #expect(try await values(test) == 8)
        _ = try await test.mesh.send(RestorePhotos(ids: [2]))
        #expect(try await detail(test, 2) == said)
        _ = try await test.mesh.send(DeletePhotos(ids: [2]))
        _ = try await test.mesh.send(PurgeTrash(ids: [2]))
        #expect(try await values(test) == 1)
        _ = try await test.mesh.send(RestorePhotos(ids: [3]))
        #expect(try await detail(test, 3).notes == "stays")
        _ = try await test.mesh.send(ForgetPhotos(ids: [3]))
        #expect(try await values(test) == 0)
        await test.library.close()
    }

    /// A library that becomes its backup again keeps what the backup does not hold: its sealed fields.
    @Test func theyStayThroughAReplacement() async throws {
        let test = try await TestLibrary("detail")
        _ = try await test.importSamples(4)
        let photos = try await test.allPhotos()
        for photo in photos { _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, clear: [.location])) }
        let backup = test.folder.file("b.zip")
        #expect(try await test.run(CreateBackup(path: backup)).state == .finished)
        let added = test.folder.file("more")
        try SampleMore.write(to: added)
        #expect(try await test.importing(added).outcomes["imported"] == 1)
        // Where the samples were taken is not what is counted here.
        for photo in try await test.allPhotos() {
            _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, clear: [.location]))
        }
        let new = try #require(try await test.allPhotos().first { photo in !photos.contains { $0.uuid == photo.uuid } })
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[0].id, notes: "kept"))
        _ = try await test.mesh.send(SetPhotoDetail(id: new.id, notes: "in the trash"))
        #expect(try await test.run(RestoreBackup(path: backup, mode: .replace)).state == .finished)
        let there = try await test.mesh.send(GetPhoto(uuid: photos[0].uuid))
        #expect(try await detail(test, there.id).notes == "kept")
        let trashed = try #require(try await test.mesh.send(ListTrash()).photos.first { $0.photo.uuid == new.uuid })
        _ = try await test.mesh.send(RestorePhotos(ids: [trashed.photo.id]))
        let back = try await test.mesh.send(GetPhoto(uuid: new.uuid))
        #expect(try await detail(test, back.id).notes == "in the trash")
        #expect(try await values(test) == 2)
        // And a merge.
        #expect(try await test.run(RestoreBackup(path: backup)).state == .finished)
        #expect(try await values(test) == 2)
        await test.library.close()
    }

    // MARK: What does not open

    private func change(_ test: TestLibrary, _ sql: String) async throws {
        try await test.library.catalogue.database.write { _ = try $0.execute(sql) }
    }

    @Test func whatWasSwappedOrChangedDoesNotOpenAndIsNotOverwritten() async throws {
        let test = try await library()
        _ = try await test.mesh.send(whole)
        _ = try await test.mesh.send(SetPhotoDetail(id: 3, childName: "Aske", notes: "of another photo"))
        let two = "(SELECT uuid FROM photos WHERE id = 2)"
        let three = "(SELECT uuid FROM photos WHERE id = 3)"
        // Another photo's, another field's, a truncated one, one with a flipped bit, an unknown version, none at all.
        try await change(
            test,
            """
            UPDATE sealed_fields SET sealed = (SELECT sealed FROM sealed_fields WHERE photo_uuid = \(three)
                AND field = 'notes') WHERE photo_uuid = \(two) AND field = 'notes'
            """)
        try await change(
            test,
            """
            UPDATE sealed_fields SET sealed = (SELECT sealed FROM sealed_fields WHERE photo_uuid = \(two)
                AND field = 'location') WHERE photo_uuid = \(two) AND field = 'milestone'
            """)
        for (field, value) in [
            ("childAge", "substr(sealed, 1, length(sealed) - 1)"), ("metadata", "x'02' || substr(sealed, 2)"),
            ("tags", "x''"),
        ] {
            try await change(
                test,
                "UPDATE sealed_fields SET sealed = CAST(\(value) AS BLOB) WHERE photo_uuid = \(two) AND field = '\(field)'"
            )
        }
        let wrong: [SealedField] = [.childAge, .metadata, .milestone, .notes, .tags]
        let found = try await detail(test, 2)
        #expect(
            found
                == PhotoDetail(
                    photoId: 2, childName: "Ylva-Möwe", location: "Kiel, Schilksee", unreadable: wrong))
        // What opens may be changed; what does not, only after it was cleared by name.
        #expect(try await test.mesh.send(SetPhotoDetail(id: 2, location: "Laboe")).unreadable == wrong)
        let refused = await error { _ = try await test.mesh.send(SetPhotoDetail(id: 2, notes: "new")) }
        #expect(refused?.status == .failedPrecondition && refused?.message.contains("clear it first") == true)
        _ = try await test.mesh.send(SetPhotoDetail(id: 2, clear: wrong))
        #expect(try await test.mesh.send(SetPhotoDetail(id: 2, notes: "new")).notes == "new")
        await test.library.close()
    }

    /// Values of another library, whose key is not here: no new key is made beside them.
    @Test func valuesWithoutAKeyKeepANewOneFromBeingMade() async throws {
        let test = try await library()
        try await change(
            test,
            "INSERT INTO sealed_fields SELECT uuid, 'notes', CAST(x'01' || randomblob(80) AS BLOB) FROM photos WHERE id = 1"
        )
        let refused = await error { _ = try await test.mesh.send(self.whole) }
        #expect(refused?.status == .failedPrecondition && refused?.message.contains("keys import") == true)
        #expect(!FileManager.default.fileExists(atPath: test.keyFile))
        #expect(try await detail(test, 1).unreadable == [.notes])
        let status = try await test.mesh.send(GetKeyStatus())
        #expect(status.state == .unused && status.foreignValues == 1 && status.keys.isEmpty)
        #expect(try await test.mesh.send(SetPhotoDetail(id: 1, clear: [.notes])) == PhotoDetail(photoId: 1))
        #expect(try await test.mesh.send(whole) == said)
        await test.library.close()
    }

    // MARK: Search

    @Test func textIsFoundInEveryField() async throws {
        let test = try await library(6)
        _ = try await test.mesh.send(whole)
        _ = try await test.mesh.send(SetPhotoDetail(id: 4, notes: "the MOWE again", tags: ["no", "möwe"]))
        _ = try await test.mesh.send(SetPhotoDetail(id: 5, milestone: "möwe"))
        _ = try await test.mesh.send(SetPhotoDetail(id: 6, notes: "möwe, thrown away"))
        _ = try await test.mesh.send(DeletePhotos(ids: [6]))
        func found(_ request: SearchPhotoDetails) async throws -> [Int64] {
            try await test.mesh.send(request).photos.map(\.id)
        }
        #expect(try await found(SearchPhotoDetails(text: "Mowe")) == [5, 4, 2])
        #expect(try await found(SearchPhotoDetails(text: "mowe", fields: [.tags])) == [4])
        #expect(try await found(SearchPhotoDetails(text: "mowe", fields: [.childName, .milestone])) == [5, 2])
        #expect(try await found(SearchPhotoDetails(text: "%")).isEmpty)
        #expect(try await found(SearchPhotoDetails(text: "schilksee")) == [2])
        // A tag each, and no text over two of them.
        #expect(try await found(SearchPhotoDetails(text: "no möwe")).isEmpty)
        #expect(try await found(SearchPhotoDetails(text: "sea")) == [2])
        for wrong in ["", "\u{301}"] {
            #expect(await status { _ = try await test.mesh.send(SearchPhotoDetails(text: wrong)) } == .invalidArgument)
        }
        for wrong in [SearchPhotoDetails(text: "a", limit: 0), SearchPhotoDetails(text: "a", after: "x")] {
            #expect(await status { _ = try await test.mesh.send(wrong) } == .invalidArgument)
        }
        await test.library.close()
    }

    /// More values than are opened at once, whose order by uuid is not that of lists.
    @Test func pagesOfManyMatchesAreWholeAndInOrder() async throws {
        let test = try await library(SealedFieldStore.batch + 50)
        let ids = (1...Int64(SealedFieldStore.batch + 50))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids {
                let text = id % 3 == 0 ? "nothing" : "needle"
                group.addTask {
                    _ = try await test.mesh.send(SetPhotoDetail(id: id, childName: text, notes: text))
                }
            }
            try await group.waitForAll()
        }
        let expected = ids.filter { $0 % 3 != 0 }.sorted(by: >)
        var seen: [Int64] = []
        var next: String?
        repeat {
            let page = try await test.mesh.send(SearchPhotoDetails(text: "needle", limit: 47, after: next))
            #expect(page.total == expected.count && page.unreadable == 0)
            seen += page.photos.map(\.id)
            next = page.next
        } while next != nil
        #expect(seen == expected)
        await test.library.close()
    }
}

/// One more photo than a library has.
private enum SampleMore {
    static func write(to folder: String) throws {
        let all = folder + "-all"
        try SampleAlbum(width: 320, height: 240).write(count: 5, to: all)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let last = try #require(try FileManager.default.contentsOfDirectory(atPath: all).sorted().last)
        try FileManager.default.moveItem(atPath: all + "/" + last, toPath: folder + "/" + last)
    }
}
