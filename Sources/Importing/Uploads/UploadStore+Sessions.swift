import Files
import Foundation
import LibraryModel
import ServiceMesh

// Sessions of uploads: which files they are to get, who may ask, and what happens to them.
extension UploadStore {
    // MARK: Asked by devices

    func announce(_ request: AnnounceUploads) async throws -> AnnouncedUploads {
        let id = request.session.lowercased()
        guard request.files.count <= AnnounceUploads.maximumCount else {
            throw MeshError(.invalidArgument, "Announce \(AnnounceUploads.maximumCount) files at most at once.")
        }
        guard
            request.files.allSatisfy({
                $0.name.utf8.count <= 4096 && ($0.folder?.utf8.count ?? 0) <= 4096 && $0.size >= 0
            })
        else {
            throw MeshError(
                .invalidArgument, "A file that is announced has a name and a folder of 4,096 bytes at most, and a size."
            )
        }
        var session = try ownSession(id)
        var lines: [SessionFile.Line] = []
        var numbers: [Int?] = []
        var added: [UploadSession.File] = []
        var refused: [SessionFile.Line] = []
        for announced in request.files {
            let file = UploadSession.File(
                name: announced.name, folder: announced.folder, size: announced.size,
                modifiedAt: announced.modifiedAt?.milliseconds)
            if let known = session.number(of: file) {
                numbers.append(known)
                continue
            }
            guard request.onlyKnown != true else {
                numbers.append(nil)
                continue
            }
            guard !session.isWhole else {
                throw MeshError(
                    .failedPrecondition, "The session has all of its files. Begin another one for further files.")
            }
            try requireRoom(for: added.count + 1, in: session)
            let number = session.add(file)
            numbers.append(number)
            added.append(file)
            if file.size > BeginUpload.maximumBytes {
                let line = SessionFile.Refused(
                    file: number, outcome: .tooLarge,
                    reason: "\(file.size) bytes are more than an import takes (\(BeginUpload.maximumBytes)).")
                session.refuse(number, line.outcome, line.reason)
                refused.append(SessionFile.Line(refused: line))
            }
        }
        if !added.isEmpty { lines = [SessionFile.Line(added: added)] + refused }
        if request.more != true, request.onlyKnown != true, !session.isWhole {
            session.setWhole()
            lines.append(SessionFile.Line(isWhole: true))
        }
        // Before the disk has it, so that another request finds it.
        sessions[id] = session
        try await write(lines, of: id)
        changed(id)
        guard let now = sessions[id] else { throw Self.noSession(id) }
        return AnnouncedUploads(files: numbers.map { UploadPlace(file: $0, isMissing: $0.map(now.isMissing) ?? false) })
    }

    func requireRoom(for count: Int, in session: UploadSession) throws {
        let all = sessions.values.map(\.files.count).reduce(0, +)
        guard session.files.count < AnnounceUploads.maximumFiles, all + count <= AnnounceUploads.maximumFilesOfAll
        else {
            throw MeshError(
                short: .count,
                "A session takes \(AnnounceUploads.maximumFiles) files, and all sessions together \(AnnounceUploads.maximumFilesOfAll). Send further files when these are there."
            )
        }
    }

    func listSessions() -> UploadSessionList {
        UploadSessionList(
            sessions: sessions.filter { Self.isCallers($0.value) && !$0.value.endsWhenIdle }.sorted { $0.key < $1.key }
                .map { id, session in
                    UploadSessionState(
                        session: id, job: session.job, categoryId: session.categoryId, files: session.files.count,
                        bytes: session.bytes, missing: session.missing, missingBytes: session.missingBytes)
                })
    }

    func missing(_ request: ListMissingUploads) throws -> MissingUploads {
        let limit = request.limit ?? 100
        guard (1...1000).contains(limit), (request.after ?? 0) >= 0 else {
            throw MeshError(.invalidArgument, "'limit' is between 1 and 1000, and 'after' 0 or more.")
        }
        let found = try ownSession(request.session.lowercased()).missingNames(from: request.after ?? 0, limit: limit)
        return MissingUploads(names: found.names, next: found.next)
    }

    func endSession(_ id: String) async throws {
        let id = id.lowercased()
        var session = try ownSession(id)
        guard !session.isEnded else { return }
        session.end()
        sessions[id] = session
        try await write([SessionFile.Line(isEnded: true)], of: id)
        changed(id)
    }

    /// - Returns: what the session says of the file, for an upload of it; nil for one that belongs to no session.
    func announced(_ request: BeginUpload) throws -> (session: String, number: Int, file: UploadSession.File)? {
        guard let id = request.session?.lowercased() else {
            guard request.file == nil else {
                throw MeshError(.invalidArgument, "'file' is a number in a session: name that too.")
            }
            return nil
        }
        let session = try ownSession(id)
        guard let number = request.file, session.files.indices.contains(number) else {
            throw MeshError(.invalidArgument, "'file' is the number that upload.announce gave to the file.")
        }
        guard session.isMissing(number) else {
            throw MeshError(.alreadyExists, "The file is there already. Go on with the next one.")
        }
        return (id, number, session.files[number])
    }

