import Files
import Foundation
import LibraryModel
import ServiceMesh

// What an import takes of a session of uploads: batch by batch, each of which lies in a folder of its own until it is settled.
extension UploadStore {
    /// Nanoseconds within which a job that was started asks for its files.
    private static let beginning: UInt64 = 5_000_000_000

    func open(_ request: OpenUploadSession) async throws {
        let id = request.session.lowercased()
        guard UUID(uuidString: id) != nil else {
            throw MeshError(.invalidArgument, "'session' is a UUID that the client makes.")
        }
        let now = clock?.now() ?? 0
        if sessions[id] != nil {
            let session = try ownSession(id)
            // Its job may be about to run. One that has not for so long could not be started, and is begun anew.
            let isBeginning = opened[id].map { now &- $0 < Self.beginning } ?? false
            guard session.job == nil, !isBeginning else {
                throw MeshError(.alreadyExists, "The session has begun. Announce its files: upload.announce")
            }
            opened[id] = now
            return
        }
        guard sessions.count < ImportUploads.maximumSessions else {
            throw MeshError(
                .resourceExhausted,
                "\(sessions.count) sessions of uploads have not ended, which is the most. Wait for one, or end one: upload.endSession"
            )
        }
        let device = CallContext.current?.caller ?? ""
        let endsWhenIdle = request.endsWhenIdle == true
        sessions[id] = UploadSession(
            device: device, categoryId: request.categoryId, endsWhenIdle: endsWhenIdle)
        opened[id] = now
        do {
            let folder = folder
            try await files.run { try FileSystem.makeFolder(folder.path) }
            let opened = SessionFile.Opened(
                device: device, categoryId: request.categoryId, endsWhenIdle: endsWhenIdle ? true : nil)
            try await write([SessionFile.Line(opened: opened)], of: id)
        } catch {
            sessions[id] = nil
            journal.forget(id)
            throw error
        }
    }

    func take(_ request: TakeUploads) async throws -> TakenUploads {
        let id = request.session.lowercased()
        guard let known = sessions[id] else { throw Self.noSession(id) }
        guard known.job ?? request.job == request.job else {
            throw MeshError(.failedPrecondition, "The job \(known.job ?? "") imports this session.")
        }
        if known.job == nil {
            sessions[id]?.job = request.job
            try await write([SessionFile.Line(job: request.job)], of: id)
        }
        if request.waitMs > 0 { await wait(for: id, milliseconds: request.waitMs) }
        if let session = sessions[id], session.batch == nil, session.hasReady { try await claimNext(id) }
        if request.waitMs >= ImportUploads.patienceMs { try await endIfIdle(id) }
        guard let lines = sessions[id]?.takeLines(), let session = sessions[id] else { throw Self.noSession(id) }
        return TakenUploads(
            path: session.batch.map { folder.known(claim: $0.folder) },
            items: session.batch?.files.map { session.items[$0] } ?? [], lines: lines,
            isEnded: session.isSettled, files: session.files.count, settled: session.settled,
            missing: session.missing, bytes: session.bytes, settledBytes: session.settledBytes,
            categoryId: session.batch?.files.first.flatMap { session.files[$0].categoryId })
    }

    /// Puts the next files into a folder of their own. What cannot be moved waits for the next try.
    private func claimNext(_ id: String) async throws {
        guard let session = sessions[id] else { return }
        let next = session.next(TakeUploads.maximumCount)
        let claimed = next.compactMap { number, upload in
            uploads[upload].map { (id: upload, facts: $0.named(session.items[number])) }
        }
        guard claimed.count == next.count else {
            // Gone from the disk meanwhile: their bytes are to come anew.
            for (number, upload) in next where uploads[upload] == nil { sessions[id]?.lose(number, upload: upload) }
            return
        }
        let name = UploadFolder.claimPrefix + UUID().uuidString.lowercased()
        let batch = UploadSession.Batch(folder: name, files: next.map(\.number))
        sessions[id]?.take(batch)
        let before = next.compactMap { number, upload in uploads[upload].map { (upload, $0) } }
        for (_, upload) in next { uploads[upload] = nil }
        do {
            try await endIntakes(Set(next.map(\.upload)))
            try await write([SessionFile.Line(taken: batch)], of: id)
            let folder = folder
            _ = try await files.run { try folder.claim(claimed, into: name) }
        } catch {
            for (upload, facts) in before { uploads[upload] = facts }
            sessions[id]?.giveBack(next)
            throw error
        }
    }

    func settle(_ request: SettleUploads) async throws {
        let id = request.session.lowercased()
        guard let batch = sessions[id]?.batch, folder.known(claim: batch.folder) == request.path else { return }
        try await write([SessionFile.Line(settled: batch.folder)], of: id)
        sessions[id]?.settleBatch()
        tell(request.lines, of: id)
        let folder = folder
        try await files.run { folder.release([request.path]) }
    }

    func look(_ id: String) throws -> WaitingUploads {
        guard let session = sessions[id.lowercased()] else { throw Self.noSession(id) }
        return WaitingUploads(
            isWaiting: session.hasReady || session.batch != nil || session.isSettled || !session.lines.isEmpty
                || session.endsWhenIdle,
            files: session.files.count, missing: session.missing)
    }

    /// - Parameter job: whose session it has to be, where that has asked for files; nil for one that no job has.
    func close(_ id: String, of job: JobID?) async throws -> ClosedUploadSession {
        let id = id.lowercased()
        guard let session = sessions[id], session.job == nil || session.job == job else {
            return ClosedUploadSession(left: [])
        }
        sessions[id] = nil
        opened[id] = nil
        changed(id)
        tellEnd(of: id)
        journal.forget(id)
        let left = zip(session.items, session.states).filter { $0.1 != .settled }.map(\.0)
        let told = session.lines.map(\.item)
        try await discard(uploads.filter { $0.value.session == id }.map(\.key))
        let folder = folder
        try await files.run {
            if let batch = session.batch { folder.release([folder.known(claim: batch.folder)]) }
            try SessionFile(id, in: folder.path).remove()
        }
        return ClosedUploadSession(left: left + told)
    }
}

extension ImportUploads {
    /// For as long as an import waits before it lets others run: the pause between two photos of a phone that sends.
    static let patienceMs = 10_000
    /// After a batch, before those who watch are told of its end.
    static let breathMs = 200
}

extension OpenUploadSession: HandledMessage {
    public func perform(on service: UploadStore) async throws -> Done {
        try await service.open(self)
        return Done()
    }
}

extension TakeUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> TakenUploads { try await service.take(self) }
}

extension SettleUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> Done {
        try await service.settle(self)
        return Done()
    }
}

extension LookAtUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> WaitingUploads { try await service.look(session) }
}

extension CloseUploadSession: HandledMessage {
    public func perform(on service: UploadStore) async throws -> ClosedUploadSession {
        try await service.close(session, of: job)
    }
}
