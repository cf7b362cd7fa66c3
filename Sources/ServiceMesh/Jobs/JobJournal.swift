import Foundation

/// Where jobs are written down, so that one that is broken off goes on at the next start and results are still there
/// after it. The mesh knows what is kept and when; how, is the journal's matter.
///
/// Each function returns when what it was given is durable, also where the calling task is cancelled, and throws
/// where it cannot be made so. Lines and checkpoint of one call come together or not at all.
public protocol JobJournal: Sendable {
    /// Every job that is kept, the oldest first.
    func records() async throws -> [JobRecord]
    /// A new job, before its first step.
    func begin(_ record: JobRecord) async throws
    /// Lines at the end of the job's receipt. Past ``JobLimits/lines`` they are counted only.
    func append(_ lines: JobLines, to job: JobID) async throws
    /// What the job needs to go on from here, in place of the last; with the lines up to here.
    func keep(checkpoint: Data, _ lines: JobLines, of job: JobID) async throws
    /// What was asked of a job that has not ended. Nothing happens to one that has.
    func note(_ request: JobRequest, of job: JobID) async throws
    /// The job is about to go on.
    /// - Parameter droppingLines: whether it begins anew, and its lines with it.
    func resume(_ job: JobID, attempts: JobAttempts, droppingLines: Bool) async throws
    /// The job stands still: because the library is closed, or because it waits or is held, which its
    /// ``JobSnapshot/obstacle`` tells. That of one that is `paused` is kept until it goes on.
    func suspend(_ snapshot: JobSnapshot) async throws
    /// The job has ended as the snapshot says.
    func end(_ snapshot: JobSnapshot) async throws
    /// A page of the receipt, and how many lines there are.
    func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], total: Int)
    /// The items that have a line.
    func items(of job: JobID) async throws -> Set<String>
    /// Removes jobs and their lines.
    func forget(_ jobs: [JobID]) async throws
}

/// How much is kept.
public enum JobLimits {
    /// Lines of one receipt; what comes after is counted only. About 200 bytes each.
    public static let lines = 250_000
    /// How long a result is kept after the end of its job, in milliseconds.
    static let retention: Int64 = 3_600_000
    /// Jobs that have not ended, at once.
    static let unfinished = 32
    static let kept = 4096
    /// Times that a job may be broken off without warning and without having come further, before it stands still until a
    /// person lets it go on.
    static let attempts = 5
    /// Between two looks at whether what a job waits for is there.
    static let obstacleInterval = Duration.seconds(5)
}

/// What a person wants of a job.
public enum JobRequest: String, Codable, Sendable, CaseIterable {
    case run
    case pause
    case cancel
}

/// How often a job was broken off at the same place.
public struct JobAttempts: Sendable, Equatable {
    public var count: Int
    /// How far the job had come then; see ``JobRecord/mark``.
    public var mark: Int64

    public init(count: Int = 0, mark: Int64 = 0) {
        self.count = count
        self.mark = mark
    }
}

/// Lines on their way to the journal.
public struct JobLines: Sendable {
    public var lines: [ReceiptLine]
    /// What is counted without a line, by outcome.
    public var counted: [String: Int]

    public init(_ lines: [ReceiptLine] = [], counted: [String: Int] = [:]) {
        self.lines = lines
        self.counted = counted
    }

    public var isEmpty: Bool { lines.isEmpty && counted.isEmpty }
}

/// A job as its journal keeps it.
public struct JobRecord: Sendable {
    public var snapshot: JobSnapshot
    /// The message, as JSON, of a job that can go on after a restart; nil for others: what need not be kept is not.
    public var params: Data?
    /// Of whoever started it.
    public var role: Role
    public var request: JobRequest
    public var checkpoint: Data?
    /// Rises with each line and each checkpoint, so that two moments can be compared.
    public var mark: Int64
    public var attempts: JobAttempts

    public init(
        snapshot: JobSnapshot, params: Data? = nil, role: Role = .parent, request: JobRequest = .run,
        checkpoint: Data? = nil, mark: Int64 = 0, attempts: JobAttempts = JobAttempts()
    ) {
        self.snapshot = snapshot
        self.params = params
        self.role = role
        self.request = request
        self.checkpoint = checkpoint
        self.mark = mark
        self.attempts = attempts
    }
}
