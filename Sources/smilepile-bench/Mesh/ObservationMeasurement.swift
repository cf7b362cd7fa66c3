import BenchSupport
import Foundation
import ServiceMesh
import Synchronization

/// One observed query and its subscribers: what a change costs for each of them, from the change to the moment at which
/// the last one has the new value; what memory each takes; and what one that does not keep up does to the others.
///
/// Without a database and without spacing between reads: what is measured is the handing out alone.
struct ObservationMeasurement: Measurement {
    static let name = "observation"
    static let summary = "a change handed to 1, 10, 100 and 1,000 subscribers: time, memory, growth, a slow one"
    static let options = [
        Arguments.Option("changes", "N", "changes in each run (1000)"),
        Arguments.Option("runs", "N", "runs of each number of subscribers, medians are shown (5)"),
    ]
    static let quick = ["--changes", "100", "--runs", "3"]

    private static let counts = [1, 10, 100, 1000]

    let changes: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        changes = try arguments.number("changes", in: 10...1_000_000) ?? 1000
        runs = try arguments.number("runs", in: 1...1000) ?? 5
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        note("observation: \(changes) changes to \(Self.counts) subscribers, \(runs) runs")
        let memory = try await Self.memoryPerSubscriber(20_000)
        let costs = try await Measuring.interleaved(
            runs: runs,
            Self.counts.map { count in { try await Crowd(count).nanosecondsPerChange(changes) } })
        var figures = zip(Self.counts, costs).map { count, cost in
            Figure(
                "a change to \(count) subscriber\(count == 1 ? "" : "s"), for each",
                ours: String(format: "%.0f ns (%.1f µs in all)", cost / Double(count), cost / 1000))
        }
        // The dearest step is the first one: below 100 it is the waking of a task that shows.
        let growth = (costs[3] / 1000) / (costs[2] / 100)
        figures += [
            Figure(
                "growth from 100 to 1,000 subscribers, for each (1.00x is linear)", ours: Format.ratio(growth),
                must: "at most " + Format.ratio(2), holds: growth <= 2),
            Figure("memory of a subscriber that waits", ours: String(format: "%.0f bytes", memory)),
        ]
        return figures + (try await slowOne())
    }

    /// 100 that keep up, alone and beside one that never takes a second value.
    private func slowOne() async throws -> [Figure] {
        var (alone, beside): ([Double], [Double]) = ([], [])
        for _ in 0..<runs {
            alone += try await Crowd(100).latencies(changes)
            beside += try await Crowd(100, withSlowOne: true).latencies(changes)
        }
        return [("p50", 0.5), ("p99", 0.99)].map { name, fraction in
            let (without, with) = (Measuring.percentile(alone, fraction), Measuring.percentile(beside, fraction))
            return Figure(
                "100 subscribers beside a slow one vs without it, \(name)", ours: Format.seconds(with),
                peer: Format.seconds(without), ratio: without / with)
        }
    }

    /// Bytes of the process for each of so many, task and all: enough of them that pages in between count for little.
    private static func memoryPerSubscriber(_ count: Int) async throws -> Double {
        let crowd = Crowd(1)
        _ = try await crowd.nanosecondsPerChange(1)
        let before = ProcessFacts.memoryShare(getpid())
        let more = Crowd(count)
        try await more.begin()
        let after = ProcessFacts.memoryShare(getpid())
        more.end()
        return Double(after - before) / Double(count)
    }
}

/// Time that does not pass: what is measured is never spaced.
private struct StillTime: SimulatedTime {
    func now() -> UInt64 { 0 }
    func sleep(until nanoseconds: UInt64) async throws {}
}

/// A number that is observed by many.
private final class Crowd: Sendable {
    private let hub = ObservationHub(interval: 0, clock: MeshClock(simulating: StillTime()))
    private let number = Number()
    private let round: Round
    private let observations: [QueryObservation<Int>]
    private let slowOne: QueryObservation<Int>?
    private let tasks = Mutex<[Task<Void, Never>]>([])

    /// What the next read finds.
    private final class Number: Sendable {
        let value = Atomic(0)
    }

    init(_ count: Int, withSlowOne: Bool = false) {
        round = Round(count)
        let observe = { [hub, number] in
            hub.observe("number", reading: ["number"]) { number.value.load(ordering: .relaxed) }
        }
        observations = (0..<count).map { _ in observe() }
        slowOne = withSlowOne ? observe() : nil
    }

    deinit { end() }

    /// Returns when each subscriber has the first value.
    func begin() async throws {
        await round.play { [self] in
            let started = observations.map { observation in
                Task { [round] in
                    do { for try await change in observation { round.arrived(change.value) } } catch {}
                }
            }
            tasks.withLock { $0 = started }
        }
    }

    func end() { for task in tasks.withLock({ $0 }) { task.cancel() } }

    func change() async {
        let next = number.value.add(1, ordering: .relaxed).newValue
        await round.play(awaiting: next) { [hub] in hub.changed(["number"]) }
    }

    func nanosecondsPerChange(_ changes: Int) async throws -> Double {
        try await begin()
        for _ in 0..<min(20, changes) { await change() }
        let seconds = await Measuring.seconds { for _ in 0..<changes { await change() } }
        end()
        return seconds * 1e9 / Double(changes)
    }

    /// Seconds of each change until the last of those that keep up has it.
    func latencies(_ changes: Int) async throws -> [Double] {
        try await begin()
        var times: [Double] = []
        for _ in 0..<changes { times.append(await Measuring.seconds { await change() }) }
        end()
        return times
    }
}

/// Waits until everybody has arrived.
private final class Round: Sendable {
    private struct State {
        var awaited = 0
        var left = 0
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let count: Int
    private let state = Mutex(State())

    init(_ count: Int) { self.count = count }

    func play(awaiting value: Int = 0, _ start: () -> Void) async {
        await withCheckedContinuation { continuation in
            state.withLock { $0 = State(awaited: value, left: count, waiter: continuation) }
            start()
        }
    }

    func arrived(_ value: Int) {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard value == state.awaited else { return nil }
            state.left -= 1
            guard state.left == 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }
}
