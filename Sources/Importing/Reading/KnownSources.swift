import Executors
import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryStorage
import ServiceMesh

extension FileStamp {
    /// - Parameter now: when the status was asked for.
    /// - Returns: nil where the file may be written to once more and its status stay the same.
    init?(_ status: stat, at now: Timestamp) {
        guard !FileState(status).isFresh(at: Int(now.milliseconds / 1000)) else { return nil }
        func nanoseconds(_ time: timespec) -> Int64 {
            let (seconds, overflow) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
            return overflow ? (time.tv_sec < 0 ? .min : .max) : seconds &+ Int64(time.tv_nsec)
        }
        self.init(
            device: Int64(truncatingIfNeeded: status.st_dev), inode: Int64(truncatingIfNeeded: status.st_ino),
            size: Int64(status.st_size), modified: nanoseconds(status.st_mtim), changed: nanoseconds(status.st_ctim))
    }
}

/// Tells which files became photos before, and have not been written to since: these are not opened. A phone's folder that is
/// imported each week is a matter of one look at each name.
///
/// A photo that lacks what its file could give it (its original, a sidecar that lies beside it by now, a picture to show) is not
/// known for this purpose.
struct KnownSources: Sendable {
    let mesh: Mesh
    let photoFiles: any PhotoFiles
    let pool: BlockingPool
    let keepsOriginals: Bool

    /// Files that are asked about together: one transaction for all of them costs less than one of their rows each.
    static let batch = 500

    /// The photos of those that are known, by their places among the files.
    /// - Parameter files: at most ``batch``.
    func photos(of files: ArraySlice<SourceFiles.File>) async throws -> [Int: Int64] {
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
        let beside = file.folder?.sidecars.candidates(for: file.path.name) ?? []
        return try beside.allSatisfy { sidecar in
            try photo.sidecars.contains { try $0.name == sidecar.name && isThere($0.path) }
        }
    }

    private func isThere(_ path: String) throws -> Bool {
        try photoFiles.facts(StoredName(catalogued: path))?.isFile == true
    }
}
