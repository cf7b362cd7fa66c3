import Synchronization

/// Lets many observe the answers to queries, and reads each answer once for all who ask the same.
///
/// ```swift
/// let hub = ObservationHub()
/// database.onCommit { hub.changed($0.tables) }
/// let observation = hub.observe(ListCategories(), reading: ["categories", "photos"]) { try await store.list() }
/// for try await change in observation { show(change.value) }
/// ```
///
/// A query is registered before it is read first, and it is read again after each change of something that it reads,
/// so no change is missed; its answer is handed out only where it differs from the one before. What is observed by
/// nobody any more is gone.
public final class ObservationHub: Sendable {
    /// A query by its value; queries of two types are never the same one.
    private struct Key: Hashable, Sendable {
        let query: any Hashable & Sendable
        let answer: ObjectIdentifier

        static func == (left: Key, right: Key) -> Bool {
            left.answer == right.answer && AnyHashable(left.query) == AnyHashable(right.query)
        }

        func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(query)) }
    }

    private struct Entry {
        let source: any ObservedSource
        let parts: Set<String>
    }

    private struct State {
        var entries: [Key: Entry] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())
    /// Seen by the tests, which wait for the last read by taking one.
    let turns: ReadTurns
    private let interval: UInt64
    private let clock: MeshClock
    private let most: Int

    /// - Parameters:
    ///   - reads: how many queries are read at once, 1 or more. One less than the catalogue has readers leaves one for
    ///     requests.
    ///   - interval: nanoseconds at least from the beginning of one read to that of the next, of the same query.
    ///   - clock: by which that is measured.
    ///   - queries: how many different ones may be observed at once, 1 or more. The answer to each is kept, so that the
    ///     next one is told only where it differs: for a page of a thousand photos that is a megabyte, and as much again
    ///     as JSON.
    public init(
        reads: Int = 1, interval: UInt64 = 100_000_000, clock: MeshClock = .system, queries: Int = 128
    ) {
        precondition(reads >= 1 && queries >= 1)
        most = queries
        turns = ReadTurns(reads)
        self.interval = interval
        self.clock = clock
    }

    /// Queries that somebody observes.
    public var count: Int { state.withLock { $0.entries.count } }

    /// Observes the answer to `query`.
    /// - Parameters:
    ///   - query: equal queries share one answer.
    ///   - parts: what the answer is made of, as ``changed(_:)`` names it.
    ///   - read: reads the answer. `resource_exhausted` is tried again; another error ends the observation.
    public func observe<Query: Hashable & Sendable, Value: Equatable & Sendable>(
        _ query: Query, reading parts: Set<String>, _ read: @escaping @Sendable () async throws -> Value
    ) -> QueryObservation<Value> {
        let key = Key(query: query, answer: ObjectIdentifier(Value.self))
        return state.withLock { state in
            guard !state.isClosed else { return Self.ended(Self.closed) }
            if let source = state.entries[key]?.source as? ObservedQuery<Value>, let joined = source.join() {
                return joined
            }
            guard state.entries.count < most else {
                return Self.ended(
                    MeshError(
                        .resourceExhausted,
                        "\(most) different things are observed, which is the most. End an observation that is not needed."
                    ))
            }
            let source = ObservedQuery(turns: turns, interval: interval, clock: clock, read: read) {
                [weak self] source in
                self?.remove(key, source)
            }
            // Registered before the first read begins: a change after that read is noticed.
            state.entries[key] = Entry(source: source, parts: parts)
            return source.join() ?? Self.ended(Self.closed)
        }
    }

    /// Says that something has changed. Never waits; costs a look at each query that is observed.
    public func changed(_ parts: Set<String>) {
        let sources = state.withLock { state in
            state.entries.values.filter { !$0.parts.isDisjoint(with: parts) }.map(\.source)
        }
        for source in sources { source.notice() }
    }

    /// Ends every observation, and those that begin later, with `unavailable`.
    public func close() {
        let sources = state.withLock { state in
            state.isClosed = true
            defer { state.entries = [:] }
            return state.entries.values.map(\.source)
        }
        for source in sources { source.end(Self.closed) }
    }

    /// Under the key there may be another source by now, whose first consumer came when this one was over.
    private func remove(_ key: Key, _ source: any ObservedSource) {
        state.withLock { state in
            if state.entries[key]?.source === source { state.entries[key] = nil }
        }
    }

    private static let closed = MeshError(.unavailable, "The library was closed. Open it again to go on observing.")

    private static func ended<Value>(_ error: MeshError) -> QueryObservation<Value> {
        let slot = Slot<Value>()
        slot.finish(error)
        return QueryObservation(subscription: Subscription(slot: slot) {})
    }
}

/// An observed query as the hub sees it, whatever its answer's type.
protocol ObservedSource: AnyObject, Sendable {
    /// Something that it reads may have changed.
    func notice()
    /// Ends it for all of its consumers.
    func end(_ error: any Error)
}
