import Database
import Foundation
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// What version 15 makes anew of a catalogue whose names and words were folded by other rules.
@Suite struct FoldedNamesTests {
    private func opened(_ path: String, upTo version: Int = .max) async throws -> DatabasePool {
        try await DatabasePool.open(
            at: path,
            schema: Schema(
                applicationID: CatalogueSchema.applicationID,
                migrations: CatalogueSchema.schema.migrations.filter { $0.version <= version }))
    }

    /// Categories under these names, in their order, each with a key that the rules of before might have given it.
    private func filled(_ path: String, _ names: [String]) async throws {
        let database = try await opened(path, upTo: 14)
        try await database.write { connection in
            for (index, name) in names.enumerated() {
                try connection.execute(
                    "INSERT INTO categories VALUES (?, ?, ?, ?, NULL, '#4CAF50', 0, 0)", index + 1, name,
                    name.uppercased().lowercased() + (name == "izmir" ? "" : "\(index)"), index)
                try connection.execute(
                    "INSERT INTO swipe_machines (id, name, name_key, token_digest, added_at) VALUES (?, ?, ?, ?, ?)",
                    "m\(index)", name, "k\(index)", "t\(index)", index)
            }
        }
        await database.close()
    }

    @Test func namesThatAreAlikeNowAreNumbered() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.sqlite")
        let names = [
            "Straße", "STRAẞE", "STRASSE", "strasse (2)", "A B", "A\u{A0} B", "\u{2800}", "\u{200B}", "ızmır", "izmir",
        ]
        try await filled(path, names)
        let now = [
            "Straße", "STRAẞE (3)", "STRASSE (4)", "strasse (2)", "A B", "A\u{A0} B (2)", "Category", "Category (2)",
            "ızmır",
            "izmir",
        ]
        let database = try await opened(path)
        let (categories, machines, found) = try await database.read { connection in
            let table = CategoryTable(connection: connection)
            let found = try now.map { try table.find(.displayName($0.uppercased() == $0 ? $0.lowercased() : $0))?.id }
            return (
                try table.all().map(\.displayName),
                try ReviewMachineTable(connection: connection).machines().map(\.name), found
            )
        }
        #expect(categories == now && machines == now)
        #expect(found == (1...10).map { Int64($0) })
        await database.close()
    }

    /// A name that cannot be read stays what it is, and keeps none from being folded.
    @Test func aNameThatIsNoTextIsLeftAlone() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.sqlite")
        try await filled(path, ["Straße", "STRAẞE"])
        let old = try await opened(path, upTo: 14)
        try await old.write {
            try $0.execute("UPDATE categories SET display_name = CAST(x'FF41' AS TEXT) WHERE id = 1")
        }
        await old.close()
        let database = try await opened(path)
        let (id, bytes) = try await database.read { connection in
            (
                try CategoryTable(connection: connection).find(.displayName("strasse"))?.id,
                try connection.first("SELECT display_name FROM categories WHERE id = 1") { $0.rawBytes(0) }
            )
        }
        #expect(id == 2 && bytes == [0xFF, 0x41])
        await database.close()
    }

    /// Of more photos than are looked at together; the text index is in step with their rows.
    @Test func wordsAreFoundByTheirLettersAfterTheUpgrade() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("c.sqlite")
        let texts = ["Łódź", "ＦＵＬＬ", "Été", "beach", "Ærø"]
        let old = try await opened(path, upTo: 14)
        try await old.write { connection in
            try connection.execute("INSERT INTO categories VALUES (1, 'A', 'a', 0, NULL, '#4CAF50', 0, 0)")
            for number in 0..<3_000 {
                let text = texts[number % texts.count]
                // Neither ligatures nor letters with a stroke were taken apart.
                let before = text == "Été" ? "ete" : text.lowercased().decomposedWithoutMarks
                try connection.execute(
                    """
                    INSERT INTO photos (uuid, path, category_id, name, caption, is_from_assets, created_at, file_size, width,
                        height, is_favorite, media_type, content_digest, source_digest, source_size, search_text)
                    VALUES (?, ?, 1, ?, ?, 0, ?, 1, 1, 1, 0, 'image/jpeg', ?, ?, 1, ?)
                    """, "u\(number)", "photos/\(number).jpg", "n", text, number * 1_000_003 % 3_000, "d\(number)",
                    "s\(number)", "n\n\(before)\nphotos/\(number).jpg")
            }
            try connection.execute("UPDATE photos SET caption = CAST(x'FFC581' AS TEXT) WHERE uuid = 'u0'")
        }
        await old.close()
        let database = try await opened(path)
        for (word, count) in [("lodz", 599), ("full", 600), ("ete", 600), ("beach", 600), ("aero", 600)] {
            let query = try PhotoIDQuery(SelectPhotos(PhotoFilter(text: word)))
            let found = try await database.read { connection in
                let sieve = Sieve(all: [word.prefix(3), word.suffix(3)].map(String.init))
                return (
                    try PhotoTable(connection: connection).ids(query).ids.count,
                    try connection.value(
                        "SELECT count(*) FROM photo_search WHERE photo_search MATCH ?", sieve.expression) as Int?
                )
            }
            #expect(found.0 == count && found.1 == count, "\(word): \(found)")
        }
        try await database.write {
            try $0.execute("INSERT INTO photo_search (photo_search) VALUES ('integrity-check')")
        }
        await database.close()
    }
}

extension String {
    fileprivate var decomposedWithoutMarks: String {
        String(
            String.UnicodeScalarView(
                decomposedStringWithCanonicalMapping.unicodeScalars.filter {
                    $0.properties.generalCategory != .nonspacingMark
                }))
    }
}
