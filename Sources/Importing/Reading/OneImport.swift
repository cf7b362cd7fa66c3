import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh
import ZipArchive

/// What an import does with one file. It never throws: whatever happens is the file's line in the receipt.
struct OneImport: Sendable {
    /// A file's line, and whether the journal has it already, written together with the photo's row.
    struct Outcome: Sendable {
        var line: ReceiptLine
        var isJournaled = false
        /// Of the bytes that a dry run has looked at.
        var sourceDigest: String?
        /// What the catalogue has not been told yet: which photo was made from the same bytes.
        var known: KnownFile?
    }

    let mesh: Mesh
    /// Whose receipt gets the line of an imported file together with the photo's row; nil where the caller records it.
    let job: JobID?
    let namedFiles: NamedFiles
    let photoFiles: any PhotoFiles
    let files: BlockingPool
    var category: Int64
    /// The category of a name that a library's own sidecar gives, made where there is none; nil where the import was told one, and
    /// nothing beside a picture counts.
    var categoryNamed: (@Sendable (String) async throws -> LibraryModel.Category)?
    /// Whether the library is to have the source itself.
    let keepsOriginals: Bool
    let isDryRun: Bool
    /// The job's.
    let timeouts: TimeoutBudget
    var overrides = Overrides()
    /// Returns when the photo may get its id; given the date that it will be shown by, where there is one.
    var waitForTurn: @Sendable (LocalDateTime?) async -> Void = { _ in }

    /// What is known of a photo beforehand, because it comes from another library and not only from a file.
    struct Overrides: Sendable {
        /// Lower case; a new one unless told.
        var uuid: String?
        /// Now unless told.
        var createdAt: Timestamp?
        /// The date that the other library showed it by. It counts where the picture itself says none, and more than what is said
        /// beside the picture: of a file that was copied, the time is that of the copy.
        var shown: PhotoDate?
        var isFavorite = false
    }

    func take(_ file: SourceFiles.File) async -> Outcome {
        do {
            try Task.checkCancellation()
            switch try await known(file) {
            case .imported(let digest): return try await settleDuplicate(file, digest)
            case .failed(let failure): return Outcome(line: line(file, failure.outcome, failure.detail))
            case nil: break
            }
            return try await storeWithOtherHalf(file)
        } catch {
            return Outcome(line: line(file, describing: MeshError(describing: error)))
        }
    }

    func prepare(_ file: SourceFiles.File) async throws -> PreparedPhoto {
        do {
            return try await prepare(
                file, keepsOriginal: keepsOriginals && !isDryRun, keepsFilm: !isDryRun, takesUnseen: keepsOriginals)
        } catch {
            let described = MeshError(describing: error)
            // That it is kept saves work, and is no part of what becomes of this file. What lacked memory is not: an import that
            // keeps originals takes it.
            if !isDryRun, described.details["imaging"] != .string("needs_memory") {
                try? await keep(line(file, describing: described), of: file)
            }
            throw error
        }
    }

    func prepare(
        _ file: SourceFiles.File, keepsOriginal: Bool, keepsFilm: Bool, takesUnseen: Bool
    ) async throws -> PreparedPhoto {
        let seconds = timeouts.allowance(of: ImageLimits.photoProcessorSeconds)
        do {
            return try await mesh.send(
                PreparePhoto(
                    source: file.path.text, keepsOriginal: keepsOriginal, keepsFilm: keepsFilm,
                    takesUnseen: takesUnseen, processorSeconds: seconds))
        } catch {
            if MeshError(describing: error).details["imaging"] == .string("timed_out") { timeouts.spend(seconds) }
            throw error
        }
    }

    /// A picture that failed is not tried again by this version of the program. What is called like none is not kept: it is told at
    /// its first bytes, and a film by its header, sooner than it is hashed.
    private func keep(_ failed: ReceiptLine, of file: SourceFiles.File) async throws {
        guard let outcome = ImportOutcome(rawValue: failed.outcome), outcome.isLasting,
            FileContent.isNamedPicture(file.path.name), file.size <= Int64(ImageLimits.sourceBytes)
        else { return }
        _ = try await mesh.send(
            AddSourceFailure(
                digest: try await digest(of: file), size: file.size,
                failure: SourceFailure(outcome: outcome, detail: failed.detail)))
    }

    /// The line of a file whose turn did not come.
    func cancelledLine(_ file: SourceFiles.File) -> ReceiptLine { line(file, .cancelled, nil) }

