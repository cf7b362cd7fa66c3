import Foundation
import LibraryModel
import ServiceMesh

/// Dates as people on this machine write and read them: in its time zone.
package enum LocalDate {
    /// The first moment of `2025-06-15` here, or the moment that a full RFC 3339 text names.
    package static func startOf(_ text: String) -> Timestamp? { moment(text) }

    private static func moment(_ text: String) -> Timestamp? {
        // The check that such a day exists is the timestamp's; only the time zone of a bare day is ours.
        guard let read = Timestamp(rfc3339: text) else { return nil }
        guard text.utf8.count == 10 else { return read }
        var seconds = time_t(read.milliseconds / 1000)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        // Ask the zone whether summer time holds then.
        parts.tm_isdst = -1
        return Timestamp(milliseconds: Int64(mktime(&parts)) * 1000)
    }

    /// `2025-06-15 12:00`, in this machine's zone.
    package static func text(_ moment: Timestamp) -> String {
        guard moment.rfc3339 != nil else { return String(moment.milliseconds) }
        var seconds = time_t((Double(moment.milliseconds) / 1000).rounded(.down))
        var parts = tm()
        localtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = String(parts.tm_year + 1900)
        return String(repeating: "0", count: max(0, 4 - year.count))
            + "\(year)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(two(parts.tm_hour)):\(two(parts.tm_min))"
    }

    /// Minutes that clocks here are ahead of UTC at a moment.
    package static func utcOffset(at moment: Timestamp = .now()) -> Int {
        var seconds = time_t(moment.milliseconds / 1000)
        var parts = tm()
        localtime_r(&seconds, &parts)
        return Int(parts.tm_gmtoff) / 60
    }

    /// `2025-06-15 14:05`, as the clock showed it, or as much of that as is known.
    package static func text(_ clock: LocalDateTime, _ precision: DatePrecision? = nil) -> String {
        clock.text(to: min(precision ?? .minute, .minute))
    }

    /// A photo's date in a list: with a `~` where it was guessed.
    package static func text(of photo: Photo) -> String {
        guard let clock = photo.takenAt else { return text(photo.createdAt) }
        return (photo.dateSource?.isGuess == true ? "~" : "") + text(clock, photo.datePrecision)
    }

    /// When it was taken, and how that is known; nil where it is not.
    package static func taken(_ photo: Photo) -> String? {
        guard let clock = photo.takenAt else { return nil }
        let source: String? =
            switch photo.dateSource {
            case .fileName: "guessed from the file's name"
            case .fileTime: "guessed from when the file was last written"
            case .person: "as somebody said"
            case .app: "as the phone app showed it"
            case .sidecar: "from the file beside it"
            case .gps: "from its GPS time"
            case .modified: "from when it was last saved"
            case .exif, .exifCreated, .xmp, .iptc, .film, .png, nil: nil
            }
        let zone = photo.takenOffset.map { offset in
            let (hours, minutes) = (abs(offset) / 60, abs(offset) % 60)
            return
                " (UTC\(offset < 0 ? "-" : "+")\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes))"
        }
        return text(clock, photo.datePrecision) + (zone ?? "") + (source.map { ", " + $0 } ?? "")
    }
}
