import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import Randomness
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Old databases that chance has changed: bytes, pages, tables, values, and what stands beside them. Whatever it is, the
/// migration ends, with a receipt or a refusal that says what is wrong; the old files stay as they are, and nothing is
/// left in the library of what was refused.
///
/// `SMILEPILE_SEEDS` makes it so many times as long, `SMILEPILE_SEED` runs one seed again.
@Suite(.timeLimit(.minutes(60))) struct MigrationFuzzTests {
    private static let seeds: ClosedRange<UInt64> = {
        let environment = ProcessInfo.processInfo.environment
        if let only = environment["SMILEPILE_SEED"].flatMap(UInt64.init) { return only...only }
        return 1...100 * UInt64(explorationFactor)
    }()

    private static let refusals: Set<MeshStatus> = [
        .failedPrecondition, .dataLoss, .resourceExhausted, .invalidArgument,
    ]

    @Test func whateverTheFileSaysTheMigrationEnds() async throws {
        var refused = 0
        // A library keeps the results of 4,096 jobs for an hour, and takes no more meanwhile.
        for first in stride(from: Self.seeds.lowerBound, through: Self.seeds.upperBound, by: 1_000) {
            refused += try await migrate(first...min(first + 999, Self.seeds.upperBound))
        }
        // Neither does everything pass, nor is everything refused.
        if Self.seeds.count >= 100 {
            #expect(refused > Self.seeds.count / 10 && refused < Self.seeds.count * 9 / 10, "\(refused)")
        }
    }

    /// All into one library, one after the other.
    /// - Returns: how many were refused.
    private func migrate(_ seeds: ClosedRange<UInt64>) async throws -> Int {
        let phone = try await OldPhone(photos: 3)
        var refused = 0
        for seed in seeds {
            try FileManager.default.removeItem(atPath: phone.folder)
            try FileManager.default.createDirectory(atPath: phone.folder, withIntermediateDirectories: true)
            var chance = SplitMix64(seed: seed &* SplitMix64.increment)
            let notes = try MutatedDatabase(own: phone.test.path).make(at: phone.database, &chance)
            let what = "SMILEPILE_SEED=\(seed): \(notes)"
            let before = try RoomDatabase.state(of: phone.folder)
            let categories = try await phone.categories()
            let isDryRun = !chance.isTrue(in: 4)
            let request = MigrateLibrary(
                database: phone.database, photos: chance.isTrue(in: 2) ? phone.photos : nil,
                keepMissing: chance.isTrue(in: 2), dryRun: isDryRun)
            let job = try await phone.test.run(request)
            #expect(try RoomDatabase.state(of: phone.folder) == before, "\(what)")
            #expect(try phone.test.files("staging").isEmpty, "\(what)")
            if let error = job.error {
                refused += 1
                #expect(Self.refusals.contains(error.status) && error.message.utf8.count < 2_000, "\(what): \(error)")
            } else {
                let receipt = try phone.receipt(job)
                let lines = try await phone.test.lines(job.id)
                #expect(job.state == .finished && (4...8).contains(receipt.version), "\(what): \(job)")
                #expect(lines.allSatisfy { $0.item.utf8.count + ($0.detail?.utf8.count ?? 0) < 8_000 }, "\(what)")
            }
            if isDryRun || job.error != nil {
                #expect(try await phone.categories() == categories, "\(what)")
            } else {
                let again = try await phone.test.run(request).outcomes
                #expect(again["added"] == nil && again["imported"] == nil && again["kept"] == nil, "\(what): \(again)")
            }
        }
        let photos = try await phone.test.allPhotos()
        #expect(try Set(phone.test.files("photos")) == Set(photos.filter { $0.fileSize > 0 }.map(\.fileName)))
        #expect(photos.filter { $0.fileSize > 0 }.count <= 3)
        await phone.test.library.close()
        #expect(try await catalogueProblems(at: phone.test.path + "/catalogue.sqlite").isEmpty)
        return refused
    }
}

