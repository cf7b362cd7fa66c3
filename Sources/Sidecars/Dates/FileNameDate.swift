import DateTexts

/// Reads the camera's clock from a file's name.
///
/// - `IMG-20190612-WA0007`, `VID-20190612-WA0001`, `2019-06-12`: only the day.
/// - `IMG_20190612_140533`, `20190612_140533`, `20190612140533`, `2019-06-12 14.05.33`, `2019-06-12-14-05-33`,
///   `Screenshot_20190612-140533_App`, `Screenshot 2019-06-12 at 2.05.33 PM`, `Imagen 2019-06-12 a las 14.05.33`,
///   `signal-2019-06-12-14-05-33-123`: the clock of the device.
/// - `1978-08-12 Grandma`, `19850623_scan`: the day that a person has called a scan by.
/// - `PXL_20190612_120533123`: UTC. Google's camera took the device's clock until it changed the prefix from IMG to
///   PXL: a picture taken in Japan at 10:26 on New Year's Day is called `PXL_20240101_012612027`
///   (andrewning/sortphotos, issue 158).
/// - `1560348333123`, `FB_IMG_1560348333123`, `mmexport1560348333123`: milliseconds since 1970 UTC.
///
/// What comes after (`(1)`, `~2`, `-edited`) changes nothing. Days written day first or month first (`12-06-2019`) are
/// not taken, because nobody can tell which is which; a year or a month alone is not, because any number could be one.
public enum FileNameDate {
    /// 1840-01-01. Of what was before there is no photograph to scan, and a number that would be an earlier date is something
    /// else.
    private static let firstMoment: Int64 = -4_102_444_800_000

    /// Nil where there is none, or one that cannot be: zeros, month 13, February 30, before 1840, more than a day after
    /// `now` (milliseconds since 1970 UTC). Digits inside longer numbers, or inside a UUID, are no date.
    /// - Parameter fileName: without its folder. What follows 1,024 bytes is not looked at; file systems end at 255.
    public static func date(in fileName: String, now: Int64) -> CaptureTime? {
        let text = DigitText(bytes: Array(fileName.utf8.prefix(1024)))
        let identifiers = text.identifiers
        let (latest, overflow) = now.addingReportingOverflow(86_400_000)
        let credible = firstMoment...(overflow ? .max : max(firstMoment, latest))
        var day: CaptureTime?
        var at = 0
        while at < text.bytes.count {
            let run = text.digits(at: at)
            if !identifiers.contains(where: { $0.contains(run.lowerBound) }),
                let found = FileNameScanner(text: text, run: run).found, credible.contains(found.milliseconds)
            {
                if found.precision > .day { return found }
                day = day ?? found
            }
            at = run.upperBound + 1
        }
        return day
    }
}

/// One number of a file's name, and whether a date begins with it.
private struct FileNameScanner {
    let text: DigitText
    /// All its digits; there is none before and after them.
    let run: Range<Int>

    /// A date that exists; whether it can be this picture's is not judged.
    var found: CaptureTime? {
        switch run.count {
        case 4: dashed
        case 8: compact
        case 13: unixMilliseconds
        case 14, 17: joined
        default: nil
        }
    }

    private enum Clock {
        case time(hour: Int, minute: Int, second: Int, millisecond: Int)
        /// What stands there is no time, so only the day is known.
        case none
        /// What stands there makes the day doubtful.
        case contradiction
    }

    /// `20190612`, and what follows.
    private var compact: CaptureTime? {
        guard beginsWord, endsWord(run.upperBound) || text[run.upperBound] == UInt8(ascii: "T") else { return nil }
        let clock = clock(after: run.upperBound, isCompact: true)
        // `537645323_20190612` is what Facebook calls a picture: numbers, one of which happens to look like a day.
        if case .none = clock, followsNumber(separators: "_-. ") { return nil }
        return time(
            year: text.number(run.lowerBound, 4), month: text.number(run.lowerBound + 4, 2),
            day: text.number(run.lowerBound + 6, 2), clock)
    }

