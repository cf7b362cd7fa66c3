import Database
import Foundation
import LibraryModel
import ServiceMesh

/// Records what a person decides while swiping, and applies it when told.
///
/// Each decision is its own transaction (the catalogue's writer commits those that arrive together with one
/// fsync), so a reply means that it is on disk. Applying is a transaction too: it marks decisions as processed
/// with the same commit that carries them out, which makes it repeatable after a crash.
public actor SwipeSessionRecorder: MeshService {
    public static let serviceName = "SwipeSessionRecorder"
    public static let admission = AdmissionLimit(concurrent: 256, queued: 1024)
    public static var messages: MessageList<SwipeSessionRecorder> {
        StartSwipeSession.self
        RecordSwipe.self
        UndoSwipes.self
        FinishSwipeSession.self
        ListSwipeSessions.self
        ListPendingSwipes.self
        ProcessSwipes.self
    }

    /// Decisions that one transaction applies: bounded, so that other writes are not held up.
    private static let batch = 200

    private let database: Database

    init(database: Database) { self.database = database }

    func start() async throws -> SwipeSession {
        let id = UUID().uuidString.lowercased()
        return try await database.write { connection in
            try SwipeTable.insertSession(id: id, startedAt: .now(), in: connection)
            return try SwipeTable.require(id, in: connection)
        }
    }

    func record(_ request: RecordSwipe) async throws -> PhotoAction {
        try await database.write { connection in
            let session = request.sessionID.lowercased()
            let uuid = request.photoIdentifier.lowercased()
            let digest = request.contentDigest.lowercased()
            let action = try SwipeTable.insert(
                session: session, photo: uuid, shown: digest, action: request.action, at: .now(), in: connection)
            if let action { return action }
            throw try Self.refusal(session: session, photo: uuid, in: connection)
        }
    }

    /// Why a decision was not taken.
    /// - Throws: `not_found` where there is no such session.
    private static func refusal(session: String, photo uuid: String, in connection: Connection) throws -> MeshError {
        guard try !SwipeTable.isFinished(session, in: connection) else {
            return MeshError(.failedPrecondition, "This swipe session is finished. Start a new one.")
        }
        guard let photo = try PhotoTable.find(uuid: uuid, in: connection) else {
            return MeshError(
                .notFound, "The photo \(uuid.prefix(80)) is no longer in the library. Go on with the next one.")
        }
        return MeshError(
            .failedPrecondition,
            "The photo has changed since it was shown. Show it again and ask for a new decision.",
            details: ["contentDigest": .string(photo.contentDigest)])
    }

    func undo(_ request: UndoSwipes) async throws -> UndoneSwipes {
        let count = request.count ?? 1
        guard count >= 1 else { throw MeshError(.invalidArgument, "'count' is 1 or more.") }
        return try await database.write { connection in
            let session = try SwipeTable.require(request.sessionID, in: connection)
            let latest = try SwipeTable.latest(session: session.sessionID, count: count, in: connection)
            for action in latest { try SwipeTable.delete(id: action.id, in: connection) }
            return UndoneSwipes(actions: latest)
        }
    }

    func finish(_ id: String) async throws -> SwipeSession {
        let (session, processes) = try await database.write { connection in
            let session = try SwipeTable.require(id, in: connection)
            try SwipeTable.finish(session.sessionID, at: .now(), in: connection)
            return (
                try SwipeTable.require(id, in: connection),
                try SettingTable.settings(in: connection).autoProcessActions
            )
        }
        if processes { _ = try await process(session: session.sessionID) }
        return session
    }

    func sessions(limit: Int?) async throws -> SwipeSessionList {
        let limit = try PhotoQuery.validated(limit: limit)
        return SwipeSessionList(
            sessions: try await database.read { try SwipeTable.sessions(limit: limit, in: $0) })
    }

    func pending(_ request: ListPendingSwipes) async throws -> PendingSwipes {
        let limit = try PhotoQuery.validated(limit: request.limit)
        return try await database.read { connection in
            let session = try request.sessionID.map { try SwipeTable.require($0, in: connection).sessionID }
            return PendingSwipes(
                actions: try SwipeTable.pending(
                    session: session, after: request.after ?? 0, limit: limit, in: connection))
        }
    }

    func process(session id: String?) async throws -> ProcessedSwipes {
        var total = ProcessedSwipes(favorited: 0, trashed: 0, kept: 0, outdated: 0)
        while true {
            try Task.checkCancellation()
            let part = try await database.write { connection -> ProcessedSwipes? in
                let session = try id.map { try SwipeTable.require($0, in: connection).sessionID }
                let actions = try SwipeTable.pending(
                    session: session, after: 0, limit: Self.batch, in: connection)
                return actions.isEmpty ? nil : try Self.apply(actions, session: session, in: connection)
            }
            guard let part else { return total }
            total = ProcessedSwipes(
                favorited: total.favorited + part.favorited, trashed: total.trashed + part.trashed,
                kept: total.kept + part.kept, outdated: total.outdated + part.outdated)
        }
    }

    /// Applies decisions, the latest about each photo alone; the others are marked and have no effect.
    private static func apply(
        _ actions: [PhotoAction], session: String?, in connection: Connection
    ) throws -> ProcessedSwipes {
        var outdated = 0
        var effects: [(photo: Photo, action: SwipeAction)] = []
        for action in actions {
            try SwipeTable.markProcessed(id: action.id, in: connection)
            if try SwipeTable.hasLater(action, session: session, in: connection) { continue }
            guard let photo = try PhotoTable.find(uuid: action.photoIdentifier, in: connection),
                photo.contentDigest == action.contentDigest
            else {
                outdated += 1
                continue
            }
            effects.append((photo, action.action))
        }
        // In the order of the text index, for the reason that ``PhotoStore`` gives.
        effects.sort { SearchPlace.of($0.photo) < SearchPlace.of($1.photo) }
        var (favorited, trashed, kept) = (0, 0, 0)
        for (photo, action) in effects {
            switch action {
            case .favorite:
                _ = try PhotoTable.setFavorite(true, id: photo.id, in: connection)
                favorited += 1
            case .trash:
                _ = try TrashTable.moveIn(where: "p.id = ?", photo.id, at: .now(), in: connection)
                trashed += 1
            case .keep: kept += 1
            }
        }
        return ProcessedSwipes(favorited: favorited, trashed: trashed, kept: kept, outdated: outdated)
    }
}

extension StartSwipeSession: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> SwipeSession { try await service.start() }
}

extension RecordSwipe: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> PhotoAction {
        try await service.record(self)
    }
}

extension UndoSwipes: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> UndoneSwipes {
        try await service.undo(self)
    }
}

extension FinishSwipeSession: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> SwipeSession {
        try await service.finish(sessionID)
    }
}

extension ListSwipeSessions: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> SwipeSessionList {
        try await service.sessions(limit: limit)
    }
}

extension ListPendingSwipes: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> PendingSwipes {
        try await service.pending(self)
    }
}

extension ProcessSwipes: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> ProcessedSwipes {
        try await service.process(session: sessionID)
    }
}
