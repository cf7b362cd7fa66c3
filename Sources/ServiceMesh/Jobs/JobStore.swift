import Foundation

/// A message that starts a long piece of work. Its reply is the job's id; the work goes on after the reply and
/// ends in exactly one receipt, whether it finished, failed or was cancelled.
public protocol HandledJob: HandledMessage where Reply == JobStarted {
    associatedtype Receipt: JobReceipt
    /// Whether this can start now; an error here is the reply, and no job is made. Default: always.
    func prepare(on service: Service) async throws
    /// The work. When its task is cancelled it stops where nothing is left half done and returns a receipt
    /// whose ending is `cancelled`.
    func run(on service: Service, job: Job) async throws -> Receipt
}

extension HandledJob {
    public static var kind: MessageKind { .job }

    public func prepare(on service: Service) async throws {}

    public func perform(on service: Service) async throws -> JobStarted {
        guard let context = CallContext.current else {
            throw MeshError(.internal, "\(Self.method) was performed outside the mesh.")
        }
        try await prepare(on: service)
        return try await context.mesh.jobs.start(method: Self.method, context: context) { job in
            try await run(on: service, job: job)
        }
    }
}

/// The jobs of this run of the daemon: running ones, and ended ones for an hour at least.
public actor JobStore: MeshService {
    public static let serviceName = "JobStore"
    /// Waiting for a job takes a place for as long as the job lasts.
    public static let admission = AdmissionLimit(concurrent: 1024, queued: 256)
    public static var messages: MessageList<JobStore> {
        ListJobs.self
        GetJob.self
        GetJobReceipt.self
        WaitForJob.self
        CancelJob.self
        WatchJob.self
    }

    /// How long a result is kept after the end of its job, in milliseconds.
    static let retention: Int64 = 3_600_000
    static let maximumRunning = 32
    static let maximumKept = 4096

    private struct Entry {
        let job: Job
        let task: Task<Void, Never>
    }

    private var entries: [JobID: Entry] = [:]
    private var order: [JobID] = []
    private var isClosed = false
    private let clock: MeshClock

    init(clock: MeshClock) { self.clock = clock }

    func start<Receipt: JobReceipt>(
        method: String, context: CallContext, _ body: @escaping @Sendable (Job) async throws -> Receipt
    ) throws -> JobStarted {
        dropExpired()
        guard !isClosed else { throw MeshError(.unavailable, "The library is shutting down. Start it again first.") }
        guard entries.values.count(where: { !$0.job.snapshot.state.hasEnded }) < Self.maximumRunning,
            entries.count < Self.maximumKept
        else {
            throw MeshError(
                .resourceExhausted, "Too many jobs are running or kept. Wait for one to end: smilepile jobs list.")
        }
        let service = method.split(separator: ".").last.map(String.init) ?? method
        let id = "\(service)-\(String(UInt32.random(in: 0x10_0000...0xff_ffff), radix: 16))"
        guard entries[id] == nil else { return try start(method: method, context: context, body) }
        let job = Job(id: id, method: method, clock: clock)
        let mesh = context.mesh
        // A job outlives the request that started it: it has that request's trace, but neither its deadline nor
        // its place in the call chain.
        let jobContext = CallContext(
            role: .service, originalRole: context.originalRole, deadline: nil, trace: context.trace,
            link: CallLink(anchor: context.link.anchor, method: method, service: nil, parent: nil))
        let executor = MeshClock.executor
        let task = Task.detached(executorPreference: executor) {
            // For as long as the job lasts: its context does not hold the mesh.
            defer { withExtendedLifetime(mesh) {} }
            await MeshClock.$executor.withValue(executor) {
                await CallContext.$current.withValue(jobContext) { await Self.conduct(job, body) }
            }
        }
        entries[id] = Entry(job: job, task: task)
        order.append(id)
        return JobStarted(job: id)
    }

    private static func conduct<Receipt: JobReceipt>(
        _ job: Job, _ body: @Sendable (Job) async throws -> Receipt
    ) async {
        do {
            let receipt = try await body(job)
            job.end(
                state: receipt.ending == .cancelled ? .cancelled : .finished,
                needsAttention: receipt.ending == .completeWithProblems, receipt: try JSON.value(of: receipt),
                error: nil)
        } catch {
            let known = MeshError(describing: error)
            job.end(
                state: known.status == .cancelled ? .cancelled : .failed, needsAttention: false, receipt: nil,
                error: known.status == .cancelled ? nil : known)
        }
    }

    private func dropExpired() {
        let oldest = Timestamp.now().milliseconds - Self.retention
        order.removeAll { id in
            guard let ended = entries[id]?.job.snapshot.endedAt, ended.milliseconds < oldest else { return false }
            entries[id] = nil
            return true
        }
    }

    func job(_ id: JobID) throws -> Job {
        guard let entry = entries[id] else {
            throw MeshError(
                .notFound,
                "There is no job \(id.prefix(80)). 'smilepile jobs' lists them; results are kept for an hour.")
        }
        return entry.job
    }

    func list() -> [JobSnapshot] { order.compactMap { entries[$0]?.job.snapshot } }

    /// Asks the job to stop. Asking again, or for one that has ended, changes nothing.
    func cancel(_ id: JobID) throws -> JobSnapshot {
        let job = try job(id)
        entries[id]?.task.cancel()
        return job.snapshot
    }

    /// Lets no job start from now on, cancels those that run, and returns when each has its receipt.
    func cancelAllAndWait() async {
        isClosed = true
        let running = entries.values
        for entry in running { entry.task.cancel() }
        for entry in running { await entry.task.value }
    }
}
