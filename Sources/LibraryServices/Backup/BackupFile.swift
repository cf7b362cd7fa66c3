import Executors
import Files
import LibraryModel
import ServiceMesh

/// A backup that was opened for reading: hostile until ``check(width:pool:isCancelled:job:)`` has returned.
///
/// Opening checks the archive's structure and every name, reads the documents and holds them against each other;
/// nothing is written and no photo is read. Checking then reads every byte.
final class BackupFile: Sendable {
    let archive: BackupArchive
    let summary: BackupSummary
    let contents: BackupContents
    /// Entries whose bytes were not those that the catalogue had recorded when they were saved.
    let damaged: [String]
    /// Entries that are not part of the format; ignored.
    private let unknownEntries: [String]
    private let promised: [BackupArchive.Entry]

    /// - Parameters:
    ///   - namedFiles: of the library that reads it.
    ///   - maximumBytes: that the backup may hold, inflated; what is free where it is to be restored, but never less
    ///     than the file's own size.
    /// - Throws: `not_found`, `data_loss` for a damaged archive, `invalid_argument` for one that is no backup of ours.
    init(path: String, _ namedFiles: NamedFiles, maximumBytes: Int64 = .max) throws {
        archive = try BackupArchive(path: path, namedFiles, maximumBytes: maximumBytes)
        let described = try SmilePileDialect.read(archive)
        try Self.match(described, archive)
        let known = Set(described.promised.map(\.path)).union(described.unpromised)
        unknownEntries = archive.files.filter { !known.contains($0) }
        summary = described.summary
        contents = described.contents
        damaged = described.damaged
        promised = described.promised
    }

    /// Holds what the documents promise, the archive and the photos against each other.
    private static func match(_ described: DescribedBackup, _ archive: BackupArchive) throws {
        var entries: [String: BackupArchive.Entry] = [:]
        for entry in described.promised {
            guard entries.updateValue(entry, forKey: entry.path) == nil else {
                throw MeshError(
                    refusingBackup: "the manifest names '\(entry.path.prefix(200))' twice.", entry: entry.path)
            }
            try archive.require(entry)
        }
        for photo in described.contents.photos.map(\.photo) {
            let name = photo.path.prefix(200)
            guard photo.path.hasPrefix(BackupFormat.photoPrefix), let entry = entries[photo.path] else {
                throw MeshError(refusingBackup: "the photo '\(name)' has no entry of its own.", entry: photo.path)
            }
            guard photo.contentDigest == entry.sha256, photo.fileSize == entry.size else {
                throw MeshError(refusingBackup: "what is said about '\(name)' disagrees.", entry: photo.path)
            }
        }
    }

    /// A line for each entry that is ignored.
    var unknownLines: [ReceiptLine] {
        unknownEntries.map { ReceiptLine(item: $0, outcome: "ignored", detail: "it is not part of a backup") }
    }

    /// Reads every byte and compares it with what the documents promise.
    /// - Returns: bytes read.
    func check(width: Int, pool: BlockingPool, isCancelled: CancellationFlag, job: Job) async throws -> Int64 {
        try await archive.check(promised, width: width, pool: pool, isCancelled: isCancelled, job: job)
    }
}

/// What a dialect makes of a backup's documents. A second dialect is a function that returns one, and its test.
struct DescribedBackup: Sendable {
    let summary: BackupSummary
    /// Validated.
    let contents: BackupContents
    /// Every entry of which the documents say what it is.
    let promised: [BackupArchive.Entry]
    /// Names of those that belong to the backup all the same, such as the document that says it.
    let unpromised: Set<String>
    /// Paths of those that were damaged when they were saved.
    let damaged: [String]
}
