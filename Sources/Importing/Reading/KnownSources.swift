import Executors
import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryStorage
import ServiceMesh

extension FileStamp {
    init(_ status: stat) {
        func nanoseconds(_ time: timespec) -> Int64 {
            let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
            return overflow ? (time.tv_sec < 0 ? .min : .max) : seconds &+ Int64(time.tv_nsec)
        }
        self.init(
            device: Int64(truncatingIfNeeded: status.st_dev), inode: Int64(truncatingIfNeeded: status.st_ino),
            size: Int64(status.st_size), modified: nanoseconds(status.st_mtim), changed: nanoseconds(status.st_ctim))
    }
}

extension SourceFiles.File {
    /// Its stamp, where its path leads to the file still that was found when its folder was read. To be asked once its bytes were
    /// read: what a folder renamed meanwhile has put in its place would else be known by the status of a file that nobody has read.
    /// Blocks.
    func unchangedStamp() throws -> FileStamp? {
        guard let stamp, let status = try FileSystem.status(path) else { return nil }
        return FileStamp(status) == stamp ? stamp : nil
    }
}

/// Tells which files became photos before, and have not been written to since: these are not opened. A phone's folder that is
/// imported each week is a matter of one look at each name.
///
/// A file is read where its photo lacks what it could give: its original, a picture to show, a sidecar that by its name may belong
/// to it and is not kept with it as it is now. Whether that one does is told by reading it, so a picture beside which lies one that is not its own is compared each time.
struct KnownSources: Sendable {
    let mesh: Mesh
    let namedFiles: NamedFiles
    let photoFiles: any PhotoFiles
    let pool: BlockingPool
    let keepsOriginals: Bool

    /// Files that are asked about together: one transaction for all of them costs less than one of their rows each.
    static let batch = 500

    /// The photos of those that are known, by their places among the files. Each counts as done for the job's progress.
    ///
    /// Where the job is stopped, those that were not come to are missing. What cannot be looked up, for a page that the disk has
    /// lost, is missing too, and read.
    func photos(of files: SourceFileList, for job: Job) async throws -> KnownPhotos {
        var known = KnownPhotos(in: namedFiles.scratch)
        for start in stride(from: 0, to: files.count, by: Self.batch) {
            guard (try? await job.mayContinue()) != nil else { break }
            let batch = try await pool.run { try files.files(start..<min(start + Self.batch, files.count)) }
            let found = (try? await photos(of: batch)) ?? [:]
            let before = known
            known = try await pool.run {
                var known = before
                try known.append(batch.indices.map { found[$0] })
                return known
            }
            var bytes: Int64 = 0
            for place in found.keys { bytes.add(clamping: batch[place].size) }
            job.advance(items: Int64(found.count), bytes: bytes)
        }
        return known
    }

    /// - Parameter files: at most ``batch``.
    private func photos(of files: [SourceFiles.File]) async throws -> [Int: Int64] {
        let stamps = files.compactMap(\.stamp)
        guard !stamps.isEmpty else { return [:] }
        let found = try await mesh.send(FindKnownFiles(files: stamps)).photos
        guard !found.isEmpty else { return [:] }
        let photos = Dictionary(found.map { ($0.file, $0) }, uniquingKeysWith: { first, _ in first })
        return try await pool.run {
            var known: [Int: Int64] = [:]
            for index in files.indices {
                guard let stamp = files[index].stamp, let photo = photos[stamp],
                    (try? hasAll(photo, of: files[index])) == true
                else { continue }
                known[index] = photo.id
            }
            return known
        }
    }

    /// Blocks.
    private func hasAll(_ photo: KnownPhoto, of file: SourceFiles.File) throws -> Bool {
        guard keepsOriginals else { return true }
        guard photo.unseenBy == nil || photo.unseenBy == Release.version,
            let original = photo.originalPath, try isThere(original)
        else { return false }
        // A companion that is gone is put back by its own file, which is known as the photo's too.
        if let companion = photo.sidecars.first(where: \.isCompanion), try !isThere(companion.path) { return false }
        let beside = file.folder?.sidecars.candidates(for: file.path.name) ?? []
        return try beside.allSatisfy { sidecar in
            guard let kept = photo.sidecars.first(where: { $0.name == sidecar.name }), try isThere(kept.path) else {
                return false
            }
            // Its time says nothing: programs that correct a date put the file's back.
            return kept.hasContent(try namedFiles.sidecar(sidecar.name, beside: file.path))
        }
    }

    private func isThere(_ path: String) throws -> Bool {
        try photoFiles.facts(StoredName(catalogued: path))?.isFile == true
    }
}