    /// Whether a device may go on with an upload, or discard it.
    func requireOwn(_ id: String) throws {
        guard let session = uploads[id]?.session, sessions[session] != nil else { return }
        _ = try ownSession(session)
    }

    /// A session of the device that asks, or of any where a person at this machine does.
    func ownSession(_ id: String) throws -> UploadSession {
        guard let session = sessions[id] else { throw Self.noSession(id) }
        guard Self.isCallers(session) else {
            throw MeshError(.permissionDenied, "This session of uploads is another device's. Begin one of your own.")
        }
        return session
    }

    private static func isCallers(_ session: UploadSession) -> Bool {
        let context = CallContext.current
        return context?.isFromAfar != true || context?.caller ?? "" == session.device
    }

    static func noSession(_ id: String) -> MeshError {
        MeshError(
            .notFound,
            "There is no session of uploads '\(id.prefix(40))': it has ended. Begin another one for further files.")
    }

    // MARK: What happens to them

    /// All bytes of an upload are there.
    func arrived(_ upload: String, _ facts: UploadFolder.Facts) {
        guard let id = facts.session, let number = facts.number,
            sessions[id]?.files.indices.contains(number) == true
        else { return }
        sessions[id]?.arrive(number, upload: upload)
        changed(id)
    }

    func lost(_ upload: String, _ facts: UploadFolder.Facts) {
        guard let id = facts.session, let number = facts.number,
            sessions[id]?.files.indices.contains(number) == true
        else { return }
        sessions[id]?.lose(number, upload: upload)
    }

    func write(_ lines: [SessionFile.Line], of id: String) async throws {
        let (file, journal) = (SessionFile(id, in: folder.path), journal)
        journal.add(lines, of: id)
        guard journal.isWaiting(id) else { return }
        try await files.run { try journal.write(id, to: file) }
    }

    /// Sessions that are on the disk, after a start. What was on its way into a batch is in it, or has arrived.
    func readSessions() async throws {
        let folder = folder
        let (found, sizes) = try await files.run { [uploads] in
            (try folder.sessions(), try uploads.keys.reduce(into: [:]) { $0[$1] = try folder.status($1)?.size })
        }
        sessions = found
        for (id, session) in found {
            guard let batch = session.batch else { continue }
            let there = try await files.run { try folder.isThere(claim: batch.folder) }
            let returned = batch.files.compactMap { number in
                uploads.first { $0.value.session == id && $0.value.number == number && sizes[$0.key] != nil }
                    .map { (number: number, upload: $0.key) }
            }
            sessions[id]?.giveBack(returned)
            // Removed behind the last line: only the end of it was not written down.
            if !there { sessions[id]?.settleBatch() }
        }
        for (upload, facts) in uploads {
            guard let id = facts.session, let number = facts.number,
                sessions[id]?.files.indices.contains(number) == true
            else { continue }
            sessions[id]?.begin(number, upload: upload)
            if let size = sizes[upload], size == facts.size { arrived(upload, facts) }
        }
    }

    /// Ends sessions in which nothing has happened for long.
    func sweepSessions(before moment: Timestamp, latest: Timestamp) async {
        let (folder, ids) = (folder, Array(sessions.keys))
        let old =
            (try? await files.run {
                try ids.filter { id in
                    let file = SessionFile(id, in: folder.path)
                    guard let written = try file.written() else { return true }
                    if written > latest { file.beginTerm() }
                    return written < moment
                }
            }) ?? []
        for id in old {
            if sessions[id]?.job == nil {
                _ = try? await close(id, of: nil)
            } else if sessions[id]?.isEnded == false {
                sessions[id]?.end()
                try? await write([SessionFile.Line(isEnded: true)], of: id)
                changed(id)
            }
        }
    }

    // MARK: Waiting

    /// Wakes the import that waits for the session.
    func changed(_ id: String) {
        guard let session = sessions[id] else {
            waiting.removeValue(forKey: id)?.finish()
            return
        }
        if session.hasReady || session.isSettled || !session.lines.isEmpty {
            waiting.removeValue(forKey: id)?.finish()
        }
    }

    func wait(for id: String, milliseconds: Int) async {
        guard let session = sessions[id], !session.hasReady, !session.isSettled, session.batch == nil,
            session.lines.isEmpty, let clock
        else { return }
        let (stream, ending) = AsyncStream.makeStream(of: Never.self)
        waiting.updateValue(ending, forKey: id)?.finish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in stream {} }
            group.addTask { try? await clock.sleep(for: .milliseconds(milliseconds)) }
            await group.next()
            group.cancelAll()
        }
    }
}

extension AnnounceUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> AnnouncedUploads { try await service.announce(self) }
}

extension ListUploadSessions: HandledMessage {
    public func perform(on service: UploadStore) async throws -> UploadSessionList { await service.listSessions() }
}

extension ListMissingUploads: HandledMessage {
    public func perform(on service: UploadStore) async throws -> MissingUploads { try await service.missing(self) }
}

extension EndUploadSession: HandledMessage {
    public func perform(on service: UploadStore) async throws -> Done {
        try await service.endSession(session)
        return Done()
    }
}
