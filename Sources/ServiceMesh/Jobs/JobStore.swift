import Foundation

/// All jobs: in memory those that run or stand still, and those that ended within the last hour, also before the last
/// restart; the others are asked of the ``JobJournal``, which keeps them for 90 days. What must survive a restart goes
/// through it before anybody is told.
public actor JobStore: MeshService {
    public static let serviceName = "JobStore"
    /// Waiting for a job takes a place for as long as the job lasts.
    public static let admission = AdmissionLimit(concurrent: 1024, queued: 256)
    public static var messages: MessageList<JobStore> {
        ListJobs.self
        GetJob.self
        GetJobReceipt.self
        WaitForJob.self
        PauseJob.self
        ResumeJob.self
        CancelJob.self
        WatchJob.self
        ObserveJobs.self
    }

    struct Entry {
        let job: Job
        /// What its body is started from, while nothing runs for the job: since the library was opened, or while it waits.
        var dormant: JobRecord?
        /// The same while it runs.
        var record: JobRecord?
        var resumption: JobResumption
        var task: Task<Void, Never>?
        /// Whether the log has a line of its beginning.
        var isLogged = false
    }

    let journal: any JobJournal
    let board: JobBoard
    let clock: MeshClock
    private let keeping: @Sendable (Timestamp) -> ReckonedTime
    private let log: @Sendable (JobNotice) -> Void
    /// Lets jobs go on after the start; nil where there are none.
    var resuming: Task<Void, Never>?
    /// Looks now and then for what jobs wait for; nil while none waits.
    var looking: Task<Void, Never>?
    /// Sees to it that the journal keeps no more than it should; nil while there is nothing to see to.
    private(set) var tidying: Task<Void, Never>?
    private var mustTidyAgain = false
    var entries: [JobID: Entry] = [:]
    var order: [JobID] = []
    var isClosed = false
    unowned var mesh: Mesh?

    init(
        journal: any JobJournal, clock: MeshClock, keeping: @escaping @Sendable (Timestamp) -> ReckonedTime,
        log: @escaping @Sendable (JobNotice) -> Void
    ) {
        self.journal = journal
        self.clock = clock
        self.keeping = keeping
        self.log = log
        board = JobBoard(clock: clock)
    }

    /// Takes up what the journal has. Nothing runs yet: the services that jobs need are not started.
    public func start(on mesh: Mesh) async throws {
        self.mesh = mesh
        for record in try await journal.records(retention) where entries[record.snapshot.id] == nil {
            var snapshot = record.snapshot
            if !snapshot.state.hasEnded { snapshot.state = record.request == .pause ? .paused : .interrupted }
            if snapshot.state == .interrupted { snapshot.obstacle = nil }
            let job = makeJob(snapshot, checkpoint: record.checkpoint)
            if snapshot.state == .paused { job.pause() }
            entries[job.id] = Entry(
                job: job, dormant: snapshot.state.hasEnded ? nil : record, resumption: .again, task: nil)
            order.append(job.id)
        }
    }

    private func makeJob(_ snapshot: JobSnapshot, checkpoint: Data? = nil) -> Job {
        let board = board
        let job = Job(snapshot, checkpoint: checkpoint, journal: journal, clock: clock) { board.put($0, isTurn: $1) }
        board.put(snapshot, isTurn: true)
        return job
    }

    // MARK: Starting

    /// Also asked before anything is taken for a job that could not be started then.
    func requireRoom() throws {
        try requireOpen()
        guard entries.values.count(where: { !$0.job.snapshot.state.hasEnded }) < JobLimits.unfinished,
            entries.count < JobLimits.inMemory
        else {
            throw MeshError(
                .resourceExhausted,
                "Too many jobs are running or ended lately. Wait for one to end: smilepile jobs list.")
        }
    }

    func start(_ body: JobBody, params: Data?, context: CallContext) async throws -> JobStarted {
        let id = try await newID(body.method)
        if dropOld() { tidy() }
        try requireRoom()
        let job = makeJob(JobSnapshot(id: id, method: body.method, startedAt: clock.timestamp()))
        // Known before it is written down, so that what comes meanwhile counts it.
        entries[job.id] = Entry(job: job, dormant: nil, resumption: body.resumption, task: nil)
        order.append(job.id)
        let record = JobRecord(snapshot: job.snapshot, params: params, role: min(context.originalRole, .parent))
        do {
            try await journal.begin(record)
            if isClosed {
                try await journal.forget([job.id])
                try requireOpen()
            }
        } catch {
            forget([job.id])
            throw error
        }
        tell(.started(by: context.originalRole), of: job.snapshot)
        run(body, record, context)
        return JobStarted(job: job.id)
    }

    func requireOpen() throws {
        guard !isClosed else { throw MeshError(.unavailable, "The library is shutting down. Start it again first.") }
    }

    /// An id that no job has that is known or kept. The caller takes it before it waits for anything.
    private func newID(_ method: String) async throws -> JobID {
        let verb = method.split(separator: ".").last.map(String.init) ?? method
        while true {
            let id = "\(verb)-\(String(UInt32.random(in: 0x10_0000...0xff_ffff), radix: 16))"
            guard entries[id] == nil, try await journal.jobs(beginningWith: id, limit: 1).isEmpty else { continue }
            if entries[id] == nil { return id }
        }
    }

    /// Starts the task of a job that is known and written down.
    func run(_ body: JobBody, _ record: JobRecord, _ context: CallContext) {
        let id = record.snapshot.id
        guard let job = entries[id]?.job else { return }
        if entries[id]?.isLogged == false { tell(.goesOn, of: job.snapshot) }
        // A job outlives the request that started it: it has that request's trace, but neither its deadline nor
        // its place in the call chain.
        let own = CallContext(
            role: .service, originalRole: context.originalRole, isFromAfar: context.isFromAfar, deadline: nil,
            trace: context.trace,
            link: CallLink(anchor: context.link.anchor, method: body.method, caller: context.caller))
        let mesh = context.mesh
        let executor = MeshClock.executor
        let task = Task.detached(executorPreference: executor) {
            // For as long as the job lasts: its context does not hold the mesh.
            defer { withExtendedLifetime(mesh) {} }
            await MeshClock.$executor.withValue(executor) {
                await CallContext.$current.withValue(own) { await self.execute(job, body) }
            }
        }
        entries[id]?.dormant = nil
        entries[id]?.record = record
        entries[id]?.resumption = body.resumption
        entries[id]?.task = task
        if job.isCancelled { task.cancel() }
    }

    private nonisolated func execute(_ job: Job, _ body: JobBody) async {
        do {
            let outcome = try await body.run(job)
            if outcome.ending == .cancelled && job.isInterrupted { return await job.suspend() }
            await end(job) { ended in
                ended.state =
                    switch outcome.ending {
                    case .complete, .completeWithProblems: .finished
                    case .cancelled: .cancelled
                    case .failed: .failed
                    }
                ended.needsAttention = outcome.ending == .completeWithProblems
                ended.receipt = outcome.receipt
            }
        } catch let obstacle as JobObstacle where body.resumption != .none && !job.isCancelled {
            await waitForObstacle(job, obstacle)
        } catch {
            let known = MeshError(describing: error)
            if known.status == .cancelled && job.isInterrupted { return await job.suspend() }
            // What one that is called off would have waited for is nobody's concern any more.
            let isCalledOff = known.status == .cancelled || (error is JobObstacle && job.isCancelled)
            let receipt = await body.receipt(job)
            await end(job) { ended in
                ended.state = isCalledOff ? .cancelled : .failed
                ended.error = isCalledOff ? nil : known
                ended.receipt = receipt
            }
        }
    }

    /// Ends a job, however it ends.
    nonisolated func end(_ job: Job, _ change: (inout JobSnapshot) -> Void) async {
        await job.end(change) { await tell(.ended, of: $0) }
        await tidy()
    }

    private func tell(_ moment: JobNotice.Moment, of job: JobSnapshot) {
        entries[job.id]?.isLogged = true
        log(JobNotice(moment: moment, job: job))
    }

    // MARK: Asking

    /// A job that is known or kept, by its whole id.
    func job(_ id: JobID) async throws -> Job {
        if let job = entries[id]?.job { return job }
        guard let kept = try await kept(beginningWith: id, limit: 1).first, kept.id == id else { throw notFound(id) }
        return entries[id]?.job ?? Job(kept, journal: journal, clock: clock)
    }

    /// A job by its id, or by the beginning of it.
    func find(_ beginning: String) async throws -> JobSnapshot {
        if let job = entries[beginning]?.job { return job.snapshot }
        let found = beginning.isEmpty ? [] : try await kept(beginningWith: beginning, limit: 6)
        guard let first = found.first else { throw notFound(beginning) }
        guard found.count == 1 || first.id == beginning else {
            let names = found.prefix(5).map(\.id).joined(separator: ", ") + (found.count > 5 ? ", …" : "")
            throw MeshError(
                .invalidArgument, "Several jobs begin with \(beginning.prefix(80)): \(names). Give more of the id.")
        }
        return entries[first.id]?.job.snapshot ?? first
    }

    private func notFound(_ id: String) -> MeshError {
        MeshError(
            .notFound,
            "There is no job \(id.prefix(80)). 'smilepile jobs list --all' lists them; receipts are kept for \(JobLimits.keptDays) days."
        )
    }

    /// The jobs that the journal has, without those that are on their way out or were never acknowledged.
    private func kept(beginningWith beginning: String, limit: Int) async throws -> [JobSnapshot] {
        let retention = retention
        return try await journal.jobs(beginningWith: beginning, limit: limit).filter {
            entries[$0.id] != nil || ($0.state.hasEnded && retention.keeps($0))
        }
    }

    func list() -> [JobSnapshot] {
        if dropOld() { tidy() }
        return order.compactMap { entries[$0]?.job.snapshot }
    }

    /// A page of all jobs, the newest first. Of those that are known, the journal has only what must not be lost.
    func listAll(after: Int64?, limit: Int) async throws -> JobList {
        let page = try await journal.page(after: after, limit: limit, retention)
        let jobs = page.jobs.compactMap { entries[$0.id]?.job.snapshot ?? ($0.state.hasEnded ? $0 : nil) }
        return JobList(jobs: jobs, next: page.next)
    }

    // MARK: Keeping

    private var retention: JobRetention {
        let now = clock.timestamp()
        return JobRetention(at: now, reckoned: keeping(now))
    }

    /// Leaves what ended more than an hour ago to the journal, where that has it.
    /// - Returns: whether there was any.
    private func dropOld() -> Bool {
        let recent = retention.recent
        let old = order.filter { id in entries[id]?.job.snapshot.endedAt.map { $0 < recent } ?? false }
        forget(old.filter { entries[$0]?.job.endNotPersisted == false })
        return !old.isEmpty
    }

    /// Lets the journal cut down and remove what has become old, at the start, after each job, and when somebody looks for
    /// jobs after some have become old. Nobody waits for it. A timer was rejected: where no job ends, nothing grows.
    func tidy() {
        guard let mesh, !isClosed else { return }
        mustTidyAgain = true
        guard tidying == nil else { return }
        let executor = MeshClock.executor
        tidying = Task.detached(executorPreference: executor) {
            await MeshClock.$executor.withValue(executor) { await self.tidyUp(mesh) }
        }
    }

    private func tidyUp(_ mesh: Mesh) async {
        while mustTidyAgain && !isClosed {
            mustTidyAgain = false
            for job in entries.values.map(\.job) where job.endNotPersisted { await job.writeEndAgain() }
            _ = dropOld()
            // What cannot be removed just now, on a full disk, is found again after the next job.
            try? await journal.tidy(retention) { mesh.needsAttention($0, of: $1) }
        }
        tidying = nil
    }

    private func forget(_ ids: [JobID]) {
        guard !ids.isEmpty else { return }
        for id in ids { entries[id] = nil }
        order.removeAll { entries[$0] == nil }
        board.remove(Set(ids))
    }
}
