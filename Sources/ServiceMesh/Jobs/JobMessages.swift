/// The jobs that are about, the oldest first: those that have not ended, and those that have for an hour at least, over a
/// restart too. Or, with `all`, every one of which the receipt is kept (90 days), the newest first and in pages. Errors:
/// `invalid_argument`.
public struct ListJobs: HandledMessage {
    public typealias Reply = JobList
    public static let method = "job.list"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary =
        "Jobs that run, and those that ended within the last hour; or all of the last 90 days, in pages."
    public let all: Bool?
    /// Of all: the last page's `next`.
    public let after: Int64?
    /// Of all: 1…1000; 100 unless told. A page may have fewer where receipts are large.
    public let limit: Int?

    public init(all: Bool? = nil, after: Int64? = nil, limit: Int? = nil) {
        self.all = all
        self.after = after
        self.limit = limit
    }

    public func perform(on service: JobStore) async throws -> JobList {
        guard all == true else {
            guard after == nil, limit == nil else {
                throw MeshError(.invalidArgument, "'after' and 'limit' are for the list of all jobs: add 'all'.")
            }
            return JobList(jobs: await service.list())
        }
        let limit = limit ?? 100
        guard (1...1000).contains(limit) else {
            throw MeshError(.invalidArgument, "'limit' is between 1 and 1000.")
        }
        return try await service.listAll(after: after, limit: limit)
    }
}

public struct JobList: Codable, Sendable, Equatable {
    public let jobs: [JobSnapshot]
    /// What to pass as `after` for the next page of all jobs; absent after the last, and where not all were asked for.
    public let next: Int64?

    init(jobs: [JobSnapshot], next: Int64? = nil) {
        self.jobs = jobs
        self.next = next
    }
}

/// One job as it is now, or as it was when it ended: for 90 days, over restarts too. The beginning of an id is enough where
/// no other job's begins so; the reply has the whole one. Errors: `not_found`; `invalid_argument` where several begin so.
public struct GetJob: HandledMessage {
    public typealias Reply = JobSnapshot
    public static let method = "job.get"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "One job as it is now: state, progress, and its receipt once it has ended."
    public let job: JobID
    public init(job: JobID) { self.job = job }
    public func perform(on service: JobStore) async throws -> JobSnapshot { try await service.find(job) }
}

/// The lines of a job's receipt, a page at a time, for as long as it is kept: all of them until an hour after its end
/// (``JobLimits/lines``), later ``JobLimits/keptLines``. Errors: `not_found`, `invalid_argument`.
public struct GetJobReceipt: HandledMessage {
    public typealias Reply = ReceiptPage
    public static let method = "job.receipt"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "What became of each file or photo of a job, a page at a time."
    public let job: JobID
    /// 0, or the last page's `next`.
    public let after: Int?
    /// 1…1000; 1000 unless told.
    public let limit: Int?

    public init(job: JobID, after: Int? = nil, limit: Int? = nil) {
        self.job = job
        self.after = after
        self.limit = limit
    }

    public func perform(on service: JobStore) async throws -> ReceiptPage {
        let after = after ?? 0
        let limit = limit ?? 1000
        guard after >= 0, (1...1000).contains(limit) else {
            throw MeshError(.invalidArgument, "'after' is 0 or more, 'limit' between 1 and 1000.")
        }
        let (lines, next) = try await service.job(job).lines(after: after, limit: limit)
        return ReceiptPage(lines: lines, next: next)
    }
}

public struct ReceiptPage: Codable, Sendable {
    public let lines: [ReceiptLine]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: Int?
}

/// Answers when the job has ended, or stands still because the library is closed (`interrupted`, or `paused`). Not for
/// showing progress: that is ``WatchJob``. Errors: `not_found`.
public struct WaitForJob: HandledMessage {
    public typealias Reply = JobSnapshot
    public static let method = "job.wait"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Answers with the job once it has ended."
    public let job: JobID
    public init(job: JobID) { self.job = job }

    public func perform(on service: JobStore) async throws -> JobSnapshot {
        let job = try await service.job(job)
        for await _ in job.observe() {}
        try Task.checkCancellation()
        return job.snapshot
    }
}

/// Lets a job stand still at its next item, until it is resumed, also over a restart. Asking again changes nothing.
/// Errors: `not_found`; `failed_precondition` for one that has ended or was asked to stop.
public struct PauseJob: HandledMessage {
    public typealias Reply = JobSnapshot
    public static let method = "job.pause"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Lets a job stand still at its next item, until it is resumed."
    public let job: JobID
    public init(job: JobID) { self.job = job }
    public func perform(on service: JobStore) async throws -> JobSnapshot { try await service.pause(job) }
}

/// Lets a job go on that is paused or held, or looks now for what one waits for; for one that runs this changes nothing.
/// What is still in its way is no error: the reply is the job, `waiting`. Errors: `not_found`; `failed_precondition` for
/// one that has ended or was asked to stop; what starting it would meet otherwise, and then it stands still as before.
public struct ResumeJob: HandledMessage {
    public typealias Reply = JobSnapshot
    public static let method = "job.resume"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Lets a paused job go on."
    public let job: JobID
    public init(job: JobID) { self.job = job }
    public func perform(on service: JobStore) async throws -> JobSnapshot { try await service.resume(job) }
}

/// Asks a job to stop; its receipt tells what was done and what was not. Errors: `not_found`.
public struct CancelJob: HandledMessage {
    public typealias Reply = JobSnapshot
    public static let method = "job.cancel"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Asks a job to stop; what it did stays done and stands in its receipt."
    public let job: JobID
    public init(job: JobID) { self.job = job }
    public func perform(on service: JobStore) async throws -> JobSnapshot { try await service.cancel(job) }
}

/// A job's progress as notifications, ten a second at most, the last one before the reply. The reply comes when the job
/// has ended, or stands still because the library is closed; who closes the library inside `onChange` waits for
/// itself. Errors: `not_found`.
public struct WatchJob: HandledObservation {
    public typealias Reply = JobSnapshot
    public typealias Update = JobSnapshot
    public static let method = "job.watch"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "A job's progress as it changes; answers with the job once it has ended."
    public static let endsWithTheLibrary = true
    public let job: JobID
    public init(job: JobID) { self.job = job }

    public func observe(on service: JobStore) async throws -> Observation<JobSnapshot> {
        try await service.job(job).observe()
    }

    public func conclude(on service: JobStore) async throws -> JobSnapshot { try await service.job(job).snapshot }
}

/// The list of all jobs, as it changes: a job that begins, stands still or ends at once, progress ten times a second
/// at most. Goes on until it is cancelled or the library is closed. Not for one job: that is ``WatchJob``.
public struct ObserveJobs: HandledObservation {
    public typealias Reply = Done
    public typealias Update = JobList
    public static let method = "job.observe"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let summary = "The list of all jobs: as it is now, then as it changes."
    public static let endsWithTheLibrary = true
    public init() {}
    public func observe(on service: JobStore) async throws -> Observation<JobList> { service.board.observe() }
}
