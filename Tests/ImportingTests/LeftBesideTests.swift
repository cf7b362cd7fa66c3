import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Logs and journals beside an old database that are damaged, cut off, or not there: what the phone wrote last is in
/// them, and SQLite says nothing where it passes over them.
@Suite struct LeftBesideTests {
    /// A database with nothing but its tables, and a log with three changes: a category, another, and 300 photos.
    private func logged() async throws -> OldPhone {
        let phone = try await OldPhone()
        let source = phone.test.folder.file("source")
        try RoomDatabase.make(at: source, version: 8)
        let app = try OpenRoomDatabase(source)
        try app.run("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
        try app.run(OldPhone.category("1", "'First'"))
        try app.run(OldPhone.category("2", "'Second'"))
        try app.run(
            """
            INSERT INTO photo_entities (id, uri, category_id, timestamp)
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            SELECT printf('00000000-0000-4000-8000-%012d', i), '/x/' || i || '.jpg', 1, 1700000000000 FROM n
            """)
        for suffix in ["", "-wal"] {
            try? FileManager.default.removeItem(atPath: phone.database + suffix)
            try FileManager.default.copyItem(atPath: source + suffix, toPath: phone.database + suffix)
        }
        app.close()
        return phone
    }

    private func edit(_ path: String, _ change: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: path))
        change(&data)
        try data.write(to: URL(fileURLWithPath: path))
    }

    /// One frame: its head and a page.
    private static let frame = 24 + 4_096

    @Test func aLogThatIsCutOffIsReadAsFarAsItGoesAndTheRestIsTold() async throws {
        for cut in [1, 4_096, Self.frame, Self.frame + 4_100] {
            let phone = try await logged()
            try edit(phone.database + "-wal") { $0 = $0.dropLast(cut) }
            let before = try RoomDatabase.state(of: phone.folder)
            let job = try await phone.migrate(dryRun: true)
            #expect(job.outcomes == ["added": 2, "left": 1], "\(cut): \(job)")
            #expect(try await phone.lines(job, .left).map(\.item) == ["smilepile_database-wal"])
            #expect(job.needsAttention)
            #expect(try RoomDatabase.state(of: phone.folder) == before)
            await phone.test.library.close()
        }
    }

    /// Android limits the log's size: what is cut there is of an earlier turn.
    @Test func whatAnEarlierTurnLeftInTheLogIsNoFault() async throws {
        let phone = try await logged()
        try edit(phone.database + "-wal") { $0.append(Data(repeating: 0x5A, count: Self.frame + 999)) }
        let job = try await phone.migrate(dryRun: true)
        #expect(job.outcomes == ["added": 2, "missing": 300])
        #expect(try phone.receipt(job).isWithoutLog == nil)
        await phone.test.library.close()
    }

    @Test(arguments: [0, 9, 17, 30, 32 + 24 + 100, 32 + 24 + 4_096 + 18])
    func aLogWithAWrongByteIsRefused(position: Int) async throws {
        let phone = try await logged()
        try edit(phone.database + "-wal") { $0[position] ^= 0x10 }
        let error = try #require(try await phone.refusal(), "\(position)")
        #expect(error.status == .dataLoss && error.message.contains("-wal is damaged"), "\(error)")
        #expect(error.message.contains("without that file"))
        await phone.test.library.close()
    }

    /// With a checksum that is right: SQLite itself refuses to open such a database, as if its folder were missing.
    @Test func aLogOfAnUnknownVersionIsRefused() async throws {
        let phone = try await logged()
        try edit(phone.database + "-wal") { log in
            log.replaceSubrange(4..<8, with: [0x00, 0xad, 0xe2, 0x18])
            var (one, other): (UInt32, UInt32) = (0, 0)
            // As https://www.sqlite.org/fileformat2.html#checksum_algorithm; this machine's SQLite writes little-endian.
            for position in stride(from: 0, to: 24, by: 8) {
                let words = [position, position + 4].map { at -> UInt32 in
                    log[at..<at + 4].reversed().reduce(0) { (word: UInt32, byte: UInt8) in word << 8 | UInt32(byte) }
                }
                one = one &+ words[0] &+ other
                other = other &+ words[1] &+ one
            }
            for (position, word) in [(24, one), (28, other)] {
                log.replaceSubrange(position..<position + 4, with: withUnsafeBytes(of: word.bigEndian, Array.init))
            }
        }
        let error = try #require(try await phone.refusal())
        #expect(error.status == .dataLoss && error.message.contains("unknown version 11395608"), "\(error)")
        await phone.test.library.close()
    }

    @Test func aLogThatIsNoneIsRefused() async throws {
        for bytes in [Data("short".utf8), Data(repeating: 0x77, count: 9_000)] {
            let phone = try await logged()
            try bytes.write(to: URL(fileURLWithPath: phone.database + "-wal"))
            #expect(try await phone.refusal()?.status == .dataLoss)
            await phone.test.library.close()
        }
        for make in [
            { (path: String) in _ = mkfifo(path, 0o600) }, { _ = mkdir($0, 0o700) }, { _ = symlink("/dev/zero", $0) },
        ] {
            let phone = try await logged()
            try FileManager.default.removeItem(atPath: phone.database + "-wal")
            make(phone.database + "-wal")
            let error = try #require(try await phone.refusal())
            #expect(error.status == .invalidArgument && error.message.contains("-wal"), "\(error)")
            await phone.test.library.close()
        }
    }

    @Test func aDatabaseWhoseLogStayedOnThePhoneIsTakenOverWithAHint() async throws {
        let phone = try await logged()
        try FileManager.default.removeItem(atPath: phone.database + "-wal")
        let job = try await phone.migrate()
        #expect(try phone.receipt(job).isWithoutLog == true && job.outcomes.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: phone.folder) == ["smilepile_database"])
        await phone.test.library.close()
    }

    @Test func aJournalThatIsDamagedIsRefusedAndOneThatIsDoneIsNot() async throws {
        let phone = try await OldPhone(OldPhone.category("1", "'A'"))
        let source = phone.test.folder.file("source")
        try RoomDatabase.make(at: source, version: 8, OldPhone.category("1", "'A'"))
        let app = try OpenRoomDatabase(source)
        try app.run("PRAGMA cache_size = 1; BEGIN; UPDATE category_entities SET display_name = 'B'")
        // Spilled from so small a cache, with the journal made durable first.
        try app.run(
            """
            CREATE TABLE spill (a); INSERT INTO spill
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT zeroblob(2000) FROM n
            """)
        let whole = try Data(contentsOf: URL(fileURLWithPath: source + "-journal"))
        app.close()
        let journal = URL(fileURLWithPath: phone.database + "-journal")
        // Sizes of which the product is past Int64: pages 0xFFFFFFFE of 0xFFFFFFFF bytes.
        var endless = whole
        endless.replaceSubrange(8..<12, with: [0xff, 0xff, 0xff, 0xfe])
        endless.replaceSubrange(24..<28, with: [0xff, 0xff, 0xff, 0xff])
        for bytes in [whole.prefix(700), Data(repeating: 0x11, count: 9_000), Data("short".utf8), endless] {
            try Data(bytes).write(to: journal)
            let error = try #require(try await phone.refusal())
            #expect(error.status == .dataLoss && error.message.contains("-journal is damaged"), "\(error)")
        }
        for bytes in [Data(), Data(repeating: 0, count: 9_000)] {
            try bytes.write(to: journal)
            #expect(try await phone.migrate(dryRun: true).outcomes == ["added": 1])
        }
        await phone.test.library.close()
    }

    @Test(.enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
    func aDatabaseOnADiskThatCanOnlyBeReadIsTakenOver() async throws {
        let phone = try await logged()
        let disk = try SmallDisk()
        defer { disk.unmount() }
        for suffix in ["", "-wal"] {
            try FileManager.default.copyItem(
                atPath: phone.database + suffix, toPath: disk.folder.file("smilepile_database" + suffix))
        }
        try #require(mount("tmpfs", disk.folder.path, nil, UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
        let job = try await phone.migrate(from: disk.folder.file("smilepile_database"))
        #expect(job.outcomes == ["added": 2, "missing": 300])
        await phone.test.library.close()
    }

    @Test func linksThatLeadInACircleAreRefused() async throws {
        let phone = try await OldPhone()
        let path = phone.folder + "/circle"
        symlink(path, path)
        #expect(await status { _ = try await phone.migrate(from: path) } == .invalidArgument)
        let long = "/" + String(repeating: "a", count: 5_000)
        do {
            _ = try await phone.migrate(from: long)
            Issue.record("a name of 5,000 characters was found")
        } catch {
            let error = MeshError(describing: error)
            #expect(error.status == .invalidArgument && error.message.utf8.count < 500, "\(error)")
        }
        await phone.test.library.close()
    }
}
