import Foundation

/// All jobs: those that run or stand still, and those that ended within the last hour at least, also before the last
/// restart. What must survive one goes through the ``JobJournal``, before anybody is told of it.
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
    }

    let journal: any JobJournal
    let board: JobBoard
    let clock: MeshClock
    /// Lets jobs go on after the start; nil where there are none.
    var resuming: Task<Void, Never>?
    /// Looks now and then for what jobs wait for; nil while none waits.
    var looking: Task<Void, Never>?
    var entries: [JobID: Entry] = [:]
    var order: [JobID] = []
    var isClosed = false
    unowned var mesh: Mesh?

    init(journal: any JobJournal, clock: MeshClock) {
        self.journal = journal
        self.clock = clock
        board = JobBoard(clock: clock)
    }

    /// Takes up what the journal has. Nothing runs yet: the services that jobs need are not started.
    public func start(on mesh: Mesh) async throws {
        self.mesh = mesh
        let now = Timestamp.now()
        for record in try await journal.records() where entries[record.snapshot.id] == nil {
            var snapshot = record.snapshot
            if !snapshot.state.hasEnded { snapshot.state = record.request == .pause ? .paused : .interrupted }
            if snapshot.state == .interrupted { snapshot.obstacle = nil }
            // A clock that was wrong must not keep a result for ever.
            if snapshot.state.hasEnded { snapshot.endedAt = min(snapshot.endedAt ?? now, now) }
            let job = makeJob(snapshot, checkpoint: record.checkpoint)
            if snapshot.state == .paused { job.pause() }
            entries[job.id] = Entry(
                job: job, dormant: snapshot.state.hasEnded ? nil : record, resumption: .again, task: nil)
            order.append(job.id)
        }
        await dropExpired()
    }

    private func makeJob(_ snapshot: JobSnapshot, checkpoint: Data? = nil) -> Job {
        let board = board
        let job = Job(snapshot, checkpoint: checkpoint, journal: journal, clock: clock) { board.put($0, isTurn: $1) }
        board.put(snapshot, isTurn: true)
        return job
    }

    // MARK: Starting

    func start(_ body: JobBody, params: Data?, context: CallContext) async throws -> JobStarted {
        await dropExpired()
        try requireOpen()
        guard entries.values.count(where: { !$0.job.snapshot.state.hasEnded }) < JobLimits.unfinished,
            entries.count < JobLimits.kept
        else {
            throw MeshError(
                .resourceExhausted, "Too many jobs are running or kept. Wait for one to end: smilepile jobs list.")
        }
        let job = makeJob(JobSnapshot(id: newID(body.method), method: body.method))
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
        run(body, record, context)
        return JobStarted(job: job.id)
    }

    func requireOpen() throws {
        guard !isClosed else { throw MeshError(.unavailable, "The library is shutting down. Start it again first.") }
    }

    private func newID(_ method: String) -> JobID {
        let verb = method.split(separator: ".").last.map(String.init) ?? method
        while true {
            let id = "\(verb)-\(String(UInt32.random(in: 0x10_0000...0xff_ffff), radix: 16))"
            if entries[id] == nil { return id }
        }
    }

    /// Starts the task of a job that is known and written down.
    func run(_ body: JobBody, _ record: JobRecord, _ context: CallContext) {
        let id = record.snapshot.id
        guard let job = entries[id]?.job else { return }
        // A job outlives the request that started it: it has that request's trace, but neither its deadline nor
        // its place in the call chain.
        let own = CallContext(
            role: .service, originalRole: context.originalRole, deadline: nil, trace: context.trace,
            link: CallLink(anchor: context.link.anchor, method: body.method, service: nil, parent: nil))
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
            await job.end { ended in
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
            await standBack(job, obstacle)
        } catch {
            let known = MeshError(describing: error)
            if known.status == .cancelled && job.isInterrupted { return await job.suspend() }
            // What one that is called off would have waited for is nobody's concern any more.
            let isCalledOff = known.status == .cancelled || (error is JobObstacle && job.isCancelled)
            let receipt = await body.receipt(job)
            await job.end { ended in
                ended.state = isCalledOff ? .cancelled : .failed
                ended.error = isCalledOff ? nil : known
                ended.receipt = receipt
            }
        }
    }

    // MARK: Asking

    func job(_ id: JobID) throws -> Job {
        guard let entry = entries[id] else {
            throw MeshError(
                .notFound,
                "There is no job \(id.prefix(80)). 'smilepile jobs' lists them; results are kept for an hour.")
        }
        return entry.job
    }

    func list() async -> [JobSnapshot] {
        await dropExpired()
        return order.compactMap { entries[$0]?.job.snapshot }
    }

    private func dropExpired() async {
        let oldest = Timestamp.now().milliseconds - JobLimits.retention
        let expired = order.filter { id in
            guard let ended = entries[id]?.job.snapshot.endedAt else { return false }
            return ended.milliseconds < oldest
        }
        guard !expired.isEmpty else { return }
        forget(expired)
        // What stays written down is found expired again at the next start.
        try? await journal.forget(expired)
    }

    private func forget(_ ids: [JobID]) {
        for id in ids { entries[id] = nil }
        order.removeAll { entries[$0] == nil }
        board.remove(Set(ids))
    }
}
