import BackupFormats
import CLinux
import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import Sealing
import ServiceMesh
import Synchronization
import ZipArchive

/// Saves a library into a backup folder: its files first, then the snapshot that names them.
///
/// What the folder cannot hold once for all snapshots lies in the snapshot's own file: sidecars that are sealed, which are other
/// bytes each time, and photos whose bytes are not those on record, which may be right again later. So a name in the folder has
/// the same bytes in every snapshot.
struct SnapshotWriter: Sendable {
    let hold: SnapshotFolderHold
    let photoFiles: any PhotoFiles
    let namedFiles: NamedFiles
    let pool: BlockingPool
    let width: Int
    let isCancelled: CancellationFlag
    /// Seals what is sealed while it is copied; nil where nothing is.
    let sealing: Keyring?

    /// - Parameters:
    ///   - partial: the path of the file that becomes the snapshot, open as `descriptor`.
    func write(
        _ contents: BackupContents, to descriptor: Int32, _ partial: String, at time: Timestamp, job: Job
    ) async throws -> BackupWriter.Written {
        job.begin(phase: "looking at the folder")
        async let inventoried = pool.run { [hold, namedFiles] in try FolderInventory(of: hold.folder, namedFiles) }
        let files = try await pool.run { try contents.files() }
        let inventory = try await inventoried
        let copying = FolderCopying(
            hold: hold, photoFiles: photoFiles, namedFiles: namedFiles, pool: pool, width: width,
            isCancelled: isCancelled)
        let found = try await copying.run(files, inventory, at: time, job: job)
        try await job.mayContinue()
        job.begin(phase: "writing the snapshot")
        return try await pool.run { [self] in
            // All files have their names, durably, before anything names them.
            try hold.syncNames()
            let left = try contents.without(Set(found.unreadable.keys))
            let isWhole = found.unreadable.isEmpty
            let known = try FolderFiles(files, found, inventory, areOthers: !isWhole)
            let bytes = try writeSnapshot(left, isWhole ? files : left.files(), found, known, to: descriptor, at: time)
            try FileSystem.sync(descriptor, partial)
            _ = posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED)
            // As a restore would read it; that all it names is there is part of that.
            let proof = try BackupFile(path: partial, namedFiles)
            var written = BackupWriter.Written(
                bytes: bytes,
                damaged: found.deviating.keys.sorted(),
                unreadable: found.unreadable.filter { !BackedUpFile.isThumbnail($0.key) })
            guard proof.contents.photos.count == left.photos.count else {
                throw MeshError(.dataLoss, "The snapshot does not have all of its photos. Try again, on another disk.")
            }
            written.folder = .init(added: found.added, addedBytes: found.addedBytes, mended: found.mended.sorted())
            return written
        }
    }

    /// - Parameter files: those of `contents`, with what the catalogue has on record of them.
    /// - Returns: its bytes, and those of the files in the folder that it names.
    private func writeSnapshot(
        _ contents: BackupContents, _ files: SpooledList<BackedUpFile>, _ found: FolderCopying.Found,
        _ known: FolderFiles, to descriptor: Int32, at time: Timestamp
    ) throws -> Int64 {
        let contents =
            found.deviating.isEmpty
            ? contents : try contents.with { found.deviating[$0].map { ($0.size, $0.digest) } }
        let isAnyInside = !contents.sealedSidecars.isEmpty || !found.deviating.isEmpty
        let inside =
            isAnyInside ? try files.compactMap { $0.isSealed || found.deviating[$0.path] != nil ? $0 : nil } : []
        var digests = found.deviating
        // Of what is sealed, as long a text as its digest will be stands in the manifest until it is known.
        for file in inside where file.isSealed {
            digests[file.path] = .init(size: file.size, digest: String(repeating: "0", count: 64))
        }
        var listed = try list(files, digests, found, known, contents.scratch)
        var documents = try SmilePileDialect.documents(of: contents, files: listed.files, at: time)
        let entries =
            documents.map { ZipLayout.Entry(name: $0.name, size: Int64($0.bytes.count), modified: time.milliseconds) }
            + inside.map {
                ZipLayout.Entry(name: $0.path, size: digests[$0.path]?.size ?? $0.size, modified: $0.modified)
            }
        let layout = try ZipLayout(entries: entries)
        let writer = ZipWriter(descriptor: descriptor, layout: layout)
        for (number, file) in inside.enumerated() {
            let digest = try copy(file, documents.count + number, with: writer)
            guard file.isSealed || digest.sha256.hex == digests[file.path]?.digest else { throw Self.changing }
            digests[file.path] = .init(size: digest.size, digest: digest.sha256.hex)
        }
        if !inside.isEmpty {
            listed = try list(files, digests, found, known, contents.scratch)
            documents[0] = try SmilePileDialect.manifest(
                of: contents, documents: Array(documents.dropFirst()), files: listed.files, at: time)
        }
        for (number, document) in documents.enumerated() { try writer.write(document, as: number) }
        try writer.finish()
        return layout.totalSize + listed.bytesInFolder
    }

    private static let changing = MeshError(
        .unavailable,
        "Other programs keep changing photo files of the library while they are backed up. Stop them, then try again.")

    private func list(
        _ files: SpooledList<BackedUpFile>, _ digests: [String: FolderInventory.Known], _ found: FolderCopying.Found,
        _ folder: FolderFiles, _ scratch: Scratch
    ) throws -> (files: SpooledList<BackupManifest.File>, bytesInFolder: Int64) {
        var listed = SpooledList<BackupManifest.File>.Spooler(in: scratch)
        var (bytes, folder): (Int64, FolderFiles) = (0, folder)
        try files.forEachReadAhead { place, file in
            let inFolder = try folder.known(file, at: place)
            bytes += inFolder?.size ?? 0
            guard let known = digests[file.path] ?? inFolder else { return }
            try listed.append(
                BackupManifest.File(
                    path: file.path, size: known.size, sha256: known.digest,
                    damaged: found.deviating[file.path] == nil ? nil : true))
        }
        return (try listed.finish(), bytes)
    }

    private func copy(_ file: BackedUpFile, _ entry: Int, with writer: ZipWriter) throws -> ContentDigest {
        let run = try EntryRun(entry..<entry + 1, of: writer)
        let digest = try photoFiles.withReader(StoredName(catalogued: file.storedPath)) { source -> ContentDigest in
            guard case .sealed(let sidecar) = file.content else {
                return try run.copy(entry, reading: source, cancelled: { isCancelled.isSet })
            }
            guard let sealing else { throw MeshError(.internal, "There is no key to seal a sidecar with.") }
            let bytes = try SealedSidecar.bytes(of: source)
            // It was read a moment ago, to see whether it names a place.
            guard ContentDigest(of: bytes).sha256.hex == file.digest else { throw Self.changing }
            return try run.copy(
                entry, reading: HeldBytes(sidecar.seal(bytes, with: sealing)), cancelled: { isCancelled.isSet })
        }
        _ = try run.finish(cancelled: { isCancelled.isSet })
        return digest
    }
}
