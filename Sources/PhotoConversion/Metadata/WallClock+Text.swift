extension WallClock {
    /// A date as programs write it in free text: that of mail and the web (RFC 1123, `Wed, 12 Jun 2019 14:05:33 +0000`) with
    /// or without its day of the week, time and zone, C's (`Wed Jun 12 14:05:33 2019`), EXIF's and ISO 8601's. Months have
    /// English names.
    init?(text: String) {
        let words = text.split { $0 == " " || $0 == "," || $0.isNewline || $0 == "\t" }
        let parts = words.flatMap { word in
            // A day with its month and year in one word: 12-Jun-2019.
            word.first?.isNumber == true && word.contains(where: \.isLetter) && word.contains("-")
                ? word.split(separator: "-") : [word]
        }
        guard let name = parts.firstIndex(where: { Self.month($0) != nil }), let month = Self.month(parts[name]) else {
            self.init(xmp: text)
            return
        }
        let numbers = parts.filter { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
        guard let day = numbers.first(where: { $0.utf8.count <= 2 }),
            let year = numbers.first(where: { $0.utf8.count == 4 })
        else { return nil }
        let date = "\(year):\(month):\(day.utf8.count == 1 ? "0" : "")\(day)"
        guard let time = parts.first(where: { $0.contains(":") && $0.first?.isNumber == true }) else {
            self.init(xmp: date)
            return
        }
        let zone = parts.last { ["+", "-"].contains($0.first) || ["GMT", "UTC", "Z"].contains($0) }
        self.init(
            exif: "\(date) \(time)", fraction: nil, offset: zone.map { ["GMT", "UTC"].contains($0) ? "Z" : String($0) })
    }

    /// As two digits; nil for what is no month's name, in full or its first three letters.
    private static func month(_ word: Substring) -> String? {
        let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
        guard word.count >= 3, word.allSatisfy(\.isLetter),
            let index = names.firstIndex(of: word.prefix(3).lowercased())
        else { return nil }
        return index < 9 ? "0\(index + 1)" : "\(index + 1)"
    }
}
