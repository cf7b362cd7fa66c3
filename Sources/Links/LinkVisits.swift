import LibraryServices
import Synchronization

/// Visits that are good: each stands for a link's password for a day, and is one opening. They are in memory alone, so a restart ends
/// them, and each link has ``most``: who opens one again and again ends no other link's visits.
final class LinkVisits: Sendable {
    static let most = 512
    private static let bytes = 16
    /// Milliseconds.
    private static let lifetime: Int64 = 86_400_000

    /// By link, when each ends by the digest of its text.
    private let visits = Mutex([String: [String: Int64]]())

    func count(of link: String) -> Int { visits.withLock { $0[link]?.count ?? 0 } }

    /// - Parameter now: milliseconds on a clock that nobody can set.
    /// - Returns: the visit's text.
    func begin(of link: String, at now: Int64) -> String {
        let visit = BearerSecret.random(bytes: Self.bytes)
        visits.withLock { visits in
            var own = visits[link] ?? [:]
            if own.count >= Self.most { own = own.filter { $0.value > now } }
            if own.count >= Self.most, let oldest = own.min(by: { $0.value < $1.value }) { own[oldest.key] = nil }
            own[visit.digest] = now + Self.lifetime
            visits[link] = own
        }
        return visit.text
    }

    func isGood(_ text: String?, for link: String, at now: Int64) -> Bool {
        guard let text, let secret = BearerSecret(text, bytes: Self.bytes) else { return false }
        return visits.withLock { ($0[link]?[secret.digest] ?? .min) > now }
    }

    func end(link: String) { visits.withLock { $0[link] = nil } }
}
