import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@Suite struct MigrationTests {
    /// The same small library in the form of each version: text ids, words and `12abc` in version 4.
    private func phone(_ version: Int) async throws -> OldPhone {
        let ids = version == 4 ? ["'1'", "'holidays'", "'12abc'", "'007'"] : ["1", "2", "12", "7"]
        let favorite: Bool? = version <= 6 ? true : nil
        let plain: Bool? = version <= 6 ? false : nil
        var sql =
            OldPhone.category(ids[0], "'FAMILY'", color: "#000000", position: 0, isDefault: true)
            + OldPhone.category(ids[1], "'Été'", color: "#abcdef", position: 7)
            + OldPhone.category(ids[2], "'Pets'", color: "red", position: 3)
            + OldPhone.category(ids[3], "'Été '", position: 9)
            + OldPhone.photo(
                OldPhone.uuid(1).uppercased(), "/storage/emulated/0/DCIM/sample-0000.jpg", category: ids[0],
                favorite: favorite, notes: "AES1")
            + OldPhone.photo(
                OldPhone.uuid(2), "file:///storage/My%20Pictures/sample%2D0001.jpg?x=1", category: ids[1],
                favorite: plain, notes: "AES2")
            + OldPhone.photo(OldPhone.uuid(3), "content://media/sample-0002.jpg", category: ids[2], favorite: plain)
            + OldPhone.photo(
                "1234567890", "/data/user/0/com.smilepile/files/sample-0003.jpg", category: version == 4 ? "'7'" : "7",
                favorite: plain)
            + OldPhone.photo(OldPhone.uuid(5), "/storage/gone.jpg", category: ids[0], favorite: plain)
            + OldPhone.photo(
                OldPhone.uuid(6), "/storage/sample-0005.jpg", category: version == 4 ? "'none'" : "99", favorite: plain)
        if version >= 6 {
            sql += """
                UPDATE category_entities SET icon_name = 'ic_sun' WHERE id = 2;
                INSERT INTO photo_category_join VALUES ('\(OldPhone.uuid(2))', 2, 0, 1), ('\(OldPhone.uuid(2))', 12, 0, 0),
                    ('\(OldPhone.uuid(3))', 12, 0, 0);
                """
        }
        return try await OldPhone(version: version, photos: 6, sql)
    }

    /// OldLibraries.md of LibraryModel: purely numeric ids are kept. Not those that the library has, or had: its trash may speak of them.
    @Test func numbersOfCategoriesAreKeptWhereTheyAreFree() async throws {
        let ids = ["'summer'", "'3'", "'9'", "'007'", "'12abc'", "'6'", "'99999999999'"]
        let phone = try await OldPhone(
            version: 4, photos: 1,
            ids.enumerated().map { OldPhone.category($1, "'C\($0)'", position: $0) }.joined()
                + OldPhone.photo(OldPhone.uuid(1), "/x/sample-0000.jpg", category: "'9'", favorite: false))
        for name in ["Fifth", "Sixth"] { _ = try await phone.test.mesh.send(AddCategory(displayName: name)) }
        _ = try await phone.test.mesh.send(DeleteCategory(id: 6))
        _ = try await phone.migrate()
        let categories = try await phone.categories().suffix(7)
        #expect(categories.map(\.displayName) == (0..<7).map { "C\($0)" })
        #expect(categories.map(\.id) == [10, 11, 9, 7, 12, 13, 14])
        #expect(try await phone.test.allPhotos().map(\.categoryId) == [9])
        #expect(try await phone.test.mesh.send(AddCategory(displayName: "Next")).id == 15)
        await phone.test.library.close()
    }

    @Test(arguments: 4...8) func everyVersionIsTakenOverAndAgainChangesNothing(version: Int) async throws {
        let phone = try await phone(version)
        let before = try RoomDatabase.state(of: phone.folder)
        let preview = try await phone.migrate(dryRun: true)
        #expect(try await phone.test.allPhotos().isEmpty)
        #expect(try await phone.categories().count == 4)
        #expect(try phone.test.files("photos").isEmpty && phone.test.files("staging").isEmpty)

        let job = try await phone.migrate()
        #expect(job.state == .finished && job.needsAttention, "\(job)")
        var expected = ["merged": 2, "added": 2, "imported": 5, "missing": 1, "defaulted": 2, "left": 1]
        if version >= 6 { expected["left"] = 2 }
        #expect(job.outcomes == expected)
        #expect(preview.outcomes == expected)
        let receipt = try phone.receipt(job)
        #expect(receipt.version == version && !receipt.isDryRun)
        #expect(receipt.categories == ["merged": 2, "added": 2])
        #expect(receipt.photos == ["imported": 5, "missing": 1])
        #expect(receipt.encryptedValues == ["encrypted_notes": 2])
        #expect(receipt.furtherCategories == (version >= 6 ? 1 : 0))
        #expect(try RoomDatabase.state(of: phone.folder) == before)
        #expect(try phone.test.files("staging").isEmpty)

        let categories = try await phone.categories()
        #expect(categories.map(\.displayName) == ["Family", "Cars", "Games", "Sports", "Pets", "Été"])
        #expect(categories.map(\.colorHex).suffix(2) == ["#4CAF50", "#ABCDEF"])
        #expect(categories[0].colorHex == "#E91E63", "the library's own category stays as it is")
        #expect(categories[5].iconResource == (version >= 6 ? "ic_sun" : nil))
        #expect(categories[5].createdAt.milliseconds == 1_600_000_000_000)
        #expect(categories.map(\.photoCount) == [2, 0, 0, 0, 1, 2])

        let photos = Dictionary(uniqueKeysWithValues: try await phone.test.allPhotos().map { ($0.name, $0) })
        let first = try #require(photos["sample-0000"])
        #expect(first.uuid == OldPhone.uuid(1) && first.isFavorite == (version <= 6))
        #expect(first.createdAt.milliseconds == 1_700_000_000_000)
        #expect(first.takenAt?.milliseconds == SampleAlbum(width: 64, height: 48).expected(0).takenAt)
        #expect(photos["sample-0001"]?.uuid == OldPhone.uuid(2) && photos["sample-0001"]?.isFavorite == false)
        #expect(photos["sample-0001"]?.categoryId == categories[5].id)
        #expect(photos["sample-0003"]?.categoryId == categories[5].id)
        #expect(UUID(uuidString: photos["sample-0003"]?.uuid ?? "") != nil)
        #expect(photos["sample-0005"]?.categoryId == categories[0].id)
        for photo in photos.values {
            #expect(try phone.test.files("thumbnails").contains("thumb_" + photo.fileName))
        }

        let again = try await phone.migrate()
        #expect(again.outcomes == ["merged": 4, "duplicate": 5, "missing": 1, "left": 1])
        #expect(try await phone.categories() == categories)
        #expect(Set(try await phone.test.allPhotos().map(\.uuid)) == Set(photos.values.map(\.uuid)))
        #expect(try phone.test.files("photos").count == 5)
        #expect(try RoomDatabase.state(of: phone.folder) == before)
        await phone.test.library.close()
    }

    @Test func missingFilesAreKeptOnRequestAndOnce() async throws {
        let phone = try await OldPhone(
            version: 5, photos: 1,
            OldPhone.category("1", "'Trips'")
                + OldPhone.photo(OldPhone.uuid(1), "/x/gone.jpg", category: "1", favorite: true)
                + OldPhone.photo("word", "/x/lost.jpg", category: "1", favorite: false)
                + OldPhone.photo(OldPhone.uuid(3), "/x/sample-0000.jpg", category: "1", favorite: false))
        #expect(try await phone.migrate(keepMissing: true).outcomes == ["added": 1, "kept": 2, "imported": 1])
        let photos = try await phone.test.allPhotos()
        let kept = try #require(photos.first { $0.uuid == OldPhone.uuid(1) })
        #expect(kept.isFavorite && kept.width == 0 && kept.height == 0 && kept.fileSize == 0)
        #expect(kept.createdAt.milliseconds == 1_700_000_000_000 && kept.name == "gone.jpg")
        #expect(try phone.test.files("photos").count == 1)
        let again = try await phone.migrate(keepMissing: true)
        #expect(again.outcomes == ["merged": 1, "duplicate": 3])
        #expect(again.needsAttention == false)
        #expect(try await phone.test.allPhotos() == photos)

        // What relies on rows having files copes with these: a backup names them and is whole without them.
        let backup = phone.test.folder.file("backup.zip")
        let job = try await phone.test.run(CreateBackup(path: backup))
        #expect(job.state == .finished && job.needsAttention)
        #expect(try await phone.test.run(VerifyBackup(path: backup)).state == .finished)
        _ = try await phone.test.mesh.send(DeletePhotos(ids: [kept.id]))
        #expect(try await phone.test.mesh.send(PurgeTrash(all: true)).count == 1)
        #expect(try await phone.migrate(keepMissing: true).outcomes == ["merged": 1, "duplicate": 2, "kept": 1])
        await phone.test.library.close()
    }

    /// LEGACY: `timestamp` is the date that the app showed. The picture's own counts more, and a file's name and time never do.
    @Test(arguments: 4...8) func theDateStaysThatTheAppShowed(version: Int) async throws {
        let shown: Int64 = 1_588_000_000_000
        let category = version == 4 ? "'1'" : "1"
        let favorite: Bool? = version <= 6 ? false : nil
        func row(_ number: Int, _ name: String, at time: String) -> String {
            OldPhone.photo(OldPhone.uuid(number), "/x/\(name)", category: category, at: time, favorite: favorite)
        }
        let phone = try await OldPhone(
            version: version, photos: 1,
            OldPhone.category(category, "'Trips'") + row(1, "IMG_20150102_030405.png", at: String(shown))
                + row(2, "sample-0000.jpg", at: String(shown)) + row(3, "gone.jpg", at: String(shown))
                + row(4, "IMG_20160102_030405.png", at: "0"))
        let png = try #require(
            Data(
                base64Encoded:
                    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="))
        try png.write(to: URL(fileURLWithPath: phone.photos + "/IMG_20150102_030405.png"))
        try (png + [0]).write(to: URL(fileURLWithPath: phone.photos + "/IMG_20160102_030405.png"))
        #expect(try await phone.migrate(keepMissing: true).outcomes == ["added": 1, "imported": 3, "kept": 1])
        let photos = Dictionary(uniqueKeysWithValues: try await phone.test.allPhotos().map { ($0.uuid, $0) })
        let clock = LocalDateTime(here: Timestamp(milliseconds: shown))
        for number in [1, 3] {
            let photo = try #require(photos[OldPhone.uuid(number)])
            #expect(photo.takenAt == clock && photo.takenOffset == nil && photo.dateSource == .app, "\(photo)")
        }
        #expect(photos[OldPhone.uuid(1)]?.fileName.hasPrefix("IMG_20200427") == true)
        let own = try #require(photos[OldPhone.uuid(2)])
        #expect(own.dateSource == .exif && own.takenAt != clock)
        // The app's 0 is no date.
        #expect(photos[OldPhone.uuid(4)]?.dateSource == .fileName)
        let year = try await phone.test.mesh.send(
            SearchPhotos(PhotoFilter(from: LocalDateTime("2020-01-01"), to: LocalDateTime("2020-12-31T23:59:59"))))
        #expect(Set(year.photos.map(\.uuid)) == [OldPhone.uuid(1), OldPhone.uuid(3)])
        // Found out again, it stays.
        _ = try await phone.test.run(RedatePhotos())
        #expect(try await phone.test.allPhotos().filter { $0.dateSource == .app }.count == 2)
        await phone.test.library.close()
    }

    @Test func aPhotoOfTheSameContentIsLeftAsItIs() async throws {
        let phone = try await OldPhone(
            version: 6, photos: 2,
            OldPhone.category("1", "'Trips'")
                + OldPhone.photo(OldPhone.uuid(1), "/x/sample-0000.jpg", category: "1", favorite: true)
                + OldPhone.photo(OldPhone.uuid(2), "/x/copy.jpg", category: "1", favorite: true)
                + OldPhone.photo(OldPhone.uuid(3), "/x/sample-0001.jpg", category: "1", favorite: true))
        try FileManager.default.copyItem(
            atPath: phone.photos + "/sample-0001.jpg", toPath: phone.photos + "/copy.jpg")
        _ = try await phone.test.importing(phone.photos + "/sample-0000.jpg")
        let there = try await phone.test.allPhotos()
        #expect(try await phone.migrate(dryRun: true).outcomes == ["added": 1, "duplicate": 2, "imported": 1])
        #expect(try await phone.migrate().outcomes == ["added": 1, "duplicate": 2, "imported": 1])
        let photos = try await phone.test.allPhotos()
        #expect(photos.count == 2 && photos.contains(there[0]), "no favourite mark, no other category")
        await phone.test.library.close()
    }

    @Test func aPhotoInTheTrashDoesNotComeBack() async throws {
        let phone = try await OldPhone(
            photos: 1, OldPhone.photo(OldPhone.uuid(1), "/x/sample-0000.jpg", category: "1"))
        #expect(try await phone.migrate().outcomes == ["imported": 1, "defaulted": 1])
        _ = try await phone.test.mesh.send(DeletePhotos(ids: try await phone.test.allPhotos().map(\.id)))
        #expect(try await phone.migrate().outcomes == ["duplicate": 1])
        #expect(try await phone.test.allPhotos().isEmpty)
        await phone.test.library.close()
    }

    @Test func filesOfOneNameAreToldApartByTheirFolders() async throws {
        let phone = try await OldPhone(
            OldPhone.photo(OldPhone.uuid(1), "/storage/2023/beach/img.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(2), "content://p/primary%3A2024%2Fbeach%2Fimg.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(3), "/storage/img.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(4), "../secret.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(5), "/x/..", category: "1")
                + OldPhone.photo(OldPhone.uuid(6), "/x/link.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(7), "", category: "1"))
        let album = SampleAlbum(width: 64, height: 48)
        for (index, name) in ["DCIM/2023/beach/img.jpg", "DCIM/primary:2024/beach/img.jpg", "secret.jpg"].enumerated() {
            let url = URL(fileURLWithPath: phone.test.folder.file(name))
            try FileManager.default.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
            try album.photo(index).write(to: url)
        }
        symlink(phone.test.folder.file("secret.jpg"), phone.photos + "/link.jpg")
        let job = try await phone.migrate()
        #expect(try phone.receipt(job).photos == ["imported": 2, "missing": 5])
        let photos = try await phone.test.allPhotos()
        for (index, uuid) in [OldPhone.uuid(1), OldPhone.uuid(2)].enumerated() {
            let photo = try #require(photos.first { $0.uuid == uuid })
            #expect(try phone.test.bytes(photo.path) == album.photo(index))
        }
        let missing = try await phone.lines(job, .missing)
        #expect(missing.contains { $0.detail?.hasPrefix("2 files have that name") == true })
        await phone.test.library.close()
    }

    @Test func withoutAFolderFilesAreLookedForWhereTheDatabaseSays() async throws {
        let phone = try await OldPhone(photos: 1)
        let database = try OpenRoomDatabase(phone.database)
        try database.run(
            OldPhone.photo(OldPhone.uuid(1), "file://" + phone.photos + "/sample%2D0000.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(2), "content://media/external/images/7", category: "1")
                + OldPhone.photo(OldPhone.uuid(3), "sample-0000.jpg", category: "1"))
        database.close()
        let job = try await phone.test.run(MigrateLibrary(database: phone.database))
        #expect(try phone.receipt(job).photos == ["imported": 1, "missing": 2])
        #expect(try await phone.lines(job, .missing).allSatisfy { $0.detail?.contains("--photos") == true })
        await phone.test.library.close()
    }

    @Test func aStoppedMigrationIsCompletedByAnother() async throws {
        let rows = (0..<60).map { number in
            let name = "sample-00\(number < 10 ? "0" : "")\(number).jpg"
            return OldPhone.photo(OldPhone.uuid(number), "/x/\(name)", category: "1")
        }
        let phone = try await OldPhone(photos: 60, OldPhone.category("1", "'Trips'") + rows.joined())
        let started = try await phone.test.mesh.send(MigrateLibrary(database: phone.database, photos: phone.photos))
        _ = try await phone.test.mesh.observe(WatchJob(job: started.job)) { change in
            if change.value.progress.phase == "migrating", change.value.progress.itemsDone >= 5 {
                _ = try await phone.test.mesh.send(CancelJob(job: started.job))
            }
        }
        let job = try await phone.test.mesh.send(GetJob(job: started.job))
        let done = try await phone.test.allPhotos().count
        #expect(done >= 5)
        #expect(job.outcomes["imported"] == done && (job.outcomes["cancelled"] ?? 0) == 60 - done)
        #expect(job.state == (done == 60 ? .finished : .cancelled))
        #expect(try phone.test.files("photos").count == done && phone.test.files("staging").isEmpty)
        let again = try await phone.migrate()
        #expect(again.outcomes["duplicate"] == done)
        #expect(try await phone.test.allPhotos().count == 60)
        await phone.test.library.close()
    }

    @Test func badFilesCostTheirOwnLines() async throws {
        let phone = try await OldPhone(
            photos: 1,
            OldPhone.photo(OldPhone.uuid(1), "/x/notes.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(2), "/x/sample-0000.jpg", category: "1")
                + OldPhone.photo(OldPhone.uuid(3), "/x/torn.jpg", category: "1"))
        try Data("not a picture".utf8).write(to: URL(fileURLWithPath: phone.photos + "/notes.jpg"))
        try SampleAlbum(width: 320, height: 240).photo(3).prefix(400).write(
            to: URL(fileURLWithPath: phone.photos + "/torn.jpg"))
        let job = try await phone.migrate(keepMissing: true)
        #expect(try phone.receipt(job).photos == ["unsupported": 1, "imported": 1, "damaged": 1])
        #expect(try phone.test.files("photos").count == 1 && phone.test.files("staging").isEmpty)
        await phone.test.library.close()
    }
}
