import Foundation
import ServiceMesh

/// Runs of several contenders, taken in turn: what else the machine does then hits all of them alike.
package enum Measuring {
    package typealias Contender = () async throws -> Double

    /// Every contender `runs` times, A B C A B C …; the median of each one's answers, in the contenders' order.
    package static func interleaved(runs: Int, _ contenders: [Contender]) async throws -> [Double] {
        var found = [[Double]](repeating: [], count: contenders.count)
        for _ in 0..<max(1, runs) {
            for (index, contender) in contenders.enumerated() { found[index].append(try await contender()) }
        }
        return found.map(median)
    }

    package static func median(_ values: [Double]) -> Double { percentile(values, 0.5) }

    /// The value below which `fraction` (0…1) of the values lie; 0 of none.
    package static func percentile(_ values: [Double], _ fraction: Double) -> Double {
        guard !values.isEmpty else { return 0 }
        let sorted = values.sorted()
        if fraction == 0.5, sorted.count.isMultiple(of: 2) {
            return (sorted[sorted.count / 2 - 1] + sorted[sorted.count / 2]) / 2
        }
        return sorted[min(sorted.count - 1, Int(fraction * Double(sorted.count)))]
    }

    /// Seconds that `work` takes, which blocks this thread: nothing else of ours runs meanwhile.
    package static func blockingSeconds(_ work: () throws -> Void) rethrows -> Double {
        let began = MonotonicClock.now()
        try work()
        return Double(MonotonicClock.now() - began) / 1e9
    }

    /// Seconds that `work` takes.
    package static func seconds(_ work: () async throws -> Void) async rethrows -> Double {
        let began = MonotonicClock.now()
        try await work()
        return Double(MonotonicClock.now() - began) / 1e9
    }
}

/// What is being done, on standard error, so that standard output is the report alone.
package func note(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
