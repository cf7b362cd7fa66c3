import Executors
import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Imports files and folders: several at once, one line in the receipt for each, whatever becomes of it.
///
/// Files that are known to be what photos were made from are passed over unopened (`KnownSources`). Of each of the
/// others: is it a duplicate (only a file whose size some source had is hashed first) → the Thumbnailer makes
/// photo and thumbnail in `staging/` → both are linked into place, durably → the PhotoStore enters the row → the
/// staging names go. A file that fails anywhere leaves nothing behind.
public actor PhotoImporter: MeshService {
    public static let serviceName = "PhotoImporter"
    public static var messages: MessageList<PhotoImporter> {
        ImportPhotos.self
        ImportUploads.self
        CollectImportPaths.self
    }

    let namedFiles: NamedFiles
    let photoFiles: any PhotoFiles
    let files: BlockingPool
    let sourceClock: WallClock
    /// Files under way at once: one for each worker, and two more that read or publish meanwhile.
    let width: Int
    private(set) unowned var mesh: Mesh?
    private var lists = PathLists()

    /// - Parameter sourceClock: by which a file that is imported was written to just now, and is not known later.
    package init(
        namedFiles: NamedFiles, photoFiles: any PhotoFiles, files: BlockingPool, workers: Int,
        sourceClock: WallClock = WallClock { .now() }
    ) {
        self.sourceClock = sourceClock
        self.namedFiles = namedFiles
        self.photoFiles = photoFiles
        self.files = files
        width = workers + 2
    }

    public func start(on mesh: Mesh) { self.mesh = mesh }

    func requireMesh() throws -> Mesh {
        guard let mesh else { throw MeshError(.unavailable, "The importer is not started.") }
        return mesh
    }

    func check(_ request: ImportPhotos) async throws {
        try Self.check(request.paths)
        try SourceSelection.check(excluding: request.exclude ?? [])
        try await files.run {
            for path in request.paths where !FileSystem.isThere(FilePath(text: path)) {
                throw FileSystem.Failure(action: "import", path: path, code: errno)
            }
        }
        _ = try await category(request)
    }

    private static func check(_ paths: [String]) throws {
        guard !paths.isEmpty else {
            throw MeshError(.invalidArgument, "Name at least one file or folder to import.")
        }
        for path in paths where !path.hasPrefix("/") || path.utf8.contains(0) {
            throw MeshError(.invalidArgument, "Paths are absolute here; '\(path.prefix(200))' is not.")
        }
    }

    func collect(_ request: CollectImportPaths) throws -> ImportPathList {
        try Self.check(request.paths)
        return try lists.add(request.paths, to: request.list, now: requireMesh().clock.now())
    }

    /// The request with the paths of its list in it, and with a `/` at the end of folders.
    func complete(_ request: ImportPhotos) async throws -> ImportPhotos {
        if let uploads = request.uploads { return try await claim(uploads, for: request) }
        var paths = request.paths
        if let list = request.list {
            guard paths.isEmpty else {
                throw MeshError(.invalidArgument, "An import takes paths or a list of them, not both.")
            }
            paths = try lists.take(list, now: requireMesh().clock.now())
        }
        let named = paths
        return request.with(paths: try await files.run { named.map(ImportSource.init(naming:)).map(\.text) })
    }

    private func claim(_ uploads: [String], for request: ImportPhotos) async throws -> ImportPhotos {
        guard request.paths.isEmpty, request.list == nil, request.dryRun != true else {
            throw MeshError(
                .invalidArgument, "An import of uploads takes neither paths nor a list, and is no dry run.")
        }
        // All that can be refused, before they are used up.
        _ = try await category(request)
        try SourceSelection.check(excluding: request.exclude ?? [])
        let claimed = try await requireMesh().send(ClaimUploads(ids: uploads))
        return request.with(paths: [ImportSource(naming: claimed.path).text])
    }

    /// Removes the uploads among what an import that has ended was given.
    private func release(_ request: ImportPhotos) async {
        let uploads = request.paths.filter(isUpload)
        guard !uploads.isEmpty, let mesh else { return }
        // What stays is removed some days later.
        _ = try? await uncancelled { try await mesh.send(ReleaseUploads(paths: uploads)) }
    }

    private nonisolated func isUpload(_ path: String) -> Bool {
        guard let name = namedFiles.uploads else { return false }
        return path.hasPrefix(FilePath(bytes: (namedFiles.library + "/" + name + "/").utf8).text)
    }

    /// Uploads that have been released are done with; only the end of their import was not written down.
    private func left(of request: ImportPhotos) async throws -> ImportPhotos {
        let released = try await files.run { [self] in
            Set(request.paths.filter { isUpload($0) && !FileSystem.isThere(FilePath(text: $0)) })
        }
        return released.isEmpty ? request : request.with(paths: request.paths.filter { !released.contains($0) })
    }

    /// Whether it can go on: what it has not come to yet has to be there, or to have been removed from where it was.
    func checkAgain(_ request: ImportPhotos, _ job: Job) async throws {
        let done = try await job.recordedItems()
        let request = try await left(of: request)
        let left = request.paths.map(ImportSource.init(text:)).filter { !done.contains($0.path) }
        try await files.run {
            var emptied: [String: Bool] = [:]
            for source in left { try source.requireThere(done, &emptied) }
        }
    }

    /// The same one in all runs: which category is the first may change meanwhile.
    private func decidedCategory(_ request: ImportPhotos, _ job: Job) async throws -> Int64 {
        try await decidedCategory(request.categoryId, job)
    }

    func decidedCategory(_ told: Int64?, _ job: Job) async throws -> Int64 {
        if let kept = job.checkpoint.flatMap({ try? JSONDecoder().decode(Int64.self, from: $0) }) {
            return try await requireMesh().send(GetCategory(id: kept)).id
        }
        let category = try await category(told)
        if told == nil { try await job.keep(checkpoint: JSONEncoder().encode(category)) }
        return category
    }

    private func category(_ request: ImportPhotos) async throws -> Int64 { try await category(request.categoryId) }

    /// The category that was told, else the first.
    func category(_ told: Int64?) async throws -> Int64 {
        let mesh = try requireMesh()
        if let id = told { return try await mesh.send(GetCategory(id: id)).id }
        guard let first = try await mesh.send(ListCategories()).categories.first else {
            throw MeshError(.failedPrecondition, "The library has no category. Add one first.")
        }
        return first.id
    }

    /// Goes on where a run that was broken off ended: files that have a line in the receipt are left out. A photo's
    /// line is written with its row, so what has none was not imported; other lines may be lost by a kill, and then
    /// the file is looked at once more.
    func run(_ request: ImportPhotos, job: Job) async throws -> ImportReceipt {
        let receipt = try await importing(try await left(of: request), job: job)
        await release(request)
        return receipt
    }

    private func importing(_ request: ImportPhotos, job: Job) async throws -> ImportReceipt {
        let mesh = try requireMesh()
        let isDryRun = request.dryRun == true
        job.begin(phase: "reading folders")
        let (category, done, found): (Int64, RecordedItems, SourceFiles)
        let keepsOriginals: Bool
        do {
            category = try await decidedCategory(request, job)
            keepsOriginals = try await mesh.keepsOriginals(request.originals)
            done = try await job.recordedItems()
            found = try await sources(request, done, job)
        } catch  where job.isCancelled {
            // What an earlier run did stands in the receipt; which files are left is not known, and they may not be there.
            return await receipt(of: request, stopping: job)
        }
        job.record(found.refused.filter { !done.contains($0.item) })
        let scratch = namedFiles.scratch
        let all = found.files
        let rest = try await files.run { try all.without(done, in: scratch) }
        job.begin(phase: isDryRun ? "checking" : "importing", items: Int64(all.count), bytes: all.bytes)
        job.advance(items: Int64(all.count - rest.count), bytes: all.bytes - rest.bytes)

        let categoryNamed: @Sendable (String) async throws -> LibraryModel.Category = { name in
            try await mesh.category(named: name)
        }
        let one = OneImport(
            mesh: mesh, job: job.id, namedFiles: namedFiles, photoFiles: photoFiles, files: files, category: category,
            categoryNamed: request.categoryId == nil ? categoryNamed : nil,
            keepsOriginals: keepsOriginals, isDryRun: isDryRun, timeouts: TimeoutBudget())
        let sources = KnownSources(
            mesh: mesh, namedFiles: namedFiles, photoFiles: photoFiles, pool: files, keepsOriginals: keepsOriginals)
        let known =
            request.verifyKnown == true
            ? KnownPhotos(in: scratch) : try await sources.photos(of: rest, for: job)
        var passedOver = found.passedOver
        var compared: [KnownFile] = []
        var next = UnknownFiles(rest, known)
        await take(&next, by: one, for: job, ifSettled: request.settled == true) { file, ending in
            switch ending {
            case .told(let outcome):
                note(outcome, of: file, in: job)
                if let known = outcome.known { compared.append(known) }
                if compared.count == KnownSources.batch { await keepKnown(&compared) }
            case .passedOver(let why):
                passedOver[why, default: 0] += 1
                job.advance(items: 1, bytes: file.size)
            }
        }
        await keepKnown(&compared)
        if job.isInterrupted { throw CancellationError() }
        if let fault = next.fault { throw fault }
        // Last, so that of very many lines those are listed that tell something new.
        for start in stride(from: 0, to: rest.count, by: KnownSources.batch) {
            let lines = try await files.run {
                let places = start..<min(start + KnownSources.batch, rest.count)
                return zip(try rest.files(places), try known.photos(places)).compactMap { file, photo in
                    photo.map { one.knownLine(file, of: $0) }
                }
            }
            for line in lines { job.record(line) }
        }
        return await receipt(job, category: category, passedOver, isDryRun: isDryRun)
    }

    /// Takes files, several at once, until there are no more or the job is interrupted.
    func take(
        _ next: inout UnknownFiles, by one: OneImport, for job: Job, ifSettled: Bool,
        ended: (SourceFiles.File, Ending) async -> Void
    ) async {
        let order = EntryOrder(width: width)
        await withTaskGroup(of: (SourceFiles.File, Ending).self) { group in
            func start(_ number: Int, _ file: SourceFiles.File) {
                order.add(number)
                group.addTask {
                    await order.begin(number)
                    defer { order.end(number) }
                    do {
                        // Here and not in the loop around: those under way are received while the next ones wait.
                        try await job.mayContinue()
                    } catch  where MeshError(describing: error).status == .cancelled {
                        return (file, .told(OneImport.Outcome(line: one.cancelledLine(file))))
                    } catch {
                        return (file, .told(OneImport.Outcome(line: one.failed(file, error))))
                    }
                    var one = one
                    one.waitForTurn = { await order.enter(number, dated: $0) }
                    return (file, await self.ending(of: file, by: one, ifSettled: ifSettled))
                }
            }
            for _ in 0..<width + EntryOrder.lookahead {
                // Interrupted, the rest has no line, so that the next run finds it.
                if !job.isInterrupted, let found = await next.next(from: files) { start(found.number, found.file) }
            }
            // Cancelled files end at once, so the group runs through the rest by itself: each gets its line.
            while let (file, ending) = await group.next() {
                await ended(file, ending)
                if !job.isInterrupted, let found = await next.next(from: files) { start(found.number, found.file) }
            }
        }
    }

    /// That these are known saves work next time, and is no part of what becomes of them.
    private func keepKnown(_ compared: inout [KnownFile]) async {
        let files = compared
        compared = []
        guard !files.isEmpty, let mesh else { return }
        _ = try? await uncancelled { try await mesh.send(KeepKnownFiles(files: files)) }
    }

    /// What a file comes to in the receipt.
    enum Ending {
        case told(OneImport.Outcome)
        /// It has no line: the next run of the job, if there is one, looks at it again and counts it again.
        case passedOver(PassedOver)
    }

    /// What is called like a picture is not looked at before it is decoded: that would open every picture twice. The others are,
    /// and whatever is larger than a picture may be, which a film is.
    private nonisolated func ending(
        of file: SourceFiles.File, by one: OneImport, ifSettled: Bool
    ) async -> Ending {
        let namedFiles = namedFiles
        let sourceClock = sourceClock
        if ifSettled,
            let isSettled = try? await files.run({ try namedFiles.isSettled(file.path, at: sourceClock.now()) }),
            !isSettled
        {
            return .passedOver(.unsettled)
        }
        let isNamedPicture = FileContent.isNamedPicture(file.path.name)
        let isTooLarge = file.size > Int64(ImageLimits.sourceBytes)
        var isFilm = false
        if isTooLarge || !isNamedPicture {
            switch try? await files.run({ try namedFiles.signedContent(of: file.path) }) {
            case .passedOver(let why): return .passedOver(why)
            case .film: isFilm = true
            case .picture, nil: break
            }
        }
        let outcome =
            isTooLarge && !isFilm
            ? OneImport.Outcome(line: one.tooLarge(file)) : await one.take(file)
        if isFilm {
            // It was packed like one.
            return outcome.line.outcome == ImportOutcome.unsupported.rawValue ? .passedOver(.audio) : .told(outcome)
        }
        // What says nothing by its first bytes, and is of a kind that no decoder takes, is told by its name.
        guard isTooLarge || outcome.line.outcome == ImportOutcome.unsupported.rawValue, !isNamedPicture,
            case .passedOver(let why)? = try? await files.run({ try namedFiles.content(of: file.path) })
        else { return .told(outcome) }
        return .passedOver(why)
    }

    func note(_ outcome: OneImport.Outcome, of file: SourceFiles.File, in job: Job) {
        if outcome.isJournaled {
            job.count(journaled: outcome.line)
        } else {
            let kind = ImportOutcome(rawValue: outcome.line.outcome)
            // A problem met while the daemon goes down may be the going down: a helper that was ended with it. The
            // next run looks again.
            if job.isInterrupted && (kind == .cancelled || kind?.needsAttention == true) { return }
            job.record(outcome.line)
        }
        // What was not reached is not progress.
        if outcome.line.outcome != ImportOutcome.cancelled.rawValue { job.advance(items: 1, bytes: file.size) }
    }

    /// - Parameter done: items that need not be there any more.
    private func sources(_ request: ImportPhotos, _ done: RecordedItems, _ job: Job) async throws -> SourceFiles {
        let namedFiles = namedFiles
        let selection = SourceSelection(
            excluding: request.exclude ?? [], includesHidden: request.includeHidden == true)
        let sourceClock = sourceClock
        let isCancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await files.run {
                let wanted = request.paths.map(FilePath.init(text:)).filter {
                    !done.contains($0.text) || FileSystem.isThere($0)
                }
                return try SourceFiles(
                    paths: wanted, selection: selection, namedFiles: namedFiles, now: sourceClock.now(),
                    isCancelled: { isCancelled.isSet || job.isCancelled })
            }
        } onCancel: {
            isCancelled.set()
        }
    }

    /// Of one that ends by an error.
    func end(_ request: ImportPhotos, failing job: Job) async -> ImportReceipt {
        let receipt = await receipt(of: request, stopping: job)
        await release(request)
        return receipt
    }

    /// Of one that is stopped before its files are known, or by an error.
    func receipt(of request: ImportPhotos, stopping job: Job) async -> ImportReceipt {
        let kept = job.checkpoint.flatMap { try? JSONDecoder().decode(Int64.self, from: $0) }
        return await receipt(
            job, category: kept ?? request.categoryId ?? 0, [:], isDryRun: request.dryRun == true,
            ending: job.isCancelled ? .cancelled : .failed)
    }

    /// By the lines of all runs of the job.
    func receipt(
        _ job: Job, category: Int64, _ passedOver: [PassedOver: Int], isDryRun: Bool, ending: JobEnding? = nil
    ) async -> ImportReceipt {
        // What the journal cannot read now it cannot keep either, which the job's end tells.
        let reduced = (try? await uncancelled { try await job.recordedLines(where: Reduction.isTold) }) ?? 0
        let elsewhere = (try? await uncancelled { try await job.recordedLines(where: NamedCategory.isTold) }) ?? 0
        let joined = (try? await uncancelled { try await job.recordedLines(where: JoinedFile.isTold) }) ?? 0
        let outcomes = job.snapshot.outcomes
        func count(_ outcome: ImportOutcome) -> Int { outcomes[outcome.rawValue] ?? 0 }
        let problems = ImportOutcome.allCases.filter(\.needsAttention).map(count).reduce(0, +)
        let notDone = count(.cancelled) + count(.notSent)
        return ImportReceipt(
            categoryId: category, files: ImportOutcome.allCases.map(count).reduce(0, +), imported: count(.imported),
            reduced: reduced, elsewhere: elsewhere, completed: count(.completed), joined: joined,
            duplicates: count(.duplicate), known: count(.known), problems: problems, notDone: notDone,
            passedOver: Dictionary(uniqueKeysWithValues: passedOver.map { ($0.key.rawValue, $0.value) }),
            isDryRun: isDryRun,
            ending: ending ?? (count(.cancelled) > 0 ? .cancelled : problems > 0 ? .completeWithProblems : .complete))
    }
}
