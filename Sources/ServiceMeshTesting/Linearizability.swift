/// What a part does when it is asked one thing at a time: what its concurrent history is compared with.
public protocol SequentialModel: Sendable {
    associatedtype State: Hashable & Sendable
    associatedtype Input: Sendable
    associatedtype Output: Sendable

    var initial: State { get }

    /// The state after `input`, or nil where it cannot have had the answer `output` in `state`.
    /// - Parameter output: nil for an operation whose answer nobody saw: it is to be done, and anything is right. One
    ///   that is refused in `state` leaves it as it is.
    func apply(_ input: Input, answering output: Output?, to state: State) -> State?
}

/// Decides whether a history is linearizable: whether each operation can have happened at one moment between its
/// call and its return, so that all answers are those of a sequential model.
///
/// Wing and Gong's search with Lowe's memory: from the operations that no other one has to precede, one is chosen as
/// the next; a set of operations done and the state they led to is looked at once. Exponential at worst, and quick for
/// histories of some hundred operations whose calls overlap a few at a time; `pending` ones overlap all that follows, so
/// keep those few. Histories over independent keys are
/// checked for each key (`check(_:against:by:)`), which is sound because linearizability is local (Herlihy and Wing).
public enum Linearizability {
    /// Sets of operations and states that are looked at before the search gives up: some 200 MB, and about ten seconds
    /// in a debug build.
    public static let maximumVisited = 300_000

    /// - Throws: ``LinearizabilityViolation``; ``LinearizabilityUndecided`` after `maximumVisited`.
    public static func check<Model: SequentialModel>(
        _ history: [RecordedOperation<Model.Input, Model.Output>], against model: Model
    ) throws {
        var search = LinearizationSearch(history, model)
        try search.run()
    }

    /// As ``check(_:against:)``, for each key on its own.
    public static func check<Model: SequentialModel, Key: Hashable>(
        _ history: [RecordedOperation<Model.Input, Model.Output>], against model: Model,
        by key: (Model.Input) -> Key
    ) throws {
        var keys: [Key] = []
        var parts: [Key: [RecordedOperation<Model.Input, Model.Output>]] = [:]
        for operation in history {
            let key = key(operation.input)
            if parts[key] == nil { keys.append(key) }
            parts[key, default: []].append(operation)
        }
        // In the order of the history, so that the same history always shows the same violation.
        for key in keys { try check(parts[key] ?? [], against: model) }
    }
}

/// No order of a history's operations explains the answers.
public struct LinearizabilityViolation: Error, Sendable, CustomStringConvertible {
    /// The longest order that was found, in words.
    public let explained: [String]
    /// The state that it leads to, in words.
    public let state: String
    /// The operations that would have to come next, none of which can, in words.
    public let unexplained: [String]

    public var description: String {
        """
        Not linearizable. In this order the answers are right:
          \(explained.suffix(40).joined(separator: "\n  "))
        It leads to \(state), after which none of these can have been answered so:
          \(unexplained.joined(separator: "\n  "))
        """
    }
}

/// The search was given up: the history has too many operations at the same time.
public struct LinearizabilityUndecided: Error, Sendable, CustomStringConvertible {
    public let visited: Int
    public var description: String {
        "Undecided after \(visited) sets of operations. Record shorter histories, fewer clients, or split them by key."
    }
}
