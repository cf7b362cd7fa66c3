import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// What becomes of sources that the library has by now (``ImportPhotos/removeSources``).
extension PhotoImporter {
    struct Removal {
        var removed = 0
        /// Of which the library has the bytes, and which may not be removed.
        var refused = 0
        /// Which somebody writes to.
        var unsettled = 0
    }

    func checkRemoval(_ request: ImportPhotos) async throws {
        guard request.dryRun != true, request.uploads == nil else {
            throw MeshError(
                .invalidArgument, "A dry run removes nothing, and uploads go by themselves: leave out removeSources.")
        }
        let paths = request.paths.map(FilePath.init(text:))
        try await files.run {
            for path in paths {
                guard let status = try FileSystem.status(path), status.st_mode & S_IFMT == S_IFLNK else { continue }
                throw MeshError(
                    .invalidArgument,
                    "\(path) is a link, and what a link leads to is not removed. Name the file itself.")
            }
        }
    }

    /// Removes those files of which a photo in the library, and not in the trash, has the very bytes. It asks the library and not the lines of
    /// the receipt: those say what was so when each was written.
    func removeSources(_ found: SourceFileList, for job: Job) async throws -> Removal {
        var removal = Removal()
        for start in stride(from: 0, to: found.count, by: KnownSources.batch) {
            let range = start..<min(start + KnownSources.batch, found.count)
            for file in try await files.run({ try found.files(range) }) {
                guard !job.isCancelled, !job.isInterrupted else { return removal }
                switch try await remove(file) {
                case .removed: removal.removed += 1
                case .refused: removal.refused += 1
                case .changed: removal.unsettled += 1
                case nil: break
                }
            }
        }
        return removal
    }

    /// - Returns: nil where the library does not have it.
    private func remove(_ file: SourceFiles.File) async throws -> SourceRemoval.Outcome? {
        let mesh = try requireMesh()
        // Hashed only where some source had its size.
        guard try await !mesh.send(FindSourceDigests(sourceSize: file.size)).digests.isEmpty else { return nil }
        let (namedFiles, now) = (namedFiles, sourceClock.now())
        let isCancelled = CancellationFlag()
        let held = try await withTaskCancellationHandler {
            try await files.run {
                SourceRemoval(file.path, namedFiles, now: now, isCancelled: { isCancelled.isSet })
            }
        } onCancel: {
            isCancelled.set()
        }
        guard let held else { return .changed }
        guard let photo = try await mesh.send(FindPhotoOfSource(digest: held.digest)).photo else { return nil }
        let paths = [photo.originalPath, photo.path].compactMap { $0 } + photo.sidecars.map(\.path)
        let photoFiles = photoFiles
        return try await files.run {
            held.remove(comparing: paths.compactMap { try? StoredName(catalogued: $0) }, in: photoFiles)
        }
    }
}
