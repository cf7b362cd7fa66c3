import DateTexts

/// What PNG's own chunks say for people: texts under keywords, and when the picture was last changed.
struct PNGTexts {
    /// `Creation Time`.
    var creation: WrittenDate?
    /// tIME.
    var modified: WrittenDate?
    var description: String?

    /// - Parameter keyword: in lower case.
    mutating func add(_ keyword: String, _ text: String) {
        switch keyword {
        // ImageMagick's name for what it has found in EXIF comes after PNG's own.
        case "creation time": creation = WrittenDate(text) ?? creation
        case "exif:datetimeoriginal": creation = creation ?? WrittenDate(text)
        case "description": description = description ?? text
        default: break
        }
    }

    /// tIME is UTC, by the specification: a year of two bytes, then a byte each for month, day, hour, minute and second.
    mutating func add(time body: ByteView) {
        guard body.count == 7, modified == nil else { return }
        let parts = [Int(body.bigEndian16(at: 0))] + (2..<7).map { Int(body[$0]) }
        let digits = parts.map { ($0 < 10 ? "0" : "") + String($0) }
        let date = WrittenDate(
            digits[..<3].joined(separator: ":") + " " + digits[3...].joined(separator: ":"), offset: "+00:00")
        // A program writes all of it, or none.
        modified = date.flatMap { $0.precision < .day ? nil : $0 }
    }
}
