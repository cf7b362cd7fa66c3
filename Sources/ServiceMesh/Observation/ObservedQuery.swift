import Synchronization

/// A query and all who observe its answer: it is read once for all of them, again after each change that may touch
/// it, and handed out where the answer is another one.
///
/// Nothing is missed: `noticed` counts the changes, a read remembers the count at which it began, and as long as the
/// newest answer is older than the last change, another read is due. Changes that come meanwhile share that read.
/// Nothing is said twice: an answer equal to the newest one is not handed out.
///
/// While nothing changes it has no task and no timer. When its last consumer goes, it is over.
final class ObservedQuery<Value: Equatable & Sendable>: ObservedSource {
    private struct Consumer {
        let slot: Slot<Value>
        /// The changes noticed when it came, until it has its first value: that one must reflect them all, so that
        /// who has made a change and then observes sees it.
        var awaits: UInt64?
    }

    private enum Activity {
        case none
        /// Until the next read may begin.
        case pausing(Task<Void, Never>)
        case reading(Task<Void, Never>)
    }

    private struct State {
        var noticed: UInt64 = 0
        /// The changes that the newest answer reflects; nil before the first.
        var reflected: UInt64?
        var sequence: UInt64 = 0
        var newest: Value?
        var encoding = SharedEncoding()
        var consumers: [UInt64: Consumer] = [:]
        var lastConsumer: UInt64 = 0
        /// Consumers without their first value.
        var awaiting = 0
        var activity = Activity.none
        /// On the clock: before this moment no read because of a change, and none because of a new consumer.
        var earliest: UInt64 = 0
        var earliestForNewcomers: UInt64 = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let read: @Sendable () async throws -> Value
    private let turns: ReadTurns
    /// Nanoseconds at least from the beginning of one read to that of the next.
    private let interval: UInt64
    private let clock: MeshClock
    /// Where tasks run that no observer waits for: the executor of the observer that came first.
    private let executor = MeshClock.executor
    /// Called once, when nobody observes any more or the answer cannot be read.
    private let whenOver: @Sendable (any ObservedSource) -> Void

    init(
        turns: ReadTurns, interval: UInt64, clock: MeshClock, read: @escaping @Sendable () async throws -> Value,
        whenOver: @escaping @Sendable (any ObservedSource) -> Void
    ) {
        self.turns = turns
        self.interval = interval
        self.clock = clock
        self.read = read
        self.whenOver = whenOver
    }

    // MARK: Consumers

    /// A new consumer, or nil where the query is over.
    func join() -> QueryObservation<Value>? {
        let slot = Slot<Value>()
        let id = state.withLock { state -> UInt64? in
            guard !state.isClosed else { return nil }
            state.lastConsumer += 1
            if let newest = state.newest, state.reflected == state.noticed {
                slot.put(state.sequence, newest, state.encoding)
                state.consumers[state.lastConsumer] = Consumer(slot: slot)
            } else {
                state.consumers[state.lastConsumer] = Consumer(slot: slot, awaits: state.noticed)
                state.awaiting += 1
                advance(&state)
            }
            return state.lastConsumer
        }
        guard let id else { return nil }
        return QueryObservation(subscription: Subscription(slot: slot) { [self] in leave(id) })
    }

    private func leave(_ id: UInt64) {
        let isOver = state.withLock { state in
            guard let gone = state.consumers.removeValue(forKey: id) else { return false }
            if gone.awaits != nil { state.awaiting -= 1 }
            guard state.consumers.isEmpty else { return false }
            Self.close(&state)
            return true
        }
        if isOver { whenOver(self) }
    }

    func end(_ error: any Error) {
        let consumers = state.withLock { state -> [Consumer] in
            Self.close(&state)
            defer { state.consumers = [:] }
            return Array(state.consumers.values)
        }
        for consumer in consumers { consumer.slot.finish(error) }
    }

    private static func close(_ state: inout State) {
        state.isClosed = true
        switch state.activity {
        case .none: break
        case .pausing(let task), .reading(let task): task.cancel()
        }
        state.activity = .none
    }

    // MARK: Reading

