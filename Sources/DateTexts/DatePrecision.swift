/// How far a date is known. What is known to the month says nothing of the day.
public enum DatePrecision: String, Codable, Sendable, CaseIterable, Comparable {
    case year, month, day, minute, second

    public static func < (left: DatePrecision, right: DatePrecision) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .year: 0
        case .month: 1
        case .day: 2
        case .minute: 3
        case .second: 4
        }
    }
}
