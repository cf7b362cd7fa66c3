import Database
import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh
import TestSupport
import Testing

@testable import BackupFormats
@testable import SQLiteCatalogue

/// Catalogues and backups of thousands of photos, without a file of theirs.
struct ManyRows {
    private let folder: TemporaryFolder
    let scratch: Scratch

    init() throws {
        folder = try TemporaryFolder("rows")
        scratch = Scratch(in: folder.path)
    }

    static func hex(_ kind: String, _ number: Int) -> String {
        let text = String(number, radix: 16)
        return kind + String(repeating: "0", count: 63 - text.count) + text
    }

    static func photo(_ id: Int, uuid: Int, content: Int, source: Int, in place: String) -> SourcedPhoto {
        let tail = String(format: "%012x", uuid)
        return SourcedPhoto(
            photo: Photo(
                id: Int64(id), uuid: "00000000-0000-4000-8000-\(tail)", path: "photos/\(place)-\(id).jpg",
                categoryId: 1,
                name: "\(id)", caption: nil, isFromAssets: false, createdAt: Timestamp(milliseconds: Int64(id)),
                fileSize: 1, width: 1, height: 1, isFavorite: false, takenAt: nil, contentDigest: hex("c", content),
                mediaType: "image/jpeg"),
            sourceDigest: hex("d", source), sourceSize: 1)
    }

    private static let category = Category(
        id: 1, displayName: "Family", position: 0, iconResource: nil, colorHex: "#4CAF50", isDefault: true,
        createdAt: Timestamp(milliseconds: 0), photoCount: 0)

    func catalogue(
        _ own: [SourcedPhoto], sealed: [SourcedPhoto] = []
    ) async throws -> (DatabasePool, SQLiteCatalogue) {
        let path = folder.file("\(UUID().uuidString).sqlite")
        let database = try await DatabasePool.open(at: path, schema: CatalogueSchema.schema)
        let catalogue = SQLiteCatalogue(database)
        try await catalogue.write { transaction in
            _ = try transaction.categories.insert(
                CategoryEntry(
                    CategoryDetails(displayName: "Own", colorHex: "#4CAF50", iconResource: nil), isDefault: true, id: 1)
            )
            try transaction.photos.insert(own, keepingIDs: true)
            for photo in sealed { try transaction.sealedFields.set([.location: [1, 2, 3]], of: photo.photo.uuid) }
        }
        return (database, catalogue)
    }

    func contents(_ photos: [SourcedPhoto], isForeign: Bool = false) throws -> BackupContents {
        if isForeign { return BackupContents(foreignCategories: [Self.category], photos: photos, lines: []) }
        var list = SpooledList<SourcedPhoto>.Spooler(in: scratch)
        for photo in photos { try list.append(photo) }
        return BackupContents(
            categories: [Self.category], photos: try list.finish(), isPartial: false, scratch: scratch)
    }
}

/// The same numbers for the same seed.
struct TestRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 2 &+ 1 }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }

    mutating func below(_ bound: Int) -> Int { Int(next() >> 16) % bound }
}
