extension WrittenDate {
    /// Bytes of a text that are looked at. No program writes a longer date.
    private static let mostBytes = 64

    /// The forms that EXIF, XMP, PNG and mail write, and what programs make of them:
    ///
    /// - `2019:06:12 14:05:33`, `2019-06-12T14:05:33.123+02:00`, `2019/6/12 14:05`, `2019年06月12日 14時05分`, `20190612T140533`
    /// - `1978`, `1978-08`, `1978:08:00 00:00:00`, `1978:  :     :  :  `: as far as it goes
    /// - `Wed, 12 Jun 2019 14:05:33 +0000`, `Wed Jun 12 14:05:33 2019`, `June 12, 2019`
    ///
    /// A part that cannot be ends the date before it: hour 24 leaves the day, month 13 the year. Nil where there is not even a
    /// year; for a day that its month does not have, which makes both doubtful; and for days that begin with the day or the month
    /// in digits, because nobody can tell which is which.
    /// - Parameters:
    ///   - fraction: digits behind the seconds, where they are written elsewhere: `5` is half a second.
    ///   - offset: likewise `+02:00`; it counts where the text itself has none. An absurd one is none.
    public init?(_ text: String, fraction: String? = nil, offset: String? = nil) {
        var reader = DateReader(Array(text.utf8.prefix(Self.mostBytes)))
        reader.skipBlanks()
        guard let date = reader.isAtDigit ? reader.dateOfNumbers() : reader.dateOfWords() else { return nil }
        self = date
        if let offset, self.offset == nil, precision >= .minute {
            var reader = DateReader(Array(offset.utf8.prefix(Self.mostBytes)))
            reader.skipBlanks()
            self.offset = reader.offset()
        }
        if let fraction, millisecond == 0, precision == .second {
            var reader = DateReader(Array(fraction.utf8.prefix(Self.mostBytes)))
            reader.skipBlanks()
            setMillisecond(reader.fraction())
        }
    }

    /// IPTC's `YYYYMMDD`, of which month and day may be zeros, and `HHMMSS±HHMM`.
    public init?(iptc date: String, time: String?) {
        self.init(time.map { date + "T" + $0 } ?? date)
    }

    private mutating func setMillisecond(_ value: Int) {
        var date = WrittenDate(
            year: year, month: month, day: day, hour: hour, minute: minute, second: second, millisecond: value)
        date?.offset = offset
        self = date ?? self
    }
}

