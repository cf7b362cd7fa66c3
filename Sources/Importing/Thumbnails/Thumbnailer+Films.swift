import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Films on their way in: a poster in the photo's place, and the film beside it, byte for byte.
extension Thumbnailer {
    /// A film is copied whether or not sources are kept, for it is what is imported. It is hashed as it is copied, and opened before:
    /// of what turns out to be none, however long, nothing is copied.
    nonisolated func prepareFilm(_ source: OpenSource, _ request: PreparePhoto) async throws -> PreparedPhoto {
        let poster = try await makePoster(of: source, request)
        let made = poster.film
        guard let shown = made.poster else {
            let unseen = UnseenPicture(
                mediaType: made.film.mediaType, width: made.width, height: made.height, facts: made.facts)
            return try await prepareUnseen(unseen, source, request, film: made.film)
        }
        do {
            let (original, digest) = try await copyFilm(source, request)
            return PreparedPhoto(
                stagedPhoto: poster.photo, stagedThumbnail: poster.thumbnail,
                stagedPreview: shown.previewSize == nil ? nil : poster.preview, stagedOriginal: original,
                sourceDigest: digest.sha256.hex, sourceSize: digest.size, sourceWidth: made.width,
                sourceHeight: made.height, contentDigest: shown.contentDigest, mediaType: "image/jpeg",
                fileExtension: ".jpg", fileSize: shown.fileSize, width: made.width, height: made.height,
                facts: made.facts, film: made.film)
        } catch {
            let photoFiles = photoFiles
            try? await files.run { photoFiles.unstage(poster.names) }
            throw error
        }
    }

    /// What a worker has made of a film, and the names of its pictures in the staging folder, where it has some.
    private struct StagedPoster: Sendable {
        let film: ConvertedFilm
        let photo: String
        let thumbnail: String
        let preview: String

        var names: [String] { [photo, thumbnail, preview] }
    }

    private nonisolated func makePoster(
        of source: OpenSource, _ request: PreparePhoto
    ) async throws -> StagedPoster {
        try await staging { photo in
            try await staging { thumbnail in
                try await staging { preview in
                    try await makePoster(of: source, request, photo, thumbnail, preview)
                }
            }
        }
    }

    private nonisolated func makePoster(
        of source: OpenSource, _ request: PreparePhoto, _ photo: Staged, _ thumbnail: Staged, _ preview: Staged
    ) async throws -> StagedPoster {
        let photoFiles = photoFiles
        let made = try await filmWorkers.convertFilm(
            source: source.descriptor, poster: photo.descriptor, thumbnail: thumbnail.descriptor,
            preview: preview.descriptor, within: request.processorSeconds.map { .seconds(max(1, $0)) })
        let staged = StagedPoster(
            film: made, photo: photo.name, thumbnail: thumbnail.name, preview: preview.name)
        try await files.run {
            guard let poster = made.poster else { return photoFiles.unstage(staged.names) }
            try FileSystem.sync(photo.descriptor, photo.name)
            try FileSystem.sync(thumbnail.descriptor, thumbnail.name)
            // Not of the preview: it can be made again.
            if poster.previewSize == nil { photoFiles.unstage([preview.name]) }
        }
        return staged
    }

    /// - Returns: its name in the staging folder, where it was copied, and its digest.
    private nonisolated func copyFilm(
        _ source: OpenSource, _ request: PreparePhoto
    ) async throws -> (staged: String?, digest: ContentDigest) {
        // A film may take minutes, and nobody waits for one that is not wanted any more.
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            guard request.keepsFilm else {
                return (
                    nil, try await files.run { try source.digest(request.source, isCancelled: { isCancelled.isSet }) }
                )
            }
            return try await staging { copy in
                let digest = try await files.run {
                    try source.copyAndDigest(to: copy.descriptor, copy.name, isCancelled: { isCancelled.isSet })
                }
                return (copy.name, digest)
            }
        } onCancel: {
            isCancelled.set()
        }
    }
}

extension ImageWorkerPool.Statistics {
    /// Of two pools together; of what keeps workers in, what the first one says, for they are alike.
    static func + (first: Self, second: Self) -> Self {
        var sum = first
        sum.started += second.started
        sum.crashed += second.crashed
        sum.lost += second.lost
        sum.retried += second.retried
        sum.refused += second.refused
        sum.timedOut += second.timedOut
        sum.cancelled += second.cancelled
        sum.livePIDs += second.livePIDs
        sum.peakMemory = max(first.peakMemory, second.peakMemory)
        return sum
    }
}
