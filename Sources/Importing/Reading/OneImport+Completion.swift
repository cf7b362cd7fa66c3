import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive

/// What is kept of a source beside its photo: with a new photo its sidecars, and later whatever it lacks.
extension OneImport {
    // MARK: Sidecars

    /// Reads what stands beside a picture, and stages it where sources are kept.
    /// - Parameter known: names of sidecars that are kept already.
    func stageSidecars(
        of file: SourceFiles.File, but known: Set<String> = []
    ) async throws -> (SourceFacts, [StagedSidecar]) {
        try await files.run {
            var staged: [StagedSidecar] = []
            do {
                let facts = try SourceFacts(of: file, namedFiles: namedFiles, now: .now()) { name, bytes in
                    guard keepsOriginals, !known.contains(name), known.count + staged.count < KeptSidecar.maximumCount
                    else { return }
                    staged.append(try StagedSidecar(name, bytes, in: photoFiles))
                }
                return (facts, staged)
            } catch {
                photoFiles.unstage(staged.map(\.staged))
                throw error
            }
        }
    }

    // MARK: What a photo lacks

    /// Puts beside a photo what it lacks of its source: the original, sidecars.
    /// - Parameter digest: of the source, SHA-256, lower-case hex.
    /// - Returns: nil where it lacks nothing, or sources are not kept.
    func complete(_ photo: Photo, with file: SourceFiles.File, _ digest: String) async throws -> Outcome? {
        guard keepsOriginals else { return nil }
        var lacksOriginal = true
        if let there = photo.originalPath { lacksOriginal = try await !isThere(there) }
        var known: Set<String> = []
        for sidecar in photo.sidecars where try await isThere(sidecar.path) { known.insert(sidecar.name) }
        guard !isDryRun else { return try await preview(photo, file, lacksOriginal: lacksOriginal, known) }
        let (_, sidecars) = try await stageSidecars(of: file, but: known)
        guard lacksOriginal || !sidecars.isEmpty else { return nil }
        let isOriginalWanted = lacksOriginal
        let published = try await files.run {
            do {
                let added = try sidecarNames(sidecars, beside: photo)
                var staged = zip(sidecars, added).map { StagedFile($0.staged, as: $1) }
                var original: StoredName?
                if isOriginalWanted {
                    let name = try StoredName(catalogued: photo.path).original(
                        PhotoFileName.fileExtension(of: file.path.name))
                    staged.append(StagedFile(try stageOriginal(of: file.path, digest), as: name))
                    original = name
                }
                do { try photoFiles.publish(staged) } catch {
                    photoFiles.unstage(staged.map(\.staged))
                    throw error
                }
                return (original: original, sidecars: added, all: staged.map(\.name))
            } catch {
                photoFiles.unstage(sidecars.map(\.staged))
                throw error
            }
        }
        let kept = zip(sidecars, published.sidecars).map { $0.kept(as: $1) }
        let line = line(file, .completed, "photo \(photo.id) has got \(Self.list(published.original?.path, kept))")
        do {
            _ = try await mesh.send(
                CompletePhoto(
                    sourceDigest: digest, path: photo.path, originalPath: published.original?.path, sidecars: kept,
                    job: job, line: job == nil ? nil : line))
        } catch {
            if !MeshError(describing: error).mayHaveBeenStored {
                try await finishing { try photoFiles.withdraw(published.all) }
            }
            throw error
        }
        try? await finishing { try photoFiles.settle(published.all) }
        return Outcome(line: line, isJournaled: job != nil)
    }

    private func preview(
        _ photo: Photo, _ file: SourceFiles.File, lacksOriginal: Bool, _ known: Set<String>
    ) async throws -> Outcome? {
        let names = try await files.run {
            var names: [String] = []
            _ = SourceFacts(of: file, namedFiles: namedFiles, now: .now()) { name, _ in names.append(name) }
            return names.filter { !known.contains($0) }.prefix(KeptSidecar.maximumCount - known.count)
        }
        guard lacksOriginal || !names.isEmpty else { return nil }
        let lacking = (lacksOriginal ? ["its original"] : []) + names
        return Outcome(
            line: line(file, .completed, "photo \(photo.id) would get \(lacking.joined(separator: ", "))"))
    }

    private static func list(_ original: String?, _ sidecars: [KeptSidecar]) -> String {
        ((original.map { ["its original, \($0)"] } ?? [])
            + (sidecars.isEmpty ? [] : ["its sidecars \(sidecars.map(\.name).joined(separator: ", "))"]))
            .joined(separator: "; ")
    }

    /// Names for a photo's further sidecars that no file has, in the order of those.
    private func sidecarNames(_ sidecars: [StagedSidecar], beside photo: Photo) throws -> [StoredName] {
        let owner = try StoredName(catalogued: photo.path)
        var taken = Set(photo.sidecars.map(\.path))
        return try sidecars.map { sidecar in
            let free = try (1...999).lazy.map { owner.sidecar($0, sidecar.fileExtension) }.first {
                try !taken.contains($0.path) && photoFiles.facts($0) == nil
            }
            guard let free else { throw MeshError(.internal, "No free name was found for a sidecar.") }
            taken.insert(free.path)
            return free
        }
    }

    private func stageOriginal(of path: FilePath, _ digest: String) throws -> String {
        let staged = try photoFiles.stage()
        defer { close(staged.descriptor) }
        do {
            let (descriptor, _) = try namedFiles.open(path)
            defer { close(descriptor) }
            _ = try FileSystem.copy(descriptor, to: staged.descriptor, staged.name)
            // It was hashed before it was copied, and may have been another file then.
            guard try ContentDigest(ofDescriptor: staged.descriptor).sha256.hex == digest else {
                throw ImagingError.changed
            }
            try FileSystem.sync(staged.descriptor, staged.name)
            return staged.name
        } catch {
            photoFiles.unstage([staged.name])
            throw error
        }
    }
}

/// A sidecar on its way into the library.
struct StagedSidecar: Sendable {
    /// In the staging place; whoever has this owns the file.
    let staged: String
    /// What it is called beside the picture.
    let name: String
    private let digest: ContentDigest

    /// Blocks. Durable when it returns.
    init(_ name: String, _ bytes: Data, in photoFiles: any PhotoFiles) throws {
        let (staged, descriptor) = try photoFiles.stage()
        defer { close(descriptor) }
        do {
            try bytes.withUnsafeBytes { try FileSystem.write($0, to: descriptor, staged) }
            try FileSystem.sync(descriptor, staged)
        } catch {
            photoFiles.unstage([staged])
            throw error
        }
        self.staged = staged
        self.name = name
        digest = ContentDigest(of: bytes)
    }

    /// With the dot. Whatever ends in neither is no sidecar.
    var fileExtension: String { name.lowercased().hasSuffix(".json") ? ".json" : ".xmp" }

    func kept(as stored: StoredName) -> KeptSidecar {
        KeptSidecar(name: name, path: stored.path, fileSize: digest.size, contentDigest: digest.sha256.hex)
    }
}
