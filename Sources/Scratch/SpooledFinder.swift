import Synchronization

/// An index that is made once it is asked for: for lists that are nearly always compared in their own order.
package final class DeferredIndex<Element: Codable & Sendable>: Sendable {
    package let list: SpooledList<Element>
    fileprivate let text: @Sendable (Element) -> String?
    private let made = Mutex<SpooledIndex<Element>?>(nil)

    /// - Parameters: as ``SpooledIndex`` has them.
    package init(_ list: SpooledList<Element>, by text: @escaping @Sendable (Element) -> String?) {
        (self.list, self.text) = (list, text)
    }

    /// The first one that asks waits until it is made, and so do others meanwhile.
    package func index() throws -> SpooledIndex<Element> {
        try made.withLock { made in
            if let made { return made }
            let index = try SpooledIndex(list, by: text)
            made = index
            return index
        }
    }
}

/// Finds the elements of a list by a text, for one who asks for them in about the order in which they stand: two lists of one order
/// are compared as they are read, and an index is made where something else is asked for.
///
/// For lists in which no two elements have the same text: of two that have, either may be found.
///
/// Rejected: an index alone. To find each of 200,000 files by it took four times as long as to read the list, and ten times as
/// long once the list lay in a file.
package struct SpooledFinder<Element: Codable & Sendable> {
    /// Elements that are read at once, and elements that may be passed over before the index is asked, at most.
    private static var portion: Int { 64 }
    private static var reach: Int { 16 }

    private let index: DeferredIndex<Element>
    private var list: SpooledList<Element> { index.list }
    /// What was read last, and where in the list that begins.
    private var read: [Element] = []
    private var start = 0
    /// The place of the one that is expected.
    private var next = 0
    /// Elements that are read at once: few while something else is asked for than what comes next, which then costs little.
    private var portion = Self.portion

    /// - Parameter place: of about the first one that is asked for.
    package init(_ index: DeferredIndex<Element>, from place: Int = 0) {
        (self.index, next) = (index, min(place, index.list.count))
    }

    package init(_ list: SpooledList<Element>, by text: @escaping @Sendable (Element) -> String?) {
        index = DeferredIndex(list, by: text)
    }

    /// An element that has a text, and its place; nil where none has it.
    package mutating func find(_ wanted: String) throws -> (place: Int, element: Element)? {
        for place in next..<min(next + min(portion, Self.reach), list.count) {
            let element = try element(at: place)
            guard index.text(element) == wanted else { continue }
            next = place + 1
            portion = min(2 * portion, Self.portion)
            return (place, element)
        }
        guard let found = try index.index().find(wanted) else { return nil }
        next = found.place + 1
        portion = 1
        return found
    }

    private mutating func element(at place: Int) throws -> Element {
        if !(start..<start + read.count).contains(place) {
            read = try list.elements(place..<min(place + portion, list.count))
            start = place
        }
        return read[place - start]
    }
}

extension SpooledList {
    /// The place of the first element whose text an earlier one has already; nil where each has one of its own. As an index finds
    /// it, in a third of the time where there is none: hashes are compared, eight bytes for each element, and no element is read
    /// twice.
    package func firstRepeated(by text: @escaping @Sendable (Element) -> String?) throws -> Int? {
        var hashes: [Int] = []
        hashes.reserveCapacity(count)
        try concurrently(self) {
            text($0)?.hashValue
        } take: { hash in
            if let hash { hashes.append(hash) }
        }
        // Two texts of one hash are rare, and told apart by the index.
        return hashes.hasRepeated ? try SpooledIndex(self, by: text).firstRepeated : nil
    }
}

extension [Int] {
    /// Whether any two are equal. Sorts them.
    package var hasRepeated: Bool {
        mutating get {
            sort()
            return zip(self, dropFirst()).contains { $0 == $1 }
        }
    }
}
