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
            let files = try all.files()
            try concurrently(files) { file in
                do {
                    try ZipLayout.check(.init(name: file.path, size: file.size, modified: 0))
                    let facts = try photoFiles.facts(StoredName(catalogued: file.path))
                    return facts?.isFile == true ? nil : (path: file.path, reason: String?.none)
                } catch {
                    guard let reason = BackupWriter.fault(of: error) else { throw error }
                    return (path: file.path, reason: reason)
                }
            } take: { (gone: (path: String, reason: String?)?) in
                guard let gone else { return }
                if let reason = gone.reason { unreadable[gone.path] = reason } else { missing.append(gone.path) }
            }
            var left = try all.without(Set(missing).union(unreadable.keys))
            if !all.isForPhone { left.thumbnails = try Self.thumbnails(of: left, photoFiles) }
            return (left, missing, unreadable)
        }
        contents = found.0
        return (found.1, found.2)
    }

    /// Those that are there.
    static func thumbnails(
        of contents: BackupContents, _ photoFiles: any PhotoFiles
    ) throws -> SpooledIndex<SizedFile> {
        var found = SpooledList<SizedFile>.Spooler(in: contents.scratch)
        try concurrently(contents.photos) { sourced -> SizedFile? in
            guard let name = try? StoredName(catalogued: sourced.photo.path).thumbnail,
                let facts = try? photoFiles.facts(name), facts.isFile, facts.size > 0,
                facts.size <= BackupFormat.maximumThumbnail
            else { return nil }
            return SizedFile(path: name.path, size: facts.size)
        } take: { thumbnail in
            if let thumbnail { try found.append(thumbnail) }
        }
        return try SpooledIndex(found.finish(), by: \.path)
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
