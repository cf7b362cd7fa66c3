import LibraryModel
import LibraryStorage
import ServiceMesh

/// Answers every observation of the catalogue: each names the parts that it reads, and how, and the hub does the rest.
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
        ObserveSealedPhotos.self
        ObserveSettings.self
        ObservePendingSwipes.self
        ObserveTrash.self
        ObserveGroupHubs.self
        ObserveReviewMachines.self
        SubscribeToEvents.self
        GetTimeline.self
    }

    let catalogue: any Catalogue
    let access: LibraryAccess
    private let due: DueTime
    private let hub: ObservationHub
    private let revisions = Revisions()
    /// By filters and month; see `LibraryObserver+Timeline.swift`.
    var keptSpans: [KeptSpans.Key: KeptSpans] = [:]

    /// How often what a search depends on has changed since the library was opened.
    func revision(ofSearch filter: PhotoFilter) -> UInt64 {
        let counts = revisions.counts
        return (counts[.photos] ?? 0) &+ (Self.readsCategories(filter) ? counts[.categories] ?? 0 : 0)
    }

    /// Words are looked for in the names of categories too.
    private static func readsCategories(_ filter: PhotoFilter) -> Bool { filter.text != nil || filter.words != nil }

    /// - Parameters:
    ///   - catalogue: which tells of its commits; this listens until the library closes.
    ///   - access: which knows who asks: a child's device sees the photos of chosen categories alone.
    ///   - clock: by which reads are spaced; the mesh's.
    ///   - due: the time by which the trash is emptied.
    package init(
        catalogue: any Catalogue, access: LibraryAccess = LibraryAccess(), clock: MeshClock = .system,
        due: DueTime = .following()
    ) {
        self.catalogue = catalogue
        self.access = access
        self.due = due
        hub = ObservationHub(clock: clock)
        catalogue.onCommit { [hub, revisions] parts in
            // Before the hub: a read that begins because of this change must find it counted.
            revisions.count(parts)
            hub.changed(Set(parts.map(\.rawValue)))
        }
    }

    public func stop() async { hub.close() }

    public func checkHealth() async throws { _ = try await catalogue.read { try $0.categories.count() } }

    private func observe<Query: Hashable & Sendable, Value: Equatable & Sendable>(
        _ query: Query, _ parts: Set<CataloguePart>,
        _ read: @escaping @Sendable (any CatalogueTransaction) throws -> Value
    ) -> QueryObservation<Value> {
        hub.observe(query, reading: Set(parts.map(\.rawValue))) { [catalogue] in try await catalogue.read(read) }
    }

    /// What whoever asks may see of it: two share an answer where they see the same.
    private func observeScoped<Query: Hashable & Sendable, Value: Equatable & Sendable>(
        _ query: Query, _ parts: Set<CataloguePart>,
        _ read: @escaping @Sendable (any CatalogueTransaction, CategoryScope?) throws -> Value
    ) -> QueryObservation<Value> {
        let viewer = access.viewer
        return observe(ViewedRequest(query, viewer), parts) { try read($0, viewer.scope(in: $0)) }
    }

    // MARK: What is read, and from where

    func categories(_ request: ObserveCategories) throws -> QueryObservation<CategoryList> {
        let query = try CategoryQuery(text: request.text, order: request.order)
        // Of photos too, because of the counts.
        return observeScoped(request, [.categories, .photos]) {
            CategoryList(categories: query.select(from: try $0.categories.all(in: $1)))
        }
    }

    func category(_ request: ObserveCategory) throws -> QueryObservation<ObservedCategory> {
        let key = try CategoryKey(id: request.id, displayName: request.displayName, name: nil)
        return observeScoped(request, [.categories, .photos]) { transaction, scope in
            ObservedCategory(
                category: try transaction.categories.find(key).flatMap { scope.has($0.id) ? $0 : nil })
        }
    }

    func photos(_ request: ObservePhotos) throws -> QueryObservation<ObservedPhotos> {
        let query = try PhotoQuery(request.search)
        return observeScoped(request, Self.readsCategories(request.search.filter) ? [.photos, .categories] : [.photos])
        {
            transaction, scope in
            let query = query.within(scope)
            let page = try transaction.photos.page(query)
            // A page that begins the list and has no next one is the whole list.
            let isWhole = request.after == nil && page.next == nil
            return ObservedPhotos(
                photos: page.photos, next: page.next,
                total: isWhole ? page.photos.count : try transaction.photos.count(query))
        }
    }

    func sealedPhotos(_ request: ObserveSealedPhotos) throws -> QueryObservation<SealedPhotos> {
        let query = try SealedPhotoQuery(request.list)
        return observe(request, [.photos, .sealedFields]) { try $0.photos.sealed(query) }
    }

    func photo(_ request: ObservePhoto) throws -> QueryObservation<ObservedPhoto> {
        let key = try PhotoKey(id: request.id, uuid: request.uuid)
        return observeScoped(request, [.photos]) { transaction, scope in
            ObservedPhoto(photo: try transaction.photos.find(key).flatMap { scope.has($0.categoryId) ? $0 : nil })
        }
    }

    func settings(_ request: ObserveSettings) -> QueryObservation<Settings> {
        observe(request, [.settings]) { try $0.settings.settings() }
    }

    func pending(_ request: ObservePendingSwipes) throws -> QueryObservation<PendingSwipes> {
        let limit = try PageLimit.validated(request.limit)
        let (session, after) = (request.sessionID?.lowercased(), request.after ?? 0)
        return observe(request, [.swipeActions]) { transaction in
            var whole = session
            if let session {
                let found = try transaction.swipes.find(beginningWith: session, limit: 2)
                if found.count == 1 { whole = found[0].sessionID }
            }
            return PendingSwipes(actions: try transaction.swipes.pending(session: whole, after: after, limit: limit))
        }
    }

    func trash(_ request: ObserveTrash) throws -> QueryObservation<ObservedTrash> {
        let list = ListTrash(limit: request.limit)
        _ = try TrashQuery(list)
        return observe(request, [.trash]) { [due] transaction in
            // A second look at the clocks is as good as one: it counts only what has passed since the first.
            let query = try TrashQuery(list, now: due.wall.now(), notBefore: due.jump()?.endsAt)
            let page = try transaction.trash.page(query)
            return ObservedTrash(photos: page.photos, next: page.next, total: try transaction.trash.count())
        }
    }

    func groupHubs(_ request: ObserveGroupHubs) -> QueryObservation<GroupHubList> {
        observe(request, [.groups]) { try $0.groupHubs.list() }
    }

    func reviewMachines(_ request: ObserveReviewMachines) -> QueryObservation<ReviewMachineList> {
        observe(request, [.reviewMachines]) { try $0.reviewMachines.list() }
    }

    func events(_ request: SubscribeToEvents) -> EventSequence {
        let states = hub.observe(request, reading: Set(Revisions.parts.map(\.rawValue))) { [catalogue, revisions] in
            // Counted first: what is committed between the two is in the totals already, and tells of itself again.
            let counts = revisions.counts
            return LibraryState(
                revisions: counts,
                totals: try await catalogue.read { transaction in
                    LibraryTotals(
                        photos: try transaction.photos.totals().photos,
                        categories: try transaction.categories.count(),
                        trashed: try transaction.trash.count(),
                        pendingSwipes: try transaction.swipes.pendingCount())
                })
        }
        return EventSequence(states: states)
    }
}

extension ObserveCategories: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<CategoryList> {
        try await service.categories(self)
    }
}

extension ObserveCategory: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedCategory> {
        try await service.category(self)
    }
}

extension ObservePhotos: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedPhotos> {
        try await service.photos(self)
    }
}

extension ObservePhoto: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedPhoto> {
        try await service.photo(self)
    }
}

extension ObserveSealedPhotos: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<SealedPhotos> {
        try await service.sealedPhotos(self)
    }
}

extension ObserveSettings: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<Settings> {
        await service.settings(self)
    }
}

extension ObservePendingSwipes: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<PendingSwipes> {
        try await service.pending(self)
    }
}

extension ObserveTrash: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ObservedTrash> {
        try await service.trash(self)
    }
}

extension ObserveGroupHubs: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<GroupHubList> {
        await service.groupHubs(self)
    }
}

extension ObserveReviewMachines: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> QueryObservation<ReviewMachineList> {
        await service.reviewMachines(self)
    }
}

extension SubscribeToEvents: HandledObservation {
    public func observe(on service: LibraryObserver) async throws -> EventSequence { await service.events(self) }
}
