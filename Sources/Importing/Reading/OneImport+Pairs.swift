import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Photos that move and come as two files, a picture and a film: whichever comes second finds the first.
extension OneImport {
    /// Tries after which what comes stands by itself: each has met another import that entered the other half meanwhile.
    private static let tries = 3

    func storeWithOtherHalf(_ file: SourceFiles.File) async throws -> Outcome {
        for _ in 1...Self.tries {
            do {
                return try await store(try await prepare(file), from: file, isApart: false)
            } catch let error as MeshError where error.details["reason"] == .string(PhotoPairing.reason) {
                continue
            }
        }
        return try await store(try await prepare(file), from: file, isApart: true)
    }

    // MARK: A film that comes

    /// Puts a film beside the picture that it belongs to, where the library has that, whether or not sources are kept: it is what is
    /// imported.
    /// - Parameters:
    ///   - sidecars: staged; what is not kept of them goes.
    ///   - film: as it would be entered by itself.
    /// - Returns: nil where it stands by itself, and what was staged stays.
    func join(
        _ prepared: PreparedPhoto, _ sidecars: [StagedSidecar], _ film: Photo, _ file: SourceFiles.File
    ) async throws -> Outcome? {
        guard let facts = prepared.film, let staged = prepared.stagedOriginal,
            case let ending = StoredName.filmEnding(facts.mediaType), StoredName.filmExtensions.contains(ending)
        else { return nil }
        // Its picture may be under way: names bring the picture first, and this one waits until it is there.
        await waitForTurn(film.takenAt)
        try Task.checkCancellation()
        guard let photo = try await mesh.send(FindOtherHalf(photo: film)).photo else { return nil }
        let known = Set(photo.sidecars.map(\.name))
        let companion = StagedSidecar(
            film: file.path.name, ending, staged: staged, size: prepared.sourceSize, digest: prepared.sourceDigest)
        let kept = [companion] + sidecars.filter { !known.contains($0.name) }
        guard photo.sidecars.count + kept.count <= KeptSidecar.maximumCount else { return nil }
        let published = try await files.run {
            let names = try sidecarNames(kept, beside: photo)
            try photoFiles.publish(zip(kept, names).map { StagedFile($0.staged, as: $1) })
            return names
        }
        let line = line(file, .completed, JoinedFilm.line(photo, published[0]))
        do {
            _ = try await mesh.send(
                JoinFilm(
                    film: film, photo: photo, sidecars: zip(kept, published).map { $0.kept(as: $1) }, job: job,
                    line: job == nil ? nil : line, file: await unchangedStamp(of: file)))
        } catch {
            if MeshError(describing: error).mayHaveBeenStored { throw error }
            try await finishing { try photoFiles.withdraw(published) }
            guard let error = error as? MeshError, error.status == .alreadyExists else { throw error }
            try await discard(prepared, sidecars)
            return try await settleDuplicate(file, prepared.sourceDigest)
        }
        try? await finishing { try photoFiles.settle(published) }
        // Its poster and what the photo has already.
        try? await discard(prepared, sidecars)
        return Outcome(line: line, isJournaled: job != nil)
    }

    /// The line of a film that is kept beside a picture already; where its file is gone, it is put back.
    func settleFilm(_ film: KeptSidecar, of photo: Photo, _ file: SourceFiles.File) async throws -> Outcome {
        var outcome = Outcome(
            line: line(file, .duplicate, "the library has it as the film of photo \(photo.id)"),
            known: await knownFile(file, of: photo.id))
        guard try await !isThere(film.path) else { return outcome }
        let detail = isDryRun ? "would get its film again" : "has got its film again, \(film.path)"
        if !isDryRun {
            let name = try StoredName(catalogued: film.path)
            try await files.run {
                let staged = try stageOriginal(of: file.path, film.contentDigest)
                do { try photoFiles.publish([StagedFile(staged, as: name)]) } catch {
                    photoFiles.unstage([staged])
                    throw error
                }
            }
            // The row names it already, and is looked at again: without one the next start withdraws the file.
            let isKept = try await mesh.send(FindPhotoOfSource(digest: film.contentDigest)).photo?.path == photo.path
            try await finishing { try isKept ? photoFiles.settle([name]) : photoFiles.withdraw([name]) }
        }
        outcome.line = line(file, .completed, "photo \(photo.id) \(detail)")
        return outcome
    }

    // MARK: A picture that comes

    /// A film that came before its picture, and goes where that is entered.
    struct OtherFilm: Sendable {
        let uuid: String
        /// A copy, which is called after the picture: the film's own file goes with its row.
        let staged: StagedSidecar
        /// For the picture's line.
        let note: String
    }

    /// - Parameter picture: as it would be entered by itself.
    /// - Returns: nil where the library has no such film.
    func otherFilm(of picture: Photo, _ prepared: PreparedPhoto) async throws -> OtherFilm? {
        guard prepared.film == nil, prepared.facts.film == nil,
            let film = try await mesh.send(FindOtherHalf(photo: picture)).photo, let path = film.originalPath
        else { return nil }
        let name = try StoredName(catalogued: path)
        guard StoredName.filmExtensions.contains(where: name.fileName.hasSuffix),
            try await files.run({ try photoFiles.facts(name)?.isFile == true })
        else { return nil }
        let staged = try await files.run { try stageCopy(of: name, called: film.sourceName ?? name.fileName) }
        return OtherFilm(uuid: film.uuid, staged: staged, note: "it moves by the film that was photo \(film.id)")
    }

    /// A copy of a stored film in the staging place, durable. Blocks.
    func stageCopy(of film: StoredName, called name: String) throws -> StagedSidecar {
        let staged = try photoFiles.stage()
        defer { close(staged.descriptor) }
        do {
            let source = try photoFiles.open(film)
            defer { close(source) }
            _ = try FileSystem.copy(source, to: staged.descriptor, staged.name)
            let digest = try ContentDigest(ofDescriptor: staged.descriptor)
            try FileSystem.sync(staged.descriptor, staged.name)
            return StagedSidecar(
                film: name, PhotoFileName.fileExtension(of: film.fileName), staged: staged.name, size: digest.size,
                digest: digest.sha256.hex)
        } catch {
            photoFiles.unstage([staged.name])
            throw error
        }
    }
}

/// How the lines of a receipt tell that a photo has got the film of its own file.
enum JoinedFilm {
    private static let told = " moves now, by its film "

    fileprivate static func line(_ photo: Photo, _ film: StoredName) -> String {
        "photo \(photo.id)\(told)\(film.path)"
    }

    /// As `Reduction.isTold`.
    static func isTold(in line: ReceiptLine) -> Bool {
        line.outcome == ImportOutcome.completed.rawValue && line.detail?.contains(told) == true
    }
}
