import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import Sidecars
import ZipArchive

/// What is kept of a source beside its photo: with a new photo its sidecars, and later whatever it lacks.
extension OneImport {
    // MARK: Sidecars

    /// What is found beside a picture on its way in.
    struct Beside: Sendable {
        /// Of those that the library has not heard before.
        let facts: SourceFacts
        let staged: [StagedSidecar]
        /// Of those that are to be kept; staged unless nothing is stored.
        let names: [String]
    }

    /// Reads what stands beside a picture, and stages it where sources are kept.
    /// - Parameter known: sidecars that are kept already, by their names; one whose bytes are others now comes in its place.
    func stageSidecars(of file: SourceFiles.File, but known: [String: KeptSidecar] = [:]) async throws -> Beside {
        try await files.run {
            var staged: [StagedSidecar] = []
            var names: [String] = []
            do {
                let facts = try SourceFacts(of: file, namedFiles: namedFiles, now: .now()) { name, bytes in
                    // What cannot be understood comes in no other's place.
                    if let kept = known[name], kept.hasContent(bytes) || SidecarFacts(of: bytes, named: name) == nil {
                        return false
                    }
                    guard keepsOriginals else { return true }
                    // What cannot be kept would be new at each import.
                    let others = known.keys.count { $0 != name && !names.contains($0) }
                    guard others + names.count < KeptSidecar.maximumCount else { return false }
                    if !isDryRun { staged.append(try StagedSidecar(name, bytes, in: photoFiles)) }
                    names.append(name)
                    return true
                }
                return Beside(facts: facts, staged: staged, names: names)
            } catch {
                photoFiles.unstage(staged.map(\.staged))
                throw error
            }
        }
    }

    // MARK: What a photo lacks

    /// Puts beside a photo what it lacks of its source, the original and sidecars, and teaches it what they say, and what the
    /// file's name and time say better than it knows.
    ///
    /// Where sources are not kept, nothing tells a sidecar that is new from one that a person has contradicted since: then
    /// its date alone counts, which is marked where a person gave it.
    /// - Parameter digest: of the source, SHA-256, lower-case hex.
    /// - Returns: nil where it lacks nothing.
    func complete(_ photo: Photo, with file: SourceFiles.File, _ digest: String) async throws -> Outcome? {
        var lacksOriginal = keepsOriginals
        if keepsOriginals, let there = photo.originalPath { lacksOriginal = try await !isThere(there) }
        var known: [String: KeptSidecar] = [:]
        for sidecar in photo.sidecars where try await isThere(sidecar.path) { known[sidecar.name] = sidecar }
        let beside = try await stageSidecars(of: file, but: known)
        var learnt: LearntFacts
        let taught: [String]
        do {
            learnt = try await self.learnt(beside, known)
            taught = Self.words(learnt, photo, beside.facts)
            let lacks = lacksOriginal || !beside.names.isEmpty || !taught.isEmpty
            guard lacks, !isDryRun else {
                let lacking = (lacksOriginal ? ["its original"] : []) + beside.names + taught
                try await files.run { photoFiles.unstage(beside.staged.map(\.staged)) }
                return lacks
                    ? Outcome(
                        line: line(file, .completed, "photo \(photo.id) would get \(lacking.joined(separator: ", "))"))
                    : nil
            }
        } catch {
            try? await files.run { photoFiles.unstage(beside.staged.map(\.staged)) }
            throw error
        }
        let published = try await publish(
            beside.staged, beside: photo, original: lacksOriginal ? file.path : nil, digest)
        let kept = zip(beside.staged, published.sidecars).map { $0.kept(as: $1) }
        let got = ([Self.list(published.original?.path, kept)] + taught).filter { !$0.isEmpty }
        let line = line(file, .completed, "photo \(photo.id) has got \(got.joined(separator: "; "))")
        do {
            try await enter(learnt, beside.facts.position, of: photo) { learnt in
                CompletePhoto(
                    sourceDigest: digest, path: photo.path, originalPath: published.original?.path, sidecars: kept,
                    learnt: learnt, job: job, line: job == nil ? nil : line)
            }
        } catch {
            if !MeshError(describing: error).mayHaveBeenStored {
                try await finishing { try photoFiles.withdraw(published.all) }
            }
            throw error
        }
        try? await finishing { try photoFiles.settle(published.all) }
        return Outcome(line: line, isJournaled: job != nil)
    }

    private struct Published {
        var original: StoredName?
        let sidecars: [StoredName]
        let all: [StoredName]
    }

    private func publish(
        _ sidecars: [StagedSidecar], beside photo: Photo, original source: FilePath?, _ digest: String
    ) async throws -> Published {
        try await files.run {
            do {
                let added = try sidecarNames(sidecars, beside: photo)
                var staged = zip(sidecars, added).map { StagedFile($0.staged, as: $1) }
                var original: StoredName?
                if let source {
                    let name = try StoredName(catalogued: photo.path).original(
                        PhotoFileName.fileExtension(of: source.name))
                    staged.append(StagedFile(try stageOriginal(of: source, digest), as: name))
                    original = name
                }
                do { try photoFiles.publish(staged) } catch {
                    photoFiles.unstage(staged.map(\.staged))
                    throw error
                }
                return Published(original: original, sidecars: added, all: staged.map(\.name))
            } catch {
                photoFiles.unstage(sidecars.map(\.staged))
                throw error
            }
        }
    }

