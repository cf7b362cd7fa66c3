import Executors
import Files
import Foundation
import LibraryModel
import Sealing
import ServiceMesh
import Sidecars
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
    fileprivate let lostDocuments: Set<String>
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
            let manifest = try archive.decoded(root + SmilePileDialect.manifestEntry) {
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
        try promised.list.forEach { place, entry in
            do {
                promised.note(try archive.require(entry), of: place)
            } catch  where salvaging {
                // What is there may be another file, and is none that nobody knows.
                if let index = try archive.index(of: entry.path) { promised.note(index, of: place) }
                lost.append(.init(name: entry.path, sentence: MeshError(describing: error).message))
            }
        }
        let entries = promised
        try described.contents.photos.forEach { sourced in
            let photo = sourced.photo
            let name = photo.path.prefix(200)
            guard photo.path.hasPrefix(BackupFormat.photoPrefix), let entry = try entries[photo.path] else {
                throw MeshError(refusingBackup: "the photo '\(name)' has no entry of its own.", entry: photo.path)
            }
            guard photo.contentDigest == entry.sha256, photo.fileSize == entry.size else {
                throw MeshError(refusingBackup: "what is said about '\(name)' disagrees.", entry: photo.path)
            }
        }
        // What it holds beside the photos: under a name of its own, and the bytes that are said, unless they were damaged.
        let damaged = Set(described.damaged)
        try described.contents.files().forEach { file in
            guard !file.path.hasPrefix(BackupFormat.photoPrefix), !damaged.contains(file.path) else { return }
            guard let entry = try entries[file.path], entry.sha256 == file.digest, entry.size == file.size else {
                throw MeshError(
                    refusingBackup: "what is said about '\(file.path.prefix(200))' disagrees.", entry: file.path)
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

/// A backup of which every byte has been read.
package struct CheckedBackup: Sendable {
    package let file: BackupFile
    /// With what reading has found out about pictures of which the documents say nothing.
    package private(set) var contents: BackupContents
    private let checked: BackupArchive.Checked
    /// A line for each entry that was left out because it is damaged, or is unlike its checksum.
    private let damaged: [ReceiptLine]
    /// Names of entries that are not what is promised.
    private let unsound: Set<String>
    /// Those that were opened, by that name.
    private var sealedSidecars: [String: SealedSidecar] = [:]
    private var rings: [Keyring] = []

    fileprivate init(
        file: BackupFile, contents: BackupContents, checked: BackupArchive.Checked, damaged: [ReceiptLine],
        unsound: Set<String>
    ) {
        self.file = file
        self.contents = contents
        self.checked = checked
        self.damaged = damaged
        self.unsound = unsound
    }

    /// SHA-256 of an entry that is promised, and is what is promised; lower-case hex. A sidecar that was sealed has what its
    /// open bytes are said to be, under the name that it would have open.
    package func digest(of path: String) throws -> String? {
        if let sealed = sealedSidecars[path] { return sealed.sidecar.contentDigest }
        return unsound.contains(path) ? nil : try file.promisedDigest(of: path)
    }

    /// The same with the sidecars that were sealed among those of their photos, where the archive has them whole.
    package func opening(_ opened: OpenedFields) throws -> CheckedBackup {
        guard !opened.sidecars.isEmpty else { return self }
        var backup = self
        backup.rings = opened.rings
        backup.contents.photos = try contents.photos.spooled(in: contents.scratch) { sourced in
            var sourced = sourced
            let sidecars = opened.sidecars[sourced.photo.uuid] ?? []
            for sealed in sidecars.sorted(by: { $0.place < $1.place }) where try backup.has(sealed) {
                let path = sealed.sidecar.path
                guard try backup.digest(of: path) == nil, sourced.photo.sidecars.count < KeptSidecar.maximumCount
                else { continue }
                sourced.photo.sidecars.insert(sealed.sidecar, at: min(sealed.place, sourced.photo.sidecars.count))
                backup.sealedSidecars[path] = sealed
            }
            return sourced
        }
        return backup
    }

    private func has(_ sealed: SealedSidecar) throws -> Bool {
        guard file.isSalvaged else { return try digest(of: sealed.entry) != nil }
        // Where the manifest is lost, nobody promises it; and one that does not open keeps nothing else back.
        return try file.archive.has(sealed.entry) && (try? open(sealed)) != nil
    }

    private func open(_ sealed: SealedSidecar) throws -> [UInt8] {
        let limit = SealedSidecar.entrySize(Int64(SidecarLimits.bytes))
        let (bytes, _) = try file.archive.read(sealed.entry, limit: Int(limit), checked)
        guard let opened = sealed.open(Array(bytes), with: rings) else {
            throw MeshError(refusingBackup: "a sealed sidecar does not open.", entry: sealed.entry)
        }
        return opened
    }

    /// Whether it was sealed, and is a sidecar.
    package func isSealed(_ path: String) -> Bool { sealedSidecars[path] != nil }

    /// Entries whose bytes were not those that the catalogue had recorded when they were saved; of what was sealed, the name that
    /// it would have open.
    package var damagedWhenSaved: [String] {
        guard !sealedSidecars.isEmpty else { return file.damaged }
        let open = Dictionary(
            sealedSidecars.map { ($1.entry, $0) }, uniquingKeysWith: { first, _ in first })
        return file.damaged.map { open[$0] ?? $0 }
    }

    /// That were read.
    package var bytes: Int64 { checked.bytes }
    package var summary: BackupSummary { file.summary }
    /// A document that is lost is told once: with what that means, and not with its checksum too.
    package var lines: [ReceiptLine] {
        file.lines + damaged.filter { !file.lostDocuments.contains($0.item) } + otherPictures
    }
    /// A line for each that comes as a photo of its own.
    private var otherPictures: [ReceiptLine] = []

    /// The bytes of a small entry, and their digest.
    /// - Throws: where it has more than `limit`, is damaged, or has changed since.
    package func read(_ name: String, limit: Int) throws -> (bytes: Data, digest: ContentDigest) {
        try file.archive.read(name, limit: limit, checked)
    }

    /// Writes an entry's bytes to `output`, open where it was sealed.
    /// - Returns: their digest.
    package func extract(
        _ name: String, to output: Int32, cancelled: () -> Bool, progress: (Int) -> Void
    ) throws -> ContentDigest {
        if let sealed = sealedSidecars[name] {
            let opened = try open(sealed)
            try opened.withUnsafeBytes { try FileSystem.write($0, to: output, name) }
            progress(opened.count)
            return ContentDigest(of: opened)
        }
        return try file.archive.extract(name, checked, to: output, cancelled: cancelled, progress: progress)
    }

    package func telling(apart others: OtherPictures) throws -> CheckedBackup {
        guard !others.uuids.isEmpty else { return self }
        var backup = self
        backup.contents.photos = try contents.photos.spooled(in: contents.scratch) { sourced in
            var sourced = sourced
            sourced.photo.uuid = others.uuid(sourced.photo.uuid)
            return sourced
        }
        backup.otherPictures = others.lines
        return backup
    }

    /// Names of entries that are not what they should be.
    package var leftOut: [String] { damaged.filter { $0.outcome == "damaged" }.map(\.item) }

    /// Whether nothing was left out, nor is unlike its checksum.
    package var isAsPromised: Bool { damaged.isEmpty }
}
