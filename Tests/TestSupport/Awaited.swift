import Synchronization

/// A value that others change and a test waits for, without time.
public final class Awaited<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var last: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
    }

    private let state: Mutex<State>

    public init(_ value: Value) { state = Mutex(State(value: value)) }

    public var value: Value { state.withLock { $0.value } }

    /// Changes the value, and lets all go on who wait for what it is now.
    @discardableResult
    public func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        let (result, met) = state.withLock { state in
            let result = body(&state.value)
            let value = state.value
            let met = state.waiters.filter { $0.value.condition(value) }
            for id in met.keys { state.waiters[id] = nil }
            return (result, met.values.map(\.continuation))
        }
        for continuation in met { continuation.resume() }
        return result
    }

    /// Returns once the value meets the condition. One that never does is found by the suite's time limit, which cancels the test.
    public func meets(_ condition: @escaping @Sendable (Value) -> Bool) async {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isMet = state.withLock { state in
                    if Task.isCancelled || condition(state.value) { return true }
                    state.waiters[id] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isMet { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume()
        }
    }
}
