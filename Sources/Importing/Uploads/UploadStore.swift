import Executors
import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Files that come in pieces from programs that have none: where they are written, how much of them is there, and what becomes
/// of those that nobody imports. They are kept over restarts. It calls no other service.
public actor UploadStore: MeshService {
    public static let serviceName = "UploadStore"
    /// With room for those who wait until a file is imported.
    public static let admission = AdmissionLimit(concurrent: 128, queued: 256)
    public static var messages: MessageList<UploadStore> {
        BeginUpload.self
        GetUploads.self
        ResumeUpload.self
        DiscardUpload.self
        ClaimUploads.self
        ReleaseUploads.self
        AnnounceUploads.self
        ListUploadSessions.self
        ListMissingUploads.self
        EndUploadSession.self
        OpenUploadSession.self
        TakeUploads.self
        SettleUploads.self
        LookAtUploads.self
        CloseUploadSession.self
        AddUpload.self
    }

    /// An import that waits for a person may take its time; after this its uploads are gone, as its receipt then tells.
    private static let claimDays: Int64 = 7
    private static let sweepEvery = Duration.seconds(3600)

    let folder: UploadFolder
    let files: BlockingPool
    let journal = SessionJournal()
    private let due: DueTime
    var uploads: [String: UploadFolder.Facts] = [:]
    /// Those that have not ended, by their ids.
    var sessions: [String: UploadSession] = [:]
    /// When sessions were begun, by the mesh's clock.
    var opened: [String: UInt64] = [:]
    /// Imports that wait for files of sessions.
    var waiting: [String: AsyncStream<Never>.Continuation] = [:]
    /// Those who wait until a file of a session is imported, by its number.
    var outcomes: [String: [Int: AsyncStream<ReceiptLine>.Continuation]] = [:]
    /// Files that are being added, by session.
    var adding: [String: Int] = [:]
    private(set) var clock: MeshClock?
    /// Of those that are being written from afar, in the order in which they were opened.
    private var intakes: [(id: String, intake: BoundedIntake)] = []
    private var sweeping: Task<Void, Never>?

    /// - Parameters:
    ///   - namedFiles: of the library, in whose folder the uploads' is made when the first begins.
    ///   - due: the time by which uploads are given up.
    package init(namedFiles: NamedFiles, files: BlockingPool, due: DueTime = .following()) {
        let name = "/" + (namedFiles.uploads ?? "uploads")
        folder = UploadFolder(path: namedFiles.root + name, known: namedFiles.library + name)
        self.files = files
        self.due = due
    }

    public func start(on mesh: Mesh) async throws {
        let folder = folder
        clock = mesh.clock
        uploads = try await files.run { try folder.all() }
        try await readSessions()
        await sweep()
        sweeping = Task(executorPreference: MeshClock.executor) { [weak self, clock = mesh.clock] in
            while !Task.isCancelled {
                // A timer by nature: uploads go because time has passed.
                try? await clock.sleep(for: Self.sweepEvery)
                if !Task.isCancelled { await self?.sweep() }
            }
        }
    }

    public func stop() async {
        sweeping?.cancel()
        await sweeping?.value
        for ending in waiting.values { ending.finish() }
        for feed in outcomes.values.flatMap(\.values) { feed.finish() }
    }

    // MARK: One upload

    func begin(_ request: BeginUpload) async throws -> OpenedUpload {
        guard let announced = try announced(request) else { return try await begin(request, of: nil) }
        // A reply that was lost, or a page that was reloaded: what is there stays.
        if case .missing(let begun?) = sessions[announced.session]?.states[announced.number], uploads[begun] != nil {
            return try await resume(begun)
        }
        let file = announced.file
        return try await begin(
            BeginUpload(
                name: file.name, folder: file.folder, size: file.size,
                modifiedAt: file.modifiedAt.map(Timestamp.init(milliseconds:))),
            of: (announced.session, announced.number))
    }

    private func begin(
        _ request: BeginUpload, of session: (id: String, number: Int)?
    ) async throws -> OpenedUpload {
        guard let name = UploadName.harmless(request.name) else {
            throw MeshError(
                .invalidArgument, "A file that is uploaded has a name of 4,096 bytes at most, and not only dots.")
        }
        let size = request.size ?? 0
        guard size >= 0 else { throw MeshError(.invalidArgument, "'size' is a number of bytes, 0 or more.") }
        guard size <= BeginUpload.maximumBytes else {
            throw MeshError(
                short: .size,
                "A file of \(size) bytes is more than an import takes (\(BeginUpload.maximumBytes)). Make a smaller copy of it."
            )
        }
        guard uploads.count < BeginUpload.maximumCount else {
            // Of a session they are imported by themselves.
            guard session == nil else {
                throw MeshError(.unavailable, "\(uploads.count) uploads wait to be imported. Try again in a moment.")
            }
            throw MeshError(
                short: .count,
                "\(uploads.count) uploads wait to be imported, which is the most. Import them, or discard some: upload.discard"
            )
        }
        let id = UUID().uuidString.lowercased()
        let facts = UploadFolder.Facts(
            name: name, folder: request.folder.flatMap(UploadName.harmless(folder:)), size: request.size,
            modifiedAt: request.modifiedAt?.milliseconds, session: session?.id, number: session?.number)
        // Counted before it is there, so that those who come together do not pass the bound together.
        uploads[id] = facts
        do {
            let folder = folder
            let (file, room) = try await files.run {
                let room = try folder.room() - BeginUpload.reservedBytes
                guard room >= size else {
                    throw MeshError(
                        short: .space,
                        "There is not enough room on the library's disk for this file. Free some space first.")
                }
                return (try folder.begin(id, facts), room)
            }
            let content = try writer(of: id, into: file, at: 0, facts)
            if let session { sessions[session.id]?.begin(session.number, upload: id) }
            // Of an empty file no byte is to come.
            if size == 0 { arrived(id, facts) }
            return OpenedUpload(upload: id, offset: 0, rest: facts.most, room: room, content: content)
        } catch {
            uploads[id] = nil
            throw error
        }
    }

    func resume(_ id: String) async throws -> OpenedUpload {
        let id = id.lowercased()
        guard uploads[id] != nil else { throw Self.gone(id) }
        try requireOwn(id)
        let folder = folder
        // Who wrote until now writes no more.
        try await endIntakes([id])
        let (file, offset, room) = try await files.run {
            let (file, offset) = try folder.resume(id)
            return (file, offset, max(0, try folder.room() - BeginUpload.reservedBytes))
        }
        guard let facts = uploads[id] else { throw Self.gone(id) }
        let content = try writer(of: id, into: file, at: offset, facts)
        // Nobody may have asked since the last byte: whoever sent it was cut off.
        if offset == facts.size { arrived(id, facts) }
        return OpenedUpload(
            upload: id, offset: offset, rest: max(0, facts.most - offset), room: room, content: content)
    }

    /// What is handed over to be written into: at this machine the file itself; from afar a pipe, since the program that asks is
    /// held to what was announced.
    private func writer(
        of id: String, into file: OwnedFile, at offset: Int64, _ facts: UploadFolder.Facts
    ) throws -> OwnedFile {
        guard CallContext.current?.isFromAfar ?? false else { return file }
        intakes.removeAll { $0.intake.hasEnded || $0.id == id }
        if intakes.count >= BeginUpload.maximumPipes { intakes.removeFirst() }
        // One more than may come tells that more was sent: as with a file, such an upload is refused and not cut.
        let most = max(0, facts.most - offset) + 1
        let folder = folder
        let (intake, writer) = try BoundedIntake.begin(into: file, most: most) {
            ((try? folder.room()) ?? 0) >= BeginUpload.reservedBytes
        }
        intakes.append((id, intake))
        return writer
    }

    /// Takes what was written so far from afar, so that files are as long as their senders know.
    private func takeIntakes(_ ids: Set<String>) async throws {
        let waiting = intakes.filter { ids.contains($0.id) }.map(\.intake)
        guard !waiting.isEmpty else { return }
        try await files.run { for intake in waiting { intake.take() } }
    }

    /// The same, and nothing is taken from then on.
    func endIntakes(_ ids: Set<String>) async throws {
        let ending = intakes.filter { ids.contains($0.id) }.map(\.intake)
        guard !ending.isEmpty else { return }
        intakes.removeAll { ids.contains($0.id) }
        try await files.run { for intake in ending { intake.end() } }
    }

    func states(_ ids: [String]) async throws -> UploadList {
        guard ids.count <= GetUploads.maximumCount else {
            throw MeshError(.invalidArgument, "Ask for \(GetUploads.maximumCount) uploads at most at once.")
        }
        let asked = ids.compactMap { id in uploads[id.lowercased()].map { (id.lowercased(), $0) } }
        let folder = folder
        try await takeIntakes(Set(asked.map(\.0)))
        let sizes = try await files.run { try asked.map { try folder.status($0.0)?.size } }
        var states: [UploadState] = []
        var tooLarge: [String] = []
        for ((id, facts), size) in zip(asked, sizes) {
            guard let size else { continue }
            guard size <= facts.most else {
                tooLarge.append(id)
                continue
            }
            if size == facts.size { arrived(id, facts) }
            states.append(UploadState(upload: id, name: facts.name, size: facts.size, received: size))
        }
        if !tooLarge.isEmpty { try await discard(tooLarge) }
        return UploadList(uploads: states)
    }

    func discard(_ ids: [String]) async throws {
        let known = Set(ids.map { $0.lowercased() }).filter { uploads[$0] != nil }
        for id in known {
            if let facts = uploads.removeValue(forKey: id) { lost(id, facts) }
        }
        let folder = folder
        try await endIntakes(known)
        try await files.run { for id in known { try folder.remove(id) } }
    }

    func discardOwn(_ id: String) async throws {
        try requireOwn(id.lowercased())
        try await discard([id])
    }

    static func gone(_ id: String) -> MeshError {
        MeshError(
            .notFound,
            "There is no upload '\(id.prefix(40))': it was imported, discarded, or forgotten after a day. Upload it again."
        )
    }

    // MARK: Importing them

    func claim(_ ids: [String]) async throws -> ClaimedUploads {
        let ids = ids.map { $0.lowercased() }
        guard !ids.isEmpty, Set(ids).count == ids.count else {
            throw MeshError(.invalidArgument, "Name each upload that is to be imported once.")
        }
        var claimed: [(id: String, facts: UploadFolder.Facts)] = []
        for id in ids {
            guard let facts = uploads[id] else { throw Self.gone(id) }
            claimed.append((id, facts))
        }
        // Nobody else's from here on.
        for id in ids { uploads[id] = nil }
        do {
            let (folder, claimed) = (folder, claimed)
            try await endIntakes(Set(ids))
            return ClaimedUploads(
                path: try await files.run {
                    for (id, facts) in claimed { try Self.check(id, facts, folder) }
                    return try folder.claim(claimed)
                })
        } catch {
            for (id, facts) in claimed { uploads[id] = facts }
            throw error
        }
    }

    static func check(_ id: String, _ facts: UploadFolder.Facts, _ folder: UploadFolder) throws {
        guard let size = try folder.status(id)?.size else { throw gone(id) }
        guard let announced = facts.size, size != announced else { return }
        throw MeshError(
            .failedPrecondition,
            size < announced
                ? "The upload '\(facts.name)' has \(size) of \(announced) bytes. Go on with it first: upload.resume"
                : "The upload '\(facts.name)' has \(size) bytes, and \(announced) were announced. Discard it, and upload it again.",
            details: ["upload": .string(id), "received": .integer(size)])
    }

    func release(_ paths: [String]) async throws -> Done {
        let folder = folder
        try await files.run { folder.release(paths) }
        return Done()
    }

    // MARK: What nobody wants

    private func sweep() async {
        let time = due.now()
        let oldest = time.due.milliseconds - Int64(BeginUpload.keptHours) * 3_600_000
        let claims = Timestamp(milliseconds: time.due.milliseconds - Self.claimDays * 86_400_000)
        // Those of a session stay as long as it does.
        let batches = Set(sessions.values.compactMap(\.batch?.folder))
        let (folder, known) = (folder, uploads.filter { $0.value.session.map { sessions[$0] == nil } ?? true })
        let unwanted =
            (try? await files.run { () -> [String] in
                try? folder.removeClaims(before: claims, latest: time.latest, besides: batches)
                return known.filter { id, facts in
                    guard let found = try? folder.status(id) else { return true }
                    if found.written > time.latest { folder.beginTerm(of: id) }
                    return found.written.milliseconds < oldest || found.size > facts.size ?? BeginUpload.maximumBytes
                }.map(\.key)
            }) ?? []
        // What cannot be removed now is met again.
        try? await discard(unwanted)
        let sessionDays = Int64(ImportUploads.keptDays)
        await sweepSessions(
            before: Timestamp(milliseconds: time.due.milliseconds - sessionDays * 86_400_000), latest: time.latest)
    }
}

extension BeginUpload: HandledMessage {
    public func perform(on service: UploadStore) async throws -> OpenedUpload { try await service.begin(self) }
}

extension GetUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> UploadList { try await service.states(ids) }
}

extension ResumeUpload: HandledMessage {
    public func perform(on service: UploadStore) async throws -> OpenedUpload { try await service.resume(upload) }
}

extension DiscardUpload: HandledMessage {
    public func perform(on service: UploadStore) async throws -> Done {
        try await service.discardOwn(upload)
        return Done()
    }
}

extension ClaimUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> ClaimedUploads { try await service.claim(ids) }
}

extension ReleaseUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> Done { try await service.release(paths) }
}
