import Executors
import Foundation

extension Simulation {
    /// Runs `body` with many seeds and stops at the first that fails.
    ///
    /// With the variable `SMILEPILE_SEED` in the environment only that seed runs, and its notes are printed; with
    /// `SMILEPILE_SEEDS` so many times as many.
    /// - Parameters:
    ///   - name: of what is simulated, for the report.
    ///   - seeds: how many, from 1 on.
    /// - Throws: ``SimulationFailure``.
    @discardableResult
    public static func explore(
        _ name: String, seeds: Int, limits: Limits = Limits(),
        _ body: @escaping @Sendable (Simulation) async throws -> Void
    ) async throws -> SimulationReport {
        let environment = ProcessInfo.processInfo.environment
        let only = environment["SMILEPILE_SEED"].flatMap(UInt64.init)
        let factor = environment["SMILEPILE_SEEDS"].flatMap(Int.init) ?? 1
        let range = only.map { $0...$0 } ?? 1...UInt64(max(1, seeds * max(1, factor)))
        let thread = BlockingPool(name: "simulation", threads: 1)
        let report = try await thread.run {
            let began = processorTime()
            var report = SimulationReport(name: name)
            for seed in range {
                let run = runHere(seed: seed, limits: limits, body)
                report.add(run)
                if only != nil { print((["\(name), seed \(seed):"] + run.notes).joined(separator: "\n  ")) }
                if let failure = run.failure { throw SimulationFailure(name: name, run: run, reason: failure) }
            }
            report.seconds = processorTime() - began
            return report
        }
        print(report)
        return report
    }
}

/// Seconds of the calling thread. Not those of the wall, which tell more about the machine's other work.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// What an exploration did.
public struct SimulationReport: Sendable, CustomStringConvertible {
    public let name: String
    public private(set) var seeds = 0
    public private(set) var operations = 0
    public private(set) var choices = 0
    /// Of all runs, in order: equal when the same seeds are run again.
    public private(set) var digest: UInt64 = 0
    /// Processor time of the one thread that ran them.
    public internal(set) var seconds = 0.0
    private var digests: Set<UInt64> = []

    init(name: String) { self.name = name }

    /// Ways through the program that differ.
    public var interleavings: Int { digests.count }

    mutating func add(_ run: SimulationRun) {
        seeds += 1
        operations += run.operations
        choices += run.choices
        digests.insert(run.digest)
        digest = (digest &* 31) &+ run.digest
    }

    public var description: String {
        let time = String(format: "%.1f", seconds)
        return """
            Simulation of \(name): \(seeds) seeds, \(interleavings) interleavings, \(operations) operations, \
            \(choices) choices in \(time) s of one core, digest \(String(digest, radix: 16))
            """
    }
}

/// A seed that found something.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
    public let name: String
    public let run: SimulationRun
    public let reason: String

    public var description: String {
        """
        Simulation of \(name) failed with seed \(run.seed): \(reason)
        What happened, the newest last:
          \(run.notes.suffix(60).joined(separator: "\n  "))
        Replay it: SMILEPILE_SEED=\(run.seed) Scripts/test --filter Simulation
        """
    }
}
