/// Which known names are close to one that is not: for "did you mean".
enum EditDistance {
    /// At most three of `names`, the closest first: within a third of the name's length, or beginning with it.
    static func nearest(to name: String, among names: [String]) -> [String] {
        let wanted = Array(name.lowercased().utf8)
        let most = max(2, wanted.count / 3)
        return
            names
            .map { ($0, distance(wanted, Array($0.utf8))) }
            .filter { $0.1 <= most || (!name.isEmpty && $0.0.hasPrefix(name)) }
            .sorted { ($0.1, $0.0) < ($1.1, $1.0) }
            .prefix(3).map(\.0)
    }

    /// Levenshtein's distance in bytes.
    static func distance(_ one: [UInt8], _ other: [UInt8]) -> Int {
        var previous = Array(0...other.count)
        for (row, byte) in one.enumerated() {
            var current = [row + 1]
            for (column, candidate) in other.enumerated() {
                let replaced = previous[column] + (byte == candidate ? 0 : 1)
                current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
            }
            previous = current
        }
        return previous[other.count]
    }
}
