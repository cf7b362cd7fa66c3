import Synchronization

/// Something that many may observe: keeps the newest value and hands it to each consumer's own slot.
public final class ObservedValue<Value: Sendable>: Sendable {
    private struct State {
        var sequence: UInt64 = 1
        var value: Value
        var encoding = SharedEncoding()
        var isFinished = false
        var slots: [UInt64: Slot<Value>] = [:]
        var lastSlot: UInt64 = 0
    }

    private let state: Mutex<State>

    public init(_ value: Value) { state = Mutex(State(value: value)) }

    public var current: Value { state.withLock { $0.value } }

    /// Consumers that have not gone away.
    public var consumers: Int { state.withLock { $0.slots.count } }

    /// Makes `value` the newest one. Never waits for a consumer.
    public func publish(_ value: Value) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.value = value
            state.encoding = SharedEncoding()
            state.sequence += 1
            // Under the lock, so that every consumer sees the values in the order of their sequence. A slot
            // takes only its own lock and resumes its consumer, which takes none.
            for slot in state.slots.values { slot.put(state.sequence, value, state.encoding) }
        }
    }

    /// Ends every consumer's sequence once it has taken its newest value.
    public func finish() {
        state.withLock { state in
            state.isFinished = true
            for slot in state.slots.values { slot.finish() }
            state.slots = [:]
        }
    }

    /// The current value at once, then each change.
    public func observe() -> Observation<Value> {
        let slot = Slot<Value>()
        let id = state.withLock { state in
            slot.put(state.sequence, state.value, state.encoding)
            state.lastSlot += 1
            if state.isFinished { slot.finish() } else { state.slots[state.lastSlot] = slot }
            return state.lastSlot
        }
        return Observation(subscription: Subscription(slot: slot) { [self] in leave(id) })
    }

    private func leave(_ id: UInt64) { state.withLock { _ = $0.slots.removeValue(forKey: id) } }
}
