import Synchronization

/// How an operation came back to its client.
public enum OperationOutcome<Output: Sendable>: Sendable {
    /// With an answer, or with a refusal that says something about the state.
    case returned(Output)
    /// Without any effect, for a reason that says nothing about the state (the queue was full).
    case refused
    /// Cancelled or failed in between: it may have happened before it came back, and cannot any more.
    case perhaps
    /// It has not come back, or only a lost connection has: it may happen at any time, or never.
    case pending
}

/// An operation that a client called and that came back, or not.
public struct RecordedOperation<Input: Sendable, Output: Sendable>: Sendable {
    public let client: Int
    public let input: Input
    public internal(set) var outcome: OperationOutcome<Output>
    /// Positions in the order of all calls and returns; `Int.max` for one that has not returned.
    public let called: Int
    public internal(set) var returned: Int

    public init(client: Int, input: Input, outcome: OperationOutcome<Output>, called: Int, returned: Int) {
        self.client = client
        self.input = input
        self.outcome = outcome
        self.called = called
        self.returned = returned
    }
}

/// What clients asked through a public API and what they were told, in the order in which they saw it: the material
/// for ``Linearizability``. It may be filled from any thread.
public final class History<Input: Sendable, Output: Sendable>: Sendable {
    public typealias Operation = RecordedOperation<Input, Output>

    private struct State {
        var operations: [Operation] = []
        var events = 0
    }

    private let state = Mutex(State())
    private let simulation: Simulation?

    /// - Parameter simulation: whose trace notes each call and return.
    public init(in simulation: Simulation? = nil) { self.simulation = simulation }

    /// Performs an operation and records it; one whose closure throws counts as `perhaps`.
    @discardableResult
    public func record(
        _ input: Input, by client: Int, _ perform: () async throws -> OperationOutcome<Output>
    ) async -> OperationOutcome<Output> {
        let index = state.withLock { state in
            state.events += 1
            state.operations.append(
                Operation(client: client, input: input, outcome: .pending, called: state.events, returned: .max))
            return state.operations.count - 1
        }
        simulation?.countOperation()
        simulation?.note("\(client) → \(input)")
        let outcome: OperationOutcome<Output>
        do { outcome = try await perform() } catch { outcome = .perhaps }
        state.withLock { state in
            state.events += 1
            state.operations[index].outcome = outcome
            if case .pending = outcome { return }
            state.operations[index].returned = state.events
        }
        simulation?.note("\(client) ← \(outcome)")
        return outcome
    }

    /// In the order of their calls.
    public var operations: [Operation] { state.withLock { $0.operations } }
}
