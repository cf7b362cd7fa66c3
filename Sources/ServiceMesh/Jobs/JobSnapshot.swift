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
    /// Stands still between two items until ``ResumeJob``, also over a restart.
    case paused
    /// The library was closed under it; it goes on by itself when it is opened again.
    case interrupted
    /// What it needs to go on is not there, as its ``JobSnapshot/obstacle`` tells; it goes on by itself when that is over.
    case waiting
    case finished
    case failed
    case cancelled

    /// Whether nothing of it is left to be done.
    public var hasEnded: Bool {
        switch self {
        case .running, .paused, .interrupted, .waiting: false
        case .finished, .failed, .cancelled: true
        }
    }
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

    public init() {
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
    /// Stopped by an error, which the job names; what was done stays done.
    case failed
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
    /// When it was started first; being broken off and going on changes nothing here.
    public let startedAt: Timestamp
    public var endedAt: Timestamp?
    /// How many receipt lines there are of each outcome.
    public var outcomes: [String: Int]
    /// How many of these are counted here only, and stand in no page of the receipt: those past ``JobLimits/lines``, and
    /// later past ``JobLimits/keptLines``, where lines that need attention are kept before others. Nil for none.
    public var unlistedLines: Int?
    /// The typed receipt of the job's message, once it has ended with one.
    public var receipt: JSONValue?
    public var error: MeshError?
    /// Why it is `waiting`, or why it was `paused` though nobody asked for it.
    public var obstacle: MeshError?

    /// A job that begins now, unless told otherwise. A journal makes one from what it kept.
    public init(
        id: JobID, method: String, state: JobState = .running, startedAt: Timestamp = .now(),
        outcomes: [String: Int] = [:]
    ) {
        self.id = id
        self.method = method
        self.state = state
        self.startedAt = startedAt
        self.outcomes = outcomes
        needsAttention = false
        progress = JobProgress()
    }
}

extension JobSnapshot {
    /// Lines, those that are counted only included. The counts may be anybody's.
    package var lineCount: Int {
        outcomes.values.reduce(0) { count, more in
            let (sum, overflow) = count.addingReportingOverflow(more)
            return overflow ? .max : sum
        }
    }
}

extension Int64 {
    /// Adds, and stays at the end of the numbers where the sum is beyond.
    package mutating func add(clamping other: Int64) {
        let (sum, overflow) = addingReportingOverflow(other)
        self = overflow ? (other > 0 ? .max : .min) : sum
    }
}

extension JobProgress {
    mutating func estimate(after seconds: Double) {
        let (done, total) = bytesTotal.map { (bytesDone, Optional($0)) } ?? (itemsDone, itemsTotal)
        rate = seconds > 0 ? Double(done) / seconds : 0
        secondsLeft = total.flatMap { rate > 0 ? max(0, Double($0) - Double(done)) / rate : nil }
    }
}
