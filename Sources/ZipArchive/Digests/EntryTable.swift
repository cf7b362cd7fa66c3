/// What is known of entries, by their places in the archive. Most have a value, so that an array takes a third of the memory of
/// a dictionary: with 200,000 entries each of these tables counts.
package struct EntryTable<Value: Sendable>: Sendable {
    private var values: [Value?] = []

    package init() {}

    /// Reads nil outside of the archive as well; grows when it is written to.
    package subscript(index: Int) -> Value? {
        get { values.indices.contains(index) ? values[index] : nil }
        set {
            if index >= values.count {
                guard newValue != nil else { return }
                values.append(contentsOf: repeatElement(nil, count: index + 1 - values.count))
            }
            values[index] = newValue
        }
    }

    /// Forgets what is behind the first entries.
    package mutating func keepFirst(_ count: Int) {
        if values.count > count { values.removeLast(values.count - count) }
    }
}

extension EntryTable: Sequence {
    package func makeIterator() -> some IteratorProtocol<(index: Int, value: Value)> {
        values.lazy.enumerated().lazy.compactMap { index, value in value.map { (index: index, value: $0) } }
            .makeIterator()
    }
}

extension EntryTable: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (Int, Value)...) {
        for (index, value) in elements { self[index] = value }
    }
}
