/// Portions of an archive's entries, each of entries that stand one behind the other: eight bytes for each portion.
package struct EntryRuns: Sendable {
    private var bounds: [UInt32] = []

    mutating func append(_ index: Int) {
        bounds.append(UInt32(index))
        bounds.append(UInt32(index + 1))
    }

    /// By one entry.
    mutating func extendLast() { bounds[bounds.count - 1] += 1 }
}

extension EntryRuns: RandomAccessCollection {
    package var startIndex: Int { 0 }
    package var endIndex: Int { bounds.count / 2 }
    package subscript(place: Int) -> Range<Int> { Int(bounds[2 * place])..<Int(bounds[2 * place + 1]) }
}
