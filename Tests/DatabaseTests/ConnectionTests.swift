@testable import Database
import Foundation
import TestSupport
import Testing

/// Statements, values and rows, in write bodies (the connection is the same kind in reads).
@Suite struct ConnectionTests {
    private static let schema = Schema(
        applicationID: 1,
        migrations: [Migration(version: 1, name: "any", script: "CREATE TABLE any (id INTEGER PRIMARY KEY, value)")],
        functions: [
            ScalarFunction("fold", argumentCount: 1) { arguments in
                guard case .text(let text) = arguments[0] else { return arguments[0] }
                return .text(text.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil))
            },
            ScalarFunction("refuse", argumentCount: 0) { _ in throw CocoaError(.fileNoSuchFile) },
        ])

    private func with<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        let open = try await OpenDatabase(schema: Self.schema)
        do {
            let result = try await open.database.write(body)
            await open.database.close()
            return result
        } catch {
            await open.database.close()
            throw error
        }
    }

    private func roundTrip<T: SQLBindable & SQLReadable & Equatable>(
        _ value: T, location: SourceLocation = #_sourceLocation
    ) async throws {
        let back = try await with { (connection) throws in
            try connection.execute("INSERT INTO any (value) VALUES (?)", value)
            return try connection.first("SELECT value FROM any") { row in try row["value"] as T }
        }
        #expect(back == value, sourceLocation: location)
    }

    @Test func valuesComeBackAsTheyWere() async throws {
        try await roundTrip(Int64.min)
        try await roundTrip(Int.max)
        try await roundTrip(-0.1)
        try await roundTrip(Double.infinity)
        try await roundTrip(true)
        try await roundTrip(false)
        try await roundTrip("")
        try await roundTrip("Été 👩‍👩‍👧‍👦 e\u{301} 'quoted' \"%_\\")
        try await roundTrip("before\0after")
        try await roundTrip("\0")
        try await roundTrip([UInt8]())
        try await roundTrip([UInt8](0...255))
        try await roundTrip(Data([0, 1, 255]))
        try await roundTrip(Data())
        try await roundTrip([UInt8](repeating: 0xA5, count: 20 << 20))
        try await roundTrip(String(repeating: "grün", count: 1 << 20))
    }

    @Test func emptyTextAndBlobAreNotNull() async throws {
        let classes = try await with { (connection) throws in
            try connection.query(
                "SELECT typeof(?1) UNION ALL SELECT typeof(?2) UNION ALL SELECT typeof(?3)", "", [UInt8](), nil
            ) { row in try row[0] as String }
        }
        #expect(classes == ["text", "blob", "null"])
    }

    @Test func optionalsBindAndReadAsNull() async throws {
        try await with { (connection) throws in
            let absent: String? = nil
            let present: Int? = 7
            try connection.execute("INSERT INTO any VALUES (1, ?), (2, ?), (3, ?)", absent, present, nil)
            let null = try connection.query("SELECT value FROM any WHERE id <> 2") { row in try row[0] as String? }
            #expect(null == [nil, nil])
            #expect(try connection.value("SELECT value FROM any WHERE id = 2") as Int? == 7)
            #expect(try connection.value("SELECT value FROM any WHERE id = 9") as Int? == nil)
        }
    }

    @Test func aValueOfAnotherClassIsRefusedAndNotConverted() async throws {
        try await with { (connection) throws in
            func refuses<T: SQLReadable>(_ sql: String, _ type: T.Type, _ location: SourceLocation = #_sourceLocation) {
                #expect(sourceLocation: location) {
                    try connection.first(sql) { row in try row["c"] as T }
                } throws: { error in
                    if case .unexpectedValue("c", _) = error as? DatabaseError { true } else { false }
                }
            }
            refuses("SELECT 'seven' AS c", Int.self)
            refuses("SELECT '7' AS c", Int64.self)
            refuses("SELECT 7.5 AS c", Int.self)
            refuses("SELECT 2 AS c", Bool.self)
            refuses("SELECT NULL AS c", String.self)
            refuses("SELECT 7 AS c", String.self)
            refuses("SELECT 'text' AS c", [UInt8].self)
            refuses("SELECT x'00' AS c", String.self)
            refuses("SELECT CAST(x'FF41' AS TEXT) AS c", String.self)
            refuses("SELECT CAST(x'FF41' AS TEXT) AS c", SQLValue.self)
            let raw = try connection.first("SELECT CAST(x'FF41' AS TEXT)") { row in row.rawBytes(0) }
            #expect(raw == [0xFF, 0x41])
            #expect(try connection.value("SELECT 7") as Double? == 7)
        }
    }

    @Test func columnsAreFoundByNameAlsoAfterTheSchemaChanged() async throws {
        try await with { (connection) throws in
            try connection.execute("INSERT INTO any VALUES (1, 'one')")
            let read = { () throws -> String? in
                try connection.first("SELECT * FROM any") { row in try row["value"] as String }
            }
            #expect(try read() == "one")
            try connection.executeScript(
                "ALTER TABLE any RENAME TO old; CREATE TABLE any (value, id); INSERT INTO any VALUES ('two', 2)")
            #expect(try read() == "two")
            #expect {
                try connection.first("SELECT id FROM any") { row in try row["nothing"] as Int }
            } throws: { isInvalidStatement($0) }
            #expect { try connection.first("SELECT id FROM any") { row in try row[1] as Int } } throws: {
                isInvalidStatement($0)
            }
            #expect { try connection.first("SELECT id FROM any") { row in try row[-1] as Int } } throws: {
                isInvalidStatement($0)
            }
        }
    }

    @Test func wrongStatementsAreRefused() async throws {
        try await with { (connection) throws in
            for sql in ["", "  -- nothing", "SELEC 1", "SELECT 1; SELECT 2", "SELECT 1\0; DROP TABLE any", "\0"] {
                #expect("\(sql.debugDescription)") { try connection.execute(sql) } throws: { isInvalidStatement($0) }
            }
            #expect { try connection.execute("SELECT ?, ?", 1) } throws: { isInvalidStatement($0) }
            #expect { try connection.execute("SELECT ?", 1, 2) } throws: { isInvalidStatement($0) }
            // Double quotes never turn into text.
            #expect { try connection.execute("SELECT \"no_such_column\"") } throws: { isInvalidStatement($0) }
            #expect(try connection.value("SELECT 1; -- done ") as Int? == 1)
        }
    }

    @Test func executeCountsTheRowsItChangedItself() async throws {
        try await with { (connection) throws in
            #expect(try connection.execute("CREATE TABLE other (a)") == 0)
            #expect(try connection.execute("INSERT INTO any VALUES (1, 1), (2, 2), (3, 3)") == 3)
            #expect(connection.lastInsertRowID == 3)
            #expect(try connection.execute("UPDATE any SET value = 0 WHERE id > 1") == 2)
            #expect(try connection.execute("SELECT * FROM any") == 0)
            #expect(try connection.execute("UPDATE any SET value = 0 WHERE id > 9") == 0)
            #expect(try connection.execute("DELETE FROM any") == 3)
        }
    }

    @Test func theStatementCacheIsBoundedAndKeepsWhatIsUsed() async throws {
        var limits = DatabaseLimits.patient
        limits.statements = 5
        let open = try await OpenDatabase(limits: limits)
        let counts = try await open.database.write { connection in
            try (0..<20).map { number in
                _ = try connection.value("SELECT 'often'") as String?
                _ = try connection.value("SELECT \(number)") as Int?
                return connection.cachedStatements
            }
        }
        #expect(counts.max() == 5)
        #expect(counts.last == 5)
        await open.database.close()
    }

    @Test func aStatementMayRunInsideItself() async throws {
        let pairs = try await with { (connection) throws in
            try connection.execute("INSERT INTO any VALUES (1, 'a'), (2, 'b')")
            var pairs: [String] = []
            try connection.forEach("SELECT value FROM any") { outer in
                let left: String = try outer[0]
                try connection.forEach("SELECT value FROM any") { inner in
                    pairs.append(left + (try inner[0] as String))
                }
            }
            return pairs
        }
        #expect(pairs == ["aa", "ab", "ba", "bb"])
    }

    @Test func brokenRulesComeAsTypedErrors() async throws {
        let open = try await OpenDatabase()
        let database = open.database
        try await database.write { try Album.add("there", to: $0) }
        let cases: [(String, DatabaseError)] = [
            ("INSERT INTO album (name) VALUES ('there')", .constraint(.unique, detail: "album.name")),
            ("INSERT INTO album (id, name) VALUES (1, 'x')", .constraint(.unique, detail: "album.id")),
            ("INSERT INTO album (name) VALUES (NULL)", .constraint(.notNull, detail: "album.name")),
            ("INSERT INTO album (name) VALUES ('')", .constraint(.check, detail: "name <> ''")),
            (
                "INSERT INTO picture (album) VALUES (99)",
                .constraint(.foreignKey, detail: "FOREIGN KEY constraint failed")
            ),
        ]
        for (sql, expected) in cases {
            await #expect(throws: expected) { try await database.write { try $0.execute(sql) } }
            #expect(expected.description.contains(". ") && expected.description.hasSuffix("."))
        }
        await database.close()
    }

    @Test func swiftFunctionsWorkInQueriesAndIndexes() async throws {
        try await with { (connection) throws in
            try connection.execute("CREATE UNIQUE INDEX folded ON any (fold(value))")
            try connection.execute("INSERT INTO any (value) VALUES ('Été')")
            #expect {
                try connection.execute("INSERT INTO any (value) VALUES ('ETE')")
            } throws: { error in
                if case .constraint(.unique, _) = error as? DatabaseError { true } else { false }
            }
            #expect(
                try connection.value("SELECT fold('a' || char(0) || 'É')") as String? == "a\0e")
            #expect(try connection.value("SELECT fold(NULL) IS NULL") as Bool? == true)
            #expect(try connection.value("SELECT fold('')") as String? == "")
            #expect(try connection.value("SELECT fold(x'')") as [UInt8]? == [])
            #expect { try connection.execute("SELECT refuse()") } throws: { isInvalidStatement($0) }
        }
    }
}

private func isInvalidStatement(_ error: any Error) -> Bool {
    if case .invalidStatement = error as? DatabaseError { true } else { false }
}
