import Database
import Foundation
import TestSupport
import Testing

/// Recognising and migrating files.
@Suite struct SchemaTests {
    private static let second = Migration(version: 2, name: "colours") { connection in
        try connection.execute("ALTER TABLE album ADD COLUMN colour TEXT")
        try connection.execute("UPDATE album SET colour = '#' || id")
    }
    private static let fifth = Migration(
        version: 5, name: "notes", script: "CREATE TABLE note (text TEXT); INSERT INTO note VALUES ('; not the end')")

    private static func schema(_ migrations: Migration..., id: Int32 = Album.applicationID) -> Schema {
        Schema(applicationID: id, migrations: migrations)
    }

    private func files(in folder: TemporaryFolder) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    @Test func aFileIsBroughtForwardStepByStepAndKeepsItsRows() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("library.db")
        var database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first))
        try await database.write { try Album.add("old", to: $0) }
        await database.close()

        database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second))
        #expect(try await database.read { try $0.value("SELECT colour FROM album") as String? } == "#1")
        await database.close()

        database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second, Self.fifth))
        let (version, id, note) = try await database.read { (connection) throws in
            (
                try connection.value("PRAGMA user_version") as Int?,
                try connection.value("PRAGMA application_id") as Int?,
                try connection.value("SELECT text FROM note") as String?
            )
        }
        #expect(version == 5)
        #expect(id == Int(Album.applicationID))
        #expect(note == "; not the end")
        await database.close()

        // All at once leads to the same place, and nothing is left beside the file.
        let fresh = folder.file("fresh.db")
        database = try await DatabasePool.open(at: fresh, schema: Self.schema(Album.first, Self.second, Self.fifth))
        #expect(try await database.read { try $0.value("PRAGMA user_version") as Int? } == 5)
        await database.close()
        #expect(try files(in: folder) == ["fresh.db", "library.db"])
    }

    @Test func aFailedStepIsUndoneEarlierOnesStayAndACopyIsKept() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("library.db")
        var database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first))
        try await database.write { try Album.add("old", to: $0) }
        await database.close()

        let broken = Migration(version: 3, name: "broken") { connection in
            try connection.execute("DROP TABLE picture")
            try connection.execute("INSERT INTO album (name) VALUES ('old')")
        }
        await #expect {
            _ = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second, broken))
        } throws: { error in
            guard case .migrationFailed(3, "broken", _, let copy) = error as? DatabaseError else { return false }
            return copy == path + ".before-v2"
        }
        #expect(try files(in: folder) == ["library.db", "library.db.before-v2"])

        // The copy is the file as it was, and can be opened.
        let copied = try await DatabasePool.inspect(at: path + ".before-v2") { (connection) throws in
            (try connection.value("PRAGMA user_version") as Int?, try Album.names(connection))
        }
        #expect(copied.0 == 1)
        #expect(copied.1 == ["old"])

        // The second step was kept, the third left nothing; once that succeeds, the copies go.
        let mended = Migration(version: 3, name: "mended", script: "DROP TABLE picture")
        database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second, mended))
        #expect(try await database.read { try $0.value("SELECT colour FROM album") as String? } == "#1")
        await database.close()
        #expect(try files(in: folder) == ["library.db"])
    }

    /// As a kill leaves it that comes after the last step and before the copy was removed.
    @Test func aCopyThatIsNotNeededAnyMoreGoesAtTheNextStart() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("library.db")
        var database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second))
        try await database.backupSnapshot(to: path + ".before-v2")
        // One of a step that this program does not know is not its own.
        try await database.backupSnapshot(to: path + ".before-v5")
        await database.close()
        database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second))
        await database.close()
        #expect(try files(in: folder) == ["library.db", "library.db.before-v5"])
    }

    /// Tables are rebuilt by dropping the old one, which must not cascade; what is wrong at the end is refused.
    @Test func foreignKeysAreCheckedAtTheEndOfAStep() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("library.db")
        var database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first))
        try await database.write { (connection) throws in
            let album = try Album.add("kept", to: connection)
            try connection.execute("INSERT INTO picture (album) VALUES (?)", album)
        }
        await database.close()

        let orphans = Migration(version: 2, name: "orphans", script: "DELETE FROM album")
        await #expect {
            _ = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, orphans))
        } throws: { error in
            if case .migrationFailed(2, _, _, _) = error as? DatabaseError { true } else { false }
        }
        let rebuilt = Migration(
            version: 2, name: "rebuilt",
            script: """
                CREATE TABLE new_album (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL);
                INSERT INTO new_album SELECT id, name FROM album;
                DROP TABLE album;
                ALTER TABLE new_album RENAME TO album;
                """)
        database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, rebuilt))
        #expect(try await database.read { try $0.value("SELECT count(*) FROM picture") as Int? } == 1)
        // Enforced again from now on.
        await #expect(throws: DatabaseError.self) {
            try await database.write { try $0.execute("INSERT INTO picture (album) VALUES (99)") }
        }
        await database.close()
    }

    @Test func aNewerFileIsRefusedAndLeftAlone() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("library.db")
        let database = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, Self.second, Self.fifth))
        await database.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let expected = DatabaseError.newer(path: path, version: 5, supported: 1)
        await #expect(throws: expected) { _ = try await DatabasePool.open(at: path, schema: Album.schema) }
        #expect(expected.description.contains("Update the program"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try files(in: folder) == ["library.db"])
    }

    @Test func aFileOfAnotherApplicationIsRefusedAndLeftAlone() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("other.db")
        let other = try await DatabasePool.open(at: path, schema: Self.schema(Album.first, id: 77))
        await other.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        await #expect(throws: DatabaseError.foreign(path: path, applicationID: 77)) {
            _ = try await DatabasePool.open(at: path, schema: Album.schema)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)

        // Also one that says nothing of whose it is, but has tables.
        let nameless = folder.file("nameless.db")
        let made = try await run(
            "/usr/bin/python3",
            ["-c", "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('CREATE TABLE t (a)')", nameless])
        #expect(made.status == 0, "\(made.output)")
        await #expect(throws: DatabaseError.foreign(path: nameless, applicationID: 0)) {
            _ = try await DatabasePool.open(at: nameless, schema: Album.schema)
        }
    }

    @Test func whatIsNoDatabaseIsRefusedAndLeftAlone() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("letter.db")
        let text = Data(String(repeating: "Dear Grandma, ", count: 1_000).utf8)
        try text.write(to: URL(fileURLWithPath: path))
        await #expect(throws: DatabaseError.notADatabase(path: path)) {
            _ = try await DatabasePool.open(at: path, schema: Album.schema)
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == text)
    }

    @Test func aFolderThatDoesNotExistIsNamedInTheError() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("missing/library.db")
        await #expect {
            _ = try await DatabasePool.open(at: path, schema: Album.schema)
        } throws: { error in
            guard case .cannotOpen(path, _) = error as? DatabaseError else { return false }
            return "\(error)".contains(path)
        }
    }

    @Test func aDatabaseOfAnotherProgramCanBeInspected() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("room.db")
        let made = try await run(
            "/usr/bin/python3",
            [
                "-c",
                """
                import sqlite3, sys
                c = sqlite3.connect(sys.argv[1])
                c.execute("CREATE TABLE photo (uri TEXT)")
                c.execute("INSERT INTO photo VALUES ('a.jpg')")
                c.execute("PRAGMA user_version = 8")
                c.commit()
                """, path,
            ])
        #expect(made.status == 0, "\(made.output)")
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        let (version, uri) = try await DatabasePool.inspect(at: path) { (connection) throws in
            (
                try connection.value("PRAGMA user_version") as Int?,
                try connection.value("SELECT uri FROM photo") as String?
            )
        }
        #expect(version == 8)
        #expect(uri == "a.jpg")
        await #expect(throws: DatabaseError.readOnly) {
            try await DatabasePool.inspect(at: path) { _ = try $0.execute("DELETE FROM photo") }
        }
        await #expect(throws: DatabaseError.deadlineExceeded) {
            try await DatabasePool.inspect(at: path, deadline: .now) { _ = try $0.execute("SELECT 1") }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect(try files(in: folder) == ["room.db"])
    }
}
