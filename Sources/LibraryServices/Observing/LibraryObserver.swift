import Database
import LibraryModel
import ServiceMesh

/// Answers every observation of the catalogue: each names its tables and how it is read, and the hub does the rest.
///
/// One actor for all of them, because an observation needs nothing of the actor that changes the same table: it sees
/// what has been committed, whoever did it.
public actor LibraryObserver: MeshService {
    public static let serviceName = "LibraryObserver"
    public static var messages: MessageList<LibraryObserver> {
        ObserveCategories.self
        ObserveCategory.self
        ObservePhotos.self
        ObservePhoto.self
        ObserveSettings.self
        ObservePendingSwipes.self
        ObserveTrash.self
        SubscribeToEvents.self
    }

    private let database: Database
    private let hub: ObservationHub
    private let revisions = Revisions()

    /// - Parameter clock: by which reads are spaced; the mesh's.
    init(database: Database, clock: MeshClock = .system) {
        self.database = database
        hub = ObservationHub(clock: clock)
        // The database tells one listener, and this is the one.
        database.onCommit { [hub, revisions] notice in
            // Before the hub: a read that begins because of this change must find it counted.
            revisions.count(notice.tables)
            hub.changed(notice.tables)
        }
    }

    public func stop() async { hub.close() }

    public func checkHealth() async throws { _ = try await database.read { try CategoryTable.count(in: $0) } }

    private func observe<Query: Hashable & Sendable, Value: Equatable & Sendable>(
        _ query: Query, _ tables: Set<String>, _ read: @escaping @Sendable (Connection) throws -> Value
    ) -> QueryObservation<Value> {
        hub.observe(query, reading: tables) { [database] in try await database.read(read) }
    }

    // MARK: What is read, and from where

    func categories(_ request: ObserveCategories) -> QueryObservation<CategoryList> {
        // Of photos too, because of the counts.
        observe(request, ["categories", "photos"]) { CategoryList(categories: try CategoryTable.all(in: $0)) }
    }

    func category(_ request: ObserveCategory) throws -> QueryObservation<ObservedCategory> {
        guard request.id != nil || request.displayName != nil else {
            throw MeshError(.invalidArgument, "Name the category by 'id' or by 'displayName'.")
        }
        return observe(request, ["categories", "photos"]) { connection in
            if let id = request.id { return ObservedCategory(category: try CategoryTable.find(id: id, in: connection)) }
            let name = request.displayName ?? ""
            return ObservedCategory(category: try CategoryTable.find(displayName: name, in: connection))
        }
    }

    func photos(_ request: ObservePhotos) throws -> QueryObservation<ObservedPhotos> {
        let query = try PhotoQuery(request.search)
        return observe(request, ["photos"]) { connection in
            let page = try query.page(in: connection)
            // A page that begins the list and has no next one is the whole list.
            let isWhole = request.after == nil && page.next == nil
            return ObservedPhotos(
                photos: page.photos, next: page.next,
                total: isWhole ? page.photos.count : try query.total(in: connection))
        }
    }

    func photo(_ request: ObservePhoto) throws -> QueryObservation<ObservedPhoto> {
        guard request.id != nil || request.uuid != nil else {
            throw MeshError(.invalidArgument, "Name the photo by 'id' or by 'uuid'.")
        }
        return observe(request, ["photos"]) { connection in
            if let id = request.id { return ObservedPhoto(photo: try PhotoTable.find(id: id, in: connection)) }
            let uuid = request.uuid?.lowercased() ?? ""
            return ObservedPhoto(photo: try PhotoTable.find(uuid: uuid, in: connection))
        }
    }

    func settings(_ request: ObserveSettings) -> QueryObservation<Settings> {
        observe(request, ["settings"]) { try SettingTable.settings(in: $0) }
    }

    func pending(_ request: ObservePendingSwipes) throws -> QueryObservation<PendingSwipes> {
        let limit = try PhotoQuery.validated(limit: request.limit)
        let (session, after) = (request.sessionID?.lowercased(), request.after ?? 0)
        return observe(request, ["swipe_actions"]) { connection in
            PendingSwipes(actions: try SwipeTable.pending(session: session, after: after, limit: limit, in: connection))
        }
    }

    func trash(_ request: ObserveTrash) throws -> QueryObservation<ObservedTrash> {
        let limit = try PhotoQuery.validated(limit: request.limit)
        return observe(request, ["trash"]) { connection in
            let page = try TrashTable.page(ListTrash(limit: limit), in: connection)
            return ObservedTrash(
                photos: page.photos, next: page.next, total: try TrashTable.count(in: connection))
        }
    }

    func events(_ request: SubscribeToEvents) -> EventSequence {
        let states = hub.observe(request, reading: Revisions.tables) { [database, revisions] in
            // Counted first: what is committed between the two is in the totals already, and tells of itself again.
            let counts = revisions.counts
            return LibraryState(
                revisions: counts,
                totals: try await database.read { connection in
                    LibraryTotals(
                        photos: try PhotoTable.count(in: connection),
                        categories: try CategoryTable.count(in: connection),
                        trashed: try TrashTable.count(in: connection),
                        pendingSwipes: try SwipeTable.pendingCount(in: connection))
                })
        }
        return EventSequence(states: states)
    }
}

extension ObserveCategories: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<CategoryList> {
        await service.categories(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension ObserveCategory: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedCategory> {
        try await service.category(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension ObservePhotos: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedPhotos> {
        try await service.photos(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension ObservePhoto: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedPhoto> {
        try await service.photo(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension ObserveSettings: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<Settings> {
        await service.settings(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension ObservePendingSwipes: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<PendingSwipes> {
        try await service.pending(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension ObserveTrash: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedTrash> {
        try await service.trash(self)
    }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}

extension SubscribeToEvents: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> EventSequence { await service.events(self) }
    public func conclude(on service: LibraryObserver) async throws -> Done { Done() }
}
