import CSQLite
@testable import Database
import Executors
import Foundation
import FuzzSupport
import LibraryModel
@testable import BackupFormats
@testable import Backups
import LibraryStorage
import PhotoFolder
@testable import SQLiteCatalogue
import Scratch
import ServiceMesh
import TestSupport
import ZipArchive

/// The two documents of a backup, in an archive that is otherwise good: whatever they say, the backup is refused or can
/// be restored.
///
/// Sizes, digests and counts in them are written as `@name@` and filled in here, because a change of one letter would
/// else be seen as damage and nothing behind that check be reached.
@main
enum BackupJSON: FuzzTarget {
    private static let photos: [(name: String, bytes: [UInt8])] = [
        ("photos/one.jpg", Array("the first photo".utf8)), ("photos/two.jpg", Array("the second photo".utf8)),
    ]

    static func seeds() throws -> [[UInt8]] { BackupSeeds.all(photos: photos) }

    private static let folder = Result { try TemporaryFolder("fuzz") }
    private static let catalogue = MemoryCatalogue()

    static func run(_ input: [UInt8]) {
        let parts = Parts.split(input, 2)
        let metadata = BackupSeeds.filled(parts[1], photos, metadata: nil)
        let manifest = BackupSeeds.filled(parts[0], photos, metadata: metadata)
        do {
            let folder = try folder.get()
            let path = folder.file("backup.zip")
            try write(manifest, metadata, to: path)
            let library = LibraryFolder(path: folder.path)
            let backup: BackupFile
            do {
                backup = try BackupFile(path: path, library.namedFiles, maximumBytes: 1 << 20)
            } catch let error as MeshError {
                require(
                    [.dataLoss, .invalidArgument, .unimplemented].contains(error.status),
                    "refused as \(error.status): \(error)")
                require(error.message.utf8.count < 20_000, "\(error.message.utf8.count) bytes of explanation")
                return
            }
            // A document of another program is in no form of ours, and its pictures are known when they have been read.
            guard !backup.contents.isForeign else { return }
            check(backup)
            catalogue.restore(backup)
        } catch {
            fail("an error of no type that is promised: \(error)")
        }
    }

    /// What is taken can be saved again, and is the same then.
    private static func check(_ backup: BackupFile) {
        do {
            let documents = try SmilePileDialect.documents(
                of: backup.contents, files: [], at: backup.summary.timestamp)
            guard let metadata = documents.first(where: { $0.name == SmilePileDialect.metadataEntry }) else {
                fail("written without its metadata")
            }
            let again = try SmilePileDialect.contents(
                ofUnfinished: metadata.bytes, isPartial: backup.contents.isPartial, scratch: .memory)
            let encoder = JSONEncoder()
            try require(
                encoder.encode(again.photos.compactMap { $0 }).count
                    == encoder.encode(backup.contents.photos.compactMap { $0 }).count
                    && again.categories.count == backup.contents.categories.count,
                "the contents are others when they are written and read again")
            _ = try encoder.encode(backup.summary)
        } catch {
            fail("taken, and cannot be written: \(error)")
        }
    }

    private static func write(_ manifest: [UInt8], _ metadata: [UInt8], to path: String) throws {
        let contents =
            [(SmilePileDialect.manifestEntry, manifest), (SmilePileDialect.metadataEntry, metadata)]
            + photos.map { ($0.name, $0.bytes) }
        let layout = try ZipLayout(
            entries: contents.map { .init(name: $0.0, size: Int64($0.1.count), modified: 0) })
        try Data().write(to: URL(fileURLWithPath: path))
        let output = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? output.close() }
        let writer = ZipWriter(descriptor: output.fileDescriptor, layout: layout)
        for (index, content) in contents.enumerated() { try writer.writeEntry(index, bytes: content.1) }
        try writer.finish()
    }
}

