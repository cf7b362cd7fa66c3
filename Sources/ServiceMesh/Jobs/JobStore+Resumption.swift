import Foundation

// How jobs go on that were broken off: at the next start, when what they wait for is there, and when a person says so.
extension JobStore {
    enum Waker {
        /// The job itself, because the library was opened or what it waits for may be there.
        case itself
        case person
    }

    /// Lets every job go on that was broken off, and those wait that were paused, and sees to what has become old. The
    /// services are started.
    ///
    /// One after the other, so that a file system that does not answer holds one thread. What comes after it stands
    /// still until then, or until a person resumes it.
    func beginResuming() {
        tidy()
        guard let mesh, entries.values.contains(where: { $0.dormant != nil }) else { return }
        let executor = MeshClock.executor
        resuming = Task.detached(executorPreference: executor) {
            // Its context does not hold the mesh.
            defer { withExtendedLifetime(mesh) {} }
            await MeshClock.$executor.withValue(executor) { await self.resumeUnfinished() }
        }
    }

    private func resumeUnfinished() async {
        for id in order {
            guard !isClosed, let record = entries[id]?.dormant, let job = entries[id]?.job else { continue }
            if record.request == .cancel { job.cancel() }
            if record.request != .pause { await resume(record, job) }
        }
    }

    private func resume(_ record: JobRecord, _ job: Job) async {
        do {
            try await wake(record, job, by: .itself)
        } catch {
            // While the library closes nobody answers; the next start tries again.
            if isClosed { entries[job.id]?.dormant = record } else { await fail(job, record, error) }
        }
    }

    /// Starts the body of a job that the journal knows from before, or lets it wait for what it needs.
    ///
    /// What the journal says may be anything: a message that does not exist any more, or params that it does not take.
    func wake(_ record: JobRecord, _ job: Job, by waker: Waker) async throws {
        guard let mesh else { throw MeshError(.unavailable, "The jobs are not started.") }
        let id = job.id
        // Taken before the first wait, so that a request that comes at the same time does not start it twice.
        entries[id]?.dormant = nil
        let wasPaused = job.isPaused
        if waker == .person { job.unpause() }
        do {
            let body = try Self.body(of: record, on: mesh)
            let attempts = Self.attempts(record, waker)
            guard attempts.count < JobLimits.attempts || job.isCancelled else {
                entries[id]?.dormant = record
                return try await hold(job)
            }
            let context = CallContext.root(mesh: mesh, role: min(record.role, .parent))
            do {
                let isCancelled = job.isCancelled
                try await CallContext.$current.withValue(context) {
                    if !isCancelled { try await body.prepareAgain(job) }
                }
            } catch  where job.isCancelled {
                // Its body is started to find that it is called off, and to write the receipt.
            }
            guard !isClosed, !job.isPaused || job.isCancelled else {
                entries[id]?.dormant = record
                return
            }
            let isAnew = body.resumption != .onward
            try await journal.resume(id, attempts: attempts, droppingLines: isAnew)
            if waker == .person { try await note(job) }
            // Nothing is awaited from here on until it runs.
            guard !isClosed else {
                entries[id]?.dormant = record
                return await job.suspend()
            }
            if isAnew { job.beginAnew() }
            guard !job.isPaused || job.isCancelled else {
                entries[id]?.dormant = record
                return
            }
            job.resume()
            run(body, record, context)
        } catch let obstacle as JobObstacle {
            entries[id]?.dormant = record
            if waker == .person { try await note(job) }
            await wait(job, obstacle)
        } catch {
            if waker == .person && !job.isCancelled {
                entries[id]?.dormant = record
                if wasPaused { job.pause() }
            }
            throw error
        }
    }

    /// How often it was broken off at this place. A stop that was asked for is none of it, and a person who lets it go on
    /// begins the count anew.
    private static func attempts(_ record: JobRecord, _ waker: Waker) -> JobAttempts {
        guard waker == .itself, record.snapshot.state == .running else { return JobAttempts(mark: record.mark) }
        return JobAttempts(
            count: record.attempts.mark == record.mark ? record.attempts.count + 1 : 1, mark: record.mark)
    }

