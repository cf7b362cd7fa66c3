import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Old databases whose tables somebody made to keep a reader busy, or to fill its memory. Each took minutes or
/// gigabytes before it was bounded; the time limit stands far above what they take now.
@Suite(.timeLimit(.minutes(3))) struct HostileSchemaTests {
    /// The tables of version 8 without keys: nothing in them is unique.
    private static let loose = """
        DROP TABLE category_entities; DROP TABLE photo_entities; DROP TABLE photo_category_join;
        CREATE TABLE category_entities (id, display_name, color_hex, position, is_default, created_at, icon_name);
        CREATE TABLE photo_entities (id, uri, category_id, timestamp);
        CREATE TABLE photo_category_join (photo_id, category_id, is_primary);
        """

    private static func numbers(_ count: Int) -> String {
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))"
    }

    /// The most memory that this process has had since `body` began, in MiB: with all the tests that run beside, which
    /// under the sanitizer take some thousands.
    private func peak(_ body: () async throws -> Void) async throws -> Int {
        try Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
        try await body()
        let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("VmHWM:") })
        return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) / 1_024
    }

    @Test func idsThatAreNotUniqueDoNotMultiplyRows() async throws {
        let phone = try await OldPhone(
            Self.loose + """
                INSERT INTO photo_entities \(Self.numbers(1_000)) SELECT 'a', '/x/' || i, 1, 1 FROM n;
                INSERT INTO photo_category_join \(Self.numbers(100_000)) SELECT 'a', i, 0 FROM n;
                """)
        let used = try await peak {
            let job = try await phone.migrate(dryRun: true)
            #expect(try phone.receipt(job).photos == ["missing": 1_000])
        }
        #expect(used < 4_000, "MiB")
        await phone.test.library.close()
    }

    @Test func aPhotoInCountlessCategoriesGetsAShortLine() async throws {
        let phone = try await OldPhone(
            Self.loose + """
                INSERT INTO photo_entities VALUES ('a', '/x/a.jpg', 3, 1);
                INSERT INTO photo_category_join \(Self.numbers(60_000)) SELECT 'a', i, i = 7 FROM n;
                INSERT INTO category_entities VALUES (7, 'Main', '#123456', 0, 0, 0, NULL), (1, 'One', '#123456', 1, 0, 0, NULL);
                """)
        let job = try await phone.migrate(keepMissing: true)
        #expect(try phone.receipt(job).furtherCategories == 1)
        #expect(try await phone.test.allPhotos().map(\.categoryId) == [phone.category("Main").id])
        let detail = try #require(try await phone.lines(job, .left).first?.detail)
        #expect(
            detail.contains("'One', 'category 2', 'category 3'") && detail.hasSuffix("and 59989 more"), "\(detail)")
        await phone.test.library.close()
    }

    /// `instr` of these two takes hours, in one call that nothing interrupts.
    private static let hours = "instr(zeroblob(15000000), zeroblob(7000000) || x'01')"

    @Test func rulesOfTheFileAreNotRun() async throws {
        let phone = try await OldPhone(
            """
            PRAGMA ignore_check_constraints = ON;
            CREATE TABLE endless (a CHECK (\(Self.hours) = 0));
            INSERT INTO endless VALUES (1);
            """ + OldPhone.category("1", "'A'"))
        #expect(try await phone.migrate().outcomes == ["added": 1])
        await phone.test.library.close()
    }

    @Test(arguments: ["VIRTUAL", "STORED"]) func computedColumnsAreRefused(kind: String) async throws {
        // Without a row: writing one would compute it here.
        let phone = try await OldPhone("CREATE TABLE endless (a, b NOT NULL AS (\(Self.hours)) \(kind));")
        let error = try #require(try await phone.refusal())
        #expect(error.status == .failedPrecondition && error.message.contains("endless"), "\(error)")
        await phone.test.library.close()
    }

    @Test func aViewThatNeverEndsIsRefused() async throws {
        let phone = try await OldPhone(
            """
            DROP TABLE photo_entities;
            CREATE VIEW photo_entities AS \(Self.numbers(9).replacingOccurrences(of: " WHERE i < 9", with: ""))
                SELECT i AS id, 'u' AS uri, 1 AS category_id, 1 AS timestamp FROM n;
            """)
        #expect(try await phone.refusal()?.status == .failedPrecondition)
        await phone.test.library.close()
    }

    /// A name of sixty megabytes, and short texts that are too many.
    @Test func valuesAndTextsOfAnySizeStayBounded() async throws {
        let phone = try await OldPhone(OldPhone.category("1", "zeroblob(60000000)"))
        let used = try await peak {
            let error = try #require(try await phone.migrate().error)
            #expect(error.status == .dataLoss && error.message.contains("16 MiB"), "\(error)")
        }
        #expect(used < 4_000, "MiB")
        let database = try OpenRoomDatabase(phone.database)
        try database.run(
            """
            DELETE FROM category_entities;
            INSERT INTO photo_entities (id, uri, category_id, timestamp)
            \(Self.numbers(20_000)) SELECT printf('%d', i), printf('%.4000c', 'x'), 1, 1 FROM n;
            """)
        database.close()
        let error = try #require(try await phone.refusal())
        #expect(error.status == .resourceExhausted && error.message.contains("bytes of text"), "\(error)")
        await phone.test.library.close()
    }

    @Test func anErrorIsShortWhateverTheSchemaSays() async throws {
        let phone = try await OldPhone("CREATE TABLE \"\(String(repeating: "z", count: 300_000))\" (a);")
        let database = try OpenRoomDatabase(phone.database)
        try database.run(
            "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE nonsense' WHERE name LIKE 'zzz%'"
        )
        database.close()
        let error = try #require(try await phone.refusal())
        #expect(error.status == .dataLoss && error.message.utf8.count < 2_000)
        await phone.test.library.close()
    }

    // MARK: Photos that are none

    @Test func urisThatPointToWhatIsNoPhotoAreMissing() async throws {
        let phone = try await OldPhone(photos: 1)
        _ = try await phone.test.importing(phone.photos)
        let own = try await phone.test.allPhotos()
        let link = phone.test.folder.file("hardlink.jpg")
        try FileManager.default.linkItem(atPath: phone.test.path + "/catalogue.sqlite", toPath: link)
        mkfifo(phone.test.folder.file("pipe.jpg"), 0o600)
        symlink(phone.photos + "/sample-0000.jpg", phone.test.folder.file("link.jpg"))
        symlink(phone.test.path, phone.test.folder.file("way"))
        let uris =
            ["catalogue.sqlite", "catalogue.sqlite-wal", "catalogue.sqlite-shm", "library.lock", own[0].path].map {
                phone.test.path + "/" + $0
            } + ["link.jpg", "hardlink.jpg", "pipe.jpg", "way/" + own[0].path].map(phone.test.folder.file) + [
                "/proc/kmsg", "/proc/self/pagemap", "/proc/self/environ", "/sys/kernel/mm/transparent_hugepage/enabled",
                "/dev/zero", "/dev/random", "/", "/" + String(repeating: "../", count: 60) + "etc",
                "/" + String(repeating: "a/", count: 1_900), "file:///proc/kmsg",
            ]
        let database = try OpenRoomDatabase(phone.database)
        for (index, uri) in uris.enumerated() {
            try database.run(OldPhone.photo(OldPhone.uuid(index), uri, category: "1"))
        }
        database.close()
        let job = try await phone.test.run(MigrateLibrary(database: phone.database))
        let lines = try await phone.test.lines(job.id)
        #expect(try phone.receipt(job).photos == ["missing": uris.count], "\(lines)")
        #expect(try await phone.test.allPhotos() == own)
        let imported = try await phone.test.run(ImportPhotos(paths: [link, "/proc/kmsg", "/proc/self/pagemap"]))
        #expect(imported.outcomes == ["unreadable": 3])
        // The catalogue still has its lock: nothing has opened it and closed it again.
        var catalogue = stat()
        #expect(stat(phone.test.path + "/catalogue.sqlite", &catalogue) == 0)
        let isLocked = try (0..<100).contains { _ in
            // The kernel writes the list piece by piece, and may leave a line out while locks come and go.
            try String(contentsOfFile: "/proc/locks", encoding: .utf8).split(separator: "\n").contains {
                $0.contains(":\(catalogue.st_ino) ") && $0.contains("POSIX")
            }
        }
        #expect(isLocked)
        await phone.test.library.close()
    }
}
