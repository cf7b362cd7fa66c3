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

    @Test func whatIsKnownOfAFileGoesWithItsPhoto() async throws {
        try await withCatalogue { catalogue, database in
            func file(_ inode: Int64, changed: Int64 = 5) -> FileStamp {
                FileStamp(device: 7, inode: inode, size: 1 << 40, modified: .max, changed: changed)
            }
            func known(_ files: [FileStamp]) async throws -> [Int64: Int64] {
                let photos = try await catalogue.read { try $0.knownFiles.find(files) }
                return Dictionary(photos.map { ($0.file.inode, $0.id) }, uniquingKeysWith: { first, _ in first })
            }
            func keep(_ files: [FileStamp], _ photo: Int64) async throws {
                try await catalogue.write {
                    try $0.knownFiles.keep(files.map { KnownFile(file: $0, photo: photo) })
                }
            }
            try await keep([file(1), file(11)], 1)
            try await keep([file(2)], 2)
            try await keep([file(3)], 3)
            // A photo that is not there.
            try await keep([file(4)], 99)
            let all = [1, 2, 3, 4, 11].map { file($0) }
            #expect(try await known(all) == [1: 1, 11: 1, 2: 2, 3: 3])
            #expect(try await known([file(1, changed: 6)]) == [:])
            // The inode is another file's by now.
            try await keep([file(11, changed: 9)], 3)
            #expect(try await known(all) == [1: 1, 2: 2, 3: 3])
            #expect(try await known([file(11, changed: 9)]) == [11: 3])
            _ = try await catalogue.write { transaction in
                try transaction.trash.add(transaction.photos.require([.id(1)]), at: Timestamp(milliseconds: 1))
            }
            #expect(try await known(all) == [2: 2, 3: 3])
            // Another source in the place of the photo's.
            try await database.write {
                try $0.execute("UPDATE photos SET source_digest = 'f' || substr(source_digest, 2) WHERE id = 2")
                try $0.execute("UPDATE photos SET caption = 'the same source' WHERE id = 3")
            }
            #expect(try await known(all) == [3: 3])
            #expect(try await catalogue.read { try $0.isConsistent() })
        }
    }

    @Test func aPhotosDateIsWrittenWhereItIsStillTheOneThatWasLookedAt() async throws {
        try await withCatalogue { catalogue, _ in
            try await catalogue.journal.begin(
                JobRecord(snapshot: JobSnapshot(id: "redate-1", method: RedatePhotos.method)))
            let found = PhotoDate(clock: LocalDateTime(milliseconds: 5), offset: 60, source: .exif)
            let line = ReceiptLine(item: "1", outcome: "redated", detail: nil)
            func set(_ photo: Photo) async throws -> Bool {
                try await catalogue.write {
                    try $0.photos.setDate(found, camera: "Apple", of: photo, line: line, of: "redate-1")
                }
            }
            let seen = try await catalogue.read { try $0.photos.require(.id(1)) }
            let changes: [@Sendable (inout Photo) -> Void] = [
                { $0.takenAt = nil }, { $0.datePrecision = .month }, { $0.takenOffset = 120 },
                { $0.dateSource = .person }, { $0.camera = "Canon" },
                { $0.id = 99 },
            ]
            for change in changes {
                var other = seen
                change(&other)
                #expect(try await !set(other))
            }
            #expect(try await catalogue.read { try $0.photos.require(.id(1)) } == seen)
            #expect(try await catalogue.journal.items(of: "redate-1").isEmpty)
            #expect(try await set(seen))
            var dated = seen
            dated.take(found)
            dated.camera = "Apple"
            #expect(try await catalogue.read { try $0.photos.require(.id(1)) } == dated)
            #expect(try await catalogue.journal.items(of: "redate-1") == ["1"])
        }
    }

    @Test func photosThatPassAFilterComeByTheirIDs() async throws {
        try await withCatalogue { catalogue, _ in
            _ = try await catalogue.write { [sample] transaction in
                try transaction.photos.insert((4...700).map { sample.photo($0, takenAt: Int64(10_000 - $0)) })
            }
            let filter = PhotoFilter(from: LocalDateTime(milliseconds: 2))
            var ids: [Int64] = []
            while true {
                let last = ids.last ?? 0
                let query = try PhotoIDQuery(SelectPhotos(filter, limit: 256, after: last))
                let page = try await catalogue.read { try $0.photos.ids(query) }
                #expect(page.ids.count <= 256)
                ids += page.ids
                if page.next == nil { break }
            }
            #expect(ids == Array(2...700))
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

    @Test func aPhotoThatIsBackIsNotRestoredTwice() async throws {
        try await withCatalogue { catalogue, _ in
            let again = sample.photo(3, takenAt: 3)
            let moved = try await catalogue.write { try $0.trash.add([$0.photos.require(.id(3))], at: .now()) }
            #expect(moved == 1)
            // The trash is a table of its own: what is in it keeps nothing from coming again.
            let back = try await catalogue.write { try $0.photos.insert(again, line: nil, of: nil) }
            let staying = try await catalogue.write { try $0.trash.restore([3]) }
            #expect(staying == [StayingPhoto(id: 3, sameAs: back.id)] && back.id != 3)
            #expect(try await catalogue.read { try $0.trash.count() } == 1)
        }
    }

    @Test func whatABodyThrowsUndoesAllOfIt() async throws {
        struct Stop: Error {}
        try await withCatalogue { catalogue, _ in
            await #expect(throws: Stop.self) {
                try await catalogue.write { transaction in
                    _ = try transaction.photos.setFavorite(true, of: [transaction.photos.require(.id(1))])
                    _ = try transaction.categories.insert(CategoryEntry(category("New")))
                    throw Stop()
                }
            }
            await #expect(throws: CatalogueError.self) {
                try await catalogue.write { transaction in
                    _ = try transaction.photos.setFavorite(true, of: [transaction.photos.require(.id(1))])
                    _ = try transaction.photos.require(.id(99))
                }
            }
            let (favorites, categories) = try await catalogue.read { transaction in
                (
                    try transaction.photos.count(PhotoQuery(SearchPhotos(PhotoFilter(favoritesOnly: true)))),
                    try transaction.categories.count()
                )
            }
            #expect(favorites == 0 && categories == 2)
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
