import Synchronization

/// How many requests each client has left: a bucket for each, which fills again with time.
final class RequestRate: Sendable {
    /// Clients that are remembered; past it the clients that have a full bucket are forgotten, and then all.
    private static let most = 4_096

    private struct Bucket {
        var tokens: Double
        var filledAt: UInt64
    }

    /// How many are remembered.
    var clients: Int { buckets.withLock { $0.count } }

    private let perSecond: Double
    private let atOnce: Double
    private let buckets = Mutex([String: Bucket]())

    init(perSecond: Double, atOnce: Double) {
        self.perSecond = perSecond
        self.atOnce = atOnce
    }

    /// Takes one of the client's requests.
    /// - Returns: false where there is none left.
    func take(_ client: String, now: UInt64) -> Bool {
        buckets.withLock { buckets in
            var bucket = buckets[client] ?? Bucket(tokens: atOnce, filledAt: now)
            bucket.tokens = filled(bucket, now)
            bucket.filledAt = now
            let isTaken = bucket.tokens >= 1
            if isTaken { bucket.tokens -= 1 }
            buckets[client] = bucket
            if buckets.count > Self.most { buckets = buckets.filter { filled($0.value, now) < atOnce } }
            if buckets.count > Self.most { buckets = [client: bucket] }
            return isTaken
        }
    }

    /// Gives a token back for a request that turned out not to count here.
    func give(_ client: String, now: UInt64) {
        buckets.withLock { buckets in
            guard var bucket = buckets[client] else { return }
            bucket.tokens = min(atOnce, filled(bucket, now) + 1)
            bucket.filledAt = now
            buckets[client] = bucket
        }
    }

    private func filled(_ bucket: Bucket, _ now: UInt64) -> Double {
        min(atOnce, bucket.tokens + Double(now &- bucket.filledAt) / 1e9 * perSecond)
    }
}