/// Reads a date from the bytes of a text, each once; never past the end.
struct DateReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private var isAtEnd: Bool { bytes[position...].allSatisfy { $0 <= 0x20 } }

    var isAtDigit: Bool { next.map(Self.isDigit) ?? false }

    mutating func skipBlanks() { while let next, next <= 0x20 { position += 1 } }

    // MARK: Numbers

    /// Year first, then what is there. With as many digits as no form has, it is another number.
    mutating func dateOfNumbers() -> WrittenDate? {
        switch run {
        case 4: return separated()
        case 8, 12, 14, 17: return compact()
        case 1, 2: return dateOfWords()
        default: return nil
        }
    }

    /// `2019-06-12 …`, with any signs between.
    private mutating func separated() -> WrittenDate? {
        guard let year = number(4), var date = WrittenDate(year: year) else { return nil }
        if let next, Self.isLetter(next) { return nil }
        skipSigns()
        guard run <= 2 else { return nil }
        guard let month = number(run), date.set(month: month) else { return date }
        skipSigns()
        guard run <= 2 else { return nil }
        guard let day = number(run), day > 0 else { return date }
        guard date.set(day: day) else { return nil }
        readTime(of: &date)
        return date
    }

    /// `20190612140533`, and IPTC's `20190612T140533`.
    private mutating func compact() -> WrittenDate? {
        let end = position + run
        guard let year = number(4), var date = WrittenDate(year: year) else { return nil }
        guard let month = number(2), date.set(month: month), position < end, let day = number(2), day > 0 else {
            return date
        }
        guard date.set(day: day) else { return nil }
        readTime(of: &date)
        return date
    }

    /// The signs between two parts of a date: any but digits and letters, and the words of Chinese and Japanese for year, month
    /// and day, which are no letters of ASCII.
    private mutating func skipSigns() {
        while let next, !Self.isDigit(next), !Self.isLetter(next) { position += 1 }
    }

    // MARK: Time

    /// The time behind the day, as far as it goes; then milliseconds, AM or PM, and an offset.
    private mutating func readTime(of date: inout WrittenDate) {
        if next == UInt8(ascii: "T") || next == UInt8(ascii: "t") { position += 1 } else { skipSigns() }
        guard let (clock, seconds) = time() else { return }
        let isSet = date.set(hour: clock.hour, minute: clock.minute)
        guard isSet else { return }
        if let seconds { _ = date.set(second: seconds.whole, millisecond: seconds.thousandths) }
        date.offset = offset()
    }

    /// Hour and minute, and where they follow, seconds. Nil where there is no such thing.
    private mutating func time() -> (clock: (hour: Int, minute: Int), seconds: (whole: Int, thousandths: Int)?)? {
        let digits = run
        guard var hour = number(digits <= 2 ? digits : 2) else { return nil }
        let sign = next
        if digits <= 2 { guard takeTimeSign() else { return nil } }
        guard let minute = number(digits <= 2 ? min(run, 2) : 2) else { return nil }
        var seconds: (whole: Int, thousandths: Int)?
        // Behind `14:05`, a dash begins an offset: `14:05-04:00`.
        let isOffset = next == UInt8(ascii: "-") && sign != UInt8(ascii: "-")
        if digits > 2 || !isOffset && takeTimeSign(), let whole = number(digits <= 2 ? min(run, 2) : 2) {
            seconds = (whole, 0)
            if digits > 6 || next == UInt8(ascii: ".") || next == UInt8(ascii: ",") {
                if !isAtDigit { position += 1 }
                seconds?.thousandths = fraction()
            }
        }
        switch halfOfDay() {
        case .afternoon where hour < 12: hour += 12
        case .forenoon where hour == 12: hour = 0
        default: break
        }
        return ((hour, minute), seconds)
    }

    /// What stands between hours, minutes and seconds. A blank does not: behind a day, `3 4` is no time.
    private mutating func takeTimeSign() -> Bool {
        guard let next else { return false }
        if [UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "h")].contains(next) {
            position += 1
            return true
        }
        let start = position
        while let next = self.next, next >= 0x80 { position += 1 }
        return position > start
    }

    private enum HalfOfDay { case forenoon, afternoon }

    private mutating func halfOfDay() -> HalfOfDay? {
        let start = position
        skipBlanks()
        switch word().lowercased() {
        case "am": return .forenoon
        case "pm": return .afternoon
        default:
            position = start
            return nil
        }
    }

    /// Thousandths. `5` is half a second, `05` a twentieth: digits behind the point, not a count.
    mutating func fraction() -> Int {
        var value = 0
        var scale = 100
        while let next, Self.isDigit(next) {
            value += Int(next - 0x30) * scale
            scale /= 10
            position += 1
        }
        return value
    }

    /// `Z`, `±HH:MM`, `±HHMM` or `±HH` in minutes, also behind `GMT` or `UTC`. Nil for what no zone has ever had.
    mutating func offset() -> Int? {
        skipBlanks()
        let name = word().lowercased()
        skipBlanks()
        guard let sign = next, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else {
            return ["z", "gmt", "utc"].contains(name) ? 0 : nil
        }
        position += 1
        // Three digits are thousandths behind a dash.
        guard [1, 2, 4].contains(run), let hours = number(min(run, 2)) else { return nil }
        if next == UInt8(ascii: ":") { position += 1 }
        let minutes = run >= 2 ? number(2) ?? 0 : 0
        guard minutes < 60, hours * 60 + minutes <= 16 * 60 else { return nil }
        return (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -1 : 1)
    }

    // MARK: Words

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

    /// `Wed, 12 Jun 2019 14:05:33 +0000` and the like: the month in English, the rest wherever it stands.
    mutating func dateOfWords() -> WrittenDate? {
        var year: Int?
        var month: Int?
        var day: Int?
        var clock: (clock: (hour: Int, minute: Int), seconds: (whole: Int, thousandths: Int)?)?
        var offset: Int?
        while let next {
            switch next {
            case UInt8(ascii: "+"), UInt8(ascii: "-"):
                if clock != nil, offset == nil { offset = self.offset() } else { position += 1 }
            case _ where Self.isLetter(next):
                let word = word().lowercased().prefix(3)
                if month == nil { month = Self.months.firstIndex(of: String(word)).map { $0 + 1 } }
                if clock != nil, ["gmt", "utc", "z"].contains(word), offset == nil { offset = 0 }
            case _ where Self.isDigit(next):
                let start = position
                let digits = run
                position += digits
                let isTime = digits <= 2 && self.next == UInt8(ascii: ":")
                position = start
                if isTime, clock == nil, let time = time() {
                    clock = time
                } else if digits == 4, year == nil {
                    year = number(4)
                } else if digits <= 2, day == nil {
                    day = number(digits)
                } else {
                    return nil
                }
            default: position += 1
            }
        }
        guard let year, let month, var date = WrittenDate(year: year), date.set(month: month), let day,
            date.set(day: day)
        else { return nil }
        if let clock, date.set(hour: clock.clock.hour, minute: clock.clock.minute) {
            if let seconds = clock.seconds { _ = date.set(second: seconds.whole, millisecond: seconds.thousandths) }
            date.offset = offset
        }
        return date
    }

    // MARK: Bytes

    /// How many digits stand here.
    private var run: Int { bytes[position...].prefix(while: Self.isDigit).count }

    /// So many digits; nil where there are fewer, or none are wanted.
    private mutating func number(_ count: Int) -> Int? {
        guard count > 0, run >= count else { return nil }
        defer { position += count }
        return bytes[position..<position + count].reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The letters that stand here.
    private mutating func word() -> String {
        let letters = bytes[position...].prefix(while: Self.isLetter)
        position += letters.count
        return String(decoding: letters, as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { byte >= 0x30 && byte <= 0x39 }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x7A }
}
