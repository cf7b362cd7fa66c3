import CLinux
import Foundation
import ServiceMesh

/// A file with a line for each request of other machines, those under `/api/`, in the Common Log Format and with the milliseconds that
/// it took behind it:
///
/// ```
/// 192.168.1.7 - - [23/Nov/2026:18:20:01 +0000] "GET /api/groups HTTP/1.1" 200 512 3
/// ```
///
/// Tokens are in none: they are in a header, and addresses are written down without what stands behind a question mark. What
/// somebody of the house looks at on the page is nobody's concern, and is not in it either.
public final class AccessLog: Sendable {
    private let descriptor: Int32
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// - Parameter path: of the file; what it has is kept. For its owner's eyes where it is new.
    /// - Throws: `MeshError` with the status `failed_precondition`.
    public init(path: String) throws {
        descriptor = clinux_open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NOCTTY, 0o600)
        guard descriptor >= 0 else {
            throw MeshError(
                .failedPrecondition,
                "The access log \(path) cannot be written: \(String(cString: strerror(errno))). Choose another file.")
        }
    }

    deinit { close(descriptor) }

    /// The fields of one request that are written.
    struct Entry {
        let client: String
        /// Nil where the request could not be understood.
        let request: (method: String, path: String)?
        /// Nil where nobody was left to be answered.
        let status: Int?
        let bytes: UInt64
        let milliseconds: UInt64
    }

    /// A line that cannot be written is no reason to refuse the request.
    func note(_ entry: Entry, at time: Timestamp = .now()) {
        let line = Array(Self.line(entry, at: time).utf8)
        // By one call, so that lines of two threads do not mix.
        _ = line.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    }

    static func line(_ entry: Entry, at time: Timestamp) -> String {
        var (seconds, parts) = (time_t(time.milliseconds / 1_000), tm())
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : String(number) }
        let day = "\(two(parts.tm_mday))/\(months[Int(parts.tm_mon) % 12])/\(Int(parts.tm_year) + 1900)"
        let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map(two).joined(separator: ":")
        let request = entry.request.map { "\($0.method) \($0.path) HTTP/1.1" } ?? "-"
        let status = entry.status.map(String.init) ?? "-"
        return
            "\(entry.client.isEmpty ? "-" : entry.client) - - [\(day):\(clock) +0000] \"\(request)\" \(status) \(entry.bytes) \(entry.milliseconds)\n"
    }
}
