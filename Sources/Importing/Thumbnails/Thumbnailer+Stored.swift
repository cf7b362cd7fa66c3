import Files
import Foundation
import Imaging
import ImageWorkerProtocol
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// The thumbnails and previews of photos that the library has: made when somebody asks for a missing one, or all of them by a job.
extension Thumbnailer {
    /// One thumbnail or preview on its way, and how many wait for it.
    struct Making {
        /// Whether there is one now: some photos need no preview.
        let task: Task<Bool, any Error>
        /// Degrees by which the photo is turned in it.
        let turned: Int
        var waiting = 0
    }

    // MARK: One

    func thumbnail(_ request: GetThumbnail) async throws -> PhotoThumbnail {
        let photo = try await photo(id: request.id, uuid: request.uuid)
        let name = try StoredPicture.name(ofPhoto: photo.path)
        if try await made(name.thumbnail)?.turned != photo.turned {
            _ = try await makeToShow(name.thumbnail, turned: photo.turned)
        }
        return PhotoThumbnail(path: name.thumbnail.path)
    }

    /// - Parameter turned: degrees by which the photo is shown turned.
    /// - Returns: whether there is one now.
    func makeToShow(_ name: StoredName, turned: Int) async throws -> Bool {
        if let error = unmade[name] { throw error }
        do {
            if try await make(name, turned: turned, by: .looking) { return true }
            remember(
                MeshError(.failedPrecondition, "The photo \(name.photo.path) is too small for a preview."), of: name)
            return false
        } catch {
            let error = MeshError(describing: error)
            // A photo that costs a worker would cost one each time that it is shown.
            if error.isPictureFault { remember(error, of: name) }
            throw error
        }
    }

    private func remember(_ error: MeshError, of name: StoredName) {
        if unmade.count >= Self.mostRemembered { unmade = [:] }
        unmade[name] = error
    }

    /// What a thumbnail or preview says of itself; nil where there is none that could be shown.
    private nonisolated func made(_ name: StoredName) async throws -> MadePicture? {
        let photoFiles = photoFiles
        return try await files.run {
            guard let facts = try photoFiles.facts(name), facts.isFile else { return nil }
            let isPreview = name.kind == .previews
            let room = isPreview ? PreviewMaker.tailBytes : ThumbnailMaker.headBytes
            var part = [UInt8](repeating: 0, count: room)
            let count = try? photoFiles.withReader(name) { source in
                try part.withUnsafeMutableBytes {
                    try source.read(into: $0, at: isPreview ? max(0, facts.size - Int64(room)) : 0)
                }
            }
            // What cannot be read cannot be shown.
            guard let count else { return nil }
            let read = Array(part[..<count])
            return isPreview ? PreviewMaker.made(ofPreview: read) : ThumbnailMaker.made(ofThumbnail: read)
        }
    }

    // MARK: Making one

