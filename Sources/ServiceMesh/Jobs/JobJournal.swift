import Foundation

/// Where jobs are written down, so that one that is broken off goes on at the next start and receipts are still there
/// long after it. The mesh knows what is kept and for how long (``JobRetention``); how, is the journal's matter.
///
/// Each function returns when what it was given is durable, also where the calling task is cancelled, and throws
/// where it cannot be made so. Lines and checkpoint of one call come together or not at all.
public protocol JobJournal: Sendable {
    /// Jobs that have not ended, and those that ended lately, the oldest first. An end that lies in the future, because
    /// a clock was wrong, becomes one of now.
    func records(_ retention: JobRetention) async throws -> [JobRecord]
    /// The jobs whose ids begin with `beginning`, `limit` at most, in the order of their ids: one that is called so comes
    /// first.
    func jobs(beginningWith beginning: String, limit: Int) async throws -> [JobSnapshot]
    /// A page of all jobs that are kept, the newest first, without those whose time is over.
    /// - Parameters:
    ///   - after: the `next` of the page before.
    ///   - limit: of jobs; there may be fewer where their receipts are large.
    /// - Returns: what to pass as `after` for the next page, nil after the last.
    func page(after: Int64?, limit: Int, _ retention: JobRetention) async throws -> (jobs: [JobSnapshot], next: Int64?)
    /// Enters a new job, before its first step.
    func begin(_ record: JobRecord) async throws
    /// Enters lines at the end of the job's receipt. Past ``JobLimits/lines`` they are counted only.
    func append(_ lines: JobLines, to job: JobID) async throws
    /// Stores what the job needs to go on from here, in place of the last checkpoint, with the lines up to here.
    func keep(checkpoint: Data, _ lines: JobLines, of job: JobID) async throws
    /// Stores what a person has asked of a job that has not ended. A job that has ended stays as it is.
    func note(_ request: JobRequest, of job: JobID) async throws
    /// The job is about to go on.
    /// - Parameter droppingLines: whether it begins anew, and its lines with it.
    func resume(_ job: JobID, attempts: JobAttempts, droppingLines: Bool) async throws
    /// The job stands still: because the library is closed, or because it waits or is held, which its
    /// ``JobSnapshot/obstacle`` tells. That of one that is `paused` is kept until it goes on.
    func suspend(_ snapshot: JobSnapshot) async throws
    /// The job has ended as the snapshot says.
    func end(_ snapshot: JobSnapshot) async throws
    /// A page of the receipt.
    /// - Parameter after: 0, or the `next` of the page before. Lines that go meanwhile let none come twice, nor any that
    ///   stays be left out.
    func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], next: Int?)
    /// The items that have a line.
    func items(of job: JobID) async throws -> RecordedItems
    /// Removes jobs and their lines.
    func forget(_ jobs: [JobID]) async throws
    /// Cuts the receipts of jobs that did not end lately down to the lines that are kept, and removes the jobs whose time
    /// is over and those past the bounds, the oldest first. Broken off at any moment, it goes on where it was when it is
    /// called again; ``JobSnapshot/unlistedLines`` tells what goes before it does.
    /// - Parameter needsAttention: of an outcome and a method; lines of such are kept first, in their order.
    func tidy(_ retention: JobRetention, needsAttention: @escaping @Sendable (String, String) -> Bool) async throws
}

/// How much is kept.
public enum JobLimits {
    /// Lines of one receipt, until an hour after its job's end; what comes after is counted only. About 200 bytes each.
    public static let lines = 250_000
    /// Lines of one receipt from then on.
    public static let keptLines = 10_000
    /// For how long after a job's end its receipt is kept.
    public static let keptDays = 90
    /// Jobs that ended more than an hour ago; the oldest go.
    public static let keptJobs = 10_000
    /// Bytes of all their receipts; the oldest go.
    public static let keptBytes: Int64 = 256 << 20
    /// For how long after its end a job is in the list of those that are about, with all of its lines, in milliseconds.
    static let recent: Int64 = 3_600_000
    /// Jobs that have not ended, at once.
    static let unfinished = 32
    /// Jobs that have not ended, and those that ended within the last hour.
    static let inMemory = 4096
    /// Times that a job may be broken off without warning and without having come further, before it stands still until a
    /// person lets it go on.
    static let attempts = 5
    /// Between two looks at whether what a job waits for is there.
    static let obstacleInterval = Duration.seconds(5)
}

/// What is kept of jobs that have ended, at one moment.
public struct JobRetention: Sendable {
    public var now: Timestamp
    /// By which they go.
    public var reckoned: ReckonedTime
    /// How many lines stay of a receipt that is no longer of lately.
    public var lines = JobLimits.keptLines
    /// How many of these there may be, and how many bytes.
    public var jobs = JobLimits.keptJobs
    public var bytes = JobLimits.keptBytes

    public init(at now: Timestamp, reckoned: ReckonedTime? = nil) {
        self.now = now
        self.reckoned = reckoned ?? ReckonedTime(at: now)
    }

    /// A job that ended then or later has ended lately.
    public var recent: Timestamp { Timestamp(milliseconds: now.milliseconds - JobLimits.recent) }
    /// The receipts of jobs that ended before are cut down.
    public var whole: Timestamp { min(recent, Timestamp(milliseconds: reckoned.due.milliseconds - JobLimits.recent)) }
    /// Jobs that ended before are gone.
    public var oldest: Timestamp {
        Timestamp(milliseconds: reckoned.due.milliseconds - Int64(JobLimits.keptDays) * 86_400_000)
    }

    /// Whether a job is still there: one that has not ended is.
    public func keeps(_ job: JobSnapshot) -> Bool { job.endedAt.map { $0 >= oldest } ?? true }
}

/// How many lines of each kind a receipt may still keep while it is cut down, from its first line on.
public struct LineAllowance: Sendable {
    private var attention: Int
    private var others: Int

    /// - Parameters:
    ///   - listed: lines that there are now, by outcome. What was cut before changes nothing: the same lines stay.
    ///   - limit: of lines.
    public init(of listed: [String: Int], limit: Int, needsAttention: (String) -> Bool) {
        attention = min(limit, listed.reduce(0) { needsAttention($1.key) ? $0 + $1.value : $0 })
        others = limit - attention
    }

    /// Whether the next line stays.
    public mutating func take(needingAttention: Bool) -> Bool {
        if needingAttention {
            attention -= 1
            return attention >= 0
        }
        others -= 1
        return others >= 0
    }
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
    /// The role of the client that started it.
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
