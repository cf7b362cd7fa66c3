import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh
import Sidecars

// The import of a session of uploads: batch by batch, as the files arrive, into one receipt.
extension PhotoImporter {
    /// Makes the session, so that its files can be announced when the job has begun.
    func open(_ request: ImportUploads) async throws -> ImportUploads {
        // All that can be refused, before it is made.
        _ = try await category(request.categoryId)
        _ = try await requireMesh().send(
            OpenUploadSession(
                session: request.session, categoryId: request.categoryId, endsWhenIdle: request.endsWhenIdle))
        return request
    }

    /// - Throws: `JobObstacle` while nothing is there to import.
    func look(_ request: ImportUploads) async throws {
        let mesh = try requireMesh()
        // Outside any call: a job that goes on has the role of the person who began it.
        let found = try await mesh.send(
            LookAtUploads(session: request.session), in: .root(mesh: mesh, role: .service))
        guard found.isWaiting else { throw Self.nothing(files: found.files, missing: found.missing) }
    }

    private static func nothing(files: Int, missing: Int) -> JobObstacle {
        JobObstacle(
            missing == 0
                ? "It waits for the device that sends to say which files come next."
                : "\(missing) of \(files) files are still to come from the device that sends.")
    }

    func run(_ request: ImportUploads, job: Job) async throws -> ImportReceipt {
        let mesh = try requireMesh()
        do {
            let category = try await category(of: request, job)
            let keepsOriginals = try await mesh.keepsOriginals(request.originals)
            let categoryNamed: @Sendable (String) async throws -> LibraryModel.Category = { name in
                try await mesh.category(named: name)
            }
            let one = OneImport(
                mesh: mesh, job: job.id, namedFiles: namedFiles, photoFiles: photoFiles, files: files,
                category: category, categoryNamed: request.categoryId == nil ? categoryNamed : nil,
                keepsOriginals: keepsOriginals, isDryRun: false, timeouts: TimeoutBudget())
            // A run that was broken off has lines of the batch that it was at.
            var done = try await job.recordedItems()
            var announced = -1
            // Whether those who watch have seen all that was done: changes that follow each other closely are told together.
            var isTold = false
            while true {
                try await job.mayContinue()
                let taken = try await mesh.send(
                    TakeUploads(
                        session: request.session, job: job.id,
                        waitMs: isTold ? ImportUploads.patienceMs : ImportUploads.breathMs))
                if announced != taken.files {
                    announced = taken.files
                    job.begin(phase: "importing", items: Int64(taken.files), bytes: taken.bytes)
                    job.advance(items: Int64(taken.settled), bytes: taken.settledBytes)
                }
                let lines = taken.lines.filter { !done.contains($0.item) }
                job.record(lines)
                for line in lines { done.insert(line.item) }
                if let path = taken.path {
                    let own = try await own(taken.categoryId, one)
                    let lines = try await take(path, taken.items, done, by: own, job)
                    // Before the files go: a kill finds either them or their lines.
                    try await job.keep(checkpoint: JSONEncoder().encode(category))
                    _ = try await mesh.send(SettleUploads(session: request.session, path: path, lines: lines))
                    isTold = false
                } else if taken.isEnded {
                    break
                } else if !isTold {
                    job.advance()
                    isTold = true
                } else if lines.isEmpty {
                    throw Self.nothing(files: taken.files, missing: taken.missing)
                }
            }
            return try await close(request, job)
        } catch  where job.isCancelled {
            return try await close(request, job)
        } catch  where MeshError(describing: error).shortage == .space {
            // Nothing more can be written down. The files stay where they are until it can.
            throw JobObstacle(MeshError(describing: error).message)
        }
    }

    /// The one that was decided; the first where somebody has deleted that meanwhile: what has arrived is not to be lost.
    private func category(of request: ImportUploads, _ job: Job) async throws -> Int64 {
        do {
            return try await decidedCategory(request.categoryId, job)
        } catch let error as MeshError where error.status == .notFound {
            return try await category(nil)
        }
    }

