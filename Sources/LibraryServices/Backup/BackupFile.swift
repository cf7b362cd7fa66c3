import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// A backup that was opened for reading: hostile until ``check(width:pool:isCancelled:job:)`` has returned.
///
/// Opening checks the archive's structure and every name, reads the documents and holds them against each other;
/// nothing is written and no photo is read. Checking then reads every byte.
final class BackupFile: Sendable {
    let path: String
    let manifest: BackupManifest
    let metadata: BackupMetadata
    let reader: ZipReader
    /// Every entry's index by its name; names are known to be unique, because no entry was refused.
    private let indices: [String: Int]
    /// Index of each photo's entry, by its path in the backup.
    let photoEntries: [String: Int]
    /// Entries that are not part of the format; ignored, and listed.
    let unknownEntries: [String]
    private let descriptor: Int32

    deinit { close(descriptor) }

    var summary: BackupSummary {
        BackupSummary(
            dialect: "smilepile", backupVersion: manifest.backupVersion, appVersion: manifest.appVersion,
            timestamp: manifest.timestamp, photoCount: manifest.photoCount, categoryCount: manifest.categoryCount,
            isPartial: manifest.isPartial == true, sealedWith: manifest.sealedWith)
    }

    /// - Parameters:
    ///   - namedFiles: of the library that reads it.
    ///   - maximumBytes: that the backup may hold, inflated; what is free where it is to be restored, but never less
    ///     than the file's own size.
    /// - Throws: `not_found`, `data_loss` for a damaged archive, `invalid_argument` for one that is no backup of ours.
    init(path: String, _ namedFiles: NamedFiles, maximumBytes: Int64 = .max) throws {
        let (descriptor, _) = try namedFiles.open(path, links: .followed)
        do {
            let reader = try Self.openArchive(descriptor, maximumBytes: maximumBytes)
            guard reader.bytesInFront == 0 else {
                throw Self.refused(
                    "\(reader.bytesInFront) bytes stand before the archive, and not every reader of ZIP files finds what is behind them."
                )
            }
            if let refusal = reader.refusals.first {
                throw Self.refused(refusal.description, entry: refusal.name)
            }
            let indices = Dictionary(
                reader.entries.map { ($0.name, $0.index) }, uniquingKeysWith: { first, _ in first })
            manifest = try Self.document(BackupFormat.manifestEntry, BackupManifest.self, reader, indices)
            guard manifest.generator == BackupFormat.generator, let files = manifest.files else {
                throw MeshError(
                    .invalidArgument,
                    "This backup was not written by SmilePile for Linux. This version restores only those.")
            }
            metadata = try Self.document(BackupFormat.metadataEntry, BackupMetadata.self, reader, indices)
            let known = Set(files.map(\.path)).union([BackupFormat.manifestEntry])
            unknownEntries = reader.entries.filter { !$0.isFolder && !known.contains($0.name) }.map(\.name)
            photoEntries = try Self.match(files, metadata, manifest, reader, indices)
            self.reader = reader
            self.indices = indices
            self.path = path
            self.descriptor = descriptor
        } catch {
            close(descriptor)
            throw error
        }
    }

    private static func refused(_ sentence: String, entry: String? = nil) -> MeshError {
        MeshError(
            .dataLoss, "The backup is refused: \(sentence)",
            details: entry.map { ["entry": .string(String($0.prefix(300)))] } ?? [:])
    }

    private static func openArchive(_ descriptor: Int32, maximumBytes: Int64) throws -> ZipReader {
        do {
            return try ZipReader(descriptor: descriptor, limits: ZipLimits(maximumTotalBytes: maximumBytes))
        } catch {
            throw refused(MeshError(describing: error).message)
        }
    }

