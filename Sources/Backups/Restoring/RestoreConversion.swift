import BackupFormats
import Files
import Foundation
import Importing
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Pictures of another program's backup on their way into the library.
extension BackupRestorer {
    /// Makes a photo of a picture, as an import does, with what its backup says of it. One that cannot be opened is left out,
    /// and told: unlike a photo of ours, nobody knows that it is a picture at all.
    func convert(_ photo: Photo, from backup: CheckedBackup, job: Job) async throws -> StagedPhoto {
        try await job.mayContinue()
        let picture = try await pool.run {
            try extract(photo.path, photo.contentDigest, as: nil, from: backup, job: job)
        }
        let result: Result<PreparedPhoto, any Error>
        do {
            result = .success(
                try await mesh.send(
                    PreparePhoto(source: picture, isStaged: true, keepsOriginal: true, takesUnseen: true)))
        } catch {
            result = .failure(error)
        }
        // Where the photo is not it byte for byte, it was copied as the original.
        try? await pool.run { photoFiles.unstage([picture]) }
        switch result {
        case .success(let prepared):
            job.advance(items: 1)
            return restored(photo, prepared)
        case .failure(let error as MeshError) where error.isPictureFault:
            job.advance(items: 1)
            return StagedPhoto(
                uuid: photo.uuid,
                line: ReceiptLine(item: photo.path, outcome: "damaged", detail: "left out: \(error.message)"))
        case .failure(let error): throw error
        }
    }

    private func restored(_ photo: Photo, _ prepared: PreparedPhoto) -> StagedPhoto {
        let name = PhotoFileName.new(
            takenAt: prepared.facts.date?.clock ?? photo.takenAt ?? LocalDateTime(here: photo.createdAt),
            fileExtension: prepared.fileExtension)
        // By content and not by the entry's name: the Android app makes JPEGs under any extension.
        let names = PhotoNames(
            photo: name,
            originalExtension: prepared.originalExtension(of: photo.path))
        var made = photo
        (made.path, made.fileSize, made.contentDigest) = (name.path, prepared.fileSize, prepared.contentDigest)
        (made.width, made.height, made.mediaType) = (prepared.width, prepared.height, prepared.mediaType)
        made.take(prepared.facts)
        made.originalPath = names.original?.path ?? name.path
        made.takeKind(of: prepared)
        // Where the picture says nothing, the date stays that the other program showed it by.
        if made.takenAt == nil { made.takeDate(of: photo) }
        made.caption = photo.caption ?? made.caption
        made.unseenBy = prepared.isUnseen ? Release.version : nil
        return StagedPhoto(
            uuid: photo.uuid, names: names, files: prepared.files(as: names),
            made: MadePhoto(
                sourced: SourcedPhoto(
                    photo: made, sourceDigest: prepared.sourceDigest, sourceSize: prepared.sourceSize),
                position: prepared.facts.position))
    }
}
