import Files
import Foundation
import ImageWorkerProtocol
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Photos that a person turns.
///
/// The order makes it safe whenever the daemon ends: the new thumbnails are staged, then one transaction says how far the photos
/// are turned, then the thumbnails come into their places. Before the transaction nothing has changed, and what is staged goes at the next
/// start. After it, a thumbnail or preview from before says in its file that it is one, and is made again when somebody looks.
extension Thumbnailer {
    // Not isolated: the pictures are decoded a few at once, and nothing of the actor's changes until they are put in place.
    nonisolated func rotate(_ request: RotatePhotos) async throws -> RotatedPhotos {
        let turns = try Turns(request)
        let catalogue = catalogue
        let wanted = try await catalogue.read { try turns.applied(in: $0) }
        let staged = try await stage(wanted.filter(\.isTurned))
        let turned: [TurnedPhoto]
        do {
            turned = try await catalogue.write { transaction in
                // Others may have turned them since, or taken them away.
                let turned = try turns.applied(in: transaction)
                try transaction.photos.update(turned.filter(\.isTurned).map(\.photo))
                return turned
            }
        } catch {
            // Where nobody knows whether it was written down, thumbnails are made when somebody looks.
            try? await unstage(staged)
            throw error
        }
        let now = Dictionary(turned.map { ($0.photo.id, $0.photo) }, uniquingKeysWith: { first, _ in first })
        try? await uncancelled {
            for made in staged {
                // One that has got another file meanwhile is not shown by this.
                guard let photo = now[made.photo.id], photo.path == made.photo.path, photo.turned == made.photo.turned
                else {
                    try await self.unstage([made])
                    continue
                }
                await self.put(made.staged, as: made.name, turned: photo.turned)
            }
        }
        return RotatedPhotos(photos: turned.map(\.photo), turned: turned.filter(\.isTurned).map(\.photo.id))
    }

    private nonisolated func unstage(_ thumbnails: [StagedTurn]) async throws {
        let photoFiles = photoFiles
        try await files.run { photoFiles.unstage(thumbnails.map(\.staged)) }
    }

    /// A thumbnail of a photo as it is to be shown.
    private struct StagedTurn: Sendable {
        let photo: Photo
        let name: StoredName
        /// In the staging folder.
        let staged: String
    }

    /// Makes their thumbnails, a few at once: what cannot be decoded is found out before anything changes.
    private nonisolated func stage(_ turned: [TurnedPhoto]) async throws -> [StagedTurn] {
        let results = await withTaskGroup(of: Result<StagedTurn, any Error>.self) { group in
            var rest = turned.makeIterator()
            func startNext() {
                guard let photo = rest.next()?.photo else { return }
                group.addTask {
                    do { return .success(try await self.stage(photo)) } catch { return .failure(error) }
                }
            }
            for _ in 0..<width { startNext() }
            var results: [Result<StagedTurn, any Error>] = []
            for await result in group {
                results.append(result)
                if case .failure = result { group.cancelAll() } else { startNext() }
            }
            return results
        }
        let staged = results.compactMap { try? $0.get() }
        guard staged.count < turned.count else { return staged }
        try? await unstage(staged)
        // Those that were cancelled for the first one say nothing of themselves.
        for case .failure(let error) in results { throw error }
        throw CancellationError()
    }

    private nonisolated func stage(_ photo: Photo) async throws -> StagedTurn {
        let name = try StoredPicture.name(ofPhoto: photo.path)
        let photoFiles = photoFiles
        let source = try await files.run { try StoredPicture.open(name, in: photoFiles) }
        defer { close(source) }
        return try await staging { thumbnail in
            do throws(ImagingError) {
                _ = try await workers.makeThumbnail(
                    source: source, thumbnail: thumbnail.descriptor, turned: photo.turned, by: .looking)
            } catch {
                throw Self.fault(error, of: photo)
            }
            try await files.run { try FileSystem.sync(thumbnail.descriptor, thumbnail.name) }
            return StagedTurn(photo: photo, name: name.thumbnail, staged: thumbnail.name)
        }
    }

    /// Of which of the photos it is.
    private static func fault(_ error: ImagingError, of photo: Photo) -> MeshError {
        let fault = StoredPicture.fault(error)
        var details = fault.details
        details["photo"] = .integer(photo.id)
        return MeshError(fault.status, "Photo \(photo.id) was not turned: " + fault.message, details: details)
    }
}

/// A photo as it is to be shown.
private struct TurnedPhoto: Sendable {
    let photo: Photo
    /// Whether it was shown otherwise. Not where it is left as another device has turned it.
    let isTurned: Bool
}

/// What is asked for, after the rules.
private struct Turns: Sendable {
    private struct Turn: Sendable {
        let id: Int64
        let rotation: Rotation?
        let from: Int?
    }

    private let turns: [Turn]
    private let ignoresOthers: Bool

    /// - Throws: `invalid_argument`.
    init(_ request: RotatePhotos) throws {
        guard (1...RotatePhotos.maximumCount).contains(request.turns.count) else {
            throw MeshError(.invalidArgument, "Name between 1 and \(RotatePhotos.maximumCount) photos.")
        }
        guard Set(request.turns.map(\.id)).count == request.turns.count else {
            throw MeshError(.invalidArgument, "A photo is named twice in 'turns'. Say once how it is to be shown.")
        }
        turns = try request.turns.map { turn in
            for degrees in [turn.to, turn.from ?? 0] where ![0, 90, 180, 270].contains(degrees) {
                throw MeshError(.invalidArgument, "A photo is turned by 0, 90, 180 or 270 degrees, not by \(degrees).")
            }
            return Turn(id: turn.id, rotation: Rotation(rawValue: turn.to), from: turn.from)
        }
        ignoresOthers = request.ignoreOthers == true
    }

    /// The photos with their turns, in the order in which they were named.
    /// - Throws: `noPhoto`; `failed_precondition`.
    func applied(in transaction: any CatalogueTransaction) throws -> [TurnedPhoto] {
        let found = try transaction.photos.find(turns.map { .id($0.id) })
        return try zip(turns, found).compactMap { turn, found in
            guard var photo = found else {
                guard ignoresOthers else { throw CatalogueError.noPhoto(.id(turn.id)) }
                return nil
            }
            if let refusal = photo.turningRefusal {
                guard ignoresOthers else { throw MeshError(.failedPrecondition, refusal) }
                return nil
            }
            guard photo.rotation != turn.rotation else { return TurnedPhoto(photo: photo, isTurned: false) }
            guard turn.from == nil || turn.from == photo.turned else {
                guard !ignoresOthers else { return TurnedPhoto(photo: photo, isTurned: false) }
                throw MeshError(
                    .failedPrecondition,
                    "Photo \(photo.id) was turned elsewhere meanwhile. Look at it again, then turn it.",
                    details: ["photo": .integer(photo.id), "rotation": .integer(Int64(photo.turned))])
            }
            photo.turn(to: turn.rotation)
            return TurnedPhoto(photo: photo, isTurned: true)
        }
    }
}

extension RotatePhotos: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> RotatedPhotos { try await service.rotate(self) }
}
