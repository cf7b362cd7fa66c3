import LibraryModel
import LibraryStorage
import ServiceMesh

/// Photos that are two files, a picture and a film or a raw file, in any order.
///
/// Whichever comes second looks for the first, puts the other's file beside the picture, and says here what it has found. Here it is looked
/// at again, in the transaction that enters it: of two imports that meet, the later one is refused and looks once more, so that
/// there never is a picture beside a film or a raw file that it should have had.
extension PhotoStore {
    func otherHalf(of photo: Photo) async throws -> Photo? {
        try await catalogue.read { try $0.otherHalf(of: photo) }
    }

    func join(_ request: JoinFilm) async throws -> Photo {
        for sidecar in request.sidecars where StoredName(path: sidecar.path) == nil {
            throw MeshError(.invalidArgument, "'\(sidecar.path.prefix(200))' is no name of a stored file.")
        }
        guard let companion = request.sidecars.first(where: \.isCompanion) else {
            throw MeshError(.invalidArgument, "There is no film and no raw file among the files. Name it.")
        }
        let (photo, discarded) = try await catalogue.write { transaction in
            let there =
                try transaction.photos.find(sourceDigest: companion.contentDigest)
                ?? transaction.photos.find(companionDigest: companion.contentDigest)
            if let there { throw CatalogueError.pictureThere(there) }
            guard var photo = try transaction.otherHalf(of: request.film), photo.uuid == request.photo.uuid,
                photo.path == request.photo.path
            else { throw Self.changedPair }
            photo.sidecars += request.sidecars
            photo.contentIdentifier = photo.contentIdentifier ?? request.film.contentIdentifier
            guard photo.sidecars.count <= KeptSidecar.maximumCount else {
                throw MeshError(
                    short: .count,
                    "A photo has \(KeptSidecar.maximumCount) files beside it at most. Remove some beside it.")
            }
            let discarded = try transaction.photos.setFiles(of: photo, line: request.line, of: request.job)
            if let file = request.file { try transaction.knownFiles.keep([KnownFile(file: file, photo: photo.id)]) }
            return (photo, discarded)
        }
        await discards.remove(discarded)
        return photo
    }

    /// The photo, a film or one of a raw file, whose file one that is to be entered takes in, in the transaction that does.
    /// - Throws: where what is there is not what the request was made for.
    static func companion(
        takenInBy request: AddPhoto, in transaction: any CatalogueTransaction
    ) throws -> Photo? {
        guard request.pairing != .apart else { return nil }
        var alone = request.sourced.photo
        alone.sidecars.removeAll(where: \.isCompanion)
        let other = try transaction.otherHalf(of: alone)
        guard case .takingIn(let uuid) = request.pairing else {
            guard other == nil else { throw changedPair }
            return nil
        }
        guard let other, other.uuid == uuid, let taken = request.sourced.photo.companion,
            try transaction.photos.find(sourceDigest: taken.contentDigest)?.id == other.id
        else { throw changedPair }
        return other
    }

    /// Its row goes, and then its files, but for what the picture has of it.
    /// - Returns: those files.
    static func remove(_ companion: Photo, in transaction: any CatalogueTransaction) throws -> [StoredName] {
        let files = try transaction.photos.forget([companion.id])
        try transaction.discardedFiles.add(files.left)
        return (files.left + files.made).compactMap { StoredName(path: $0) }
    }

    private static var changedPair: MeshError {
        MeshError(
            .failedPrecondition, "The other half of the photo changed meanwhile. Look for it again.",
            details: ["reason": .string(PhotoPairing.reason)])
    }
}

extension FindOtherHalf: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> FoundPhoto {
        FoundPhoto(photo: try await service.otherHalf(of: photo))
    }
}

extension JoinFilm: HandledMessage {
    public func perform(on service: PhotoStore) async throws -> Photo { try await service.join(self) }
}
