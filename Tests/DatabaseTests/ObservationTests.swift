import Database
import TestSupport
import Testing

/// Which tables a commit is said to have touched.
@Suite struct ObservationTests {
    private static let schema = Schema(
        applicationID: 1,
        migrations: [
            Migration(
                version: 1, name: "all kinds",
                script: """
                    CREATE TABLE parent (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
                    CREATE TABLE child (id INTEGER PRIMARY KEY,
                        parent INTEGER NOT NULL REFERENCES parent (id) ON DELETE CASCADE);
                    CREATE TABLE pair (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
                    CREATE TABLE log (text);
                    CREATE TABLE watched (id INTEGER PRIMARY KEY);
                    CREATE TRIGGER note AFTER INSERT ON watched BEGIN INSERT INTO log VALUES (new.id); END;
                    CREATE VIRTUAL TABLE words USING fts5 (text);
                    """)
        ])

    @Test func everyKindOfChangeNamesItsTables() async throws {
        let open = try await OpenDatabase(schema: Self.schema)
        let database = open.database
        let notices = Record<CommitNotice>()
        database.onCommit { notices.add($0) }

        func touched(_ sql: String) async throws -> Set<String> {
            let count = notices.all.count
            try await database.write { try $0.execute(sql) }
            // The notice comes before the reply.
            return notices.all.dropFirst(count).reduce(into: []) { $0.formUnion($1.tables) }
        }
        #expect(try await touched("INSERT INTO parent VALUES (1, 'a'), (2, 'b')") == ["parent"])
        #expect(try await touched("INSERT INTO child VALUES (1, 1), (2, 2)") == ["child"])
        #expect(try await touched("UPDATE parent SET name = 'c' WHERE id = 9") == [])
        #expect(try await touched("INSERT INTO pair VALUES (1, 2)") == ["pair"])
        #expect(try await touched("DELETE FROM pair") == ["pair"])
        #expect(try await touched("INSERT INTO watched VALUES (7)") == ["watched", "log"])
        #expect(try await touched("DELETE FROM parent WHERE id = 1") == ["parent", "child"])
        #expect(try await touched("REPLACE INTO parent VALUES (3, 'b')").isSuperset(of: ["parent", "child"]))
        #expect(try await touched("DELETE FROM log") == ["log"])
        #expect(try await touched("INSERT INTO words VALUES ('hello')").contains("words"))
        #expect(try await touched("SELECT * FROM parent") == [])
        #expect(try await database.read { try $0.value("SELECT count(*) FROM child") as Int? } == 0)

        // A trigger that came later is seen by statements prepared before it.
        let insert = "INSERT INTO pair VALUES (abs(random()), 0)"
        #expect(try await touched(insert) == ["pair"])
        try await database.write {
            try $0.execute("CREATE TRIGGER later AFTER INSERT ON pair BEGIN INSERT INTO log VALUES (1); END")
        }
        #expect(try await touched(insert) == ["pair", "log"])
        await database.close()
    }

    @Test func allWhoObserveAreTold() async throws {
        let open = try await OpenDatabase(schema: Self.schema)
        let (first, second) = (Record<CommitNotice>(), Record<CommitNotice>())
        open.database.onCommit { first.add($0) }
        open.database.onCommit { second.add($0) }
        try await open.database.write { try $0.execute("INSERT INTO pair VALUES (1, 2)") }
        #expect(first.all.map(\.tables) == [["pair"]] && second.all.map(\.sequence) == first.all.map(\.sequence))
        await open.database.close()
    }

    @Test func aGroupIsOneNoticeWithoutThoseThatWereUndone() async throws {
        struct Refused: Error {}
        let open = try await OpenDatabase(schema: Self.schema)
        let notices = Record<CommitNotice>()
        open.database.onCommit { notices.add($0) }
        let errors = try await open.database.writeTogether([
            { try $0.execute("INSERT INTO log VALUES (1)") },
            { connection in
                try connection.execute("INSERT INTO watched VALUES (1)")
                throw Refused()
            },
            { try $0.execute("INSERT INTO pair VALUES (1, 1)") },
        ])
        #expect(errors.map { $0 is Refused } == [false, true, false])
        #expect(notices.all == [CommitNotice(sequence: 1, tables: ["log", "pair"])])
        await open.database.close()
    }
}