    /// The import of a batch whose files have a category of their own, also where somebody has deleted that meanwhile.
    private func own(_ category: Int64?, _ one: OneImport) async throws -> OneImport {
        guard let category else { return one }
        do {
            let found = try await requireMesh().send(GetCategory(id: category))
            var own = one
            (own.category, own.categoryNamed) = (found.id, nil)
            return own
        } catch let error as MeshError where error.status == .notFound {
            return one
        }
    }

    /// Imports the files of one batch; each gets a line.
    /// - Returns: these lines.
    private func take(
        _ folder: String, _ items: [String], _ done: RecordedItems, by one: OneImport, _ job: Job
    ) async throws -> [ReceiptLine] {
        let (namedFiles, now) = (namedFiles, sourceClock.now())
        let (found, rest) = try await files.run {
            // What lies there has the names that it was announced by: of a device nothing is hidden.
            let found = try SourceFiles(
                paths: [FilePath(text: folder)], selection: SourceSelection(excluding: [], includesHidden: true),
                namedFiles: namedFiles, now: now, isCancelled: { false })
            return (found, try found.files.without(done, in: namedFiles.scratch))
        }
        job.record(found.refused.filter { !done.contains($0.item) })
        var lines = found.refused
        let told = Set(found.refused.map(\.item)).union(try await files.run { try found.files.compactMap(\.item) })
        var next = UnknownFiles(rest, KnownPhotos(in: namedFiles.scratch))
        await take(&next, by: one, for: job, ifSettled: false) { file, ending in
            switch ending {
            case .told(let outcome):
                lines.append(outcome.line)
                note(outcome, of: file, in: job)
            case .passedOver(let why):
                let outcome = OneImport.Outcome(line: one.line(file, .passedOver, why.rawValue))
                lines.append(outcome.line)
                note(outcome, of: file, in: job)
            }
        }
        if job.isInterrupted { throw CancellationError() }
        if let fault = next.fault { throw fault }
        for item in items where !told.contains(item) && !done.contains(item) {
            let name = item.split(separator: "/").last.map(String.init) ?? item
            let isSidecar = SidecarNames.isSidecar(name)
            let line = ReceiptLine(item: item, outcome: (isSidecar ? ImportOutcome.beside : .passedOver).rawValue)
            lines.append(line)
            job.record(line)
            job.advance(items: 1)
        }
        return lines
    }

    /// The end, or that of one which was stopped: what is left has a line too.
    private func close(_ request: ImportUploads, _ job: Job) async throws -> ImportReceipt {
        let mesh = try requireMesh()
        let left = try await uncancelled {
            try await mesh.send(CloseUploadSession(session: request.session, job: job.id)).left
        }
        let done = try await uncancelled { try await job.recordedItems() }
        job.record(
            left.filter { !done.contains($0) }.map {
                ReceiptLine(item: $0, outcome: ImportOutcome.cancelled.rawValue)
            })
        return await receipt(of: request, job, ending: nil)
    }

    func end(_ request: ImportUploads, failing job: Job) async -> ImportReceipt {
        if let mesh, !job.isInterrupted {
            _ = try? await uncancelled {
                try await mesh.send(CloseUploadSession(session: request.session, job: job.id))
            }
        }
        return await receipt(of: request, job, ending: job.isCancelled ? .cancelled : .failed)
    }

    private func receipt(of request: ImportUploads, _ job: Job, ending: JobEnding?) async -> ImportReceipt {
        let kept = job.checkpoint.flatMap { try? JSONDecoder().decode(Int64.self, from: $0) }
        return await receipt(
            job, category: kept ?? request.categoryId ?? 0, [:], isDryRun: false, ending: ending)
    }
}

extension ImportUploads: HandledJob {
    public typealias Service = PhotoImporter
    public static var resumption: JobResumption { .onward }

    public static func needsAttention(_ outcome: String) -> Bool { ImportPhotos.needsAttention(outcome) }

    public func complete(on service: PhotoImporter) async throws -> ImportUploads { try await service.open(self) }

    public func prepareAgain(on service: PhotoImporter, job: Job) async throws { try await service.look(self) }

    public func run(on service: PhotoImporter, job: Job) async throws -> ImportReceipt {
        try await service.run(self, job: job)
    }

    public func receipt(on service: PhotoImporter, failing job: Job) async -> ImportReceipt? {
        await service.end(self, failing: job)
    }
}