@_cdecl("LLVMFuzzerCustomMutator")
func mutateDocuments(
    _ data: UnsafeMutablePointer<UInt8>, _ size: Int, _ capacity: Int, _ seed: UInt32
) -> Int {
    // The metadata three times as often: it is what is believed. Mostly as JSON, or little would be.
    Parts.mutate(data, size, capacity, seed % 4 == 0 ? seed & ~1 : seed | 1, count: 2) { _, part, room in
        guard seed >> 8 & 3 != 0, let tree = JSONTree(part) else { return Parts.mutated(part, room) }
        let changed = tree.mutated(seed).bytes
        return changed.count <= room ? changed : part
    }
}

/// A catalogue in memory with a photo and two categories in it, to restore into and forget it again.
private final class MemoryCatalogue: @unchecked Sendable {
    // Unchecked because a connection is bound to a thread, and the static that holds this has to be `Sendable`: libFuzzer has
    // one thread, which makes it and alone uses it.
    private let connection: Connection

    init() {
        do {
            connection = try Connection(
                path: ":memory:", readOnly: false, statements: 64, functions: CatalogueSchema.schema.functions)
            try connection.setFlag(SQLITE_DBCONFIG_TRUSTED_SCHEMA, true)
            for migration in CatalogueSchema.schema.migrations {
                try connection.control(.beginWriting)
                try connection.lent { try migration.apply(connection) }
                try connection.control(.commit)
            }
            try inTransaction(.commit) { connection in
                for name in ["Family", "Été"] {
                    _ = try CategoryTable(connection: connection).insert(
                        CategoryEntry(
                            CategoryDetails(displayName: name, colorHex: "#4CAF50", iconResource: nil), isDefault: true)
                    )
                }
                let photo = Photo(
                    id: 0, uuid: BackupSeeds.uuids[0], path: "photos/there.jpg", categoryId: 1, name: "there",
                    caption: nil, isFromAssets: false, createdAt: .now(), fileSize: 3, width: 1, height: 1,
                    isFavorite: false, takenAt: nil, contentDigest: String(repeating: "0", count: 64),
                    mediaType: "image/jpeg")
                try PhotoTable(connection: connection).insert([
                    SourcedPhoto(photo: photo, sourceDigest: String(repeating: "1", count: 64), sourceSize: 3)
                ])
            }
        } catch {
            fail("no catalogue in memory: \(error)")
        }
    }

    /// What ``BackupFile`` lets through, the catalogue takes, either way.
    func restore(_ backup: BackupFile) {
        for mode in [RestoreMode.merge, .replace] {
            do {
                try inTransaction(.rollback) { connection in
                    let plan = try RestorePlan.make(
                        backup.contents, mode: mode, in: SQLTransaction(connection: connection))
                    let names = Dictionary(
                        try plan.newPhotos.compactMap { photo in
                            StoredName(.photos, photo.uuid + ".jpg").map { (photo.uuid, PhotoNames(photo: $0)) }
                        }, uniquingKeysWith: { first, _ in first })
                    let application = RestoreApplication(
                        contents: backup.contents, plan: plan,
                        staged: { uuid in names[uuid].map { StagedPhoto(uuid: uuid, names: $0) } }, job: "restore-fuzz")
                    try application.apply(in: SQLTransaction(connection: connection))
                    // Restoring it again changes nothing.
                    let again = try RestorePlan.make(
                        backup.contents, mode: mode, in: SQLTransaction(connection: connection))
                    require(again.newPhotos.isEmpty, "\(mode): photos are new when they are restored again")
                    if mode == .merge {
                        require(again.newCategories.isEmpty && again.newSessions.isEmpty, "new again")
                    }
                }
            } catch {
                fail("\(mode): taken, and cannot be restored: \(error)")
            }
        }
    }

    private func inTransaction(_ end: Connection.Control, _ body: (Connection) throws -> Void) throws {
        try connection.control(.beginWriting)
        do {
            try connection.lent { try body(connection) }
        } catch {
            if connection.isInTransaction { try connection.control(.rollback) }
            throw error
        }
        try connection.control(end)
    }
}