extension SplitMix64 {
    mutating func isTrue(in chances: Int) -> Bool { below(chances) == 0 }

    mutating func one<T>(of values: [T]) -> T { values[below(values.count)] }
}

/// Makes one database from the tables of some version and a seed.
struct MutatedDatabase {
    /// The folder of the library that reads it: its files are among the photos' uris.
    let own: String

    private static let values = [
        "NULL", "''", "0", "1", "2", "-1", "'12abc'", "'007'", "9223372036854775807", "-9223372036854775808", "9e999",
        "-9e999", "1.5", "x''", "x'00'", "x'ff41'", "CAST(x'ff41' AS TEXT)", "CAST(x'610062' AS TEXT)", "'a'", "'Été'",
        "'ÉTÉ'", "zeroblob(100000)", "printf('%.20000c', 'x')", "char(0x202e, 0x5d0)", "char(0x200d)",
        "char(0x1f468, 0x200d, 0x1f469)", "'#123456'", "'red'", "1700000000000", "'1700000000000'", "'Family'",
        "'0b1c2d3e-0000-4000-8000-000000000001'", "'0B1C2D3E-0000-4000-8000-000000000001'",
    ]

    private static let shapes = [
        "DROP TABLE category_entities", "DROP TABLE photo_entities", "DROP TABLE photo_category_join",
        "ALTER TABLE photo_entities DROP COLUMN encrypted_tags", "ALTER TABLE photo_entities DROP COLUMN timestamp",
        "ALTER TABLE category_entities RENAME COLUMN display_name TO Display_Name",
        "ALTER TABLE category_entities ADD COLUMN extra DEFAULT 'x'",
        "ALTER TABLE photo_entities ADD COLUMN extra AS (uri || id)",
        "ALTER TABLE photo_entities RENAME TO p; CREATE VIEW photo_entities AS SELECT * FROM p",
        "ALTER TABLE category_entities RENAME TO c; CREATE VIEW category_entities AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, i AS display_name FROM n",
        "DROP TABLE photo_entities; CREATE VIRTUAL TABLE photo_entities USING fts5(id, uri, category_id, timestamp, is_favorite)",
        "ALTER TABLE photo_entities RENAME TO p; CREATE TABLE photo_entities (id TEXT PRIMARY KEY, uri, category_id, timestamp, is_favorite, extra) WITHOUT ROWID; INSERT OR IGNORE INTO photo_entities SELECT id, uri, category_id, timestamp, 1, 2 FROM p",
        "CREATE TRIGGER t AFTER INSERT ON photo_entities BEGIN DELETE FROM category_entities; END",
        "CREATE INDEX i ON photo_entities (substr(CAST(id AS BLOB), 1, 1000))",
        "CREATE INDEX i ON category_entities (lower(display_name)) WHERE id > 1",
        "CREATE TABLE \"x\"\"y'z\" (\"a b\" COLLATE NOCASE)", "PRAGMA user_version = 3", "PRAGMA user_version = 9",
        "PRAGMA user_version = 6", "PRAGMA user_version = 7", "PRAGMA application_id = 7", "PRAGMA journal_mode = WAL",
        "DELETE FROM android_metadata", "PRAGMA auto_vacuum = FULL; VACUUM", "PRAGMA page_size = 512; VACUUM",
        "PRAGMA page_size = 65536; VACUUM", "VACUUM",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'photo_entities'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'uri TEXT', 'uri TEXT COLLATE none')",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE ' WHERE name = 'category_entities'",
        "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', 'CHECK (abs(-9223372036854775808))')",
        "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE type = 'index'",
    ]

    private var uris: [String] {
        [
            "/DCIM/sample-0000.jpg", "content://media/sample-0001.jpg", "file:///x/sample%2D0002.jpg?y", "/dev/zero",
            "/proc/kmsg", "/proc/self/pagemap", "\(own)/catalogue.sqlite", "\(own)/catalogue.sqlite-shm",
            "\(own)/library.lock", "../../sample-0000.jpg", "/x/..", "file://host/x.jpg", "content://%00", "file:%",
            "/",
            "", String(repeating: "/a", count: 900), String(repeating: "../", count: 60) + "etc/passwd",
        ]
    }

    /// Returns what was done, for the report.
    func make(at path: String, _ chance: inout SplitMix64) throws -> [String] {
        let version = 4 + chance.below(5)
        var notes = ["version \(version)"]
        try RoomDatabase.make(at: path, version: version)
        let database = try OpenRoomDatabase(path)
        func attempt(_ sql: String) { if (try? database.run(sql)) == nil { notes.append("not: \(sql.prefix(60))") } }
        let isStrange = chance.isTrue(in: 2)
        for _ in 0..<chance.below(12) {
            func value(_ usual: String) -> String { isStrange ? chance.one(of: Self.values) : usual }
            attempt(
                """
                INSERT INTO category_entities (id, display_name, color_hex, position, is_default, created_at)
                VALUES (\(value(String(chance.below(9)))), \(value("'n\(chance.below(9))'")), \(value("'#123456'")), \(value("1")), \(value("0")), \(value("5")))
                """)
            let uri = chance.one(of: uris)
            attempt(
                """
                INSERT INTO photo_entities (id, uri, category_id, timestamp\(version <= 6 ? ", is_favorite" : ""), encrypted_notes)
                VALUES (\(value("'\(OldPhone.uuid(chance.below(20)))'")), '\(uri)', \(value(String(chance.below(9)))), \(value("1700000000000"))\(version <= 6 ? ", " + value("1") : ""), \(value("'x'")))
                """)
            guard version >= 6 else { continue }
            attempt(
                "INSERT INTO photo_category_join SELECT id, \(value(String(chance.below(9)))), 0, \(value("1")) FROM photo_entities"
            )
        }
        if chance.isTrue(in: 2) {
            let shape = chance.one(of: Self.shapes)
            notes.append(shape)
            attempt(shape)
        }
        database.close()
        if chance.isTrue(in: 2) { notes.append(try damage(path, &chance)) }
        if chance.isTrue(in: 6) {
            let side = path + chance.one(of: ["-wal", "-journal", "-shm"])
            notes.append("junk in \(side.suffix(8))")
            let length = chance.one(of: [0, 1, 8, 31, 512, 9_000])
            let magics: [[UInt8]] = [[], [0x37, 0x7f, 0x06, 0x82], [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]]
            let magic = chance.one(of: magics)
            let junk = (0..<length).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
            try Data(magic + junk).write(to: URL(fileURLWithPath: side))
        }
        return notes
    }

    /// Bytes and pages, most of them where SQLite's own structures are.
    private func damage(_ path: String, _ chance: inout SplitMix64) throws -> String {
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        let page = 4_096
        let pages = max(1, bytes.count / page)
        let kind = chance.below(6)
        switch kind {
        case 0, 1:
            for _ in 0...chance.below(8) {
                let start = chance.below(pages) * page
                let place = chance.one(of: [
                    chance.below(100), 100 + chance.below(12), start + chance.below(16), start + chance.below(page),
                ])
                if place < bytes.count { bytes[place] = UInt8(truncatingIfNeeded: chance.next()) }
            }
        case 2: bytes.removeLast(chance.below(bytes.count))
        case 3: bytes.removeLast(chance.below(pages) * page)
        default:
            let (one, other) = (chance.below(pages) * page, chance.below(pages) * page)
            guard max(one, other) + page <= bytes.count else { break }
            let copied = bytes[other..<other + page]
            if kind == 4 { bytes.replaceSubrange(other..<other + page, with: bytes[one..<one + page]) }
            bytes.replaceSubrange(one..<one + page, with: kind == 4 ? copied : ArraySlice(repeating: 0, count: page))
        }
        try Data(bytes).write(to: URL(fileURLWithPath: path))
        return "damage \(kind)"
    }
}