    /// `2019-06-12`, also with dots and underscores, and what follows.
    private var dashed: CaptureTime? {
        let separator = text[run.upperBound]
        let end = run.upperBound + 6
        guard beginsWord, separator.map({ Array("-._".utf8).contains($0) }) == true,
            text[run.upperBound + 3] == separator, !text.isDigit(end),
            // `12-06-2019-01-02`: which of them is the year cannot be told.
            !followsNumber(separators: "-.")
        else { return nil }
        return time(
            year: text.number(run.lowerBound, 4), month: text.number(run.upperBound + 1, 2),
            day: text.number(run.upperBound + 4, 2), clock(after: end, isCompact: false))
    }

    /// `20190612140533`, also with milliseconds.
    private var joined: CaptureTime? {
        guard beginsWord, endsWord(run.upperBound) else { return nil }
        return time(
            year: text.number(run.lowerBound, 4), month: text.number(run.lowerBound + 4, 2),
            day: text.number(run.lowerBound + 6, 2),
            compactClock(run.lowerBound + 8, milliseconds: run.count == 17))
    }

    private var unixMilliseconds: CaptureTime? {
        let prefixes = ["", "fb_img_", "mmexport", "wx_camera_"]
        let before = text.bytes[..<run.lowerBound].map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
        guard prefixes.contains(where: { Array($0.utf8) == before }), endsWord(run.upperBound),
            text[run.lowerBound] != UInt8(ascii: "0"),
            // `1560348333123_4711_n` is an identifier.
            text[run.upperBound] != UInt8(ascii: "_"), let value = text.number(run.lowerBound, 13)
        else { return nil }
        return CaptureTime(milliseconds: Int64(value), clock: .universal)
    }

    private func time(year: Int?, month: Int?, day: Int?, _ clock: Clock) -> CaptureTime? {
        guard let year, let month, let day else { return nil }
        let date: WrittenDate? =
            switch clock {
            case .contradiction: nil
            case .none: WrittenDate(year: year, month: month, day: day)
            case .time(let hour, let minute, let second, let millisecond):
                WrittenDate(
                    year: year, month: month, day: day, hour: hour, minute: minute, second: second,
                    millisecond: millisecond)
            }
        let isUTC = text.bytes[..<run.lowerBound].suffix(4).elementsEqual("PXL_".utf8)
        return date.map { isUTC ? CaptureTime(universal: $0) : CaptureTime($0) }
    }

    /// The time that stands after a day which ends before `index`.
    private func clock(after index: Int, isCompact: Bool) -> Clock {
        guard let (start, half) = startOfClock(after: index, isCompact: isCompact) else { return .none }
        let digits = text.digits(at: start)
        switch digits.count {
        case 6: return compactClock(start, milliseconds: false)
        case 9: return compactClock(start, milliseconds: true)
        case 1, 2: return separatedClock(start, hour: digits, half)
        case 3, 4: return .none
        // A day in dashes is one whatever follows; eight digits before other long numbers are not.
        default: return isCompact ? .contradiction : .none
        }
    }

    private func compactClock(_ index: Int, milliseconds: Bool) -> Clock {
        guard let hour = text.number(index, 2), let minute = text.number(index + 2, 2),
            let second = text.number(index + 4, 2)
        else { return .contradiction }
        let fraction = milliseconds ? text.number(index + 6, 3) ?? 0 : 0
        return .time(hour: hour, minute: minute, second: second, millisecond: fraction)
    }

    private enum HalfOfDay { case forenoon, afternoon }

    /// What Chinese, Korean and Japanese put before the time.
    private static let halves: [(String, HalfOfDay)] = [
        ("上午", .forenoon), ("下午", .afternoon), ("오전", .forenoon), ("오후", .afternoon), ("午前", .forenoon),
        ("午後", .afternoon),
    ]

