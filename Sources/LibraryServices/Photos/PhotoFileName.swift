import Foundation
import LibraryModel
import ServiceMesh

/// How new photos' files are named.
package enum PhotoFileName {
    /// `IMG_YYYYMMDD_HHMMSS_<8 hex>.jpg`, by the date the photo was taken, else now; on the camera's clock, as cameras do.
    /// - Parameter fileExtension: with the dot.
    package static func new(takenAt: LocalDateTime?, fileExtension: String) -> StoredName {
        let clock = takenAt ?? LocalDateTime(here: .now())
        var seconds = time_t((Double(clock.milliseconds) / 1000).rounded(.down))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let suffix = String(UInt32.random(in: 0 ... .max), radix: 16)
        let numbers = [
            parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
        ]
        let texts = numbers.enumerated().map { index, number in padded(String(number), to: index == 0 ? 4 : 2) }
        let name = "IMG_\(texts[0...2].joined())_\(texts[3...5].joined())_\(padded(suffix, to: 8))\(fileExtension)"
        guard let stored = StoredName(.photos, name) else { preconditionFailure("an extension with a slash") }
        return stored
    }

    /// With the dot: the one of a file that is somebody else's where that says something harmless, else `.jpg`.
    package static func fileExtension(of name: String) -> String {
        guard let dot = name.lastIndex(of: ".") else { return ".jpg" }
        let letters = name[name.index(after: dot)...].lowercased()
        let isHarmless =
            (1...5).contains(letters.utf8.count)
            && letters.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0) }
        return isHarmless ? "." + letters : ".jpg"
    }

    private static func padded(_ digits: String, to count: Int) -> String {
        String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