    func failed(_ file: SourceFiles.File, _ error: any Error) -> ReceiptLine {
        line(file, describing: MeshError(describing: error))
    }

    /// The line of a file of which nothing is to be read.
    func tooLarge(_ file: SourceFiles.File) -> ReceiptLine {
        failed(file, ImagingError.tooLarge("\(file.size) bytes; the limit is \(ImageLimits.sourceBytes)"))
    }

    func line(_ file: SourceFiles.File, _ outcome: ImportOutcome, _ detail: String?) -> ReceiptLine {
        ReceiptLine(item: file.item, outcome: outcome.rawValue, detail: detail)
    }

    /// What is to be kept of a file that was compared with a photo's source. Nil for a dry run.
    func knownFile(_ file: SourceFiles.File, of photo: Int64) async -> KnownFile? {
        guard !isDryRun, let stamp = await unchangedStamp(of: file) else { return nil }
        return KnownFile(file: stamp, photo: photo)
    }

    /// Without one the file is read again next time.
    func unchangedStamp(of file: SourceFiles.File) async -> FileStamp? {
        try? await files.run { try file.unchangedStamp() }
    }

    /// The line of a file that was not opened.
    func knownLine(_ file: SourceFiles.File, of photo: Int64) -> ReceiptLine {
        line(file, .known, "the library has it as photo \(photo)")
    }

    private func line(_ file: SourceFiles.File, describing error: MeshError) -> ReceiptLine {
        switch (error.details["imaging"]?.stringValue, error.status) {
        case (_, .cancelled): line(file, .cancelled, nil)
        case _ where error.shortage == .space: line(file, .noSpace, error.message)
        case ("unsupported_media", _): line(file, .unsupported, error.message)
        case ("too_large", _), ("needs_memory", _): line(file, .tooLarge, error.message)
        case ("timed_out", _): line(file, .timedOut, error.message)
        case ("damaged", _): line(file, .damaged, error.message)
        case ("changed", _): line(file, .changed, error.message)
        case ("worker_lost", _): line(file, .workerLost, error.message)
        default: line(file, .unreadable, error.message)
        }
    }

    /// What is known of a file's bytes before they are decoded.
    private enum Known {
        /// The library has a photo made from them.
        case imported(digest: String)
        case failed(SourceFailure)
    }

    /// Read only where some source had its size.
    private func known(_ file: SourceFiles.File) async throws -> Known? {
        let known = try await mesh.send(FindSourceDigests(sourceSize: file.size))
        guard !known.digests.isEmpty || !known.failures.isEmpty else { return nil }
        let digest = try await digest(of: file)
        if known.digests.contains(digest) { return .imported(digest: digest) }
        return known.failures[digest].map(Known.failed)
    }

