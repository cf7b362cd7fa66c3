/// The depth-first search of ``Linearizability``.
struct LinearizationSearch<Model: SequentialModel> {
    typealias Operation = RecordedOperation<Model.Input, Model.Output>

    private struct Node: Hashable {
        var done: BitSet
        let state: Model.State
    }

    /// One choice on the way: which operation came next, and from where the search goes on when that leads nowhere.
    private struct Step {
        let node: Node
        let candidates: [Int]
        var tried = 0
        /// The latest call among the operations done: what returned before it cannot come any more.
        let latestCall: Int
    }

    private let operations: [Operation]
    private let model: Model
    /// Operations that certainly happened; the others may be left out.
    private let certain: BitSet
    private var visited: Set<Node> = []

    init(_ history: [Operation], _ model: Model) {
        operations = history.filter { if case .refused = $0.outcome { false } else { true } }
            .sorted { $0.called < $1.called }
        self.model = model
        var certain = BitSet(count: operations.count)
        for (index, operation) in operations.enumerated() {
            if case .returned = operation.outcome { certain.insert(index) }
        }
        self.certain = certain
    }

    mutating func run() throws {
        let start = Node(done: BitSet(count: operations.count), state: model.initial)
        var path = [step(from: start, latestCall: 0)]
        var order: [Int] = []
        var longest: (order: [Int], step: Step) = ([], path[0])
        visited.insert(start)
        while var step = path.popLast() {
            if step.node.done.isSuperset(of: certain) { return }
            guard step.tried < step.candidates.count else {
                if !order.isEmpty { order.removeLast() }
                continue
            }
            let index = step.candidates[step.tried]
            step.tried += 1
            let operation = operations[index]
            path.append(step)
            guard let state = model.apply(operation.input, answering: operation.output, to: step.node.state) else {
                continue
            }
            // One whose answer nobody saw explains nothing where it changes nothing: left out, it halves the search.
            if operation.output == nil && state == step.node.state { continue }
            var node = Node(done: step.node.done, state: state)
            node.done.insert(index)
            guard visited.insert(node).inserted else { continue }
            guard visited.count <= Linearizability.maximumVisited else {
                throw LinearizabilityUndecided(visited: visited.count)
            }
            order.append(index)
            path.append(self.step(from: node, latestCall: max(step.latestCall, operation.called)))
            if order.count > longest.order.count { longest = (order, path[path.count - 1]) }
        }
        throw LinearizabilityViolation(
            explained: longest.order.map { describe(operations[$0]) }, state: "\(longest.step.node.state)",
            unexplained: longest.step.candidates.map { describe(operations[$0]) })
    }

    /// The operations that may come next: called before any certain one that is left has returned, and themselves not
    /// returned before one that is done was called. Those with an answer come first, for a search that seldom errs.
    private func step(from node: Node, latestCall: Int) -> Step {
        var firstReturn = Int.max
        for index in operations.indices where certain.contains(index) && !node.done.contains(index) {
            firstReturn = min(firstReturn, operations[index].returned)
        }
        var sure: [Int] = []
        var unsure: [Int] = []
        for index in operations.indices {
            let operation = operations[index]
            if operation.called > firstReturn { break }
            if node.done.contains(index) || operation.returned < latestCall { continue }
            if certain.contains(index) { sure.append(index) } else { unsure.append(index) }
        }
        return Step(node: node, candidates: sure + unsure, latestCall: latestCall)
    }

    private func describe(_ operation: Operation) -> String {
        let end = operation.returned == .max ? "…" : "\(operation.returned)"
        return "[\(operation.called), \(end)] \(operation.client): \(operation.input) → \(operation.outcome)"
    }
}

extension RecordedOperation {
    fileprivate var output: Output? {
        if case .returned(let output) = outcome { output } else { nil }
    }
}

/// A set of small numbers.
private struct BitSet: Hashable {
    private var words: [UInt64]

    init(count: Int) { words = Array(repeating: 0, count: (count + 63) / 64) }

    func contains(_ index: Int) -> Bool { words[index >> 6] & (1 << UInt64(index & 63)) != 0 }
    mutating func insert(_ index: Int) { words[index >> 6] |= 1 << UInt64(index & 63) }

    func isSuperset(of other: BitSet) -> Bool {
        for index in words.indices where words[index] & other.words[index] != other.words[index] { return false }
        return true
    }
}
