import ImageWorkerProtocol

/// As EXIF and XMP write it.
extension PicturePlace {
    /// Nil unless both are there. Exactly 0, 0 is what writers without a place leave behind.
    package init?(latitude: Double?, longitude: Double?) {
        guard let latitude, let longitude, latitude != 0 || longitude != 0 else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }

    enum Axis {
        case latitude, longitude

        private var letters: (positive: Character, negative: Character) { self == .latitude ? ("N", "S") : ("E", "W") }
        private var most: Double { self == .latitude ? 90 : 180 }

        /// Degrees with their sign: a wrong hemisphere is worse than none.
        /// - Parameters:
        ///   - value: as the picture has it, with a sign or without.
        ///   - reference: the hemisphere, as a letter of either case or a word; nil where the picture has none, and the sign
        ///     tells. One that is not understood, or contradicts the sign, gives no place.
        func degrees(_ value: Double, reference: String?) -> Double? {
            guard value.isFinite, abs(value) <= most else { return nil }
            guard let reference else { return value }
            switch reference.drop(while: \.isWhitespace).first.map({ $0.uppercased() }) {
            case String(letters.positive): return value >= 0 ? value : nil
            case String(letters.negative): return -abs(value)
            default: return nil
            }
        }

        /// XMP's `DDD,MM,SS` or `DDD,MM.mmm` with the hemisphere's letter behind it, or plain degrees.
        func degrees(_ text: String, reference: String?) -> Double? {
            let text = text.filter { !$0.isWhitespace }
            let letter = text.last.flatMap { $0.isLetter ? String($0) : nil }
            let number = letter == nil ? Substring(text) : text.dropLast()
            let isNegative = number.first == "-"
            let parts = number.drop { $0 == "-" || $0 == "+" }.split(separator: ",", omittingEmptySubsequences: false)
            guard (1...3).contains(parts.count) else { return nil }
            var value = 0.0
            for (part, unit) in zip(parts, [1.0, 60, 3600]) {
                guard part.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }), let number = Double(part),
                    unit == 1 || number < 60
                else { return nil }
                value += number / unit
            }
            return degrees(isNegative ? -value : value, reference: letter ?? reference)
        }
    }
}
