import LibraryModel
import LibraryStorage
import Sealing
import ServiceMesh

/// What is put beside photos that are in the library already.
extension PhotoStore {
    func complete(_ request: CompletePhoto) async throws -> Photo {
        for path in [request.originalPath].compactMap({ $0 }) + request.sidecars.map(\.path)
        where StoredName(path: path) == nil {
            throw MeshError(.invalidArgument, "'\(path.prefix(200))' is no name of a stored file.")
        }
        let location = try request.learnt?.sealedLocation.map { try SealedValue(Array($0)) }
        let (photo, discarded) = try await catalogue.write { transaction in
            guard var photo = try transaction.photos.find(sourceDigest: request.sourceDigest) else {
                throw MeshError(.notFound, "The library has no photo of this source any more. Import it again.")
            }
            guard photo.path == request.path else {
                throw MeshError(
                    .failedPrecondition, "The photo \(photo.id) changed meanwhile. Import its source again.")
            }
            if let learnt = request.learnt {
                let taught = learnt.applied(to: photo)
                if taught != photo { try transaction.photos.update(taught) }
                photo = taught
            }
            if let location { try Self.keep(location, of: photo, in: transaction) }
            photo.originalPath = request.originalPath ?? photo.originalPath
            let names = Set(request.sidecars.map(\.name))
            photo.sidecars = photo.sidecars.filter { !names.contains($0.name) } + request.sidecars
            guard photo.sidecars.count <= KeptSidecar.maximumCount else {
                throw MeshError(
                    short: .count, "A photo has \(KeptSidecar.maximumCount) sidecars at most. Remove some beside it.")
            }
            return (photo, try transaction.photos.setFiles(of: photo, line: request.line, of: request.job))
        }
        await discards.remove(discarded)
        return photo
    }

    func replacePlaceholder(_ request: ReplacePlaceholder) async throws -> Photo {
        for path in request.photo.filePaths where StoredName(path: path) == nil {
            throw MeshError(.invalidArgument, "'\(path.prefix(200))' is no name of a stored file.")
        }
        let (photo, discarded) = try await catalogue.write { transaction in
            guard var photo = try transaction.photos.find(sourceDigest: request.sourceDigest) else {
                throw MeshError(.notFound, "The library has no photo of this source any more. Import it again.")
            }
            guard photo.unseenBy != nil, photo.filePaths == request.placeholder.filePaths else {
                throw MeshError(.alreadyExists, "The photo \(photo.id) has got other files meanwhile.")
            }
            photo.takeFiles(of: request.photo)
            try transaction.photos.update(photo)
            return (photo, try transaction.photos.setFiles(of: photo, line: request.line, of: request.job))
        }
        await discards.remove(discarded)
        return photo
    }
}