    private static func document<T: Decodable>(
        _ name: String, _ type: T.Type, _ reader: ZipReader, _ indices: [String: Int]
    ) throws -> T {
        guard let index = indices[name] else {
            throw MeshError(
                .invalidArgument, "This is not a SmilePile backup: it has no \(name).",
                details: ["entry": .string(name)])
        }
        let bytes: Data
        do {
            bytes = try reader.read(index, limit: BackupFormat.maximumDocument)
        } catch {
            throw refused(MeshError(describing: error).message, entry: name)
        }
        do {
            return try JSONDecoder().decode(type, from: bytes)
        } catch {
            throw refused("\(name) cannot be understood (\(error)).", entry: name)
        }
    }

    /// Holds manifest, metadata and archive against each other.
    private static func match(
        _ files: [BackupManifest.File], _ metadata: BackupMetadata, _ manifest: BackupManifest, _ reader: ZipReader,
        _ indices: [String: Int]
    ) throws -> [String: Int] {
        var sizes: [String: BackupManifest.File] = [:]
        for file in files {
            guard sizes.updateValue(file, forKey: file.path) == nil else {
                throw refused("the manifest names '\(file.path.prefix(200))' twice.", entry: file.path)
            }
            guard let index = indices[file.path] else {
                throw refused("'\(file.path.prefix(200))' is in the manifest but not in the archive.", entry: file.path)
            }
            guard !reader.entries[index].isFolder else {
                throw refused("'\(file.path.prefix(200))' is a folder, and the manifest has a file.", entry: file.path)
            }
            guard reader.entries[index].size == file.size, SHA256Digest(hex: file.sha256) != nil else {
                throw refused("the size or digest of '\(file.path.prefix(200))' disagrees.", entry: file.path)
            }
        }
        guard metadata.photos.count <= BackupFormat.maximumPhotos else {
            throw refused("it has more than \(BackupFormat.maximumPhotos) photos.")
        }
        guard manifest.photoCount == metadata.photos.count, manifest.categoryCount == metadata.categories.count else {
            throw refused("its counts of photos and categories disagree with its contents.")
        }
        try checkCategories(metadata)
        try checkSessions(metadata)
        guard metadata.preferences.map({ (0...1).contains($0.swipeThreshold) }) ?? true else {
            throw refused("its swipe threshold is not between 0 and 1.")
        }
        var entries: [String: Int] = [:]
        var uuids: Set<String> = []
        var ids: Set<Int64> = []
        var sources: Set<String> = []
        let categories = Set(metadata.categories.map(\.id))
        for photo in metadata.photos {
            let name = photo.path.prefix(200)
            guard photo.path.hasPrefix(BackupFormat.photoPrefix), let file = sizes[photo.path],
                let index = indices[photo.path]
            else {
                throw refused("the photo '\(name)' has no entry of its own.", entry: photo.path)
            }
            guard photo.contentDigest == file.sha256, photo.fileSize == file.size else {
                throw refused("what is said about '\(name)' disagrees.", entry: photo.path)
            }
            guard BackupFormat.ids.contains(photo.id), ids.insert(photo.id).inserted, isUUID(photo.uuid),
                uuids.insert(photo.uuid).inserted,
                entries.updateValue(index, forKey: photo.path) == nil,
                sources.insert(photo.sourceDigest).inserted
            else {
                throw refused("the photo '\(name)' has an id that is not valid or used twice.", entry: photo.path)
            }
            guard categories.contains(photo.categoryId) else {
                throw refused("the photo '\(name)' is in a category that the backup does not have.", entry: photo.path)
            }
            guard photo.width >= 0, photo.height >= 0, photo.name.utf8.count <= 4096,
                isDigest(photo.contentDigest), isDigest(photo.sourceDigest), photo.sourceSize >= 0,
                (photo.caption?.utf8.count ?? 0) <= SetCaption.maximumLength * 16, photo.mediaType.utf8.count <= 100
            else {
                throw refused("a value of the photo '\(name)' is out of range.", entry: photo.path)
            }
        }
        return entries
    }

