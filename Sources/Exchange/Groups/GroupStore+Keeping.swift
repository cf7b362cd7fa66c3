import Files
import Foundation
import Importing
import LibraryModel
import LibraryStorage
import ServiceMesh

/// Photos of groups as files, for those who look at them or keep them.
extension GroupStore {
    /// Between two notes of a photo's use, milliseconds.
    private static let noteDistance: Int64 = 60_000

    func open(_ id: String) async throws -> OpenedGroupPhoto {
        let (id, clocks) = (id.lowercased(), clocks)
        let (stored, time) = try await catalogue.read { transaction in
            (try transaction.groups.photo(id), try clocks.time(in: transaction))
        }
        guard let stored else { throw Self.gone(id) }
        guard stored.expiresAt > time.now else {
            await sweep()
            throw Self.gone(id)
        }
        let (files, folder) = (files, folder)
        let content: OwnedFile
        do {
            guard stored.hasFile else { throw Self.missing(id) }
            content = try await files.run { try folder.open(id) }
        } catch {
            throw MeshError(describing: error).status == .notFound ? Self.missing(id) : error
        }
        if stored.lastUsedAt.milliseconds <= time.now.milliseconds - Self.noteDistance {
            // Nobody is kept from looking because a disk is full.
            try? await catalogue.write { try $0.groups.setUsed(id, at: time.now) }
        }
        return OpenedGroupPhoto(photo: GroupPhoto(stored, at: time), content: content)
    }

    static func gone(_ id: String) -> MeshError {
        MeshError(
            .notFound,
            "There is no photo '\(id.prefix(40))' in a group, or not any more. 'smilepile groups today' lists today's.")
    }

    private static func missing(_ id: String) -> MeshError {
        MeshError(.notFound, "The file of photo \(id.prefix(40)) is not here any more: others needed the room.")
    }

    /// As an upload, so that the import is one like any other, also after a restart: it takes no file of the library's own.
    func keep(_ request: KeepGroupPhoto) async throws -> JobStarted {
        guard let mesh else { throw MeshError(.unavailable, "The service of groups is not started.") }
        let opened = try await open(request.photoId)
        guard let content = opened.content else { throw Self.missing(request.photoId) }
        let photo = opened.photo
        if let category = request.categoryId { _ = try await mesh.send(GetCategory(id: category)) }
        let upload = try await mesh.send(
            BeginUpload(name: "\(photo.senderName).jpg", size: photo.fileSize, modifiedAt: photo.createdAt))
        do {
            guard let target = upload.content else { throw MeshError(.internal, "The upload has no file.") }
            let files = files
            try await files.run {
                try content.withDescriptor { from in
                    try target.withDescriptor { try FileSystem.pour(from, into: $0, "an upload") }
                }
            }
            return try await mesh.send(ImportPhotos(uploads: [upload.upload], categoryId: request.categoryId))
        } catch {
            _ = try? await uncancelled { try await mesh.send(DiscardUpload(upload: upload.upload)) }
            throw error
        }
    }
}

extension OpenGroupPhoto: HandledMessage {
    public func perform(on service: GroupStore) async throws -> OpenedGroupPhoto {
        try await service.open(photoId)
    }
}

extension KeepGroupPhoto: HandledMessage {
    public func perform(on service: GroupStore) async throws -> JobStarted { try await service.keep(self) }
}
