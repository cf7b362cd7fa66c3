/// Some of an archive's entries, by their places: one bit for each entry.
package struct EntrySet: Sendable, Hashable {
    /// None of the last ones is zero, so that equal sets have equal words.
    private var words: [UInt64] = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package func contains(_ index: Int) -> Bool {
        index >> 6 < words.count && words[index >> 6] & 1 << UInt64(index & 63) != 0
    }

    package mutating func insert(_ index: Int) {
        if index >> 6 >= words.count {
            words.append(contentsOf: repeatElement(0, count: (index >> 6) + 1 - words.count))
        }
        if words[index >> 6] & 1 << UInt64(index & 63) == 0 { count += 1 }
        words[index >> 6] |= 1 << UInt64(index & 63)
    }

    package mutating func remove(_ index: Int) {
        guard contains(index) else { return }
        words[index >> 6] &= ~(1 << UInt64(index & 63))
        count -= 1
        while words.last == 0 { words.removeLast() }
    }
}

extension EntrySet: ExpressibleByArrayLiteral {
    package init(arrayLiteral elements: Int...) { for index in elements { insert(index) } }
}