    /// Makes the thumbnail or preview of a stored photo and puts it in place. Whoever wants the same one meanwhile waits with the first:
    /// two that replaced each other's files could leave one behind that belongs to nobody. It is given up when nobody waits
    /// any more.
    /// - Parameters:
    ///   - turned: degrees by which the photo is shown turned.
    ///   - lane: whose turn it waits for, unless it is being made already.
    /// - Returns: whether there is one now.
    private func make(_ name: StoredName, turned: Int, by lane: ImageWorkerPool.Lane) async throws -> Bool {
        while let making = making[name], making.task.isCancelled || making.turned != turned {
            _ = await making.task.result
            // Whoever waits for one that is not wanted may be given up meanwhile.
            try Task.checkCancellation()
        }
        let task = making[name]?.task ?? start(name, turned: turned, by: lane)
        making[name]?.waiting += 1
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            Task(executorPreference: MeshClock.executor) { await self.leave(name, task) }
        }
    }

    private func start(
        _ name: StoredName, turned: Int, by lane: ImageWorkerPool.Lane
    ) -> Task<Bool, any Error> {
        let task = Task(executorPreference: MeshClock.executor) {
            try await self.makeAlone(name, turned: turned, by: lane)
        }
        making[name] = Making(task: task, turned: turned)
        return task
    }

    private func makeAlone(_ name: StoredName, turned: Int, by lane: ImageWorkerPool.Lane) async throws -> Bool {
        defer { making[name] = nil }
        let isThere = try await replace(name, turned: turned, by: lane)
        unmade[name] = nil
        return isThere
    }

    /// Puts a thumbnail in place that was made before its photo's turn was written down. Where that fails, it is made when somebody
    /// looks.
    /// - Parameter staged: in the staging folder, durable.
    func put(_ staged: String, as name: StoredName, turned: Int) async {
        while let making = making[name] { _ = await making.task.result }
        let task = Task(executorPreference: MeshClock.executor) { try await self.putAlone(staged, as: name) }
        making[name] = Making(task: task, turned: turned, waiting: 1)
        _ = await task.result
    }

    private func putAlone(_ staged: String, as name: StoredName) async throws -> Bool {
        defer { making[name] = nil }
        do {
            try await settle(staged, as: name)
        } catch {
            let photoFiles = photoFiles
            try? await files.run { photoFiles.unstage([staged]) }
            throw error
        }
        unmade[name] = nil
        return true
    }

    private func leave(_ name: StoredName, _ task: Task<Bool, any Error>) {
        guard making[name]?.task == task else { return }
        making[name]?.waiting -= 1
        if making[name]?.waiting == 0 { task.cancel() }
    }

    private nonisolated func replace(
        _ name: StoredName, turned: Int, by lane: ImageWorkerPool.Lane
    ) async throws -> Bool {
        let (photoFiles, files) = (photoFiles, files)
        let source = try await files.run { try StoredPicture.open(name.photo, in: photoFiles) }
        defer { close(source) }
        return try await staging { made in
            do throws(ImagingError) {
                if name.kind == .thumbnails {
                    _ = try await workers.makeThumbnail(
                        source: source, thumbnail: made.descriptor, turned: turned, by: lane)
                } else if try await workers.makePreview(
                    source: source, preview: made.descriptor, turned: turned, by: lane
                ).fileSize == nil {
                    try? await files.run { photoFiles.unstage([made.name]) }
                    return false
                }
            } catch {
                throw StoredPicture.fault(error)
            }
            try await uncancelled {
                // A preview tells by its end whether all of it is there.
                if name.kind == .thumbnails {
                    try await files.run { try FileSystem.sync(made.descriptor, made.name) }
                }
                try await self.settle(made.name, as: name)
            }
            return true
        }
    }

    /// Puts a staged thumbnail or preview in its place, for a photo that is still there then.
    private nonisolated func settle(_ staged: String, as name: StoredName) async throws {
        let (photoFiles, files, catalogue) = (photoFiles, files, catalogue)
        try await files.run { try photoFiles.replace(StagedFile(staged, as: name)) }
        // The photo may have gone meanwhile, and whoever removed its files did not know of this one.
        let isWanted = try await catalogue.read { try !$0.photos.inUse([name]).isEmpty }
        // A name that stays in the staging place is the next start's business.
        try? await files.run { isWanted ? try photoFiles.settle([name]) : try photoFiles.withdraw([name]) }
        guard isWanted else { throw MeshError(.notFound, "The photo \(name.photo.path) has gone meanwhile.") }
    }

    // MARK: All of them

    /// Where a job is: between two pages of photos.
    private struct Checkpoint: Codable {
        var isInTrash = false
        /// The last photo that was looked at.
        var last: Int64 = 0
        var photos = 0
        var made = 0
        var problems = 0

        mutating func count(_ page: MadePage) {
            photos += page.photos
            made += page.made
            problems += page.lines.count
        }

        func receipt(_ ending: JobEnding?) -> ThumbnailReceipt {
            ThumbnailReceipt(
                photos: photos, made: made, problems: problems,
                ending: ending ?? (problems > 0 ? .completeWithProblems : .complete))
        }
    }

    func rebuild(_ request: RebuildThumbnails, job: Job) async throws -> ThumbnailReceipt {
        var done = Self.checkpoint(of: job)
        let count = try await catalogue.read { try $0.photos.totals().photos + $0.trash.totals().photos }
        job.begin(phase: "making thumbnails and previews", items: Int64(max(count, done.photos)))
        job.advance(items: Int64(done.photos))
        while true {
            let (place, last) = (done.isInTrash ? PhotoFileEntry.Place.trash : .library, done.last)
            let page = try await catalogue.read { try $0.photos.files(place, after: last) }
            let made = await make(page, remakesAll: request.all == true, job)
            // A page that was broken off is done again, so its lines must not be there.
            if made.failure != nil, job.isInterrupted { throw CancellationError() }
            done.count(made)
            job.record(made.lines)
            if made.failure != nil, job.isCancelled { return done.receipt(.cancelled) }
            if let end = page.last {
                done.last = end.id
            } else if !done.isInTrash {
                (done.isInTrash, done.last) = (true, 0)
            } else {
                return done.receipt(nil)
            }
            // The lines are written down with it.
            let checkpoint = try JSONEncoder().encode(done)
            if let failure = made.failure {
                try? await job.keep(checkpoint: checkpoint)
                throw failure
            }
            try await job.keep(checkpoint: checkpoint)
        }
    }

    /// What there is to tell of a job that has ended by an error.
    func receipt(failing job: Job) -> ThumbnailReceipt {
        Self.checkpoint(of: job).receipt(job.isCancelled ? .cancelled : .failed)
    }

    private static func checkpoint(of job: Job) -> Checkpoint {
        job.checkpoint.flatMap { try? JSONDecoder().decode(Checkpoint.self, from: $0) } ?? Checkpoint()
    }

    /// What became of a page of photos.
    private struct MadePage: Sendable {
        var photos = 0
        var made = 0
        /// Of those of which a thumbnail or preview could not be made.
        var lines: [ReceiptLine] = []
        /// Why the page was not done to its end: the job is to stop, or no photo would fare better.
        var failure: (any Error)?
    }

    /// Makes what is needed of a page of photos, a few at once.
    private func make(_ page: [PhotoFileEntry], remakesAll: Bool, _ job: Job) async -> MadePage {
        await withTaskGroup(of: Result<Made, any Error>.self) { group in
            var rest = page.makeIterator()
            func startNext() {
                guard let entry = rest.next() else { return }
                group.addTask {
                    do {
                        try await job.mayContinue()
                        defer { job.advance(items: 1) }
                        return .success(try await self.rebuild(entry, remakesAll: remakesAll))
                    } catch {
                        return .failure(error)
                    }
                }
            }
            for _ in 0..<width { startNext() }
            var page = MadePage()
            for await result in group {
                switch result {
                case .success(let made):
                    page.photos += 1
                    switch made {
                    case .kept: break
                    case .made(let count): page.made += count
                    case .failed(let line): page.lines.append(line)
                    }
                    if page.failure == nil { startNext() }
                case .failure(let error):
                    page.failure = page.failure ?? error
                    group.cancelAll()
                }
            }
            return page
        }
    }

    private enum Made: Sendable {
        case kept
        case made(Int)
        case failed(ReceiptLine)
    }

    /// - Throws: what would meet every photo: a full disk, helpers that cannot be started, the job's end.
    private func rebuild(_ entry: PhotoFileEntry, remakesAll: Bool) async throws -> Made {
        // It was taken over without a picture, and the storage check says so.
        guard entry.photo.size > 0 else { return .kept }
        var outcome = ThumbnailOutcome.noThumbnail
        func failed(_ error: MeshError) -> Made {
            .failed(ReceiptLine(item: entry.photo.path, outcome: outcome.rawValue, detail: error.message))
        }
        let name: StoredName
        do { name = try StoredPicture.name(ofPhoto: entry.photo.path) } catch {
            return failed(MeshError(describing: error))
        }
        do {
            var made = 0
            let turned = entry.rotation?.rawValue ?? 0
            let thumbnail = try await self.made(name.thumbnail)
            if remakesAll || (thumbnail?.version ?? 0) < ThumbnailMaker.version || thumbnail?.turned != turned {
                if thumbnail != nil { outcome = .oldThumbnail }
                if try await make(name.thumbnail, turned: turned, by: .working) { made += 1 }
            }
            // Of what is in the trash the photo is shown, where it has no preview.
            guard entry.place == .library, StoredPicture.hasPreview(entry) else {
                return made > 0 ? .made(made) : .kept
            }
            outcome = .noPreview
            let preview = try await self.made(name.preview)
            if remakesAll || (preview?.version ?? 0) < PreviewMaker.version || preview?.turned != turned {
                if try await make(name.preview, turned: turned, by: .working) { made += 1 }
            }
            return made > 0 ? .made(made) : .kept
        } catch {
            let error = MeshError(describing: error)
            switch error.details["imaging"]?.stringValue {
            case nil where error.status == .notFound: return .kept
            case nil, "disk_full", "no_workers", "cancelled": throw error
            default: return failed(error)
            }
        }
    }
}

extension GetThumbnail: HandledMessage {
    public func perform(on service: Thumbnailer) async throws -> PhotoThumbnail { try await service.thumbnail(self) }
}

extension RebuildThumbnails: HandledJob {
    public typealias Service = Thumbnailer
    public static var resumption: JobResumption { .onward }

    public func run(on service: Thumbnailer, job: Job) async throws -> ThumbnailReceipt {
        try await service.rebuild(self, job: job)
    }

    public func receipt(on service: Thumbnailer, failing job: Job) async -> ThumbnailReceipt? {
        await service.receipt(failing: job)
    }
}
