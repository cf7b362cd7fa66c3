import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport

/// An old database in a folder of its own, photo files in another, and a library to take them over into.
package final class OldPhone: Sendable {
    package let test: TestLibrary
    /// The folder of the database alone: what is in it must never change.
    package let folder: String
    package let photos: String

    package var database: String { folder + "/smilepile_database" }

    package init(version: Int = 8, photos count: Int = 0, _ sql: String = "") async throws {
        test = try await TestLibrary("migration")
        folder = test.folder.file("phone")
        photos = test.folder.file("DCIM")
        for path in [folder, photos] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        if count > 0 { try SampleAlbum(width: 64, height: 48).write(count: count, to: photos) }
        try RoomDatabase.make(at: database, version: version, sql)
    }

    package func migrate(keepMissing: Bool? = nil, dryRun: Bool? = nil, from path: String? = nil) async throws
        -> JobSnapshot
    {
        try await test.run(
            MigrateLibrary(database: path ?? database, photos: photos, keepMissing: keepMissing, dryRun: dryRun))
    }

    /// Migrates what must be refused: the error of the job, after making sure that nothing changed on either side.
    package func refusal(from path: String? = nil) async throws -> MeshError? {
        let before = try RoomDatabase.state(of: folder)
        let categories = try await test.mesh.send(ListCategories())
        let job = try await migrate(from: path)
        guard try RoomDatabase.state(of: folder) == before, try test.files("staging").isEmpty,
            try await test.mesh.send(ListCategories()) == categories, try await test.allPhotos().isEmpty
        else { return nil }
        return job.state == .failed ? job.error : nil
    }

    package func categories() async throws -> [Category] { try await test.mesh.send(ListCategories()).categories }

    package func category(_ name: String) async throws -> Category {
        try await test.mesh.send(GetCategory(displayName: name))
    }

    package func lines(_ job: JobSnapshot, _ outcome: MigrationOutcome) async throws -> [ReceiptLine] {
        try await test.lines(job.id).filter { $0.outcome == outcome.rawValue }
    }

    package func receipt(_ job: JobSnapshot) throws -> MigrationReceipt {
        guard let receipt = job.receipt else { throw MeshError(.internal, "no receipt: \(job)") }
        return try JSONDecoder().decode(MigrationReceipt.self, from: JSONEncoder().encode(receipt))
    }

    /// One photo's row, for SQL.
    package static func photo(
        _ id: String, _ uri: String, category: String, at timestamp: String = "1700000000000", favorite: Bool? = nil,
        notes: String? = nil
    ) -> String {
        """
        INSERT INTO photo_entities (id, uri, category_id, timestamp\(favorite == nil ? "" : ", is_favorite"), encrypted_notes)
            VALUES ('\(id)', '\(uri)', \(category), \(timestamp)\(favorite.map { $0 ? ", 1" : ", 0" } ?? ""),
                \(notes.map { "'\($0)'" } ?? "NULL"));
        """
    }

    package static func category(
        _ id: String, _ name: String, color: String = "#2196F3", position: Int = 0, isDefault: Bool = false,
        createdAt: String = "1600000000000"
    ) -> String {
        """
        INSERT INTO category_entities (id, display_name, color_hex, position, is_default, created_at)
            VALUES (\(id), \(name), '\(color)', \(position), \(isDefault ? 1 : 0), \(createdAt));
        """
    }

    package static func uuid(_ number: Int) -> String {
        let text = String(number)
        return "0b1c2d3e-0000-4000-8000-" + String(repeating: "0", count: 12 - text.count) + text
    }
}
