import Executors
import Files
import Foundation
import LibraryModel
import ServiceMesh
import ZipArchive

/// A backup that was opened for reading: hostile until ``check(forOthers:width:pool:isCancelled:job:)`` has returned.
///
/// Opening checks the archive's structure and every name, reads the documents and holds them against each other;
/// nothing is written and no photo is read. Checking then reads every byte.
package final class BackupFile: Sendable {
    package let archive: BackupArchive
    package let summary: BackupSummary
    package let contents: BackupContents
    /// Entries whose bytes were not those that the catalogue had recorded when they were saved.
    package let damaged: [String]
    /// As ``DescribedBackup/checksums``.
    private let checksums: [String: String]
    /// What a person is told about it, whatever is done with it.
    private let notices: [ReceiptLine]
    /// Documents that others stand in for, of which the notices tell.
    let lostDocuments: Set<String>
    /// Entries that are not part of the format; ignored.
    private let unknownEntries: [String]
    private let promised: PromisedEntries
    /// Whether what is whole of it is wanted.
    package let isSalvaged: Bool
    /// Entries that are not what they should be, as far as can be seen without reading them; none unless salvaging.
    private let lost: [BackupArchive.Failure]
    /// What is not as it was written, though the entries have their bytes.
    private let altered: [BackupArchive.Failure]

    /// - Parameter salvaging: whether what is whole of a damaged one is wanted.
    /// - Throws: `data_loss` for a damaged archive, `invalid_argument` for one that is no backup.
    package init(_ archive: BackupArchive, salvaging: Bool = false) throws {
        isSalvaged = salvaging
        let (archive, described) = salvaging ? try Self.describeDamaged(archive) : try Self.describe(archive)
        self.archive = archive
        var promised = try PromisedEntries(described.promised)
        lost =
            described.contents.isForeign
            ? archive.refused : try Self.match(described, &promised, archive, salvaging: salvaging)
        var known = EntrySet()
        for place in promised.list.indices { promised.index(of: place).map { known.insert($0) } }
        for name in described.unpromised { try archive.index(of: name).map { known.insert($0) } }
        unknownEntries = try archive.files(otherThan: known) {
            try described.unpromised.contains($0) || promised.contains($0)
        }
        summary = described.summary
        contents = described.contents
        damaged = described.damaged
        altered = try archive.altered(known)
        lostDocuments = Set(described.notices.filter { $0.outcome == "damaged" }.map(\.item))
        notices =
            described.notices
            + (archive.mended + altered).map { ReceiptLine(item: $0.name, outcome: "damaged", detail: $0.sentence) }
        checksums = described.checksums
        self.promised = promised
    }

    /// - Parameters:
    ///   - namedFiles: of the library that reads it.
    ///   - proven: as of `BackupArchive`.
    /// - Throws: as ``init(_:salvaging:)``; `not_found`.
    package convenience init(
        path: String, _ namedFiles: NamedFiles, maximumBytes: Int64 = .max, proven: ProvenEntries? = nil
    ) throws {
        try self.init(
            BackupArchive(path: path, namedFiles, maximumBytes: maximumBytes, salvaging: false, proven: proven))
    }

    /// Opens a backup and reads every byte of it: what its documents say is understood while the rest is read, where how it is
    /// to be read does not depend on that.
    /// - Parameter forAgain: whether entries are to be read again.
    package static func checked(
        _ archive: BackupArchive, salvaging: Bool = false, forAgain: Bool, width: Int, pool: BlockingPool,
        isCancelled: CancellationFlag, job: Job
    ) async throws -> CheckedBackup {
        guard try archive.isStored, !salvaging else {
            let file = try await pool.run { try BackupFile(archive, salvaging: salvaging) }
            return try await file.check(
                forAgain: forAgain, width: width, pool: pool, isCancelled: isCancelled, job: job)
        }
        async let reading = archive.readThrough(
            forOthers: true, forAgain: forAgain, width: width, pool: pool, isCancelled: isCancelled, job: job)
        let file: BackupFile
        do {
            file = try await pool.run { try BackupFile(archive) }
        } catch {
            // Nobody wants to know how the bytes are of what is no backup.
            isCancelled.set()
            _ = try? await reading
            throw error
        }
        return try await file.compare(reading, pool: pool, isCancelled: isCancelled, job: job)
    }

    /// With the folder of the archive in which it is, as far as its names are names in a folder.
    private typealias Placed = (archive: BackupArchive, described: DescribedBackup)

    /// Whoever wrote it is told by its documents.
    private static func describe(_ archive: BackupArchive) throws -> Placed {
        if archive.isBare { return (archive, try PhoneDialect.read(archive)) }
        if let root = try archive.root(of: SmilePileDialect.manifestEntry) {
            let manifest =
                try archive.manifest
                ?? archive.decoded(root + SmilePileDialect.manifestEntry) {
                    try BackupManifest.read($0, scratch: archive.scratch)
                }
            try FormatVersion.require(manifest.facts.backupVersion, in: SmilePileDialect.manifestEntry)
            if manifest.facts.generator == SmilePileDialect.generator {
                let folder = archive.below(root)
                return (folder, try SmilePileDialect.read(folder, manifest))
            }
            return (archive, try StoryDialect.read(archive, manifest, root: root))
        }
        if let root = try archive.root(of: PhoneDialect.metadataEntry) {
            return (archive, try PhoneDialect.read(archive, root: root))
        }
        throw MeshError(
            .invalidArgument,
            "This is not a SmilePile backup: it has neither a \(SmilePileDialect.manifestEntry) nor a \(PhoneDialect.metadataEntry)."
        )
    }

    /// By whichever document is whole: the manifest's digests stand in the metadata too, and most of that in the document for
    /// the phone apps.
    private static func describeDamaged(_ archive: BackupArchive) throws -> Placed {
        let metadata = try archive.root(of: SmilePileDialect.metadataEntry)
        let phone = try archive.root(of: PhoneDialect.metadataEntry)
        do {
            guard try archive.root(of: SmilePileDialect.manifestEntry) != nil || metadata == nil else {
                throw MeshError(refusingBackup: "\(SmilePileDialect.manifestEntry) is not in it, or cannot be read.")
            }
            return try describe(archive)
        } catch let error as MeshError where error.status == .unimplemented {
            // Nothing of it is damaged: a later version has to read it.
            throw error
        } catch  where MeshError(describing: error).status == .dataLoss || metadata != nil || phone != nil {
            let failure = BackupArchive.Failure(
                name: SmilePileDialect.manifestEntry, sentence: MeshError(describing: error).message)
            if let metadata, case let folder = archive.below(metadata),
                let described = try? SmilePileDialect.readWithoutManifest(folder, failure)
            {
                return (folder, described)
            }
            guard let phone else { throw error }
            let described = try PhoneDialect.read(archive, root: phone).adding(
                ReceiptLine(
                    item: SmilePileDialect.metadataEntry, outcome: "damaged",
                    detail:
                        "captions, reviews and sealed fields are lost; the rest is known from \(PhoneDialect.metadataEntry)"
                ))
            return (archive, described)
        }
    }

    /// Holds what the documents promise, the archive and the photos against each other.
    /// - Returns: entries that are not what is promised; where all is wanted, the first of them is thrown.
    private static func match(
        _ described: DescribedBackup, _ promised: inout PromisedEntries, _ archive: BackupArchive, salvaging: Bool
    ) throws -> [BackupArchive.Failure] {
        var lost = archive.refused
        var finder = archive.finder
        try promised.list.forEachReadAhead { place, entry in
            do {
                promised.note(try archive.require(entry, &finder), of: place)
            } catch  where salvaging {
                // What is there may be another file, and is none that nobody knows.
                if let index = try archive.index(of: entry.path) { promised.note(index, of: place) }
                lost.append(.init(name: entry.path, sentence: MeshError(describing: error).message))
            }
        }
        // In our manifests photos come first, and what there is beside them behind the last.
        var photos = promised.finder()
        var others = promised.finder(from: described.contents.photos.count)
        let damaged = Set(described.damaged)
        try described.contents.photos.forEachReadAhead { _, sourced in
            let photo = sourced.photo
            let name = photo.path.prefix(200)
            guard photo.path.hasPrefix(BackupFormat.photoPrefix), let entry = try photos.find(photo.path)?.element
            else {
                throw MeshError(refusingBackup: "the photo '\(name)' has no entry of its own.", entry: photo.path)
            }
            guard photo.contentDigest == entry.sha256, photo.fileSize == entry.size else {
                throw MeshError(refusingBackup: "what is said about '\(name)' disagrees.", entry: photo.path)
            }
            // What it holds beside the photo: under a name of its own, and the bytes that are said, unless they were damaged.
            for file in sourced.entriesBeside
            where !file.path.hasPrefix(BackupFormat.photoPrefix) && !damaged.contains(file.path) {
                guard let entry = try others.find(file.path)?.element, entry.sha256 == file.digest,
                    entry.size == file.size
                else {
                    throw MeshError(
                        refusingBackup: "what is said about '\(file.path.prefix(200))' disagrees.", entry: file.path)
                }
            }
        }
        return lost
    }

    /// Of all entries of which the documents say what they are.
    package func promisedBytes() throws -> Int64 {
        var bytes: Int64 = 0
        try promised.list.forEach { bytes &+= $0.size }
        return bytes
    }

    /// SHA-256 of an entry that is promised, lower-case hex.
    func promisedDigest(of path: String) throws -> String? { try promised[path]?.sha256 }

    /// A line for each entry that is ignored, and what else is to be said of the backup itself.
    var lines: [ReceiptLine] {
        unknownEntries.map { ReceiptLine(item: $0, outcome: "ignored", detail: "it is not part of a backup") } + notices
    }

    /// Reads every byte and compares it with what the documents promise.
    /// - Parameters:
    ///   - forOthers: whether programs of others have to be able to read it. They are of what we have written; what is
    ///     compressed was packed by somebody else, in whatever way that may be.
    ///   - forAgain: whether entries are to be read again.
    package func check(
        forOthers: Bool = false, forAgain: Bool = false, width: Int, pool: BlockingPool, isCancelled: CancellationFlag,
        job: Job
    ) async throws -> CheckedBackup {
        let read = try await archive.readThrough(
            forOthers: forOthers, forAgain: forAgain, width: width, pool: pool, isCancelled: isCancelled, job: job)
        return try await compare(read, pool: pool, isCancelled: isCancelled, job: job)
    }

    private func compare(
        _ read: BackupArchive.Checked, pool: BlockingPool, isCancelled: CancellationFlag, job: Job
    ) async throws -> CheckedBackup {
        let found = try archive.failures(promised, read)
        let failures = Dictionary(
            (lost + found).map { ($0.name, $0.sentence) }, uniquingKeysWith: { first, _ in first })
        let photos =
            failures.isEmpty
            ? contents.photos
            : try contents.photos.spooled(in: contents.scratch) { failures[$0.photo.path] == nil ? $0 : nil }
        if !isSalvaged, let first = found.first ?? altered.first {
            throw MeshError(
                refusingBackup:
                    "\(first.sentence) \(photos.count) of \(contents.photos.count) photos in it are whole."
                    + BackupFormat.salvageHint, entry: first.name)
        }
        if let sentence = failures[SmilePileDialect.metadataEntry], !contents.isForeign {
            throw MeshError(refusingBackup: sentence, entry: SmilePileDialect.metadataEntry)
        }
        var whole = contents
        whole.photos = photos
        let unlike = try await unlikeTheirChecksums(failures, pool: pool, isCancelled: isCancelled, job: job)
        if failures[BackupFormat.sealedEntry] != nil { whole.sealed = nil }
        let lines = failures.sorted { $0.key < $1.key }.map { name, sentence in
            ReceiptLine(item: name, outcome: "damaged", detail: "left out: \(sentence)")
        }
        return CheckedBackup(
            file: self, contents: try whole.resolved { try archive.digest(of: $0, read) }, checked: read,
            damaged: lines + unlike, unsound: Set(failures.keys))
    }

    /// A line for each picture whose bytes are not those that another program took the checksum of. It is taken all the same,
    /// if it opens: the Android app makes JPEGs anew, and what its checksum is of then is not said.
    private func unlikeTheirChecksums(
        _ failures: [String: String], pool: BlockingPool, isCancelled: CancellationFlag, job: Job
    ) async throws -> [ReceiptLine] {
        var lines: [ReceiptLine] = []
        for (path, checksum) in checksums.sorted(by: { $0.key < $1.key }) where failures[path] == nil {
            try await job.mayContinue()
            let found = try await pool.run { try self.archive.md5(path, cancelled: { isCancelled.isSet }) }
            guard let found, found != checksum else { continue }
            lines.append(
                ReceiptLine(
                    item: path, outcome: "unlike",
                    detail: "its bytes are not those of its checksum in the backup: look at it"))
        }
        return lines
    }
}
