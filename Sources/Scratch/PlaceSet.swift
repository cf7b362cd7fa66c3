/// Places of a list, of which each takes one bit, up to the last one.
///
/// Rejected: Foundation's `IndexSet`, which keeps ranges: scattered places cost it sixteen bytes each, and time that grows with
/// their number to enter one.
package struct PlaceSet: Sendable {
    private var words: [UInt64] = []
    package private(set) var count = 0

    package init() {}

    package var isEmpty: Bool { count == 0 }

    package func contains(_ place: Int) -> Bool {
        place >> 6 < words.count && words[place >> 6] & (1 << UInt64(place & 63)) != 0
    }

    /// - Parameter place: 0 or more.
    /// - Returns: whether it was not there.
    @discardableResult package mutating func insert(_ place: Int) -> Bool {
        guard !contains(place) else { return false }
        while words.count <= place >> 6 { words.append(0) }
        words[place >> 6] |= 1 << UInt64(place & 63)
        count += 1
        return true
    }
}
