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
        ListSwipeHistory.self
        ProcessSwipes.self
        MarkSwipesProcessed.self
        DeleteProcessedSwipes.self
        ShareReviews.self
        ListReviewMachines.self
        UnshareReviews.self
        ListHubReviews.self
        TakeHubReviews.self
        MergeReviews.self
    }

    /// Decisions that one transaction changes: bounded, so that other writes are not held up.
    static let batch = 200

    let catalogue: any Catalogue
    /// By which decisions have their times, and those of others are judged.
    let clock: WallClock

    /// - Parameter clock: the system's unless told.
    package init(catalogue: any Catalogue, clock: WallClock = WallClock { .now() }) {
        (self.catalogue, self.clock) = (catalogue, clock)
    }

    func start() async throws -> SwipeSession {
        let id = UUID().uuidString.lowercased()
        return try await catalogue.write { [clock] in try $0.swipes.start(id, at: clock.now()) }
    }

    func record(_ request: RecordSwipe) async throws -> PhotoAction {
        let decision = SwipeDecision(
            session: request.sessionID.lowercased(), photo: request.photoIdentifier.lowercased(),
            contentDigest: request.contentDigest.lowercased(), action: request.action)
        return try await catalogue.write { [clock] transaction in
            if let action = try transaction.swipes.record(decision, at: clock.now()) { return action }
            // The beginning of an id is looked for only now: programs give the whole one, with each decision.
            let whole = SwipeDecision(
                session: try transaction.swipes.require(decision.session).sessionID, photo: decision.photo,
                contentDigest: decision.contentDigest, action: decision.action)
            if let action = try transaction.swipes.record(whole, at: clock.now()) { return action }
            throw try Self.refusal(whole, in: transaction)
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
        let isAll = request.all == true
        guard !isAll || request.count == nil else {
            throw MeshError(.invalidArgument, "'count' and 'all' exclude each other. Give one of them.")
        }
        guard request.count ?? 1 >= 1 else { throw MeshError(.invalidArgument, "'count' is 1 or more.") }
        let wanted = isAll ? Int.max : request.count ?? 1
        var listed: [PhotoAction] = []
        var count = 0
        while count < wanted {
            try Task.checkCancellation()
            let some = min(wanted - count, Self.batch)
            let part = try await catalogue.write { transaction in
                let session = try transaction.swipes.require(request.sessionID)
                return try transaction.swipes.undo(session: session.sessionID, count: some)
            }
            listed += part.prefix(UndoneSwipes.listed - listed.count)
            count += part.count
            if part.count < some { break }
        }
        return UndoneSwipes(actions: listed, count: count)
    }

    /// The end and the first decisions in one transaction: of a review of the usual size all or nothing is done.
    func finish(_ id: String) async throws -> FinishedSwipeSession {
        let (session, first) = try await catalogue.write { [clock] transaction -> (SwipeSession, ProcessedBatch?) in
            let (session, now) = (try transaction.swipes.require(id), clock.now())
            try transaction.swipes.finish(session.sessionID, at: now)
            let processes = try transaction.settings.settings().autoProcessActions
            let first = processes ? try Self.processBatch(session: session.sessionID, at: now, in: transaction) : nil
            return (try transaction.swipes.require(session.sessionID), first)
        }
        guard let first else { return FinishedSwipeSession(session: session, processed: nil) }
        let rest = first.isLast ? ProcessedSwipes.none : try await process(session: session.sessionID)
        return FinishedSwipeSession(session: session, processed: first.applied + rest)
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

    func history(_ request: ListSwipeHistory) async throws -> SwipeHistory {
        let limit = try PageLimit.validated(request.limit)
        return try await catalogue.read { transaction in
            let session = try request.sessionID.map { try transaction.swipes.require($0).sessionID }
            // One more than asked for tells whether there is a next page.
            let found = try transaction.swipes.decisions(
                session: session, photo: request.photoIdentifier?.lowercased(), before: request.after ?? .max,
                limit: limit + 1)
            return SwipeHistory(
                actions: Array(found.prefix(limit)), next: found.count > limit ? found[limit - 1].id : nil)
        }
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
    public func perform(on service: SwipeSessionRecorder) async throws -> FinishedSwipeSession {
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

extension ListSwipeHistory: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> SwipeHistory {
        try await service.history(self)
    }
}
