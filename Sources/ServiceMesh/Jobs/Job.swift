import Foundation
import Synchronization

/// Which job, as text: `import-3f9a2c`. New for every job, so that an id from before a restart never names
/// another one after it.
public typealias JobID = String

/// The reply of every message of kind `job`.
public struct JobStarted: Codable, Sendable, Equatable {
    public let job: JobID

    public init(job: JobID) { self.job = job }
}

public enum JobState: String, Codable, Sendable, CaseIterable {
    case running
    case finished
    case failed
    case cancelled

    public var hasEnded: Bool { self != .running }
}

/// How far a job is. Published ten times a second at most, and once more at the end.
public struct JobProgress: Codable, Sendable, Equatable {
    /// What it is doing, in a word or two: `reading folders`, `importing`, `verifying`.
    public var phase: String
    public var itemsDone: Int64
    /// Nil until known.
    public var itemsTotal: Int64?
    public var bytesDone: Int64
    public var bytesTotal: Int64?
    /// Per second since the phase began; bytes where the total of bytes is known, items otherwise.
    public var rate: Double
    public var secondsLeft: Double?

    init() {
        phase = "starting"
        itemsDone = 0
        bytesDone = 0
        rate = 0
    }
}

/// One line of a receipt: what became of one file, photo or value.
public struct ReceiptLine: Codable, Sendable, Equatable {
    public let item: String
    /// A word of the job's own: `imported`, `duplicate`, `damaged`.
    public let outcome: String
    /// Why, where it is not obvious.
    public let detail: String?

    public init(item: String, outcome: String, detail: String? = nil) {
        self.item = item
        self.outcome = outcome
        self.detail = detail
    }
}

/// How a job that returned a receipt ended.
public enum JobEnding: String, Codable, Sendable, CaseIterable {
    /// All was done.
    case complete
    /// Done, but something was skipped or damaged; the lines tell what.
    case completeWithProblems
    /// Stopped on request; what was done stays done.
    case cancelled
}

/// What a job has to say at its end, beside its lines.
public protocol JobReceipt: Codable, Sendable {
    var ending: JobEnding { get }
}

/// A job as seen from outside.
public struct JobSnapshot: Codable, Sendable, Equatable {
    public let id: JobID
    public let method: String
    public var state: JobState
    /// Whether something was skipped or damaged although the job went to its end.
    public var needsAttention: Bool
    public var progress: JobProgress
    public let startedAt: Timestamp
    public var endedAt: Timestamp?
    /// How many receipt lines there are of each outcome.
    public var outcomes: [String: Int]
    /// The typed receipt of the job's message, once it has ended with one.
    public var receipt: JSONValue?
    public var error: MeshError?
}

/// A running piece of work as its body sees it: where it reports progress and records what became of each item.
public final class Job: Sendable {
    public let id: JobID
    public let method: String

    private struct State {
        var snapshot: JobSnapshot
        var lines: [ReceiptLine] = []
        var lastPublished: UInt64 = 0
        var phaseBegan: UInt64
    }

    /// Lines kept for ``GetJobReceipt``; what comes after is counted only. About 200 bytes each.
    static let maximumLines = 250_000
    private static let publishingInterval: UInt64 = 100_000_000

    private let clock: MeshClock
    private let state: Mutex<State>
    private let observed: ObservedValue<JobSnapshot>

    init(id: JobID, method: String, clock: MeshClock = .system) {
        self.id = id
        self.method = method
        self.clock = clock
        let snapshot = JobSnapshot(
            id: id, method: method, state: .running, needsAttention: false, progress: JobProgress(),
            startedAt: .now(), outcomes: [:])
        state = Mutex(State(snapshot: snapshot, phaseBegan: clock.now()))
        observed = ObservedValue(snapshot)
    }

    /// Starts a phase: its counts begin at 0.
    public func begin(phase: String, items: Int64? = nil, bytes: Int64? = nil) {
        change(always: true) { state in
            state.phaseBegan = clock.now()
            state.snapshot.progress = JobProgress()
            state.snapshot.progress.phase = phase
            state.snapshot.progress.itemsTotal = items
            state.snapshot.progress.bytesTotal = bytes
        }
    }

    /// Adds to what the phase has done.
    public func advance(items: Int64 = 0, bytes: Int64 = 0) {
        change(always: false) { state in
            // What is counted comes from files that may claim any size.
            state.snapshot.progress.itemsDone.add(clamping: items)
            state.snapshot.progress.bytesDone.add(clamping: bytes)
        }
    }

    /// Corrects the totals, where they become known while working.
    public func expect(items: Int64, bytes: Int64? = nil) {
        change(always: false) { state in
            state.snapshot.progress.itemsTotal = items
            if let bytes { state.snapshot.progress.bytesTotal = bytes }
        }
    }

    /// Records what became of one item.
    public func record(_ line: ReceiptLine) {
        state.withLock { state in
            state.snapshot.outcomes[line.outcome, default: 0] += 1
            if state.lines.count < Self.maximumLines { state.lines.append(line) }
        }
    }

    func end(state ending: JobState, needsAttention: Bool, receipt: JSONValue?, error: MeshError?) {
        change(always: true) { state in
            state.snapshot.state = ending
            state.snapshot.needsAttention = needsAttention
            state.snapshot.receipt = receipt
            state.snapshot.error = error
            state.snapshot.endedAt = .now()
        }
        observed.finish()
    }

    public var snapshot: JobSnapshot { state.withLock { $0.snapshot } }

    func lines(after: Int, limit: Int) -> (lines: [ReceiptLine], total: Int) {
        state.withLock { (Array($0.lines.dropFirst(after).prefix(limit)), $0.lines.count) }
    }

    /// The job's state now, then as it changes; ends when the job has ended.
    func observe() -> Observation<JobSnapshot> { observed.observe() }

    private func change(always: Bool, _ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            let now = clock.now()
            let seconds = Double(now &- state.phaseBegan) / 1_000_000_000
            guard always || now &- state.lastPublished >= Self.publishingInterval else { return }
            state.lastPublished = now
            state.snapshot.progress.estimate(after: seconds)
            // Under the lock, so that the order of publishing is the order of the changes.
            observed.publish(state.snapshot)
        }
    }
}

extension Int64 {
    fileprivate mutating func add(clamping other: Int64) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? (other > 0 ? .max : .min) : sum
    }
}

extension JobProgress {
    fileprivate mutating func estimate(after seconds: Double) {
        let (done, total) = bytesTotal.map { (bytesDone, Optional($0)) } ?? (itemsDone, itemsTotal)
        rate = seconds > 0 ? Double(done) / seconds : 0
        secondsLeft = total.flatMap { rate > 0 ? max(0, Double($0) - Double(done)) / rate : nil }
    }
}
