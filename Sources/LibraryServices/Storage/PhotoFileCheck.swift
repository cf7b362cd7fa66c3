import Executors
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Whether photos' files are what the catalogue says of them.
struct PhotoFileCheck: Sendable {
    struct Finding: Sendable {
        let path: String
        let kind: StorageFinding
        let detail: String?
    }

    let photoFiles: any PhotoFiles
    /// Whether files are read, and not only looked at.
    let digests: Bool
    let isCancelled: CancellationFlag
    let job: Job

    /// Everything that is wrong with one. Blocks. Counts it as done.
    func findings(of entry: PhotoFileEntry) -> [Finding] {
        if isCancelled.isSet { return [] }
        defer { job.advance(items: 1, bytes: digests ? entry.photo.size : 0) }
        if entry.photo.size == 0, (try? StoredName(catalogued: entry.photo.path)).map(isMissing) == true {
            return [Finding(path: entry.photo.path, kind: .withoutFile, detail: "it was taken over without a picture")]
        }
        var found = findings(
            of: entry.photo, remedy: "restore it from a backup",
            missing: "restore it from a backup, or \(Self.removal(of: entry))")
        if !found.contains(where: { $0.kind == .missing || $0.kind == .unreadable }),
            let name = try? StoredName(catalogued: entry.photo.path), isMissing(name.thumbnail)
        {
            found.append(
                Finding(path: entry.photo.path, kind: .noThumbnail, detail: "make it: smilepile storage thumbnails"))
        }
        func add(_ file: PhotoFileEntry.File, _ what: String) {
            let remedy = "it is \(what) of photo \(entry.id); import the source again"
            found += findings(of: file, remedy: remedy, missing: remedy)
        }
        if let original = entry.original { add(original, "the original") }
        for sidecar in entry.sidecars {
            let isFilm = StoredName.filmExtensions.contains(where: sidecar.path.hasSuffix)
            let isRaw = StoredName.rawExtensions.contains(where: sidecar.path.hasSuffix)
            add(sidecar, isFilm ? "the film" : isRaw ? "the raw file" : "a sidecar")
        }
        return found
    }

    /// Whether its preview is to be made yet. Blocks.
    func lacksPreview(_ entry: PhotoFileEntry) -> Bool {
        guard entry.place == .library, entry.photo.size > 0, StoredPicture.hasPreview(entry),
            let name = try? StoredName(catalogued: entry.photo.path)
        else { return false }
        return isMissing(name.preview)
    }

    /// False where that cannot be told.
    private func isMissing(_ name: StoredName) -> Bool {
        do { return try photoFiles.facts(name) == nil } catch { return false }
    }

    /// - Parameter missing: what to do where there is no file.
    private func findings(of file: PhotoFileEntry.File, remedy: String, missing: String) -> [Finding] {
        func finding(_ kind: StorageFinding, _ detail: String?) -> Finding {
            Finding(path: file.path, kind: kind, detail: detail)
        }
        do {
            let name = try StoredName(catalogued: file.path)
            guard let facts = try photoFiles.facts(name) else { return [finding(.missing, missing)] }
            guard facts.isFile else { return [finding(.damaged, "it is not a file")] }
            guard facts.size == file.size else {
                return [finding(.damaged, "it has \(facts.size) bytes and not \(file.size); \(remedy)")]
            }
            guard digests else { return [] }
            let actual = try photoFiles.withReader(name) {
                try ContentDigest(reading: $0, cancelled: { isCancelled.isSet }).sha256.hex
            }
            guard actual != file.digest else { return [] }
            return [finding(.damaged, "its bytes are not those that were stored; \(remedy)")]
        } catch ZipError.cancelled {
            return []
        } catch {
            return [finding(.unreadable, MeshError(describing: error).message)]
        }
    }

    /// How a person lets a photo go that has no file any more.
    private static func removal(of entry: PhotoFileEntry) -> String {
        switch entry.place {
        case .library: "forget it: smilepile photos forget \(entry.id)"
        case .trash: "remove it for good: smilepile trash purge \(entry.id)"
        }
    }
}

extension StoredFile {
    /// Of files together; sparse ones may claim more than a number holds.
    static func bytes(of files: some Sequence<StoredFile>) -> Int64 {
        files.reduce(0) { sum, file in
            let (total, overflow) = sum.addingReportingOverflow(file.size)
            return overflow ? .max : total
        }
    }
}