    private func digest(of file: SourceFiles.File) async throws -> String {
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await files.run {
                try namedFiles.withSteadyFile(file.path) { descriptor in
                    try ContentDigest(ofDescriptor: descriptor, cancelled: { isCancelled.isSet }).sha256.hex
                }
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    // MARK: What the library has already

    /// The line of a file of which the library has a photo: what it has of it, or that its original was put beside it.
    func settleDuplicate(_ file: SourceFiles.File, _ digest: String) async throws -> Outcome {
        let short = "SHA-256 \(digest.prefix(12))…"
        guard let photo = try await mesh.send(FindPhotoOfSource(digest: digest)).photo else {
            // It went between the two looks; whoever imports again gets a photo.
            return Outcome(line: line(file, .duplicate, "the library had a photo of the same bytes (\(short))"))
        }
        if let companion = photo.companion, companion.contentDigest == digest {
            return try await settleCompanion(companion, of: photo, file)
        }
        if let shown = try await tryAgain(photo, with: file, digest) { return shown }
        if var completed = try await complete(photo, with: file, digest) {
            completed.known = await knownFile(file, of: photo.id)
            return completed
        }
        let has =
            if let there = photo.originalPath, try await isThere(there) {
                photo.unseenBy == nil ? "with its original" : "which cannot be shown yet, with its original"
            } else {
                "\(photo.width) x \(photo.height), without its original"
            }
        return Outcome(
            line: line(file, .duplicate, "the library has it as photo \(photo.id), \(has) (\(short))"),
            known: await knownFile(file, of: photo.id))
    }

    func isThere(_ path: String) async throws -> Bool {
        try await files.run { try photoFiles.facts(StoredName(catalogued: path))?.isFile == true }
    }

    // MARK: What it does not have

    private func provisionalOriginal(of prepared: PreparedPhoto, _ file: SourceFiles.File) -> String? {
        prepared.originalExtension(of: file.path.name).flatMap { StoredName(.originals, file.path.name + $0)?.path }
    }

    /// - Parameter isApart: whether its other half is not looked for.
    func store(
        _ prepared: PreparedPhoto, from file: SourceFiles.File, isApart: Bool
    ) async throws -> Outcome {
        guard !isDryRun else {
            try await discard(prepared)
            return Outcome(
                line: prepared.isUnseen
                    ? line(file, .keptUnseen, "would be kept, but not shown: \(prepared.unseenReason)")
                    : line(file, .imported, "would be imported, \(prepared.width) x \(prepared.height)"),
                sourceDigest: prepared.sourceDigest)
        }
        let facts: SourceFacts
        var sidecars: [StagedSidecar] = []
        let date: PhotoDate?
        let position: GeoPosition?
        let names: PhotoNames
        let place: (id: Int64, note: String?)
        let uuid = overrides.uuid ?? UUID().uuidString.lowercased()
        let location: SealedLocation?
        var photo: Photo
        let other: OtherFile?
        do {
            let beside = try await stageSidecars(of: file)
            (facts, sidecars) = (beside.facts, beside.staged)
            date = facts.bestDate(besides: prepared.facts.date, overrides.shown)
            position = prepared.facts.position ?? facts.position
            location = try await seal(position, of: uuid)
            try Task.checkCancellation()
            place = try await self.place(facts)
            photo = Photo(
                id: 0, uuid: uuid, path: "", categoryId: place.id, name: facts.name, sourceName: file.path.name,
                caption: nil, isFromAssets: false, createdAt: .now(), fileSize: prepared.fileSize,
                width: prepared.width, height: prepared.height, isFavorite: false, takenAt: nil,
                contentDigest: prepared.contentDigest, mediaType: prepared.mediaType,
                unseenBy: prepared.isUnseen ? Release.version : nil)
            photo.take(prepared.facts, facts)
            photo.takeKind(of: prepared)
            photo.takeRotation(of: facts)
            photo.take(date)
            if overrides.isFavorite { photo.isFavorite = true }
            // Its place is not known yet; that it has a raw file there tells what it is.
            photo.originalPath = prepared.isRaw ? provisionalOriginal(of: prepared, file) : nil
            if !isApart, let joined = try await join(prepared, sidecars, photo, file) { return joined }
            other = isApart ? nil : try await otherFile(of: photo, prepared)
            if let other { sidecars.append(other.staged) }
            names = try await publish(prepared, sidecars, from: file, takenAt: date?.clock)
        } catch {
            try? await discard(prepared, sidecars)
            throw error
        }
        photo.path = names.photo.path
        photo.originalPath = prepared.isOriginal ? names.photo.path : names.original?.path
        photo.takeKind(of: prepared)
        photo.sidecars = zip(sidecars, names.sidecars).map { $0.kept(as: $1) }
        let what =
            prepared.isUnseen
            ? ["\(prepared.unseenReason); its original is kept: \(photo.originalPath ?? photo.path)"]
            : [prepared.film == nil ? photo.path : photo.originalPath, prepared.reduction, prepared.shortfall]
        let imported = line(
            file, prepared.isUnseen ? .keptUnseen : .imported,
            (what + [other?.note, place.note, facts.problem, location?.problem]).compactMap { $0 }.joined(
                separator: "; "))
        do {
            await waitForTurn(photo.takenAt)
            try Task.checkCancellation()
            // What has no date stands where it was entered.
            photo.createdAt = overrides.createdAt ?? .now()
            let sourced = SourcedPhoto(
                photo: photo, sourceDigest: prepared.sourceDigest, sourceSize: prepared.sourceSize)
            let pairing = isApart ? PhotoPairing.apart : other.map { .takingIn(film: $0.uuid) }
            try await enter(sourced, from: file, position, location, imported, pairing)
        } catch {
            if MeshError(describing: error).mayHaveBeenStored { throw error }
            // No row: the linked files go again. Not cancellable, or a cancelled import would leave them.
            try await finishing { try photoFiles.withdraw(names.all) }
            if let error = error as? MeshError, error.status == .alreadyExists {
                return try await settleDuplicate(file, prepared.sourceDigest)
            }
            throw error
        }
        // The photo is imported: a staging name that stays is the next start's business, not the person's.
        try? await finishing { try photoFiles.settle(names.all) }
        return Outcome(line: imported, isJournaled: job != nil)
    }

    /// The category that the photo goes to, and what its line says of that where the sidecar decides. A photo is worth more than its
    /// place: where the category cannot be made, it goes where the import goes.
    private func place(_ facts: SourceFacts) async throws -> (id: Int64, note: String?) {
        guard let name = facts.category, let categoryNamed else { return (category, nil) }
        do {
            let found = try await categoryNamed(name)
            return (found.id, found.id == category ? nil : NamedCategory.note(found))
        } catch {
            try Task.checkCancellation()
            let why = MeshError(describing: error).message
            return (category, "its sidecar names the category '\(name)', which cannot be made: \(why)")
        }
    }

    /// - Returns: nil where nothing says where it was taken.
    func seal(_ position: GeoPosition?, of uuid: String) async throws -> SealedLocation? {
        guard let position else { return nil }
        return try await mesh.send(SealLocation(uuid: uuid, position: position))
    }

    /// Enters the row, and where the key has changed since its place was sealed, once more with that sealed anew.
    private func enter(
        _ sourced: SourcedPhoto, from file: SourceFiles.File, _ position: GeoPosition?, _ sealed: SealedLocation?,
        _ line: ReceiptLine, _ pairing: PhotoPairing?
    ) async throws {
        var location = sealed
        let stamp = await unchangedStamp(of: file)
        for attempt in 1...3 {
            do {
                _ = try await mesh.send(
                    AddPhoto(
                        sourced, job: job, line: job == nil ? nil : line, sealedLocation: location?.sealed,
                        file: stamp, pairing: pairing))
                return
            } catch let error as MeshError where error.details["reason"] == "key_changed" && attempt < 3 {
                location = try await seal(position, of: sourced.photo.uuid)
            }
        }
    }

    /// Runs to its end whether or not the import is cancelled: `BlockingPool` work is not interrupted.
    func finishing(_ work: @escaping @Sendable () throws -> Void) async throws { try await files.run(work) }

    func discard(_ prepared: PreparedPhoto, _ sidecars: [StagedSidecar] = []) async throws {
        try await finishing {
            photoFiles.unstage(
                prepared.staged + (prepared.stagedPreview.map { [$0] } ?? []) + sidecars.map(\.staged))
        }
    }

    func publish(
        _ prepared: PreparedPhoto, _ sidecars: [StagedSidecar], from file: SourceFiles.File,
        takenAt clock: LocalDateTime?
    ) async throws -> PhotoNames {
        try await files.run {
            // Eight random digits within one second's name clash about never; a second try is enough, and a
            // third failing says that something else is wrong.
            for attempt in 1...3 {
                let photo = PhotoFileName.new(takenAt: clock, fileExtension: prepared.fileExtension)
                let names = PhotoNames(
                    photo: photo,
                    originalExtension: prepared.originalExtension(of: file.path.name),
                    sidecarExtensions: sidecars.map(\.fileExtension))
                do {
                    try photoFiles.publish(prepared.files(as: names, sidecars: sidecars.map(\.staged)))
                    return names
                } catch is NameTaken where attempt < 3 {
                    continue
                }
            }
            throw MeshError(.internal, "No free file name was found.")
        }
    }
}

/// How the lines of a receipt tell that a photo went where its sidecar says.
enum NamedCategory {
    private static let told = ", as its sidecar says"

    fileprivate static func note(_ category: LibraryModel.Category) -> String { "in \(category.displayName)\(told)" }

    /// As `Reduction.isTold`.
    static func isTold(in line: ReceiptLine) -> Bool {
        line.outcome == ImportOutcome.imported.rawValue && line.detail?.contains(told) == true
    }
}

extension PreparedPhoto {
    /// Why it is not shown, as the beginning of a sentence.
    fileprivate var unseenReason: String {
        film.map { "films in the code \($0.videoCodec) cannot be shown here" }
            ?? "\(width) x \(height) pixels need more memory than there is to show them"
    }

    /// Whether the photo was stored as it came.
    var isOriginal: Bool { contentDigest == sourceDigest }
}
