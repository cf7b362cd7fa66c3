import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// One row that cannot be read keeps nobody from all the others, and is named with what removes it.
@Suite(.timeLimit(.minutes(2))) struct UnreadableRowTests {
    /// Four photos, of which the second one's name is no text any more.
    private func damaged() async throws -> (TestLibrary, [Photo]) {
        let test = try await TestLibrary("unreadable")
        _ = try await test.importSamples(4, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        try await damage("photos", photos[1].id, in: test)
        return (test, photos)
    }

    private func damage(_ table: String, _ id: Int64, in test: TestLibrary) async throws {
        try await test.library.catalogue.database.write {
            try $0.execute("UPDATE \(table) SET name = CAST(x'49FF4D' AS TEXT) WHERE id = ?", id)
        }
    }

    private func unreadable(_ test: TestLibrary) async throws -> [String] {
        try await test.mesh.send(GetLibraryStatus()).unreadable?.map(\.name) ?? []
    }

    @Test func listsAndObservationsGoOnWithoutIt() async throws {
        let (test, photos) = try await damaged()
        let others = [photos[0], photos[2], photos[3]]
        #expect(try await test.mesh.send(SearchPhotos()).photos == others)
        let first = try await test.mesh.send(SearchPhotos(limit: 2))
        #expect(first.photos == Array(others.prefix(2)))
        #expect(try await test.mesh.send(SearchPhotos(limit: 2, after: first.next)).photos == [photos[3]])
        let observed = Watched.follow(ObservePhotos(limit: 2), on: test.mesh)
        await observed.value { $0.photos == Array(others.prefix(2)) }
        #expect(try await unreadable(test) == ["photo \(photos[1].id)"])
        await test.library.close()
    }

    @Test func whoeverAsksForItIsToldWhatToDo() async throws {
        let (test, photos) = try await damaged()
        let id = photos[1].id
        func refused(_ work: () async throws -> Void) async {
            do {
                try await work()
                Issue.record("it was read")
            } catch {
                let error = MeshError(describing: error)
                #expect(error.status == .dataLoss && error.message.contains("The photo \(id) cannot be read"))
                #expect(error.message.hasSuffix("smilepile photos forget \(id)"), "\(error.message)")
            }
        }
        await refused { _ = try await test.mesh.send(GetPhoto(id: id)) }
        await refused { _ = try await test.mesh.send(DeletePhotos(ids: photos.map(\.id))) }
        #expect(try await test.allPhotos().count == 3)
        #expect(try await test.mesh.send(DeletePhotos(ids: photos.map(\.id), ignoreMissing: true)).count == 3)
        #expect(try await test.mesh.send(ForgetPhotos(ids: [id])).paths == [photos[1].path])
        #expect(try await unreadable(test).isEmpty)
        #expect(try test.files("photos").contains(photos[1].fileName))
        await test.library.close()
    }

    @Test func theTrashIsListedAndEmptiedOfIt() async throws {
        let (test, photos) = try await damaged()
        let ids = [photos[0].id, photos[2].id, photos[3].id]
        _ = try await test.mesh.send(DeletePhotos(ids: ids))
        try await damage("trash", ids[1], in: test)
        let page = try await test.mesh.send(ListTrash(limit: 2))
        #expect(Set(page.photos.map(\.photo.id)) == [ids[0], ids[2]] && page.next == nil)
        #expect(Set(try await unreadable(test)) == ["photo \(photos[1].id)", "photo in the trash \(ids[1])"])
        #expect(try await test.mesh.send(ForgetPhotos(ids: [ids[1]])).paths == [photos[2].path])
        #expect(try await test.mesh.send(GetLibraryStatus()).trashed == 2)
        // One that can be read is not there for whoever forgets.
        #expect(await status { _ = try await test.mesh.send(ForgetPhotos(ids: [ids[0]])) } == .notFound)
        #expect(try await unreadable(test) == ["photo \(photos[1].id)"])
        await test.library.close()
    }

    @Test func backupsAndChecksNameIt() async throws {
        let (test, photos) = try await damaged()
        let name = "photo \(photos[1].id)"
        let backup = try await test.run(CreateBackup(path: test.folder.file("b.zip")))
        #expect(backup.state == .finished && backup.needsAttention && backup.receipt?["photos"] == 3)
        #expect(try await test.lines(backup.id).map { "\($0.item) \($0.outcome)" } == ["\(name) unreadable"])
        #expect(try await test.run(VerifyBackup(path: test.folder.file("b.zip"))).state == .finished)
        let check = try await test.run(RescanLibrary())
        #expect(check.outcomes == ["unreadable": 1], "\(check.outcomes)")
        #expect(try await test.lines(check.id).first?.item == name)
        await test.library.close()
    }

    /// Of a photo whose path cannot be read, nobody knows which file it has.
    @Test func noUnknownFileIsRemovedUntilItIsForgotten() async throws {
        let (test, photos) = try await damaged()
        try await test.library.catalogue.database.write {
            try $0.execute("UPDATE photos SET path = CAST(x'70FF' AS TEXT) WHERE id = ?", photos[1].id)
        }
        let clean = CleanStorage(unknownPhotos: true)
        #expect(await status { _ = try await test.mesh.send(clean) } == .failedPrecondition)
        #expect(try test.files("photos").count == 4)
        _ = try await test.mesh.send(ForgetPhotos(ids: [photos[1].id]))
        #expect(try await test.mesh.send(clean).unknownPhotos == [photos[1].path])
        #expect(try test.files("photos").count == 3)
        await test.library.close()
    }

    /// Of every other table: its list has all other rows.
    @Test func otherTablesGoOnToo() async throws {
        let (test, photos) = try await damaged()
        let session = try await test.mesh.send(StartSwipeSession()).sessionID
        for photo in [photos[0], photos[2]] {
            _ = try await test.mesh.send(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: .keep))
        }
        try await test.library.catalogue.database.write { connection in
            try connection.execute("UPDATE categories SET display_name = CAST(x'FF' AS TEXT) WHERE id = 2")
            try connection.execute(
                "UPDATE swipe_actions SET content_digest = CAST(x'FF' AS TEXT) WHERE photo_uuid = ?", photos[2].uuid)
            try connection.execute("INSERT INTO devices VALUES ('d', CAST(x'FF' AS TEXT), NULL, 0, 0, 'x', 'parent')")
            try connection.execute("INSERT INTO groups (id, name, created_at) VALUES ('g', CAST(x'FF' AS TEXT), 0)")
        }
        let categories = try await test.mesh.send(ListCategories()).categories
        #expect(categories.map(\.displayName) == ["Family", "Category 2", "Games", "Sports"])
        #expect(try await test.mesh.send(ListPendingSwipes()).actions.map(\.photoIdentifier) == [photos[0].uuid])
        #expect(try await test.mesh.send(ListDevices()).devices.isEmpty)
        #expect(try await test.mesh.send(ListGroups()).groups.isEmpty)
        #expect(
            Set(try await unreadable(test)) == [
                "photo \(photos[1].id)", "category 2", "decision 2", "device d", "group g",
            ])
        let backup = try await test.run(CreateBackup(path: test.folder.file("b.zip")))
        #expect(backup.state == .finished && backup.receipt?["categories"] == 4)
        let lines = try await test.lines(backup.id).map(\.item)
        #expect(Set(lines) == ["photo \(photos[1].id)", "decision 2", "group g"])
        // Another name mends a category.
        _ = try await test.mesh.send(EditCategory(id: 2, displayName: "Cars"))
        #expect(try await unreadable(test).contains("category 2") == false)
        await test.library.close()
    }

    /// What the sentence advises: the row gives way, what is sealed for its uuid stays, and so does its file.
    @Test func itComesBackFromABackup() async throws {
        let test = try await TestLibrary("unreadable")
        _ = try await test.importSamples(3, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        let backup = try await test.run(CreateBackup(path: test.folder.file("b.zip")))
        #expect(backup.state == .finished)
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[1].id, notes: "later"))
        try await damage("photos", photos[1].id, in: test)
        let restore = try await test.run(RestoreBackup(path: test.folder.file("b.zip")))
        #expect(restore.state == .finished, "\(String(describing: restore.error))")
        let after = try await test.allPhotos()
        #expect(after.map(\.uuid) == photos.map(\.uuid) && after.map(\.name) == photos.map(\.name))
        #expect(try await test.mesh.send(GetPhotoDetail(id: after[1].id)).notes == "later")
        #expect(try await unreadable(test).isEmpty)
        await test.library.close()
    }
}
