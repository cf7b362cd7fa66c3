import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive

/// Photos that come as two files, a picture and a film or a raw file: whichever comes second finds the first.
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

    // MARK: A film or a raw file that comes

    /// Puts a film or a raw file beside the picture that it belongs to, where the library has that. A film whether or not sources are
    /// kept: it is what is imported. A raw file with sidecars of its own stays by itself, because what they say of it would be lost.
    /// - Parameters:
    ///   - sidecars: staged; what is not kept of them goes.
    ///   - alone: as it would be entered by itself.
    /// - Returns: nil where it stands by itself, and what was staged stays.
    func join(
        _ prepared: PreparedPhoto, _ sidecars: [StagedSidecar], _ alone: Photo, _ file: SourceFiles.File
    ) async throws -> Outcome? {
        guard let staged = prepared.stagedOriginal, let ending = Self.companionExtension(of: prepared, file),
            prepared.film != nil || sidecars.isEmpty
        else { return nil }
        // Its picture may be under way: names bring the picture first, and this one waits until it is there.
        await waitForTurn(alone.takenAt)
        try Task.checkCancellation()
        guard let photo = try await mesh.send(FindOtherHalf(photo: alone)).photo else { return nil }
        let known = Set(photo.sidecars.map(\.name))
        let companion = StagedSidecar(
            companion: file.path.name, ending, staged: staged, size: prepared.sourceSize, digest: prepared.sourceDigest)
        let kept = [companion] + sidecars.filter { !known.contains($0.name) }
        guard photo.sidecars.count + kept.count <= KeptSidecar.maximumCount else { return nil }
        let published = try await files.run {
            let names = try sidecarNames(kept, beside: photo)
            try photoFiles.publish(zip(kept, names).map { StagedFile($0.staged, as: $1) })
            return names
        }
        let line = line(file, .completed, JoinedFile.line(photo, published[0]))
        do {
            _ = try await mesh.send(
                JoinFilm(
                    film: alone, photo: photo, sidecars: zip(kept, published).map { $0.kept(as: $1) }, job: job,
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

    /// How the other half of a photo that is two files is called beside its picture, with the dot; nil of what is none.
    private static func companionExtension(of prepared: PreparedPhoto, _ file: SourceFiles.File) -> String? {
        if let film = prepared.film {
            let ending = StoredName.filmEnding(film.mediaType)
            return StoredName.filmExtensions.contains(ending) ? ending : nil
        }
        let ending = PhotoFileName.fileExtension(of: file.path.name).lowercased()
        return prepared.isRaw && StoredName.rawExtensions.contains(ending) ? ending : nil
    }

    /// The line of a film or a raw file that is kept beside a picture already; where its file is gone, it is put back.
    func settleCompanion(_ companion: KeptSidecar, of photo: Photo, _ file: SourceFiles.File) async throws -> Outcome {
        let what = companion.isFilm ? "film" : "raw file"
        var outcome = Outcome(
            line: line(file, .duplicate, "the library has it as the \(what) of photo \(photo.id)"),
            known: await knownFile(file, of: photo.id))
        guard try await !isThere(companion.path) else { return outcome }
        let detail = isDryRun ? "would get its \(what) again" : "has got its \(what) again, \(companion.path)"
        if !isDryRun {
            let name = try StoredName(catalogued: companion.path)
            try await files.run {
                let staged = try stageOriginal(of: file.path, companion.contentDigest)
                do { try photoFiles.publish([StagedFile(staged, as: name)]) } catch {
                    photoFiles.unstage([staged])
                    throw error
                }
            }
            // The row names it already, and is looked at again: without one the next start withdraws the file.
            let isKept =
                try await mesh.send(FindPhotoOfSource(digest: companion.contentDigest)).photo?.path == photo.path
            try await finishing { try isKept ? photoFiles.settle([name]) : photoFiles.withdraw([name]) }
        }
        outcome.line = line(file, .completed, "photo \(photo.id) \(detail)")
        return outcome
    }

    // MARK: A picture that comes

    /// A film or a raw file that came before its picture, and goes where that is entered.
    struct OtherFile: Sendable {
        let uuid: String
        /// A copy, which is called after the picture: its own file goes with its row.
        let staged: StagedSidecar
        /// For the picture's line.
        let note: String
    }

    /// - Parameter picture: as it would be entered by itself.
    /// - Returns: nil where the library has no such one.
    func otherFile(of picture: Photo, _ prepared: PreparedPhoto) async throws -> OtherFile? {
        guard prepared.film == nil, prepared.facts.film == nil, !prepared.isRaw,
            let other = try await mesh.send(FindOtherHalf(photo: picture)).photo, let path = other.originalPath
        else { return nil }
        let name = try StoredName(catalogued: path)
        guard StoredName.companionExtensions.contains(where: name.fileName.lowercased().hasSuffix),
            try await files.run({ try photoFiles.facts(name)?.isFile == true })
        else { return nil }
        let staged = try await files.run { try stageCopy(of: name, called: other.sourceName ?? name.fileName) }
        let note = other.isFilm ? "it moves by the film that was" : "with the raw file that was"
        return OtherFile(uuid: other.uuid, staged: staged, note: "\(note) photo \(other.id)")
    }

    /// A copy of a stored film or raw file in the staging place, durable. Blocks.
    func stageCopy(of stored: StoredName, called name: String) throws -> StagedSidecar {
        let staged = try photoFiles.stage()
        defer { close(staged.descriptor) }
        do {
            let source = try photoFiles.open(stored)
            defer { close(source) }
            _ = try FileSystem.copy(source, to: staged.descriptor, staged.name)
            let digest = try ContentDigest(ofDescriptor: staged.descriptor)
            try FileSystem.sync(staged.descriptor, staged.name)
            return StagedSidecar(
                companion: name, PhotoFileName.fileExtension(of: stored.fileName).lowercased(), staged: staged.name,
                size: digest.size,
                digest: digest.sha256.hex)
        } catch {
            photoFiles.unstage([staged.name])
            throw error
        }
    }
}

/// How the lines of a receipt tell that a photo has got a film or a raw file that came as a file of its own.
enum JoinedFile {
    private static let told = " moves now, by its film "

    fileprivate static func line(_ photo: Photo, _ file: StoredName) -> String {
        StoredName.filmExtensions.contains(where: file.fileName.hasSuffix)
            ? "photo \(photo.id)\(told)\(file.path)" : "photo \(photo.id) has its raw file now, \(file.path)"
    }

    /// Of films alone, which the sum counts: a raw file is counted among what photos lacked.
    ///
    /// As `Reduction.isTold`.
    static func isTold(in line: ReceiptLine) -> Bool {
        line.outcome == ImportOutcome.completed.rawValue && line.detail?.contains(told) == true
    }
}
