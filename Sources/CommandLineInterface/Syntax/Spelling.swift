/// Finds what a person may have meant.
package enum Spelling {
    /// The nearest candidate, or nil where none is near: as many slips as a third of the word's letters, one at
    /// least, or a candidate that begins with the word.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        // A word longer than any of ours is not a slip of one; the bound keeps the table below small.
        guard !word.isEmpty, word.count <= 64 else { return nil }
        let folded = word.lowercased()
        let ranked = candidates.map { ($0, distance(folded, $0.lowercased())) }
        if let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(1, word.count / 3) { return best.0 }
        return folded.count >= 2 ? candidates.first { $0.lowercased().hasPrefix(folded) } : nil
    }

    /// The end of a sentence: `. Did you mean 'photos'?`, or the full stop alone.
    package static func suggestion(for word: String, among candidates: [String], prefix: String = "") -> String {
        nearest(to: word, among: candidates).map { ". Did you mean '\(prefix)\($0)'?" } ?? "."
    }

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
    package static func distance(_ left: String, _ right: String) -> Int {
        let (a, b) = (Array(left), Array(right))
        guard !a.isEmpty, !b.isEmpty else { return max(a.count, b.count) }
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 1...a.count {
            var row = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                let replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                row[j] = min(last[j] + 1, row[j - 1] + 1, replaced)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    row[j] = min(row[j], beforeLast[j - 2] + 1)
                }
            }
            (beforeLast, last) = (last, row)
        }
        return last[b.count]
    }
}
