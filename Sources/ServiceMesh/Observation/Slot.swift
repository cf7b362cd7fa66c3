import Synchronization

/// The place for one consumer's newest value. It holds one at most, so a consumer that never asks costs nothing that
/// grows. Made for one consumer: a second ``next()`` while one waits ends the first.
final class Slot<Value: Sendable>: Sendable {
    private struct State {
        var newest: Change<Value>?
        /// The sequence number that comes next where none is dropped; nil before the first value.
        var expected: UInt64?
        var waiter: CheckedContinuation<Change<Value>?, any Error>?
        var ending: Ending?
    }

    private enum Ending {
        case over
        case failed(any Error)
    }

    private let state = Mutex(State())

    /// Hands over a value, or makes it the one that waits. Its caller sees to it that sequences rise.
    func put(_ sequence: UInt64, _ value: Value, _ encoding: SharedEncoding) {
        let (waiter, change) = state.withLock {
            state -> (CheckedContinuation<Change<Value>?, any Error>?, Change<Value>?) in
            guard state.ending == nil else { return (nil, nil) }
            let change = Change(
                sequence: sequence, value: value, overflowed: sequence != state.expected ?? sequence,
                encoding: encoding)
            guard let waiter = state.waiter else {
                if state.expected == nil { state.expected = sequence }
                state.newest = change
                return (nil, nil)
            }
            state.waiter = nil
            state.expected = sequence &+ 1
            return (waiter, change)
        }
        waiter?.resume(returning: change)
    }

    /// No more values come. One that waits is still handed out; then the end, or the error where there is one.
    func finish(_ failure: (any Error)? = nil) {
        let waiter = state.withLock { state in
            if state.ending == nil { state.ending = failure.map { .failed($0) } ?? .over }
            defer { state.waiter = nil }
            return state.waiter
        }
        if let failure { waiter?.resume(throwing: failure) } else { waiter?.resume(returning: nil) }
    }

    /// The newest value not taken yet, as soon as there is one; nil at the end, and when the task is cancelled.
    func next() async throws -> Change<Value>? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Change<Value>?, any Error>) in
                let (ready, replaced) = state.withLock { state in
                    let ready = Self.take(&state)
                    guard ready == nil else { return (ready, nil as CheckedContinuation<Change<Value>?, any Error>?) }
                    defer { state.waiter = continuation }
                    return (nil, state.waiter)
                }
                replaced?.resume(returning: nil)
                if let ready { continuation.resume(with: ready) }
            }
        } onCancel: {
            finish()
        }
    }

    private static func take(_ state: inout State) -> Result<Change<Value>?, any Error>? {
        if let newest = state.newest {
            state.newest = nil
            state.expected = newest.sequence &+ 1
            return .success(newest)
        }
        switch state.ending {
        case .over: return .success(nil)
        case .failed(let error): return .failure(error)
        case nil: return Task.isCancelled ? .success(nil) : nil
        }
    }
}

/// One consumer's tie to what it observes. When the last copy of its sequence goes, however it goes, the tie is cut:
/// the source holds the slot and not this, so nothing is left of a consumer that vanished.
final class Subscription<Value: Sendable>: Sendable {
    let slot: Slot<Value>
    private let leave: @Sendable () -> Void

    init(slot: Slot<Value>, leave: @escaping @Sendable () -> Void) {
        self.slot = slot
        self.leave = leave
    }

    deinit { leave() }
}
