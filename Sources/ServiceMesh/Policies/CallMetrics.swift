import Synchronization

/// What one message has seen since the mesh started: how calls ended and how long they took.
///
/// One atomic step a call, no lock: calls that end on several cores at once do not wait for each other here. Those
/// that have not ended stand in their service's ``InFlightTable``, so they are counted by nobody: admitted is
/// the sum of both, no number can be below zero, and at rest all are exact. A call that is ending at the very moment
/// of a snapshot may be in both halves of it or in none.
final class CallMetrics: Sendable {
    enum Ending { case completed, failed, cancelled }

    struct Counts {
        var completed = 0
        var failed = 0
        var cancelled = 0
        var refused = 0
        var latency = LatencyHistogram()
    }

    private let failed = Atomic(0)
    private let cancelled = Atomic(0)
    private let refused = Atomic(0)
    /// Every ending is in one of these; how many completed is what remains without the failed and cancelled.
    private let buckets = InlineArray<256, Atomic<UInt64>> { _ in Atomic(0) }

    func refuse() { refused.add(1, ordering: .relaxed) }

    @inline(__always)
    func end(_ ending: Ending, nanoseconds: UInt64) {
        // Released after what makes it no completion: a snapshot that sees the ending sees its kind.
        switch ending {
        case .completed: break
        case .failed: failed.add(1, ordering: .relaxed)
        case .cancelled: cancelled.add(1, ordering: .relaxed)
        }
        buckets[LatencyHistogram.bucket(nanoseconds)].add(1, ordering: .releasing)
    }

    var snapshot: Counts {
        var counts = Counts()
        for index in buckets.indices {
            counts.latency.add(buckets[index].load(ordering: .acquiring), toBucket: index)
        }
        counts.failed = failed.load(ordering: .acquiring)
        counts.cancelled = cancelled.load(ordering: .acquiring)
        counts.completed = max(0, Int(counts.latency.count) - counts.failed - counts.cancelled)
        counts.refused = refused.load(ordering: .relaxed)
        return counts
    }
}

/// Latencies in buckets that grow by a quarter of a power of two: any percentile is right within 13 %, in
/// 256 counters whatever the number of calls.
public struct LatencyHistogram: Sendable {
    private var buckets = [UInt64](repeating: 0, count: 256)
    public private(set) var count: UInt64 = 0

    public init() {}

    mutating func add(_ calls: UInt64, toBucket index: Int) {
        buckets[index] &+= calls
        count &+= calls
    }

    public mutating func record(_ nanoseconds: UInt64) {
        buckets[Self.bucket(nanoseconds)] &+= 1
        count &+= 1
    }

    static func bucket(_ value: UInt64) -> Int {
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
            seen += bucket
            if seen >= max(rank, 1) {
                guard index >= 8 else { return UInt64(index) }
                let step = UInt64(1) << (UInt64(index / 4) - 2)
                return (4 + UInt64(index % 4)) * step + step / 2
            }
        }
        return 0
    }
}
