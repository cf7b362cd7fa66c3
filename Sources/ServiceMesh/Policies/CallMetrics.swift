import Synchronization

/// What one message has seen since the mesh started: how calls ended and how long they took.
///
/// One uncontended lock a call (about 10 ns) instead of a field of atomics: the numbers of one message then
/// agree with each other, so that `admitted = completed + failed + cancelled + in flight` can be asserted.
final class CallMetrics: Sendable {
    enum Ending { case completed, failed, cancelled }

    struct Counts {
        var admitted = 0
        var completed = 0
        var failed = 0
        var cancelled = 0
        var refused = 0
        var latency = LatencyHistogram()
    }

    private let counts = Mutex(Counts())

    func admit() { counts.withLock { $0.admitted += 1 } }

    func refuse() { counts.withLock { $0.refused += 1 } }

    func end(_ ending: Ending, nanoseconds: UInt64) {
        counts.withLock { counts in
            switch ending {
            case .completed: counts.completed += 1
            case .failed: counts.failed += 1
            case .cancelled: counts.cancelled += 1
            }
            counts.latency.record(nanoseconds)
        }
    }

    var snapshot: Counts { counts.withLock { $0 } }
}

/// Latencies in buckets that grow by a quarter of a power of two: any percentile is right within 13 %, in
/// 256 counters whatever the number of calls.
public struct LatencyHistogram: Sendable {
    private var buckets = [UInt32](repeating: 0, count: 256)
    public private(set) var count: UInt64 = 0

    public init() {}

    public mutating func record(_ nanoseconds: UInt64) {
        buckets[Self.bucket(nanoseconds)] &+= 1
        count &+= 1
    }

    private static func bucket(_ value: UInt64) -> Int {
        guard value >= 4 else { return Int(value) }
        let exponent = 63 - value.leadingZeroBitCount
        return exponent * 4 + Int((value >> (UInt64(exponent) - 2)) & 3)
    }

    /// The middle of the bucket below which `fraction` (0…1) of the calls lie, in nanoseconds; 0 without calls.
    public func percentile(_ fraction: Double) -> UInt64 {
        guard count > 0 else { return 0 }
        let rank = UInt64((fraction * Double(count)).rounded(.up))
        var seen: UInt64 = 0
        for (index, bucket) in buckets.enumerated() {
            seen += UInt64(bucket)
            if seen >= max(rank, 1) {
                guard index >= 8 else { return UInt64(index) }
                let step = UInt64(1) << (UInt64(index / 4) - 2)
                return (4 + UInt64(index % 4)) * step + step / 2
            }
        }
        return 0
    }
}
