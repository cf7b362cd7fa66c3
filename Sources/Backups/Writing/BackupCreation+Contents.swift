import BackupFormats
import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Scratch
import ServiceMesh
import ZipArchive

/// What of the catalogue's contents a backup can have, and under which key.
extension BackupCreation {
    /// Photos whose file is gone, or is none that can be saved under its name, are left out, and reported: a row that
    /// came from anywhere must not keep all the others from being saved. So are originals and sidecars, without their photos.
    /// Thumbnails that are not there are made again by whoever restores.
    /// - Returns: the paths of the ones, and of the others with why.
    func leaveOutMissing(
        _ contents: inout BackupContents
    ) async throws -> (missing: [String], unreadable: [String: String]) {
        let photoFiles = photoFiles
        let all = contents
        let found = try await bulk.run {
            var (missing, unreadable) = ([String](), [String: String]())
            var gone: Set<String> = []
            var thumbnails = SpooledList<SizedFile>.Spooler(in: all.scratch)
            try concurrently(all.photos) {
                try Self.look(at: $0, all.isForPhone, photoFiles)
            } take: { looked in
                for file in looked.gone where gone.insert(file.path).inserted {
                    if let reason = file.reason { unreadable[file.path] = reason } else { missing.append(file.path) }
                }
                if let thumbnail = looked.thumbnail { try thumbnails.append(thumbnail) }
            }
            var left = try all.without(gone)
            if !all.isForPhone { left.thumbnails = try thumbnails.finish() }
            return (left, missing, unreadable)
        }
        contents = found.0
        return (found.1, found.2)
    }

    /// What is there of a photo's files.
    private struct Looked: Sendable {
        /// Files that are not there, or cannot be saved, with why.
        var gone: [(path: String, reason: String?)] = []
        /// Nil where there is none, and where the photo is gone.
        var thumbnail: SizedFile?
    }

    private static func look(
        at sourced: SourcedPhoto, _ isForPhone: Bool, _ photoFiles: any PhotoFiles
    ) throws -> Looked {
        var looked = Looked()
        func look(_ path: String, _ size: Int64) throws {
            do {
                try ZipLayout.check(.init(name: path, size: size, modified: 0))
                guard try photoFiles.facts(StoredName(catalogued: path))?.isFile != true else { return }
                looked.gone.append((path, nil))
            } catch {
                guard let reason = BackupWriter.fault(of: error) else { throw error }
                looked.gone.append((path, reason))
            }
        }
        try look(sourced.photo.path, sourced.photo.fileSize)
        if !isForPhone, looked.gone.isEmpty { looked.thumbnail = thumbnail(of: sourced, photoFiles) }
        for file in sourced.entriesBeside { try look(file.path, file.size) }
        return looked
    }

    /// Those that are there.
    static func thumbnails(
        of contents: BackupContents, _ photoFiles: any PhotoFiles
    ) throws -> SpooledList<SizedFile> {
        var found = SpooledList<SizedFile>.Spooler(in: contents.scratch)
        try concurrently(contents.photos) {
            thumbnail(of: $0, photoFiles)
        } take: { thumbnail in
            if let thumbnail { try found.append(thumbnail) }
        }
        return try found.finish()
    }

    private static func thumbnail(of sourced: SourcedPhoto, _ photoFiles: any PhotoFiles) -> SizedFile? {
        guard let name = try? StoredName(catalogued: sourced.photo.path).thumbnail,
            let facts = try? photoFiles.facts(name), facts.isFile, facts.size > 0,
            facts.size <= BackupFormat.maximumThumbnail
        else { return nil }
        return SizedFile(path: name.path, size: facts.size)
    }

    /// Puts what is sealed under the backup's own key, where it has one. Without, values stay as the library has them.
    /// - Returns: paths of photos with values that did not open.
    func reseal(_ contents: inout BackupContents, under key: BackupKey?) async throws -> [String] {
        contents = try await bulk.run { [contents] in
            var contents = contents
            contents.sealed = try contents.sealed?.only(of: contents.photos, in: contents.scratch)
            return contents
        }
        let lock = contents.lock
        guard let key, contents.sealed != nil || lock != nil else { return [] }
        let sealed = contents.sealed ?? SealedDocument(values: [])
        guard let keyring = try await fields.keyring() else {
            throw MeshError(.failedPrecondition, "The keys of the sealed fields are gone. Put the key file back.")
        }
        let (document, paths) = try await bulk.run { [photos = contents.photos, scratch = contents.scratch] in
            let (document, unopened) = try sealed.resealed(under: key, keyring, lock: lock, in: scratch)
            guard !unopened.isEmpty else { return (document, [String]()) }
            return (document, try photos.compactMap { unopened.contains($0.photo.uuid) ? $0.photo.path : nil })
        }
        contents.sealed = document
        return paths
    }
}
