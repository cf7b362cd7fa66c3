import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Old databases that must not be taken over: each is refused with what to do next, and nothing changes on either side.
@Suite struct HostileMigrationTests {
    private func overwrite(_ path: String, at position: UInt64, with bytes: Data) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: position)
        try file.write(contentsOf: bytes)
        try file.close()
    }

    /// Enough rows to fill many pages.
    private static func manyPhotos(_ count: Int, uri: String = "/storage/emulated/0/DCIM/Camera/IMG_") -> String {
        """
        INSERT INTO photo_entities (id, uri, category_id, timestamp)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        SELECT printf('00000000-0000-4000-8000-%012d', i), '\(uri)' || i || '.jpg', 1, 1700000000000 FROM n;
        """
    }

    @Test(arguments: [3, 9, 0, -1, Int(Int32.max)]) func otherVersionsAreRefused(version: Int) async throws {
        let phone = try await OldPhone()
        let database = try OpenRoomDatabase(phone.database)
        try database.run("PRAGMA user_version = \(version)")
        database.close()
        let error = try #require(try await phone.refusal())
        #expect(error.status == .failedPrecondition && error.details["version"] == .integer(Int64(version)))
        #expect(error.message.contains(version > 8 ? "update this program" : "Update the app"))
        await phone.test.library.close()
    }

    @Test(arguments: [
        "DROP TABLE category_entities", "DROP TABLE photo_entities", "DROP TABLE photo_category_join",
        "ALTER TABLE photo_entities RENAME COLUMN uri TO url", "ALTER TABLE category_entities DROP COLUMN icon_name",
        "DROP TABLE photo_entities; CREATE VIEW photo_entities AS SELECT 'a' AS id, 'b' AS uri, 1 AS category_id, 0 AS timestamp",
        "DROP TABLE category_entities; CREATE VIRTUAL TABLE category_entities USING fts5(id, display_name)",
    ])
    func databasesOfAnotherShapeAreRefused(change: String) async throws {
        let phone = try await OldPhone()
        let database = try OpenRoomDatabase(phone.database)
        try database.run(change)
        database.close()
        let error = try #require(try await phone.refusal())
        #expect(error.status == .failedPrecondition && error.message.contains("smilepile_database"), "\(error)")
        await phone.test.library.close()
    }

    @Test func whatIsNoDatabaseIsRefused() async throws {
        let phone = try await OldPhone()
        let path = phone.folder + "/other"
        var generator = SystemRandomNumberGenerator()
        for bytes in [
            Data(), Data("SQLite format 3\0".utf8),
            Data((0..<8_192).map { _ in UInt8.random(in: 0...255, using: &generator) }),
        ] {
            try bytes.write(to: URL(fileURLWithPath: path))
            let error = try #require(try await phone.refusal(from: path))
            #expect(error.status == .failedPrecondition && error.message.contains("phone again"), "\(error)")
        }
        for (path, expected) in [
            (phone.folder + "/none", MeshStatus.notFound), ("relative", .invalidArgument),
            (phone.folder + "/a\0b", .invalidArgument),
        ] {
            #expect(await status { _ = try await phone.migrate(from: path) } == expected)
        }
        #expect(try await phone.migrate(from: phone.folder).error?.status == .invalidArgument)
        mkfifo(phone.folder + "/pipe", 0o600)
        #expect(try await phone.migrate(from: phone.folder + "/pipe").error?.status == .invalidArgument)
        #expect(
            await status {
                _ = try await phone.test.run(MigrateLibrary(database: phone.database, photos: phone.database))
            } == .invalidArgument)
        symlink(phone.test.path + "/catalogue.sqlite", phone.folder + "/linked")
        for path in ["catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm"].map({
            phone.test.path + "/" + $0
        })
            + [phone.folder + "/linked"]
        {
            #expect(try await phone.migrate(from: path).error?.message.contains("library itself") == true)
        }
        #expect(try await phone.categories().count == 4)
        await phone.test.library.close()
    }

    @Test(arguments: [0.3, 0.6, 0.95]) func aTruncatedDatabaseIsRefused(share: Double) async throws {
        let phone = try await OldPhone(Self.manyPhotos(2_000))
        let size = try #require(FileManager.default.attributesOfItem(atPath: phone.database)[.size] as? Int)
        truncate(phone.database, off_t(Double(size) * share))
        let error = try #require(try await phone.refusal())
        #expect(error.status == .dataLoss && error.message.contains("damaged"), "\(error)")
        await phone.test.library.close()
    }

    @Test func aDatabaseWithBrokenPagesIsRefused() async throws {
        let phone = try await OldPhone(Self.manyPhotos(2_000))
        try overwrite(phone.database, at: 5 * 4_096, with: Data(repeating: 0xA5, count: 3 * 4_096))
        let error = try #require(try await phone.refusal())
        #expect(error.status == .dataLoss && error.message.contains("nothing was taken over"), "\(error)")
        await phone.test.library.close()
    }

    @Test func aValueOfAnySizeIsRefusedOrReadInPart() async throws {
        let phone = try await OldPhone(
            OldPhone.photo(OldPhone.uuid(1), "/x/a.jpg", category: "1")
                + "UPDATE photo_entities SET uri = zeroblob(17000000);")
        let error = try #require(try await phone.refusal())
        #expect(error.status == .dataLoss && error.message.contains("16 MiB"))
        let database = try OpenRoomDatabase(phone.database)
        try database.run("UPDATE photo_entities SET uri = zeroblob(15000000), encrypted_notes = zeroblob(15000000)")
        database.close()
        let job = try await phone.migrate()
        #expect(try phone.receipt(job).photos == ["missing": 1])
        #expect(try phone.receipt(job).encryptedValues == ["encrypted_notes": 1])
        #expect(try await phone.test.lines(job.id).allSatisfy { $0.item.utf8.count < 2_000 })
        await phone.test.library.close()
    }

    // MARK: In use, and left in the middle

    @Test func aDatabaseThatAnotherProgramWritesIsRefused() async throws {
        let phone = try await OldPhone()
        let other = try OpenRoomDatabase(phone.database)
        for lock in ["BEGIN EXCLUSIVE", "BEGIN IMMEDIATE"] {
            try other.run(lock)
            let job = try await phone.migrate()
            #expect(job.error?.status == .failedPrecondition && job.error?.message.contains("using") == true, "\(lock)")
            #expect(try phone.test.files("staging").isEmpty)
            // Closing our descriptor of the file has dropped this process's locks, so nothing is left to end well.
            try other.run("ROLLBACK")
        }
        try other.run("PRAGMA journal_mode = WAL; INSERT INTO android_metadata VALUES ('x')")
        #expect(try await phone.migrate().error?.message.contains("using") == true)
        other.close()
        #expect(try await phone.migrate().state == .finished)
        await phone.test.library.close()
    }

    @Test func aLogThatWasCopiedAlongIsReadAndStaysAsItIs() async throws {
        let phone = try await OldPhone()
        let source = phone.test.folder.file("source")
        try RoomDatabase.make(at: source, version: 8)
        let app = try OpenRoomDatabase(source)
        try app.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        try app.run(OldPhone.category("1", "'Only in the log'"))
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: phone.database + suffix)
            try FileManager.default.copyItem(atPath: source + suffix, toPath: phone.database + suffix)
        }
        app.close()
        let before = try RoomDatabase.state(of: phone.folder)
        #expect(Set(before.keys) == ["smilepile_database", "smilepile_database-wal"])
        let job = try await phone.migrate()
        #expect(job.outcomes == ["added": 1])
        #expect(try await phone.category("only in the LOG").colorHex == "#2196F3")
        #expect(try RoomDatabase.state(of: phone.folder) == before)
        #expect(try phone.test.files("staging").isEmpty)
        await phone.test.library.close()
    }

    @Test func aHalfWrittenDatabaseIsReadAsItWasBefore() async throws {
        let phone = try await OldPhone()
        let source = phone.test.folder.file("source")
        try RoomDatabase.make(at: source, version: 8, Self.manyPhotos(3_000))
        let whole = try Data(contentsOf: URL(fileURLWithPath: source))
        let app = try OpenRoomDatabase(source)
        // A cache this small spills into the file long before the transaction ends.
        try app.run(
            "PRAGMA cache_size = 5; BEGIN; UPDATE photo_entities SET uri = '/torn/' || uri; DELETE FROM photo_entities WHERE rowid % 3 = 0"
        )
        for suffix in ["", "-journal"] {
            try? FileManager.default.removeItem(atPath: phone.database + suffix)
            try FileManager.default.copyItem(atPath: source + suffix, toPath: phone.database + suffix)
        }
        app.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: phone.database)) != whole, "it is half written")
        let before = try RoomDatabase.state(of: phone.folder)
        let job = try await phone.migrate(dryRun: true)
        #expect(try phone.receipt(job).photos == ["missing": 3_000])
        #expect(try await phone.lines(job, .missing).allSatisfy { $0.item.hasPrefix("/storage/") })
        #expect(try RoomDatabase.state(of: phone.folder) == before)
        #expect(try phone.test.files("staging").isEmpty)
        await phone.test.library.close()
    }

    /// SQLite would follow the name at the journal's end, and delete the file behind it.
    @Test func aJournalThatNamesAnotherFileIsRefused() async throws {
        let phone = try await OldPhone()
        let victim = phone.test.folder.file("victim")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: victim))
        let name = Array(victim.utf8)
        func bigEndian(_ number: UInt32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
        }
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        let header = magic + bigEndian(0) + bigEndian(1) + bigEndian(1) + bigEndian(512) + bigEndian(4_096)
        let sum = name.reduce(UInt32(0)) { $0 &+ UInt32($1) }
        let journal =
            header + [UInt8](repeating: 0, count: 512 - header.count) + bigEndian(0x4000_0000 / 4_096 + 1) + name
            + bigEndian(UInt32(name.count)) + bigEndian(sum) + magic
        try Data(journal).write(to: URL(fileURLWithPath: phone.database + "-journal"))
        let error = try #require(try await phone.refusal())
        #expect(error.status == .failedPrecondition && error.message.contains("-journal"))
        #expect(FileManager.default.fileExists(atPath: victim))
        await phone.test.library.close()
    }

    // MARK: No room

    @Test func aDatabaseForWhoseCopyThereIsNoRoomIsRefusedAtOnce() async throws {
        let phone = try await OldPhone()
        // Sparse: it takes no room itself.
        truncate(phone.database, off_t(1) << 42)
        let before = try FileManager.default.contentsOfDirectory(atPath: phone.folder)
        let job = try await phone.migrate()
        #expect(job.error?.status == .resourceExhausted && job.error?.message.contains("Free some space") == true)
        #expect(try phone.test.files("staging").isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: phone.folder) == before)
        await phone.test.library.close()
    }

    @Test func whatAKillLeftOfACopyGoesAtTheNextStart() async throws {
        let phone = try await OldPhone()
        await phone.test.library.close()
        for suffix in ["", "-wal", "-journal", "-shm"] {
            try Data("left".utf8).write(
                to: URL(fileURLWithPath: phone.test.path + "/staging/0123456789abcdef.database" + suffix))
        }
        let library = try await PhotoLibrary.open(at: phone.test.path)
        #expect(try phone.test.files("staging").isEmpty)
        await library.close()
    }
}
