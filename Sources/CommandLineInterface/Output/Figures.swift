/// Numbers as people read them.
package enum Figures {
    /// `0 B`, `999 B`, `12.3 KB`, `4.5 MB`: powers of 1000, one decimal below 100.
    package static func size(_ bytes: Int64) -> String { size(Double(bytes)) }

    package static func size(_ bytes: Double) -> String {
        let units = ["B", "KB", "MB", "GB", "TB", "PB"]
        var value = bytes.isFinite ? max(0, bytes) : 0
        var unit = 0
        // From 999.5 on `decimal` would round to 1000.
        while value >= (unit == 0 ? 1000 : 999.5), unit < units.count - 1 {
            value /= 1000
            unit += 1
        }
        return (unit == 0 ? String(Int64(value)) : decimal(value)) + " " + units[unit]
    }

    /// One decimal below 100, none above.
    package static func decimal(_ value: Double) -> String {
        guard value.isFinite, abs(value) < 1e15 else { return "?" }
        let tenths = Int64((value * 10).rounded())
        return abs(tenths) < 1000 ? "\(tenths / 10).\(abs(tenths % 10))" : String(Int64(value.rounded()))
    }

    /// `1 photo`, `2 photos`, `0 photos`; `many` where the plural is not the word with an s.
    package static func count(_ number: some BinaryInteger, _ one: String, _ many: String? = nil) -> String {
        "\(number) \(number == 1 ? one : many ?? one + "s")"
    }

    /// `0:05`, `12:34`, `1:02:03`; `?` past a thousand hours.
    package static func duration(seconds: Double) -> String {
        guard seconds.isFinite, seconds >= 0, seconds < 3_600_000 else { return "?" }
        let whole = Int(seconds.rounded(.up))
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let (hours, minutes) = (whole / 3600, whole / 60 % 60)
        return hours > 0 ? "\(hours):\(two(minutes)):\(two(whole % 60))" : "\(minutes):\(two(whole % 60))"
    }
}