    /// Bytes of the words between a day and its time.
    private static let mostWords = 24

    /// The first digit behind one separator, or behind short words: ` at `, ` um `, ` a las `, ` kl. `, ` 下午`.
    private func startOfClock(after index: Int, isCompact: Bool) -> (start: Int, half: HalfOfDay?)? {
        guard let first = text[index] else { return nil }
        if Array(" _-.,T".utf8).contains(first), text.isDigit(index + 1) { return (index + 1, nil) }
        guard !isCompact, Array(" _-".utf8).contains(first), text[index + 1].map(DigitText.isLetter) == true else {
            return nil
        }
        var end = index + 1
        while end <= index + Self.mostWords, let byte = text[end], !DigitText.isDigit(byte),
            DigitText.isLetter(byte) || byte == first || byte == UInt8(ascii: ".")
        {
            end += 1
        }
        // Digits that follow a letter of ASCII are a part of its word.
        guard text.isDigit(end), let last = text[end - 1], last == first || last >= 0x80 else { return nil }
        let words = String(decoding: text.bytes[(index + 1)..<end], as: UTF8.self)
        return (end, Self.halves.first { words.contains($0.0) }?.1)
    }

    /// `14.05.33`, `14-05-33-123`, `2.05.33 PM`.
    private func separatedClock(_ start: Int, hour digits: Range<Int>, _ half: HalfOfDay?) -> Clock {
        let separator = text[digits.upperBound]
        let end = digits.upperBound + 6
        guard separator.map({ Array(".-_:".utf8).contains($0) }) == true, text[digits.upperBound + 3] == separator,
            !text.isDigit(end), var hour = text.number(start, digits.count),
            let minute = text.number(digits.upperBound + 1, 2), let second = text.number(digits.upperBound + 4, 2)
        else { return .none }
        if let half = halfOfDay(end) ?? half {
            guard (1...12).contains(hour) else { return .contradiction }
            hour = hour % 12 + (half == .afternoon ? 12 : 0)
        }
        var millisecond = 0
        if text[end] == UInt8(ascii: "-") || text[end] == UInt8(ascii: "."), text.digits(at: end + 1).count == 3 {
            millisecond = text.number(end + 1, 3) ?? 0
        }
        return .time(hour: hour, minute: minute, second: second, millisecond: millisecond)
    }

    /// By `AM` and `PM` at `index`, after a space if there is one: macOS puts U+202F there. Nil where neither stands.
    private func halfOfDay(_ index: Int) -> HalfOfDay? {
        var at = index
        for space in [" ", "\u{202F}", "\u{A0}"] where text.bytes.dropFirst(index).starts(with: space.utf8) {
            at += space.utf8.count
        }
        guard let letter = text[at].map({ $0 | 0x20 }), text[at + 1].map({ $0 | 0x20 }) == UInt8(ascii: "m"),
            endsWord(at + 2)
        else { return nil }
        return letter == UInt8(ascii: "p") ? .afternoon : letter == UInt8(ascii: "a") ? .forenoon : nil
    }

    /// Whether the number begins the name or follows a separator or a word: `IMG`, `P`, `BURST`. Letters that could be
    /// hexadecimal digits are part of an identifier.
    private var beginsWord: Bool {
        var start = run.lowerBound
        var isHexadecimal = true
        while let byte = text[start - 1], DigitText.isLetter(byte) {
            if byte | 0x20 > UInt8(ascii: "f") { isHexadecimal = false }
            start -= 1
        }
        return start == run.lowerBound || !isHexadecimal && !text.isDigit(start - 1)
    }

    private func endsWord(_ index: Int) -> Bool { !text.isAlphanumeric(index) }

    /// Whether a number stands before this one, with one separator between.
    private func followsNumber(separators: String) -> Bool {
        guard let before = text[run.lowerBound - 1] else { return false }
        return Array(separators.utf8).contains(before) && text.isDigit(run.lowerBound - 2)
    }
}
