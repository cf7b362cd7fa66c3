import DateTexts

/// A month or a day of a camera's clock: which it is, and its milliseconds from the first to before the next.
///
/// A date may be any integer.
package struct CalendarSpan: Hashable, Sendable {
    /// `2025-06` or `2025-06-15`.
    package let name: String
    /// Milliseconds since 1970 on that clock; the last span of all ends one too early.
    package let start: Int64
    package let end: Int64

    private static let dayLength: Int64 = 86_400_000

    /// The day of a date.
    package static func day(of milliseconds: Int64) -> CalendarSpan {
        let day = number(of: milliseconds)
        let (year, month, date) = DayNumber.date(day)
        return CalendarSpan(name: "\(name(year, month))-\(two(date))", from: day, to: day + 1)
    }

    /// The month of a date.
    package static func month(of milliseconds: Int64) -> CalendarSpan {
        let (year, month, _) = DayNumber.date(number(of: milliseconds))
        return CalendarSpan(year: year, month: month)
    }

    /// A month by its name; nil for any other text.
    package static func month(named text: String) -> CalendarSpan? {
        guard let dash = text.lastIndex(of: "-"), text.utf8.count <= 12,
            text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-") }),
            let year = Int64(text[..<dash]), let month = Int64(text[text.index(after: dash)...]),
            (1...12).contains(month)
        else { return nil }
        let span = CalendarSpan(year: year, month: month)
        return span.name == text ? span : nil
    }

    private init(year: Int64, month: Int64) {
        self.init(
            name: Self.name(year, month), from: DayNumber.of(year, month, 1),
            to: month == 12 ? DayNumber.of(year + 1, 1, 1) : DayNumber.of(year, month + 1, 1))
    }

    private init(name: String, from first: Int64, to next: Int64) {
        self.name = name
        start = Self.milliseconds(first)
        end = Self.milliseconds(next)
    }

    private static func milliseconds(_ day: Int64) -> Int64 {
        let (product, overflow) = day.multipliedReportingOverflow(by: dayLength)
        return overflow ? (day < 0 ? .min : .max) : product
    }

    /// Days since 1970-01-01.
    private static func number(of milliseconds: Int64) -> Int64 {
        milliseconds / dayLength - (milliseconds % dayLength < 0 ? 1 : 0)
    }

    private static func name(_ year: Int64, _ month: Int64) -> String {
        let digits = String(year.magnitude)
        let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
        return "\(year < 0 ? "-" : "")\(zeros)\(digits)-\(two(month))"
    }

    private static func two(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// How many photos a span has, and where pages may begin within it.
package struct PhotoSpan: Sendable, Equatable {
    package let span: CalendarSpan
    package let count: Int
    /// The photos before which the next thousand stands, each the last one of a thousand; of days only.
    package let anchors: [PhotoPlace]

    package init(_ span: CalendarSpan, count: Int, anchors: [PhotoPlace] = []) {
        self.span = span
        self.count = count
        self.anchors = anchors
    }
}