    func notice() {
        state.withLock { state in
            state.noticed += 1
            advance(&state)
        }
    }

    /// Begins what is due, where nothing is under way.
    private func advance(_ state: inout State) {
        guard !state.isClosed, state.reflected != state.noticed else { return }
        let now = clock.now()
        switch state.activity {
        case .reading: return
        case .pausing(let pause):
            // A newcomer does not wait for the pause that spaces the others' reads.
            guard state.awaiting > 0, now >= state.earliestForNewcomers else { return }
            pause.cancel()
        case .none: break
        }
        let start = state.awaiting > 0 ? state.earliestForNewcomers : state.earliest
        if now >= start {
            state.activity = .reading(detached { await $0.readOnce() })
        } else {
            state.activity = .pausing(
                detached { query in
                    try? await query.clock.sleep(until: start)
                    query.pauseIsOver()
                })
        }
    }

    /// Detached, because what is read for all must not run in the context (deadline, role, trace) of the call that
    /// happened to come first.
    private func detached(_ work: @escaping @Sendable (ObservedQuery) async -> Void) -> Task<Void, Never> {
        Task.detached(executorPreference: executor) { [self] in
            await MeshClock.$executor.withValue(executor) { await work(self) }
        }
    }

    private func pauseIsOver() {
        state.withLock { state in
            // Cancelled under this lock, so that a pause cut short cannot begin a second read.
            guard !Task.isCancelled, case .pausing = state.activity else { return }
            state.activity = .reading(detached { await $0.readOnce() })
        }
    }

    private func readOnce() async {
        guard await turns.take() else { return }
        // As late as possible: every change noticed by now is in what is read now.
        let (asOf, newest) = state.withLock { ($0.noticed, $0.newest) }
        let began = clock.now()
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await read()) } catch { outcome = .failure(error) }
        let took = clock.now() &- began
        // An answer that is dear is read half of the time at most.
        let earliest = began &+ max(interval, took &* 2)
        switch outcome {
        case .success(let value):
            // Compared before the lock is taken: only this task changes the newest one.
            handOut(value, isNew: newest != value, asOf: asOf)
            turns.give()
            rest(until: earliest)
        case .failure(let error):
            turns.give()
            fail(MeshError(describing: error), earliest: earliest)
        }
    }

    /// Makes the answer known to those who wait for one. They are found under the lock and woken after it, because the
    /// thread that commits takes it too. No other answer overtakes this one: until ``rest(until:)`` nothing is read.
    private func handOut(_ value: Value, isNew: Bool, asOf: UInt64) {
        let (sequence, encoding, slots) = state.withLock { state -> (UInt64, SharedEncoding, [Slot<Value>]) in
            if isNew {
                state.sequence += 1
                state.newest = value
                state.encoding = SharedEncoding()
            }
            state.reflected = asOf
            var slots: [Slot<Value>] = []
            slots.reserveCapacity(isNew ? state.consumers.count : state.awaiting)
            if isNew {
                for consumer in state.consumers.values where consumer.awaits == nil { slots.append(consumer.slot) }
            }
            guard state.awaiting > 0 else { return (state.sequence, state.encoding, slots) }
            for (id, consumer) in state.consumers {
                guard let awaits = consumer.awaits, awaits <= asOf else { continue }
                state.consumers[id]?.awaits = nil
                state.awaiting -= 1
                slots.append(consumer.slot)
            }
            return (state.sequence, state.encoding, slots)
        }
        for slot in slots { slot.put(sequence, value, encoding) }
    }

    private func rest(until earliest: UInt64, forNewcomersToo: Bool = false) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.activity = .none
            state.earliest = earliest
            state.earliestForNewcomers = forNewcomersToo ? earliest : 0
            advance(&state)
        }
    }

    private func fail(_ error: MeshError, earliest: UInt64) {
        guard error.status != .resourceExhausted else {
            // The catalogue is busy: an observation that lasts for days does not end because of that.
            return rest(until: earliest, forNewcomersToo: true)
        }
        guard !state.withLock({ $0.isClosed }) else { return }
        // First, so that who has seen the error and observes again begins anew.
        whenOver(self)
        end(error)
    }
}