    private static func checkCategories(_ metadata: BackupMetadata) throws {
        guard !metadata.categories.isEmpty else { throw refused("it has no category.") }
        guard metadata.categories.count <= CategoryLimits.count else {
            throw refused("it has more than \(CategoryLimits.count) categories.")
        }
        var ids: Set<Int64> = []
        var keys: Set<String> = []
        for category in metadata.categories {
            let name: String
            do {
                name = try CategoryName.validated(category.displayName, mayBeInvisible: true)
            } catch {
                throw refused("it has a category without a usable name.")
            }
            guard BackupFormat.ids.contains(category.id), ids.insert(category.id).inserted,
                keys.insert(CategoryName.key(name)).inserted
            else {
                throw refused("its category '\(name.prefix(80))' is there twice, or has no valid id.")
            }
            guard (category.iconResource?.utf8.count ?? 0) <= CategoryLimits.iconBytes else {
                throw refused("the icon of its category '\(name.prefix(80))' is too long.")
            }
        }
    }

    /// What the catalogue itself would refuse, or could not find again, is refused here, where nothing is written yet.
    private static func checkSessions(_ metadata: BackupMetadata) throws {
        var ids: Set<String> = []
        for session in metadata.swipeSessions ?? [] {
            guard isUUID(session.sessionID), ids.insert(session.sessionID).inserted else {
                throw refused("the swipe session '\(session.sessionID.prefix(80))' is there twice, or has no valid id.")
            }
            guard session.actions.allSatisfy({ isUUID($0.photoIdentifier) && isDigest($0.contentDigest) }) else {
                throw refused("a decision of the swipe session '\(session.sessionID)' names no photo.")
            }
        }
    }

    /// In the form in which the catalogue keeps and looks for them: lower case.
    private static func isUUID(_ text: String) -> Bool {
        text.utf8.count == 36 && UUID(uuidString: text) != nil && text == text.lowercased()
    }

    private static func isDigest(_ text: String) -> Bool {
        SHA256Digest(hex: text) != nil && text == text.lowercased()
    }

    /// Reads every byte and compares it with the manifest. What passes is read by others too: unzip, 7-Zip, bsdtar, Python.
    /// - Returns: bytes read.
    func check(width: Int, pool: BlockingPool, isCancelled: CancellationFlag, job: Job) async throws -> Int64 {
        let total = reader.entries.reduce(Int64(0)) { $0 &+ $1.size }
        job.begin(phase: "verifying", bytes: total)
        let verification = ZipVerification(reader, forOthers: true)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<width {
                group.addTask {
                    var isLeft = true
                    while isLeft {
                        // Between two turns nothing is held while the job stands still.
                        try await job.mayContinue()
                        isLeft = try await pool.run {
                            var turn = BackupTurn()
                            while turn.mayTakeAnother {
                                let goesOn = try verification.workOnNext(
                                    cancelled: { isCancelled.isSet },
                                    progress: { bytes in
                                        turn.bytes += Int64(bytes)
                                        job.advance(bytes: Int64(bytes))
                                    })
                                turn.entries += 1
                                if !goesOn { return false }
                            }
                            return true
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        if let failure = verification.failures.first {
            throw Self.refused(failure.description, entry: failure.name)
        }
        let digests = verification.digests
        for file in manifest.files ?? [] {
            guard let index = indices[file.path], digests[index]?.sha256.hex == file.sha256.lowercased()
            else {
                throw Self.refused(
                    "the bytes of '\(file.path.prefix(200))' are not those that were saved.", entry: file.path)
            }
        }
        return total
    }
}

/// What one thread does of a backup before it asks whether to go on: enough that asking costs nothing, little enough
/// that a person who pauses the job sees it stand still.
struct BackupTurn {
    var entries = 0
    var bytes: Int64 = 0

    var mayTakeAnother: Bool { entries < 32 && bytes < 8 << 20 }
}
