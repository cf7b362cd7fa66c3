/// Goes through a list, element by element, for who cannot be called with each: a merge of several, or a task that waits in between.
package struct SpooledWalk<Element: Codable & Sendable> {
    private static var portion: Int { 64 }

    private let list: SpooledList<Element>
    /// What was read and not handed out yet, the next one last.
    private var waiting: [Element] = []
    private var read = 0

    package init(_ list: SpooledList<Element>) { self.list = list }

    /// - Returns: nil behind the last one.
    package mutating func next() throws -> Element? {
        if waiting.isEmpty {
            let end = min(read + Self.portion, list.count)
            waiting = try list.elements(read..<end).reversed()
            read = end
        }
        return waiting.popLast()
    }
}

extension SpooledList {
    /// Elements that are sorted in memory together.
    private static var sortedTogether: Int { 1 << 16 }

    /// The same elements in another order.
    ///
    /// Portions of 65,536 are sorted in memory and merged, so that a list of any length takes the memory of one portion.
    package func sorted(
        in scratch: Scratch, by isBefore: (Element, Element) throws -> Bool
    ) throws -> SpooledList {
        var portions: [SpooledList] = []
        for start in stride(from: 0, to: count, by: Self.sortedTogether) {
            var spooler = Spooler(in: scratch)
            let elements = try elements(start..<min(start + Self.sortedTogether, count))
            for element in try elements.sorted(by: isBefore) { try spooler.append(element) }
            portions.append(try spooler.finish())
        }
        guard portions.count > 1 else { return portions.first ?? self }
        var walks = portions.map(SpooledWalk.init)
        // A heap of the next element of each, the first of all at its top.
        var heads: [(element: Element, walk: Int)] = []
        func settle(_ start: Int) throws {
            var place = start
            while true {
                var first = place
                for child in [2 * place + 1, 2 * place + 2] where child < heads.count {
                    if try isBefore(heads[child].element, heads[first].element) { first = child }
                }
                guard first != place else { return }
                heads.swapAt(first, place)
                place = first
            }
        }
        for place in walks.indices {
            if let element = try walks[place].next() { heads.append((element, place)) }
        }
        for place in heads.indices.reversed() { try settle(place) }
        var spooler = Spooler(in: scratch)
        while let head = heads.first {
            try spooler.append(head.element)
            if let next = try walks[head.walk].next() {
                heads[0].element = next
            } else {
                heads.swapAt(0, heads.count - 1)
                heads.removeLast()
            }
            if !heads.isEmpty { try settle(0) }
        }
        return try spooler.finish()
    }
}
