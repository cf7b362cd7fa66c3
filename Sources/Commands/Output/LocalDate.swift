import Foundation
import ServiceMesh

/// Dates as people on this machine write and read them: in its time zone.
enum LocalDate {
    /// The first moment of `2025-06-15` here, or the moment that a full RFC 3339 text names.
    static func startOf(_ text: String) -> Timestamp? { moment(text, daysOn: 0) }

    /// The last millisecond of `2025-06-15` here, or the moment that a full RFC 3339 text names.
    static func endOf(_ text: String) -> Timestamp? {
        guard text.utf8.count == 10 else { return startOf(text) }
        return moment(text, daysOn: 1).map { Timestamp(milliseconds: $0.milliseconds - 1) }
    }

    private static func moment(_ text: String, daysOn: Int32) -> Timestamp? {
        // The check that such a day exists is the timestamp's; only the time zone of a bare day is ours.
        guard let read = Timestamp(rfc3339: text) else { return nil }
        guard text.utf8.count == 10 else { return read }
        var seconds = time_t(read.milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        parts.tm_mday += daysOn
        // Ask the zone whether summer time holds then.
        parts.tm_isdst = -1
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1000)
    }

    /// `2025-06-15 12:00`, in this machine's zone.
    static func text(_ moment: Timestamp) -> String {
        guard moment.rfc3339 != nil else { return String(moment.milliseconds) }
        var seconds = time_t((Double(moment.milliseconds) / 1000).rounded(.down))
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = String(parts.tm_year + 1900)
        return String(repeating: "0", count: max(0, 4 - year.count))
            + "\(year)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(two(parts.tm_hour)):\(two(parts.tm_min))"
    }
}
