/// Properties of XMP that are no dates, as programs write them.
enum XMPValue {
    /// 0 to 5, also as `4.0`; without it, or where it is none, the percentage that Windows writes. -1 says that the
    /// picture is rejected, and is no rating whatever the percentage is.
    static func rating(_ stars: String?, percent: String?) -> Int? {
        let stars = stars.flatMap(number)
        if stars == -1 { return nil }
        if let stars, stars >= 0, stars <= 5 { return Int(stars.rounded()) }
        guard let percent = percent.flatMap(number), percent >= 0, percent <= 100 else { return nil }
        // Windows writes 1, 25, 50, 75 and 99, and takes what is between them for the nearest.
        return percent < 1 ? 0 : 1 + Int((percent / 25).rounded())
    }

    private static func number(_ text: String) -> Double? { Double(text.filter { !$0.isWhitespace }) }

    /// `png`, `PNG`, `.png`: without the dot; nil where nothing is left.
    static func fileExtension(_ text: String) -> String? {
        guard let line = SidecarText.line(text, limit: 100) else { return nil }
        return line.hasPrefix(".") ? SidecarText.line(line.dropFirst()) : line
    }

    /// Which way from the middle a number of degrees counts.
    enum Axis {
        case latitude, longitude

        fileprivate var positive: String { self == .latitude ? "north" : "east" }
        fileprivate var negative: String { self == .latitude ? "south" : "west" }

        /// Of `S`, `s` and `South`: -1. Nil for a word that says neither.
        fileprivate func sign(_ word: some StringProtocol) -> Double? {
            let word = word.lowercased()
            if word == positive || word == positive.prefix(1) { return 1 }
            return word == negative || word == negative.prefix(1) ? -1 : nil
        }
    }

    /// `48,9.00318N`, `48,9,0N`; also `48.15` and `-48.15`, which some programs write.
    ///
    /// - Parameter reference: the hemisphere in a property of its own, `S` or `South`, as Apple Photos and EXIF have it.
    ///   A letter at the value's end goes before it.
    /// - Returns: nil as well where a minus sign or the reference contradicts the rest, or the reference says nothing that
    ///   is understood: no place is better than one on the wrong half of the world.
    static func degrees(_ text: String?, _ reference: String?, _ axis: Axis) -> Double? {
        guard let text else { return nil }
        var digits = text.filter { !$0.isWhitespace }[...]
        var hemisphere: Double?
        if let sign = axis.sign(digits.suffix(1)) {
            hemisphere = sign
            digits.removeLast()
        } else if let reference {
            hemisphere = axis.sign(reference.filter { !$0.isWhitespace })
            guard hemisphere != nil else { return nil }
        }
        let parts = digits.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { Double($0) }
        guard (1...3).contains(parts.count), numbers.count == parts.count,
            numbers.dropFirst().allSatisfy({ $0 >= 0 && $0 < 60 }), parts.count == 1 || numbers[0] >= 0
        else { return nil }
        let value = zip(numbers, [1.0, 60, 3600]).reduce(0) { $0 + $1.0 / $1.1 }
        guard let hemisphere else { return value }
        // The sign may be there as well; it says the same or nothing is to be believed.
        return value < 0 && hemisphere > 0 ? nil : hemisphere * value.magnitude
    }
}
