import Foundation
import LibraryModel
import LibraryStorage
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

    private let catalogue: any Catalogue

    package init(catalogue: any Catalogue) { self.catalogue = catalogue }

    func start() async throws -> SwipeSession {
        let id = UUID().uuidString.lowercased()
        return try await catalogue.write { try $0.swipes.start(id, at: .now()) }
    }

    func record(_ request: RecordSwipe) async throws -> PhotoAction {
        let decision = SwipeDecision(
            session: request.sessionID.lowercased(), photo: request.photoIdentifier.lowercased(),
            contentDigest: request.contentDigest.lowercased(), action: request.action)
        return try await catalogue.write { transaction in
            if let action = try transaction.swipes.record(decision, at: .now()) { return action }
            throw try Self.refusal(decision, in: transaction)
        }
    }

    /// Why a decision was not taken.
    /// - Throws: `not_found` where there is no such session.
    private static func refusal(
        _ decision: SwipeDecision, in transaction: any CatalogueTransaction
    ) throws -> MeshError {
        guard try transaction.swipes.require(decision.session).endTime == nil else {
            return MeshError(.failedPrecondition, "This swipe session is finished. Start a new one.")
        }
        guard let photo = try transaction.photos.find(.uuid(decision.photo)) else {
            return MeshError(
                .notFound,
                "The photo \(decision.photo.prefix(80)) is no longer in the library. Go on with the next one.")
        }
        return MeshError(
            .failedPrecondition,
            "The photo has changed since it was shown. Show it again and ask for a new decision.",
            details: ["contentDigest": .string(photo.contentDigest)])
    }

    func undo(_ request: UndoSwipes) async throws -> UndoneSwipes {
        let count = request.count ?? 1
        guard count >= 1 else { throw MeshError(.invalidArgument, "'count' is 1 or more.") }
        return try await catalogue.write { transaction in
            let session = try transaction.swipes.require(request.sessionID)
            return UndoneSwipes(actions: try transaction.swipes.undo(session: session.sessionID, count: count))
        }
    }

    func finish(_ id: String) async throws -> SwipeSession {
        let (session, processes) = try await catalogue.write { transaction in
            let session = try transaction.swipes.require(id)
            try transaction.swipes.finish(session.sessionID, at: .now())
            return (try transaction.swipes.require(id), try transaction.settings.settings().autoProcessActions)
        }
        if processes { _ = try await process(session: session.sessionID) }
        return session
    }

    func sessions(limit: Int?) async throws -> SwipeSessionList {
        let limit = try PageLimit.validated(limit)
        return SwipeSessionList(sessions: try await catalogue.read { try $0.swipes.sessions(limit: limit) })
    }

    func pending(_ request: ListPendingSwipes) async throws -> PendingSwipes {
        let limit = try PageLimit.validated(request.limit)
        return try await catalogue.read { transaction in
            let session = try request.sessionID.map { try transaction.swipes.require($0).sessionID }
            return PendingSwipes(
                actions: try transaction.swipes.pending(session: session, after: request.after ?? 0, limit: limit))
        }
    }

    func process(session id: String?) async throws -> ProcessedSwipes {
        var total = ProcessedSwipes(favorited: 0, trashed: 0, kept: 0, outdated: 0)
        while true {
            try Task.checkCancellation()
            let part = try await catalogue.write { transaction -> ProcessedSwipes? in
                let session = try id.map { try transaction.swipes.require($0).sessionID }
                let (count, effective) = try transaction.swipes.process(session: session, limit: Self.batch)
                return count == 0 ? nil : try Self.apply(effective, in: transaction)
            }
            guard let part else { return total }
            total = ProcessedSwipes(
                favorited: total.favorited + part.favorited, trashed: total.trashed + part.trashed,
                kept: total.kept + part.kept, outdated: total.outdated + part.outdated)
        }
    }

    /// Applies decisions, one about each photo.
    private static func apply(
        _ actions: [PhotoAction], in transaction: any CatalogueTransaction
    ) throws -> ProcessedSwipes {
        var outdated = 0
        var photos: [SwipeAction: [Photo]] = [:]
        let found = try transaction.photos.find(actions.map { .uuid($0.photoIdentifier) })
        for (action, photo) in zip(actions, found) {
            if let photo, photo.contentDigest == action.contentDigest {
                photos[action.action, default: []].append(photo)
            } else {
                outdated += 1
            }
        }
        let (favorites, trashed) = (photos[.favorite] ?? [], photos[.trash] ?? [])
        _ = try transaction.photos.setFavorite(true, of: favorites)
        _ = try transaction.trash.add(trashed, at: .now())
        return ProcessedSwipes(
            favorited: favorites.count, trashed: trashed.count, kept: photos[.keep]?.count ?? 0, outdated: outdated)
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
