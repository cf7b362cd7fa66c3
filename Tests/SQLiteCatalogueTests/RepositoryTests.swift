import CatalogueTestSupport
import Database
import LibraryModel
import LibraryStorage
@testable import SQLiteCatalogue
import ServiceMesh
import TestSupport
import Testing

/// The repositories as the actors use them: inside a transaction, and with refusals of one closed type.
@Suite(.timeLimit(.minutes(2))) struct RepositoryTests {
    private let sample = SampleCatalogue()

    /// A catalogue with the categories Family and Cars, and photos 1…3 in the first.
    private func withCatalogue(_ body: (SQLiteCatalogue, DatabasePool) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let catalogue = SQLiteCatalogue(database)
        try await catalogue.write { [sample] transaction in
            for name in ["Family", "Cars"] {
                _ = try transaction.categories.insert(CategoryEntry(category(name), isDefault: true))
            }
            try transaction.photos.insert((1...3).map { sample.photo($0, takenAt: Int64($0)) })
        }
        try await body(catalogue, database)
        await database.close()
    }

    /// What `body` refuses with, as its case is called, and what the mesh says of it. Throwing undoes the rest.
    private func refusal(
        _ catalogue: SQLiteCatalogue,
        _ body: @escaping @Sendable (any CatalogueTransaction) throws -> Void
    ) async throws -> (name: String, status: MeshStatus)? {
        try await catalogue.write { transaction -> (name: String, status: MeshStatus)? in
            do {
                try body(transaction)
                return nil
            } catch let error as CatalogueError {
                let name = String(describing: error).prefix { $0 != "(" }
                return (String(name.split(separator: ".").last ?? name), error.meshError.status)
            }
        }
    }

    /// No method puts another source in the place of a photo's; the schema sees to it for any that does.
    @Test func whatIsKnownOfAFileGoesWithItsSource() async throws {
        try await withCatalogue { catalogue, database in
            let files = [1, 2].map { FileStamp(device: 7, inode: $0, size: 1, modified: 1, changed: 1) }
            try await catalogue.write {
                try $0.knownFiles.keep([KnownFile(file: files[0], photo: 1), KnownFile(file: files[1], photo: 2)])
            }
            try await database.write {
                try $0.execute("UPDATE photos SET source_digest = 'f' || substr(source_digest, 2) WHERE id = 1")
                try $0.execute("UPDATE photos SET caption = 'the same source' WHERE id = 2")
            }
            #expect(try await catalogue.read { try $0.knownFiles.find(files).map(\.id) } == [2])
        }
    }

    @Test func everyRefusalHasItsCaseAndStatus() async throws {
        try await withCatalogue { catalogue, _ in
            let photos = try await catalogue.read { try $0.photos.page(PhotoQuery(SearchPhotos())).photos }
            let known = photos[0]
            let again = sample.photo(3, takenAt: 9)
            let (strange, twin) = (sample.photo(8, category: 77, takenAt: 1), sample.photo(9, takenAt: 1))
            let cases: [(String, MeshStatus, @Sendable (any CatalogueTransaction) throws -> Void)] = [
                ("noPhoto", .notFound, { t in _ = try t.photos.require(.id(99)) }),
                ("noPhoto", .notFound, { t in _ = try t.photos.require(.uuid("x")) }),
                ("noPhoto", .notFound, { t in _ = try t.photos.require(.path("x")) }),
                ("noPhoto", .notFound, { t in _ = try t.photos.forget([99]) }),
                ("noPhoto", .notFound, { t in try t.photos.update(again.photo) }),
                ("noCategory", .notFound, { t in _ = try t.photos.move([known], to: 77) }),
                ("noCategory", .notFound, { t in try t.photos.insert([strange]) }),
                (
                    "noCategory", .notFound,
                    { t in _ = try t.photos.moveAll(from: 1, to: 77) }
                ),
                ("noCategory", .notFound, { t in try t.categories.delete(id: 77) }),
                (
                    "noCategory", .notFound,
                    { t in _ = try t.categories.require(.displayName("none")) }
                ),
                (
                    "nameTaken", .alreadyExists,
                    { t in
                        _ = try t.categories.insert(CategoryEntry(category("FAMILY")))
                    }
                ),
                (
                    "nameTaken", .alreadyExists,
                    { t in _ = try t.categories.update(id: 2, to: category("family")) }
                ),
                (
                    "pictureThere", .alreadyExists,
                    { t in _ = try t.photos.insert(again, line: nil, of: nil) }
                ),
                ("pictureThere", .alreadyExists, { t in try t.photos.insert([again]) }),
                (
                    "repeatedPhoto", .alreadyExists,
                    { t in try t.photos.insert([twin, twin]) }
                ),
                ("notInTrash", .notFound, { t in _ = try t.trash.restore([1]) }),
                ("notInTrash", .notFound, { t in _ = try t.trash.purge([1]) }),
            ]
            for (name, status, body) in cases {
                let refusal = try await refusal(catalogue, body)
                #expect(refusal?.name == name && refusal?.status == status, "\(name): \(String(describing: refusal))")
            }
            let after = try await catalogue.read { try $0.photos.page(PhotoQuery(SearchPhotos())).photos }
            #expect(after == photos && after.contains(known))
        }
    }

    /// The catalogue's own failures reach the caller as they are, not wrapped.
    @Test func theDatabasesErrorsKeepTheirKind() async throws {
        try await withCatalogue { catalogue, database in
            await #expect(throws: DatabaseError.self) {
                try await catalogue.read { try $0.photos.setFavorite(true, of: [$0.photos.require(.id(1))]) }
            }
            await database.close()
            await #expect(throws: DatabaseError.self) { try await catalogue.read { try $0.categories.count() } }
        }
    }

    /// Sealed photos are found by their own table, and their dates without their rows.
    @Test func sealedPhotosAreFoundWithoutAWalkOverAll() async throws {
        try await withCatalogue { _, database in
            let plan = try await database.read { connection in
                try connection.query("EXPLAIN QUERY PLAN \(PhotoTable.sealedPlaces)", true, 0, 0, 100) {
                    try $0["detail"] as String
                }
            }.joined(separator: "; ")
            #expect(plan.contains("SEARCH p USING INDEX sqlite_autoindex_photos_1 (uuid=?"), "\(plan)")
            #expect(!plan.contains("SCAN p"), "\(plan)")
        }
    }
}

private func category(_ name: String) -> CategoryDetails {
    CategoryDetails(displayName: name, colorHex: "#010203", iconResource: nil)
}
