import LibraryModel
import LibraryStorage
import ServiceMesh

// What becomes of decisions once they are made: each part is a transaction of its own, so that an interruption leaves what is
// done, and doing it again does the rest.
extension SwipeSessionRecorder {
    /// What one transaction applied, and whether it took all that waited.
    struct ProcessedBatch: Sendable {
        let applied: ProcessedSwipes
        let isLast: Bool
    }

    func process(session id: String?) async throws -> ProcessedSwipes {
        var total = ProcessedSwipes.none
        while true {
            try Task.checkCancellation()
            let now = clock.now()
            let part = try await catalogue.write { transaction in
                let session = try id.map { try transaction.swipes.require($0).sessionID }
                return try Self.processBatch(session: session, at: now, in: transaction)
            }
            total = total + part.applied
            if part.isLast { return total }
        }
    }

    static func processBatch(
        session: String?, at now: Timestamp, in transaction: any CatalogueTransaction
    ) throws -> ProcessedBatch {
        let (count, effective) = try transaction.swipes.process(session: session, limit: batch)
        return ProcessedBatch(applied: try apply(effective, at: now, in: transaction), isLast: count < batch)
    }

    /// Applies decisions, one about each photo.
    static func apply(
        _ actions: [PhotoAction], at now: Timestamp, in transaction: any CatalogueTransaction
    ) throws -> ProcessedSwipes {
        var outdated = 0
        var photos: [SwipeAction: [Photo]] = [:]
        let found = try transaction.photos.findReadable(actions.map { .uuid($0.photoIdentifier) })
        let known = Dictionary(found.map { ($0.uuid, $0) }) { first, _ in first }
        for action in actions {
            if let photo = known[action.photoIdentifier.lowercased()], photo.contentDigest == action.contentDigest {
                photos[action.action, default: []].append(photo)
            } else {
                outdated += 1
            }
        }
        let (favorites, trashed) = (photos[.favorite] ?? [], photos[.trash] ?? [])
        _ = try transaction.photos.setFavorite(true, of: favorites)
        _ = try transaction.trash.add(trashed, at: now)
        return ProcessedSwipes(
            favorited: favorites.count, trashed: trashed.count, kept: photos[.keep]?.count ?? 0, outdated: outdated)
    }

    func markProcessed(_ request: MarkSwipesProcessed) async throws -> MarkedSwipes {
        if let ids = request.ids {
            guard request.sessionID == nil, ids.count <= MarkSwipesProcessed.maximumCount else {
                throw MeshError(
                    .invalidArgument, "Give a session or at most \(MarkSwipesProcessed.maximumCount) ids of decisions.")
            }
            return MarkedSwipes(count: try await catalogue.write { try $0.swipes.markProcessed(ids) })
        }
        var count = 0
        while true {
            try Task.checkCancellation()
            let part = try await catalogue.write { transaction in
                let session = try request.sessionID.map { try transaction.swipes.require($0).sessionID }
                return try transaction.swipes.process(session: session, limit: Self.batch).count
            }
            count += part
            if part < Self.batch { return MarkedSwipes(count: count) }
        }
    }

    /// Looked for by readers, so that a walk over a long history holds up no write; each transaction looks again.
    func deleteProcessed(_ request: DeleteProcessedSwipes) async throws -> DeletedSwipes {
        let session = try await catalogue.read { transaction in
            try request.sessionID.map { try transaction.swipes.require($0).sessionID }
        }
        var (count, last) = (0, Int64.min)
        while true {
            try Task.checkCancellation()
            let start = last
            let ids = try await catalogue.read {
                try $0.swipes.processed(before: request.before, session: session, after: start, limit: Self.batch)
            }
            guard let end = ids.last else { break }
            count += try await catalogue.write { try $0.swipes.deleteProcessed(ids) }
            last = end
        }
        let now = clock.now()
        let limit = Timestamp(milliseconds: now.milliseconds + ReviewChecks.slack)
        if request.before > limit {
            try await catalogue.write { try $0.swipes.setBack(later: limit, to: now, session: session) }
        }
        return DeletedSwipes(count: count)
    }
}

extension ProcessedSwipes {
    static let none = ProcessedSwipes(favorited: 0, trashed: 0, kept: 0, outdated: 0)

    static func + (left: ProcessedSwipes, right: ProcessedSwipes) -> ProcessedSwipes {
        ProcessedSwipes(
            favorited: left.favorited + right.favorited, trashed: left.trashed + right.trashed,
            kept: left.kept + right.kept, outdated: left.outdated + right.outdated)
    }
}

extension ProcessSwipes: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> ProcessedSwipes {
        try await service.process(session: sessionID)
    }
}

extension MarkSwipesProcessed: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> MarkedSwipes {
        try await service.markProcessed(self)
    }
}

extension DeleteProcessedSwipes: HandledMessage {
    public func perform(on service: SwipeSessionRecorder) async throws -> DeletedSwipes {
        try await service.deleteProcessed(self)
    }
}
