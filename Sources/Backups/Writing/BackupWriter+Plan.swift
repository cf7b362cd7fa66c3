import BackupFormats
import CLinux
import Foundation
import LibraryModel
import Scratch
import ServiceMesh
import ZipArchive

/// What one round of writing puts into a backup's file, and where: known before its first byte.
extension BackupWriter {
    struct Documents: Sendable {
        let all: [BackupDocument]

        /// By the document that holds everything but the photos' bytes.
        func arrangement(in layout: ZipLayout) throws -> BackupCheckpoint.Arrangement {
            let holders = [SmilePileDialect.metadataEntry, PhoneDialect.metadataEntry]
            guard let index = holders.lazy.compactMap({ name in all.firstIndex { $0.name == name } }).first else {
                throw MeshError(.internal, "A backup was to be written without its metadata. Please report it.")
            }
            let metadata = all[index]
            let sealed = try all.firstIndex { $0.name == BackupFormat.sealedEntry }.map { index in
                BackupCheckpoint.Place(
                    offset: try layout.dataOffset(of: index), size: all[index].digest.size,
                    digest: all[index].digest.sha256.hex)
            }
            return BackupCheckpoint.Arrangement(
                metadataOffset: try layout.dataOffset(of: index), metadataSize: metadata.digest.size,
                metadataDigest: metadata.digest.sha256.hex, sealed: sealed, totalSize: layout.totalSize)
        }
    }

    /// What is written in one round, and where.
    struct Plan: Sendable {
        let files: SpooledList<BackedUpFile>
        let documents: Documents
        let layout: ZipLayout
    }

    func plan(
        _ contents: BackupContents, _ deviations: [String: Deviation], at time: Timestamp
    ) throws -> Plan {
        let files = try contents.files()
        let documents = try documents(contents, files, deviations, at: time)
        return Plan(
            files: files, documents: documents,
            layout: try layout(files, documents, deviations, at: time, contents.scratch))
    }

    /// - Parameter contents: as the catalogue has them.
    private func documents(
        _ contents: BackupContents, _ files: SpooledList<BackedUpFile>, _ deviations: [String: Deviation],
        at time: Timestamp
    ) throws -> Documents {
        let contents =
            deviations.isEmpty ? contents : try contents.with { deviations[$0].map { ($0.size, $0.sha256) } }
        if contents.isForPhone { return Documents(all: try PhoneDialect.documents(of: contents, at: time)) }
        let listed = try listed(files, deviations, { _ in nil }, contents.scratch)
        return Documents(all: try SmilePileDialect.documents(of: contents, files: listed, at: time))
    }

    /// - Parameter found: the digest that copying has found of the file at a place; of those that are not known yet, something as
    ///   long stands in the manifest.
    func listed(
        _ files: SpooledList<BackedUpFile>, _ deviations: [String: Deviation], _ found: (Int) throws -> SHA256Digest?,
        _ scratch: Scratch
    ) throws -> SpooledList<BackupManifest.File> {
        let unknown = String(repeating: "0", count: 64)
        var listed = SpooledList<BackupManifest.File>.Spooler(in: scratch)
        try files.forEach { place, file in
            let deviation = deviations[file.path]
            try listed.append(
                BackupManifest.File(
                    path: file.path, size: deviation?.size ?? file.size,
                    sha256: (file.isKnown ? deviation?.sha256 ?? file.digest : found(place)?.hex) ?? unknown,
                    damaged: deviation != nil && !file.isThumbnail ? true : nil))
        }
        return try listed.finish()
    }

    /// Before the first byte, since the last one comes hours later.
    /// - Throws: `resource_exhausted` where the file system takes no file as large.
    func requireFile(of size: Int64, _ descriptor: Int32) throws {
        let most = clinux_largest_file_of(descriptor)
        guard most >= 0, size > most else { return }
        let (needed, taken) = (size.formatted(.byteCount(style: .file)), most.formatted(.byteCount(style: .file)))
        throw MeshError(
            short: .space,
            "The backup has \(needed), which is too large for this file system: it takes files of at most \(taken). Choose a place on "
                + "another one (exFAT on a stick, ext4, Btrfs), or save some categories at a time, each into a file of its own: "
                + "smilepile backup create --category NAME. Restored one after the other they are the library again.",
            details: ["neededBytes": .integer(size), "largestFileBytes": .integer(most)])
    }

    private func layout(
        _ files: SpooledList<BackedUpFile>, _ documents: Documents, _ deviations: [String: Deviation],
        at time: Timestamp, _ scratch: Scratch
    ) throws -> ZipLayout {
        var maker = ZipLayout.Maker(in: scratch)
        for document in documents.all {
            try maker.append(
                .init(name: document.name, size: Int64(document.bytes.count), modified: time.milliseconds))
        }
        try files.forEach { file in
            try maker.append(
                .init(name: file.path, size: deviations[file.path]?.size ?? file.size, modified: file.modified))
        }
        return try maker.finish()
    }
}
