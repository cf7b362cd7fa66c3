import Foundation
import LibraryModel
import LibraryStorage
import Scratch
import ServiceMesh
import ZipArchive

/// Our own dialect: what the documents of a backup are called, and how they are read and written
/// (<doc:/LibraryModel/BackupsAsFiles>). Keys are the format's; ours are added, none removed.
package enum SmilePileDialect {
    static let name = "smilepile"
    static let manifestEntry = "manifest.json"
    package static let metadataEntry = "backup_metadata.json"
    /// The form that the shipped apps read (the same article, "metadata.json").
    static let appMetadataEntry = "metadata.json"
    static let generator = "SmilePile"
    static let version = "1.0"

    /// - Throws: `data_loss`.
    static func read(_ archive: BackupArchive, _ manifest: BackupManifest) throws -> DescribedBackup {
        let facts = manifest.facts
        guard let files = manifest.files, let appVersion = facts.appVersion, let timestamp = facts.timestamp,
            let photoCount = facts.photoCount, let categoryCount = facts.categoryCount
        else { throw MeshError(refusingBackup: "its manifest does not say all that it has to.", entry: manifestEntry) }
        var (metadata, contents) = try archive.decoded(metadataEntry) {
            try BackupMetadata.read($0, isPartial: facts.isPartial == true, scratch: archive.scratch)
        }
        try FormatVersion.require(metadata.version, in: metadataEntry)
        guard photoCount == contents.photos.count, categoryCount == contents.categories.count else {
            throw MeshError(refusingBackup: "its counts of photos and categories disagree with its contents.")
        }
        try contents.validate()
        var notices: [ReceiptLine] = []
        if try files.contains(where: { $0.path == BackupFormat.sealedEntry }) {
            contents.sealed = try archive.decoded(BackupFormat.sealedEntry) {
                try SealedDocument(reading: $0, in: archive.scratch)
            }
            if contents.sealed == nil {
                notices.append(
                    ReceiptLine(
                        item: BackupFormat.sealedEntry, outcome: BackupFormat.sealedOutcome,
                        detail: "a later version sealed the fields; restore them with that version"))
            }
        }
        if let sealed = contents.sealed, try sealed.sealedWith() != facts.sealedWith {
            throw MeshError(
                refusingBackup: "what its manifest says about sealed fields disagrees.",
                entry: BackupFormat.sealedEntry)
        }
        return DescribedBackup(
            summary: BackupSummary(
                dialect: name, backupVersion: facts.backupVersion, appVersion: appVersion, timestamp: timestamp,
                photoCount: photoCount, categoryCount: categoryCount, isPartial: contents.isPartial,
                sealedWith: facts.sealedWith, sealedValues: contents.sealed?.values.count),
            contents: contents,
            promised: files, unpromised: [manifestEntry],
            damaged: try files.compactMap { $0.damaged == true ? $0.path : nil }, notices: notices)
    }

    /// For a backup whose manifest is damaged: digests and sizes of its photos stand in the metadata too.
    /// - Throws: `data_loss`, `invalid_argument`.
    static func readWithoutManifest(
        _ archive: BackupArchive, _ failure: BackupArchive.Failure
    ) throws -> DescribedBackup {
        var (metadata, contents) = try archive.decoded(metadataEntry) {
            try BackupMetadata.read($0, isPartial: false, scratch: archive.scratch)
        }
        try FormatVersion.require(metadata.version, in: metadataEntry)
        try contents.validate()
        contents.sealed = try? archive.decoded(BackupFormat.sealedEntry) {
            try SealedDocument(reading: $0, in: archive.scratch)
        }
        return DescribedBackup(
            summary: BackupSummary(
                dialect: name, backupVersion: metadata.version, appVersion: "unknown", timestamp: metadata.timestamp,
                photoCount: contents.photos.count, categoryCount: contents.categories.count, isPartial: false,
                sealedWith: try contents.sealed?.sealedWith(), sealedValues: contents.sealed?.values.count),
            contents: contents,
            promised: try contents.files().spooled(in: archive.scratch) {
                BackupManifest.File(path: $0.path, size: $0.size, sha256: $0.digest ?? "")
            },
            unpromised: try Set(
                [manifestEntry, metadataEntry, appMetadataEntry, BackupFormat.sealedEntry]
                    + archive.entries(below: BackupFormat.thumbnailPrefix).map(\.path)
                    + archive.entries(below: BackupFormat.originalPrefix).map(\.path).filter(SealedSidecar.isEntry)),
            damaged: [],
            notices: [ReceiptLine(item: failure.name, outcome: "damaged", detail: failure.sentence)])
    }

    /// The documents of a backup, in the order in which they stand in it.
    /// - Parameter files: every other entry; those that are `damaged` are not what the catalogue had recorded.
    package static func documents(
        of contents: BackupContents, files: SpooledList<BackupManifest.File>, at time: Timestamp
    ) throws -> [BackupDocument] {
        var others = [
            try BackupMetadata.encode(contents, at: time),
            try AppMetadata.encode(contents, as: appMetadataEntry, at: time),
        ]
        let sealed = try contents.sealed?.only(of: contents.photos, in: contents.scratch)
        if let sealed { others.append(try sealed.encoded(in: contents.scratch)) }
        for document in others { try requirePossible(document) }
        return [try manifest(of: contents, documents: others, files: files, at: time)] + others
    }

    /// - Parameter documents: all others.
    package static func manifest(
        of contents: BackupContents, documents: [BackupDocument],
        files: SpooledList<BackupManifest.File>, at time: Timestamp
    ) throws -> BackupDocument {
        let facts = BackupManifest.Facts(
            backupVersion: version, appVersion: Release.version, platform: "Linux", timestamp: time,
            photoCount: contents.photos.count, categoryCount: contents.categories.count, generator: generator,
            isPartial: contents.isPartial ? true : nil,
            sealedWith: try contents.sealed?.only(of: contents.photos, in: contents.scratch)?.sealedWith(),
            withoutOriginals: contents.leavesOriginals ? true : nil, files: [])
        let documents = documents.map { document in
            BackupManifest.File(
                path: document.name, size: document.digest.size, sha256: document.digest.sha256.hex)
        }
        return BackupDocument(
            manifestEntry,
            try LongLists.encode(facts, [.init("files", files, after: documents) { $0 }], in: contents.scratch))
    }

    /// What an unfinished backup of ours holds, from its documents.
    /// - Parameter sealed: nil where it has none.
    package static func contents(
        ofUnfinished metadata: DocumentBytes, sealed: DocumentBytes? = nil, isPartial: Bool, scratch: Scratch
    ) throws -> BackupContents {
        var contents = try BackupMetadata.read(metadata, isPartial: isPartial, scratch: scratch).contents
        contents.sealed = try sealed.flatMap { try SealedDocument(reading: $0, in: scratch) }
        return contents
    }

    /// - Throws: `resource_exhausted` for a document that would not be read back.
    static func requirePossible(_ document: BackupDocument) throws {
        guard document.bytes.count <= BackupFormat.maximumDocument else {
            throw MeshError(
                .resourceExhausted,
                "The backup would have a \(document.name) of more than \(BackupFormat.maximumDocument >> 20) MiB. "
                    + "Back up some categories at a time.")
        }
    }
}
