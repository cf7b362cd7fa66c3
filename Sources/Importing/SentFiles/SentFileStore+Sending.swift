import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

// Files on their way: begun, finished into the session of uploads that their device has at that time, or given up.
extension SentFileStore {
    func begin(_ request: BeginSentFile) async throws -> OpenedUpload {
        let device = try await device(request.password).id
        let place = try SentPlace(request.path)
        guard !place.isTop else { throw Self.isFolder }
        try await catalogue.read { transaction in
            try Self.requireFolder(place.above, of: device, transaction)
            let there = try Self.find(place, of: device, transaction)
            guard there?.isFolder != true else { throw Self.isFolder }
            guard there == nil || request.onlyNew != true else { throw Self.isThere }
        }
        guard request.size > 0 else {
            throw Self.notTaken(place, .unsupported, "An empty file is no photo and no film, and is not kept.")
        }
        try await requireRoom(of: device)
        try await requireNoneWaiting(of: device)
        let mesh = try requireMesh()
        let opened = try await mesh.send(
            BeginUpload(
                name: place.photoName, folder: place.folder, size: request.size, modifiedAt: request.modifiedAt))
        begun.append(
            Begun(
                upload: opened.upload, device: device, place: place, size: request.size,
                modifiedAt: request.modifiedAt))
        let own = begun.filter { $0.device == device }
        for old in own.dropLast(SentFile.maximumBegun) { await giveUp(old.upload) }
        return opened
    }

    /// What was told to be sent again must not come again and again, and lie here each time, while it is not its turn.
    private func requireNoneWaiting(of device: String) async throws {
        guard let ids = waiting[device] else { return }
        let left = try await requireMesh().send(GetUploads(ids: ids)).uploads.map(\.upload)
        waiting[device] = left.isEmpty ? nil : left
        guard left.isEmpty else { throw Self.notItsTurn }
    }

    private static let notItsTurn = MeshError(
        .unavailable, "What was sent before waits for its import, or is being imported. Send this again in a minute.")

    func discard(_ request: DiscardSentFile) async throws {
        let device = try await device(request.password).id
        guard begun.contains(where: { $0.upload == request.upload && $0.device == device }) else { return }
        await giveUp(request.upload)
    }

    /// What cannot be removed now goes with the uploads that nobody imports.
    private func giveUp(_ upload: String) async {
        begun.removeAll { $0.upload == upload }
        _ = try? await mesh?.send(DiscardUpload(upload: upload))
    }

    func finish(_ request: FinishSentFile) async throws -> FinishedSentFile {
        let device = try await device(request.password).id
        guard let file = begun.first(where: { $0.upload == request.upload && $0.device == device }) else {
            throw MeshError(.notFound, "No such file was begun, or it was given up. Send it once more.")
        }
        guard finishing < Self.mostFinishing else {
            throw MeshError(.unavailable, "Many files are being imported just now. Send it once more in a moment.")
        }
        // Nobody else's from here on.
        begun.removeAll { $0.upload == file.upload }
        finishing += 1
        defer { finishing -= 1 }
        let added: AddedUpload
        do {
            added = try await add(file, waitMs: min(max(request.waitMs ?? .max, 0), FinishSentFile.patienceMs))
        } catch {
            await giveUp(file.upload)
            throw error
        }
        // Its bytes are here, and its import may still refuse it or be called off: only what is in the library is told as sent, because
        // programs delete that. Sent again, it is a photo that is there already.
        guard let line = added.line else {
            waiting[file.device, default: []].append(file.upload)
            throw Self.notItsTurn
        }
        try Self.requireTaken(line, file.place)
        let sent = Timestamp.now()
        let stored = StoredSentFile(
            name: file.place.name, size: file.size, modifiedAt: file.modifiedAt ?? sent, sentAt: sent,
            digest: added.digest)
        let isNew = try await store(stored, at: file.place, of: device)
        return FinishedSentFile(file: stored.shown, isNew: isNew)
    }

