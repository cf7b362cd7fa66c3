import Synchronization

/// Tokens of members that the daemon has known lately, by which members are told from strangers before the daemon is asked again. They
/// are in memory and nowhere else. The daemon says each time what a member may do, and whether it still may do anything.
final class KnownTokens: Sendable {
    /// Nanoseconds. A member's machine asks every quarter of an hour, and a little more by chance.
    static let lifetime: UInt64 = 1_800_000_000_000
    /// Past it the tokens that were not seen for long are forgotten, and then all.
    private static let most = 4_096

    private let seen = Mutex([String: UInt64]())

    func contains(_ token: String, now: UInt64) -> Bool {
        seen.withLock { seen in
            guard let time = seen[token] else { return false }
            return now &- time < Self.lifetime
        }
    }

    /// Notes that the daemon has known a token.
    /// - Returns: whether it was none of these.
    func insert(_ token: String, now: UInt64) -> Bool {
        seen.withLock { seen in
            let before = seen.updateValue(now, forKey: token)
            if seen.count > Self.most { seen = seen.filter { now &- $0.value < Self.lifetime } }
            if seen.count > Self.most { seen = [token: now] }
            return before.map { now &- $0 >= Self.lifetime } ?? true
        }
    }

    /// Notes that the daemon does not know it.
    /// - Returns: whether it was one of these.
    func remove(_ token: String) -> Bool { seen.withLock { $0.removeValue(forKey: token) != nil } }
}
