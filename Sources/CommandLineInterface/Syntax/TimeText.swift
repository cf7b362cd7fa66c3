/// Spans of time as people write them.
package enum TimeText {
    private static let units: [Character: Int64] = ["d": 86_400_000, "h": 3_600_000, "m": 60_000, "s": 1000]

    /// `1h`, `+1h30m`, `-2d`: milliseconds; a hundred years at most.
    package static func shift(_ text: String) -> Int64? {
        var rest = text[...]
        let isBackwards = rest.first == "-"
        if isBackwards || rest.first == "+" { rest.removeFirst() }
        var sum: Int64 = 0
        guard !rest.isEmpty else { return nil }
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            guard digits.count <= 9, let count = Int64(digits), let unit = rest.first.flatMap({ units[$0] }) else {
                return nil
            }
            rest.removeFirst()
            sum += count * unit
            guard sum <= 36_525 * 86_400_000 else { return nil }
        }
        return isBackwards ? -sum : sum
    }

    /// `+02:00`, `-3:30`, `2`, `0`: minutes; 16 hours at most.
    package static func offset(_ text: String) -> Int? {
        var rest = text[...]
        let isBehind = rest.first == "-"
        if isBehind || rest.first == "+" { rest.removeFirst() }
        let parts = rest.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ (1...2).contains($0.utf8.count) }),
            let hours = Int(parts[0]), let minutes = parts.count == 2 ? Int(parts[1]) : 0,
            hours >= 0, (0..<60).contains(minutes), hours * 60 + minutes <= 960
        else { return nil }
        return (hours * 60 + minutes) * (isBehind ? -1 : 1)
    }
}
