import Files
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import ServiceMesh
import Sidecars

/// Pictures of which the library has the original and a placeholder, because a version could not decode them.
extension OneImport {
    /// Tries to decode such a picture where another version has failed. The photo gets all of its files anew, since what
    /// belongs to a photo is called after it; the ones that it had go when its row has the new ones.
    /// - Parameter digest: of the source, SHA-256, lower-case hex.
    /// - Returns: nil where the photo stays as it is: it can be seen, or this version has failed already.
    func tryAgain(_ photo: Photo, with file: SourceFiles.File, _ digest: String) async throws -> Outcome? {
        guard let unseenBy = photo.unseenBy, unseenBy != Release.version, keepsOriginals else { return nil }
        let prepared = try await prepare(
            file, keepsOriginal: !isDryRun, keepsFilm: !isDryRun, takesUnseen: true)
        guard prepared.sourceDigest == digest, !prepared.isUnseen, !isDryRun else {
            try await discard(prepared)
            guard prepared.sourceDigest == digest else { throw ImagingError.changed }
            guard !prepared.isUnseen else { return try await markUnseen(photo, digest) }
            return Outcome(line: line(file, .completed, "photo \(photo.id) could be shown now"))
        }
        var sidecars: [StagedSidecar] = []
        let names: PhotoNames
        do {
            let kept = try await files.run { try stageKept(photo.sidecars) }
            sidecars = kept
            let there = Set(kept.map(\.name))
            let known = photo.sidecars.filter { there.contains($0.name) }.map { ($0.name, $0) }
            let new = try await stageSidecars(of: file, but: Dictionary(known) { first, _ in first }).staged
            sidecars += new
            // What lies beside the file comes in the place of what was kept by its name.
            let corrected = Set(new.map(\.name)).intersection(there)
            try await files.run { photoFiles.unstage(kept.filter { corrected.contains($0.name) }.map(\.staged)) }
            sidecars = kept.filter { !corrected.contains($0.name) } + new
            try Task.checkCancellation()
            names = try await publish(
                prepared, sidecars, from: file, takenAt: prepared.facts.date?.clock ?? photo.takenAt)
        } catch {
            try? await discard(prepared, sidecars)
            throw error
        }
        var shown = photo
        shown.path = names.photo.path
        (shown.fileSize, shown.width, shown.height) = (prepared.fileSize, prepared.width, prepared.height)
        (shown.contentDigest, shown.mediaType) = (prepared.contentDigest, prepared.mediaType)
        shown.originalPath = prepared.isOriginal ? names.photo.path : names.original?.path
        shown.sidecars = zip(sidecars, names.sidecars).map { $0.kept(as: $1) }
        shown.unseenBy = nil
        shown.take(prepared.facts)
        shown.takeKind(of: prepared)
        let completed = line(file, .completed, "photo \(photo.id) can be shown now, \(shown.path)")
        do {
            _ = try await mesh.send(
                ReplacePlaceholder(
                    photo: shown, placeholder: photo, sourceDigest: digest, job: job,
                    line: job == nil ? nil : completed))
        } catch {
            if !MeshError(describing: error).mayHaveBeenStored {
                try await finishing { try photoFiles.withdraw(names.all) }
            }
            guard (error as? MeshError)?.status == .alreadyExists else { throw error }
            return Outcome(line: line(file, .duplicate, "another import has changed photo \(photo.id) meanwhile"))
        }
        try? await finishing { try photoFiles.settle(names.all) }
        return Outcome(line: completed, isJournaled: job != nil)
    }

    /// This version has failed too, and need not try a third time.
    private func markUnseen(_ photo: Photo, _ digest: String) async throws -> Outcome? {
        guard !isDryRun else { return nil }
        var marked = photo
        marked.unseenBy = Release.version
        _ = try await mesh.send(
            ReplacePlaceholder(photo: marked, placeholder: photo, sourceDigest: digest, job: nil, line: nil))
        return nil
    }

    /// Stages the sidecars that a photo has, those that are there.
    private func stageKept(_ sidecars: [KeptSidecar]) throws -> [StagedSidecar] {
        var staged: [StagedSidecar] = []
        do {
            for sidecar in sidecars {
                let name = try StoredName(catalogued: sidecar.path)
                guard try photoFiles.facts(name)?.isFile == true else { continue }
                staged.append(
                    sidecar.isCompanion
                        ? try stageCopy(of: name, called: sidecar.name)
                        : try StagedSidecar(sidecar.name, photoFiles.bytes(of: sidecar), in: photoFiles))
            }
            return staged
        } catch {
            photoFiles.unstage(staged.map(\.staged))
            throw error
        }
    }
}
