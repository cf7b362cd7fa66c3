import Executors
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh
import Synchronization

/// What is staged of one photo, and its line where something is to be said of it.
struct StagedPhoto: Codable, Sendable {
    /// Of the photo in the backup.
    let uuid: String
    /// Nil where it could not be taken, and for one that the library has.
    var names: PhotoNames?
    var files: [StagedFile] = []
    var line: ReceiptLine?
    /// Of another program's picture alone.
    var made: MadePhoto?
    /// Under their new names.
    var sidecars: [KeptSidecar] = []
    /// Of one that the library has, and that lacked these files.
    var completed: CompletedPhoto?
}

/// What was made of another program's picture, and where that was taken.
struct MadePhoto: Codable, Sendable {
    let sourced: SourcedPhoto
    let position: GeoPosition?
}

/// A photo of the library that is to get what it lacks.
struct CompletedPhoto: Codable, Sendable {
    /// As it was when that was staged, which is called after it.
    let path: String
    /// Nil where it gets none.
    let original: StoredName?
}

/// Takes down what is staged, from any number of threads. Blocks.
final class StagingRecord: Sendable {
    private let photos: Mutex<SpooledList<StagedPhoto>.Spooler>

    init(in scratch: Scratch) { photos = Mutex(.init(in: scratch)) }

    /// - Throws: where the disk does not give back what was written; then these are the caller's to remove.
    func append(_ some: [StagedPhoto]) throws {
        try photos.withLock { photos in
            for photo in some { try photos.append(photo) }
        }
    }

    /// All that was taken down up to now.
    func finish() throws -> SpooledList<StagedPhoto> { try photos.withLock { try $0.finish() } }
}

/// All that a restore has staged: a list for each time that it staged some, not in memory, since they may be all photos of the backup.
struct StagedPhotos: Sendable {
    private(set) var lists: [SpooledList<StagedPhoto>] = []
    private var byUUID: [SpooledIndex<StagedPhoto>] = []

    /// What was staged last.
    ///
    /// They are known at once, so that they can be removed, whatever comes next; found once they are read, which may fail.
    mutating func add(_ photos: SpooledList<StagedPhoto>, _ pool: BlockingPool) async throws {
        guard !photos.isEmpty else { return }
        lists.append(photos)
        byUUID.append(try await pool.run { try SpooledIndex(photos, by: \.uuid) })
    }

    /// As it was staged last: one that was to get its original, and was deleted since, comes back whole. Blocks.
    subscript(uuid: String) -> StagedPhoto? {
        get throws {
            for photos in byUUID.reversed() {
                if let found = try photos[uuid] { return found }
            }
            return nil
        }
    }

    /// Blocks.
    func compactMap<Value>(_ body: (StagedPhoto) throws -> Value?) throws -> [Value] {
        try lists.flatMap { try $0.compactMap(body) }
    }
}

extension SpooledList<StagedPhoto> {
    /// Photos whose files are published, settled or removed at once. Each time their folders are synced, which a disk takes some
    /// milliseconds for.
    static var portion: Int { 4096 }
}

extension PhotoFiles {
    /// Staged files that are not wanted: see ``abandon(_:)``. Those that cannot be read of the list are left to the next start too.
    /// Blocks.
    func abandon(_ staged: SpooledList<StagedPhoto>) {
        for portion in staged.portions(of: SpooledList<StagedPhoto>.portion) {
            guard let some = try? staged.elements(portion) else { continue }
            abandon(some.flatMap(\.files))
        }
    }

    /// Puts the files of one kind at their places, durably, some thousands at a time. Blocks.
    func publish(_ staged: SpooledList<StagedPhoto>, _ kind: StoredName.Kind) throws {
        try staged.forEachPortion(of: SpooledList<StagedPhoto>.portion) { some in
            let files = some.flatMap(\.files).filter { $0.name.kind == kind }
            if !files.isEmpty { try publish(files) }
        }
    }
}