    /// A job under which the daemon breaks down each time must not break it down at each start for ever. It may also be
    /// innocent: so it stands still, and is not ended.
    private func hold(_ job: Job) async throws {
        job.pause(
            because: MeshError(
                .failedPrecondition,
                "The daemon was broken off \(JobLimits.attempts) times while this job was at the same place, so it stands still. Let it go on with 'smilepile jobs resume', or give it up with 'smilepile jobs cancel'. If the daemon crashed, please report it."
            ))
        try await note(job)
        // Why, for the starts to come.
        if job.isPaused { try? await journal.suspend(job.snapshot) }
    }

    private static func body(of record: JobRecord, on mesh: Mesh) throws -> JobBody {
        let method = record.snapshot.method
        guard let params = record.params else {
            throw MeshError(
                .unavailable, "The daemon ended while this job ran, and it cannot go on. Start it again.")
        }
        do {
            let body = try mesh.jobBody(method, params: params)
            let refusal = Authorisation.refusal(of: min(record.role, .parent), needing: body.access, for: method)
            guard body.resumption != .none, refusal == nil else {
                throw MeshError(.failedPrecondition, "\(method.prefix(80)) cannot go on after a restart.")
            }
            return body
        } catch let error as InvalidParams {
            throw MeshError(
                .invalidArgument, "The job cannot go on: what was kept of it is not valid (\(error)). Start it again.")
        }
    }

    /// Ends a job that cannot go on, with the lines that it has and the receipt that can be made of them.
    func fail(_ job: Job, _ record: JobRecord, _ error: any Error) async {
        let body = mesh.flatMap { try? Self.body(of: record, on: $0) }
        let receipt = await body?.receipt(job)
        await end(job) { ended in
            ended.state = job.isCancelled ? .cancelled : .failed
            ended.error = job.isCancelled ? nil : MeshError(describing: error)
            ended.receipt = receipt
        }
    }

    // MARK: Waiting

    /// A body has found that it cannot go on yet. It is started again as after a restart.
    func waitForObstacle(_ job: Job, _ obstacle: JobObstacle) async {
        let id = job.id
        guard var record = entries[id]?.record, !isClosed else { return await job.suspend() }
        try? await job.flush()
        // Who closes the library meanwhile waits for this task, and suspends nothing himself.
        guard !isClosed else { return await job.suspend() }
        record.snapshot = job.snapshot
        record.snapshot.state = .waiting
        record.request = job.request
        entries[id]?.task = nil
        entries[id]?.dormant = record
        // Called off meanwhile, when there was nobody who could have been told.
        if job.isCancelled { return await resume(record, job) }
        await wait(job, obstacle)
    }

    private func wait(_ job: Job, _ obstacle: JobObstacle) async {
        // Somebody else may have started it meanwhile.
        guard !isClosed, entries[job.id]?.dormant != nil else { return }
        let isNew = job.wait(for: obstacle.meshError)
        lookAgainLater()
        // Not running: a stop while it waits is none of its doing.
        if isNew { try? await journal.suspend(job.snapshot) }
    }

    private var isAnyWaiting: Bool { entries.values.contains { $0.job.snapshot.state == .waiting } }

    /// One task for all jobs that wait, so that a file system that does not answer holds one thread and not one for each
    /// look. Asking the kernel to tell was rejected: it tells of folders that are there, and a stick's is not.
    private func lookAgainLater() {
        guard looking == nil, !isClosed else { return }
        let (clock, executor) = (clock, MeshClock.executor)
        looking = Task.detached(executorPreference: executor) { [weak self] in
            await MeshClock.$executor.withValue(executor) {
                while (try? await clock.sleep(for: JobLimits.obstacleInterval)) != nil {
                    guard await self?.lookAgain() == true else { return }
                }
            }
        }
    }

    /// - Returns: whether any job waits still.
    func lookAgain() async -> Bool {
        for id in order {
            guard !isClosed, let record = entries[id]?.dormant, let job = entries[id]?.job,
                job.snapshot.state == .waiting
            else { continue }
            await resume(record, job)
        }
        if isAnyWaiting && !isClosed { return true }
        looking = nil
        return false
    }
}