    // MARK: The session that imports it

    private func add(_ file: Begun, waitMs: Int) async throws -> AddedUpload {
        let mesh = try requireMesh()
        let category = try await category(of: file)
        // A session may end while it is asked: the next one is new.
        for _ in 0..<3 {
            let session = try await session(of: file.device)
            do {
                return try await mesh.send(
                    AddUpload(
                        session: session, upload: file.upload, categoryId: category,
                        waitMs: waitMs))
            } catch let error as MeshError where error.details["session"] != nil {
                await forget(session, of: file.device)
                // It is imported, and ends.
                if error.details["session"] == "full" { _ = try? await mesh.send(EndUploadSession(session: session)) }
            }
        }
        throw MeshError(.unavailable, "The import of this file could not begin. Send it once more.")
    }

    /// The category that its first folder is; nil for the library's first one: of a file at the top, and where somebody has deleted
    /// the category since, which is not made anew behind their back.
    private func category(of file: Begun) async throws -> Int64? {
        guard file.place.names.count > 1, let top = file.place.names.first else { return nil }
        let device = file.device
        return try await catalogue.read { transaction in
            if let folder = try transaction.sentFiles.find(top, in: "", of: device), let own = folder.categoryId {
                return own
            }
            return try transaction.categories.find(.displayName(top))?.id
        }
    }

    /// Files that come together share one.
    private func session(of device: String) async throws -> String {
        if let known = sessions[device] { return try await known.value }
        let mesh = try requireMesh()
        let opening = Task {
            let session = UUID().uuidString.lowercased()
            // As its parent would: the import goes on after a restart, when nobody asks.
            let context = CallContext.root(mesh: mesh, role: .parent, isFromAfar: true, caller: device)
            _ = try await mesh.send(ImportUploads(session: session, endsWhenIdle: true), in: context)
            return session
        }
        sessions[device] = opening
        do {
            return try await opening.value
        } catch {
            if sessions[device] == opening { sessions[device] = nil }
            throw error
        }
    }

    private func forget(_ session: String, of device: String) async {
        guard let known = sessions[device], let current = try? await known.value, current == session else { return }
        if sessions[device] == known { sessions[device] = nil }
    }

    // MARK: What became of it

    private static func requireTaken(_ line: ReceiptLine, _ place: SentPlace) throws {
        let outcome = ImportOutcome(rawValue: line.outcome) ?? .unreadable
        switch outcome {
        case .imported, .completed, .duplicate, .known, .keptUnseen, .beside: return
        case .noSpace:
            throw MeshError(
                short: .space, "There is no room on the library's disk. Free some space, then send it again.")
        case .unsupported, .damaged, .tooLarge, .passedOver:
            throw notTaken(
                place, outcome,
                "\(place.name) is not kept. \(why(outcome, line.detail)) Keep it where it is.")
        case .timedOut, .unreadable, .changed, .workerLost, .cancelled, .notSent:
            throw MeshError(
                .unavailable, "\(place.name) could not be imported (\(outcome.rawValue)). Send it again.")
        }
    }

    private static func why(_ outcome: ImportOutcome, _ detail: String?) -> String {
        guard let detail, outcome != .passedOver else {
            return "It is no photo and no film\(detail.map { " (\($0))" } ?? "")."
        }
        return detail
    }

    private static func notTaken(_ place: SentPlace, _ outcome: ImportOutcome, _ message: String) -> MeshError {
        MeshError(.invalidArgument, message, details: ["outcome": .string(outcome.rawValue)])
    }
}

extension BeginSentFile: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> OpenedUpload { try await service.begin(self) }
}

extension FinishSentFile: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> FinishedSentFile {
        try await service.finish(self)
    }
}

extension DiscardSentFile: HandledMessage {
    public func perform(on service: SentFileStore) async throws -> Done {
        try await service.discard(self)
        return Done()
    }
}
