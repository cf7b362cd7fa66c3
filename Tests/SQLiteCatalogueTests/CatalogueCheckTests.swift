import CatalogueTestSupport
import Database
import Foundation
@testable import SQLiteCatalogue
import TestSupport
import Testing

/// Looking through the catalogue after a kill.
@Suite struct CatalogueCheckTests {
    /// A catalogue as a kill leaves it, with its log, and the page at which an index of it begins.
    private func killed(in folder: TemporaryFolder) async throws -> (path: String, page: Int) {
        let path = folder.file("catalogue.sqlite")
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        let page = try await database.write { connection in
            try connection.execute("INSERT INTO categories VALUES (1, 'a', 'a', 0, NULL, '#4CAF50', 0, 0)")
            let sample = SampleCatalogue()
            try PhotoTable(connection: connection).insert((0..<200).map { sample.photo($0, takenAt: 5) })
            return try connection.value("SELECT rootpage FROM sqlite_schema WHERE name = 'photos_by_content'") as Int?
        }
        #expect(try await database.checkpoint())
        try await database.write { try $0.execute("UPDATE categories SET position = 1") }
        let copy = folder.file("killed.sqlite")
        for ending in ["", "-wal"] {
            try FileManager.default.copyItem(atPath: path + ending, toPath: copy + ending)
        }
        await database.close()
        return (copy, try #require(page))
    }

    @Test func aSoundCatalogueIsFoundSound() async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(
            at: try await killed(in: folder).path, schema: CatalogueSchema.schema)
        #expect(database.wasStoppedUncleanly)
        let check = CatalogueCheck(database)
        await check.wait()
        #expect(await check.problems.isEmpty)
        await database.close()
    }

    @Test func aDamagedCatalogueIsNoticed() async throws {
        let folder = try TemporaryFolder()
        let (path, page) = try await killed(in: folder)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.seek(toOffset: UInt64(page - 1) * 4096)
        try file.write(contentsOf: Data(repeating: 0xFF, count: 4096))
        try file.close()
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        let check = CatalogueCheck(database)
        await check.wait()
        #expect(await !check.problems.isEmpty)
        await check.stop()
        await database.close()
    }
}
