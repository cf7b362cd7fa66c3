import Foundation
import LibraryModel
import ServiceMesh

// Files that are added whole to a session, and those who wait until they are imported.
extension UploadStore {
    func add(_ request: AddUpload) async throws -> AddedUpload {
        let (id, upload) = (request.session.lowercased(), request.upload.lowercased())
        guard let facts = uploads[upload], facts.session == nil else { throw Self.gone(upload) }
        adding[id, default: 0] += 1
        defer { adding[id] = adding[id].flatMap { $0 > 1 ? $0 - 1 : nil } }
        let folder = folder
        try await endIntakes([upload])
        let (digest, content) = try await files.run {
            try Self.check(upload, facts, folder)
            return try folder.content(of: upload, facts)
        }
        try Self.requirePhoto(content, facts)
        guard uploads[upload] != nil else { throw Self.gone(upload) }
        guard let session = sessions[id] else { throw Self.refusing(Self.noSession(id)) }
        guard session.endsWhenIdle, !session.isWhole else {
            throw Self.refusing(MeshError(.failedPrecondition, "The session takes no more files. Begin another one."))
        }
        guard session.files.count < AnnounceUploads.maximumFiles else {
            throw MeshError(
                .resourceExhausted, "The session has all the files that one takes. Begin another one.",
                details: ["session": "full"])
        }
        try requireRoom(for: 1, in: session)
        let number = try await enter(upload, facts, request.categoryId, into: id)
        // It may have been ended meanwhile, and the upload with it.
        guard let entered = uploads[upload], sessions[id] != nil else { throw Self.gone(upload) }
        let (stream, feed) = AsyncStream.makeStream(of: ReceiptLine.self, bufferingPolicy: .bufferingNewest(1))
        outcomes[id, default: [:]][number] = feed
        arrived(upload, entered)
        return AddedUpload(digest: digest, line: await line(of: stream, milliseconds: request.waitMs, number, id))
    }

    /// - Returns: the number that the file has in the session.
    private func enter(
        _ upload: String, _ facts: UploadFolder.Facts, _ category: Int64?, into id: String
    ) async throws -> Int {
        let file = UploadSession.File(
            name: facts.name, folder: facts.folder, size: facts.size ?? 0, modifiedAt: facts.modifiedAt,
            categoryId: category)
        guard let number = sessions[id]?.add(file) else { throw Self.noSession(id) }
        var owned = facts
        (owned.session, owned.number) = (id, number)
        uploads[upload] = owned
        do {
            try await write([SessionFile.Line(added: [file])], of: id)
            let (folder, described) = (folder, owned)
            try await files.run { try folder.describe(upload, described) }
        } catch {
            sessions[id]?.refuse(number, .notSent, MeshError(describing: error).message)
            if uploads[upload] != nil { uploads[upload] = facts }
            changed(id)
            throw error
        }
        return number
    }

    private func line(
        of stream: AsyncStream<ReceiptLine>, milliseconds: Int, _ number: Int, _ id: String
    ) async -> ReceiptLine? {
        defer {
            outcomes[id]?[number] = nil
            if outcomes[id]?.isEmpty == true { outcomes[id] = nil }
        }
        guard let clock else { return nil }
        return await withTaskGroup(of: ReceiptLine?.self) { group in
            group.addTask {
                for await line in stream { return line }
                return nil
            }
            group.addTask {
                try? await clock.sleep(for: .milliseconds(milliseconds))
                return nil
            }
            let first = await group.next()
            group.cancelAll()
            return first ?? nil
        }
    }

    /// What says by its first bytes, or by its name, that it is something else is refused before it is waited for. What says nothing
    /// is the import's to judge.
    private static func requirePhoto(_ content: FileContent, _ facts: UploadFolder.Facts) throws {
        guard case .passedOver(let kind) = content, [.audio, .document, .archive, .sidecar].contains(kind) else {
            return
        }
        throw MeshError(
            .invalidArgument,
            "\(facts.name) is no photo and no film (\(kind.rawValue)), and is not kept. Leave it out of what is sent.",
            details: ["outcome": .string(ImportOutcome.passedOver.rawValue)])
    }

    private static func refusing(_ error: MeshError) -> MeshError {
        MeshError(error.status, error.message, details: ["session": "ended"])
    }

    // MARK: What becomes of them

    func tell(_ lines: [ReceiptLine], of id: String) {
        guard let waiting = outcomes[id], let items = sessions[id]?.items else { return }
        let found = Dictionary(lines.map { ($0.item, $0) }) { first, _ in first }
        for (number, feed) in waiting where items.indices.contains(number) {
            guard let line = found[items[number]] else { continue }
            feed.yield(line)
            feed.finish()
        }
    }

    /// What was not imported until the session's end never will be.
    func tellEnd(of id: String) {
        for feed in (outcomes[id] ?? [:]).values {
            feed.yield(ReceiptLine(item: "", outcome: ImportOutcome.cancelled.rawValue))
            feed.finish()
        }
    }

    /// Ends a session that waits for nothing, where it was made for that.
    func endIfIdle(_ id: String) async throws {
        guard var session = sessions[id], session.endsWhenIdle, !session.isEnded, !session.hasReady,
            session.batch == nil, adding[id] == nil
        else { return }
        session.end()
        sessions[id] = session
        try await write([SessionFile.Line(isEnded: true)], of: id)
    }
}

extension AddUpload: HandledMessage {
    public func perform(on service: UploadStore) async throws -> AddedUpload { try await service.add(self) }
}