    // MARK: What a photo learns

    private func learnt(_ beside: Beside, _ known: [String: KeptSidecar]) async throws -> LearntFacts {
        let facts = beside.facts
        var learnt = LearntFacts(date: facts.date)
        learnt.isCorrection = facts.dateSidecar.map { known[$0] != nil } ?? false
        guard keepsOriginals else { return learnt }
        learnt.take(facts)
        if learnt.caption != nil, let name = beside.names.first(where: { known[$0] != nil }), let old = known[name] {
            learnt.correctedCaption = try await files.run { photoFiles.facts(of: old)?.caption }
        }
        return learnt
    }

    /// What the photo learns, each as what it has got.
    private static func words(_ learnt: LearntFacts, _ photo: Photo, _ facts: SourceFacts) -> [String] {
        let taught = learnt.applied(to: photo)
        var words: [String] = []
        if !taught.hasDate(of: photo), let date = taught.takenAt {
            let origin = facts.dateSidecar ?? (taught.dateSource == .fileName ? "its name" : "its file's time")
            words.append("its date, \(date.text(to: taught.datePrecision ?? .second)), from \(origin)")
        }
        return words + taught.gains(over: photo)
    }

    /// Sends what completes a photo, and where the key has changed since its place was sealed, once more with that sealed anew.
    private func enter(
        _ learnt: LearntFacts, _ position: GeoPosition?, of photo: Photo,
        _ request: (LearntFacts) -> CompletePhoto
    ) async throws {
        var learnt = learnt
        for attempt in 1...3 {
            if keepsOriginals { learnt.sealedLocation = try await seal(position, of: photo.uuid)?.sealed }
            do {
                _ = try await mesh.send(request(learnt))
                return
            } catch let error as MeshError where error.details["reason"] == "key_changed" && attempt < 3 {
                continue
            }
        }
    }

    private static func list(_ original: String?, _ sidecars: [KeptSidecar]) -> String {
        ((original.map { ["its original, \($0)"] } ?? [])
            + (sidecars.isEmpty ? [] : ["its sidecars \(sidecars.map(\.name).joined(separator: ", "))"]))
            .joined(separator: "; ")
    }

    /// Names for a photo's further sidecars that no file has, in the order of those.
    func sidecarNames(_ sidecars: [StagedSidecar], beside photo: Photo) throws -> [StoredName] {
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

    func stageOriginal(of path: FilePath, _ digest: String) throws -> String {
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
    /// With the dot. What ends in neither is no sidecar.
    let fileExtension: String
    private let size: Int64
    private let digest: String

    /// A film or a raw file that is staged already.
    /// - Parameters:
    ///   - fileExtension: with the dot, one of ``StoredName/companionExtensions``.
    ///   - digest: SHA-256, lower-case hex.
    init(companion name: String, _ fileExtension: String, staged: String, size: Int64, digest: String) {
        (self.name, self.fileExtension, self.staged) = (name, fileExtension, staged)
        (self.size, self.digest) = (size, digest)
    }

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
        fileExtension = name.lowercased().hasSuffix(".json") ? ".json" : ".xmp"
        let digest = ContentDigest(of: bytes)
        (size, self.digest) = (digest.size, digest.sha256.hex)
    }

    func kept(as stored: StoredName) -> KeptSidecar {
        KeptSidecar(name: name, path: stored.path, fileSize: size, contentDigest: digest)
    }
}

extension KeptSidecar {
    func hasContent(_ bytes: Data) -> Bool {
        Int64(bytes.count) == fileSize && ContentDigest(of: bytes).sha256.hex == contentDigest
    }
}

extension SidecarFacts {
    /// Nil where it says nothing that can be understood.
    init?(of bytes: Data, named name: String) {
        guard let facts = try? SidecarFacts(bytes, named: name, now: Timestamp.now().milliseconds) else { return nil }
        self = facts
    }
}

extension PhotoFiles {
    /// What a sidecar says that is kept with a photo; nil where that cannot be read. Blocks.
    func facts(of sidecar: KeptSidecar) -> SidecarFacts? {
        (try? bytes(of: sidecar)).flatMap { SidecarFacts(of: $0, named: sidecar.name) }
    }

    /// Blocks.
    func bytes(of sidecar: KeptSidecar) throws -> Data {
        try withReader(StoredName(catalogued: sidecar.path)) { source in
            // One byte more than it may have tells that it is not what was kept.
            var data = Data(count: SidecarLimits.bytes + 1)
            let count = try data.withUnsafeMutableBytes { try source.read(into: $0, at: 0) }
            guard count <= SidecarLimits.bytes else {
                throw MeshError(.dataLoss, "\(sidecar.path) is longer than a sidecar. Check the library first.")
            }
            return data.prefix(count)
        }
    }
}
