import Synchronization

/// One value of something observed. `sequence` rises with each change; a gap, marked by `overflowed`, means
/// that older values were dropped because this consumer was slower than the changes.
public struct Change<Value: Sendable>: Sendable {
    public let sequence: UInt64
    public let value: Value
    public let overflowed: Bool
}

/// The changes of something as one consumer sees them: the current value first, then the newest each time it
/// asks. It holds one value at most, so a consumer that never asks costs nothing that grows, and one that goes
/// away ends only its own sequence (`AsyncStream` is unbounded by default and ends for all).
public struct Observation<Value: Sendable>: AsyncSequence, Sendable {
    public typealias Element = Change<Value>

    let slot: Slot

    public func makeAsyncIterator() -> Iterator { Iterator(slot: slot) }

    public struct Iterator: AsyncIteratorProtocol {
        let slot: Slot

        public mutating func next() async -> Change<Value>? { await slot.next() }
    }

    /// The place for one consumer's newest value. Made for one consumer: a second `next` while one waits ends
    /// the first.
    final class Slot: Sendable {
        private struct State {
            var newest: Change<Value>?
            var waiter: CheckedContinuation<Change<Value>?, Never>?
            var isFinished = false
        }

        private let state = Mutex(State())

        func put(_ sequence: UInt64, _ value: Value) {
            let waiter = state.withLock { state -> CheckedContinuation<Change<Value>?, Never>? in
                guard !state.isFinished else { return nil }
                if let waiter = state.waiter {
                    state.waiter = nil
                    return waiter
                }
                state.newest = Change(sequence: sequence, value: value, overflowed: state.newest != nil)
                return nil
            }
            waiter?.resume(returning: Change(sequence: sequence, value: value, overflowed: false))
        }

        func finish() {
            let waiter = state.withLock { state in
                state.isFinished = true
                defer { state.waiter = nil }
                return state.waiter
            }
            waiter?.resume(returning: nil)
        }

        func next() async -> Change<Value>? {
            await withTaskCancellationHandler {
                await withCheckedContinuation { (continuation: CheckedContinuation<Change<Value>?, Never>) in
                    let (ready, replaced) = state.withLock {
                        state -> (Change<Value>??, CheckedContinuation<Change<Value>?, Never>?) in
                        if let newest = state.newest {
                            state.newest = nil
                            return (.some(newest), nil)
                        }
                        if state.isFinished || Task.isCancelled { return (.some(nil), nil) }
                        defer { state.waiter = continuation }
                        return (nil, state.waiter)
                    }
                    replaced?.resume(returning: nil)
                    if let ready { continuation.resume(returning: ready) }
                }
            } onCancel: {
                finish()
            }
        }
    }
}

/// Something that many may observe: keeps the newest value and hands it to each consumer's own slot.
public final class ObservedValue<Value: Sendable>: Sendable {
    private struct State {
        var sequence: UInt64 = 1
        var value: Value
        var isFinished = false
        var slots: [WeakSlot] = []
    }

    private struct WeakSlot {
        weak var slot: Observation<Value>.Slot?
    }

    private let state: Mutex<State>

    public init(_ value: Value) { state = Mutex(State(value: value)) }

    public var current: Value { state.withLock { $0.value } }

    /// Makes `value` the newest one. Never waits for a consumer.
    public func publish(_ value: Value) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.value = value
            state.sequence += 1
            // Under the lock, so that every consumer sees the values in the order of their sequence. A slot
            // takes only its own lock and resumes its consumer, which takes none.
            for weak in state.slots { weak.slot?.put(state.sequence, value) }
        }
    }

    /// Ends every consumer's sequence once it has taken its newest value.
    public func finish() {
        state.withLock { state in
            state.isFinished = true
            for weak in state.slots { weak.slot?.finish() }
            state.slots = []
        }
    }

    /// The current value at once, then each change.
    public func observe() -> Observation<Value> {
        let slot = Observation<Value>.Slot()
        state.withLock { state in
            slot.put(state.sequence, state.value)
            if state.isFinished {
                slot.finish()
            } else {
                // Slots of consumers that went away are dropped here, so the list stays as long as its readers.
                state.slots.removeAll { $0.slot == nil }
                state.slots.append(WeakSlot(slot: slot))
            }
        }
        return Observation(slot: slot)
    }
}
