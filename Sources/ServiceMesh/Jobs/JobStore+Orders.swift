import Foundation

// What a person asks of a job that runs or stands still.
extension JobStore {
    /// Lets a job stand still at its next item. Asking again changes nothing.
    func pause(_ id: JobID) async throws -> JobSnapshot {
        let job = try unfinished(id, "paused")
        job.pause()
        try await note(job)
        return job.snapshot
    }

    /// Lets a paused job go on. For one that runs already this changes nothing.
    func resume(_ id: JobID) async throws -> JobSnapshot {
        let job = try unfinished(id, "resumed")
        if let record = entries[id]?.dormant {
            try await wake(record, job)
        } else {
            job.resume()
            try await note(job)
        }
        return job.snapshot
    }

    /// Asks the job to stop. Asking again, or for one that has ended, changes nothing.
    func cancel(_ id: JobID) async throws -> JobSnapshot {
        let job = try job(id)
        guard !job.snapshot.state.hasEnded else { return job.snapshot }
        try requireOpen()
        job.cancel()
        entries[id]?.task?.cancel()
        try await note(job)
        // Nothing runs for it yet: its body is started to find that it is called off, and to write the receipt.
        if let record = entries[id]?.dormant {
            do {
                try await wake(record, job)
            } catch {
                await fail(job, MeshError(describing: error))
            }
        }
        return job.snapshot
    }

    private func unfinished(_ id: JobID, _ what: String) throws -> Job {
        let job = try job(id)
        try requireOpen()
        guard !job.snapshot.state.hasEnded else {
            throw MeshError(
                .failedPrecondition,
                "Job \(id) has ended (\(job.snapshot.state.rawValue)); only one that has not can be \(what).")
        }
        guard !job.isCancelled else {
            throw MeshError(.failedPrecondition, "Job \(id) was asked to stop and cannot be \(what) any more.")
        }
        return job
    }

    /// Writes down what is asked of the job: the newest, whoever comes last to writing it.
    private func note(_ job: Job) async throws {
        var noted: JobRequest
        repeat {
            noted = job.request
            try await journal.note(noted, of: job.id)
        } while noted != job.request
    }

    // MARK: Going on after a restart

    /// Lets every job go on that was broken off, and those wait that were paused. The services are started.
    func resumeUnfinished() async {
        for id in order {
            guard !isClosed, let record = entries[id]?.dormant, let job = entries[id]?.job else { continue }
            if record.request == .cancel { job.cancel() }
            guard record.request != .pause else { continue }
            do {
                try await wake(record, job, atStart: true)
            } catch {
                await fail(job, MeshError(describing: error))
            }
        }
    }

    /// Starts the body of a job that the journal knows from before.
    ///
    /// What the journal says may be anything: a message that does not exist any more, or params that it does not take.
    private func wake(_ record: JobRecord, _ job: Job, atStart: Bool = false) async throws {
        guard let mesh else { throw MeshError(.unavailable, "The jobs are not started.") }
        let id = job.id
        // Taken before the first wait, so that whoever asks at the same time does not start it twice.
        entries[id]?.dormant = nil
        do {
            let body = try Self.body(of: record, on: mesh)
            let context = CallContext.root(mesh: mesh, role: min(record.role, .parent))
            if !job.isCancelled {
                try await CallContext.$current.withValue(context) { try await body.prepareAgain(record.checkpoint) }
            }
            let isUnclean = record.snapshot.state == .running
            var attempts = JobAttempts(count: 0, mark: record.mark)
            if isUnclean { attempts.count = record.attempts.mark == record.mark ? record.attempts.count + 1 : 1 }
            guard attempts.count < JobLimits.attempts else {
                throw MeshError(
                    .failedPrecondition,
                    "The daemon was broken off \(JobLimits.attempts) times while this job was at the same place, so it was not started again. What it did until then stays done. If the daemon crashed, please report it."
                )
            }
            let isAnew = body.resumption != .onward
            try await journal.resume(id, attempts: attempts, droppingLines: isAnew)
            try requireOpen()
            if isAnew { job.beginAnew() }
            job.resume()
            if !atStart { try await note(job) }
            run(body, id, context)
        } catch {
            if !atStart && !job.isCancelled { entries[id]?.dormant = record }
            throw error
        }
    }

    private static func body(of record: JobRecord, on mesh: Mesh) throws -> JobBody {
        let method = record.snapshot.method
        guard let params = record.params else {
            throw MeshError(
                .unavailable, "The daemon ended while this job ran, and it cannot go on. Start it again.")
        }
        do {
            let body = try mesh.jobBody(method, params: params)
            guard body.resumption != .none, min(record.role, .parent) >= body.access else {
                throw MeshError(.failedPrecondition, "\(method.prefix(80)) cannot go on after a restart.")
            }
            return body
        } catch let error as InvalidParams {
            throw MeshError(
                .invalidArgument, "The job cannot go on: what was kept of it is not valid (\(error)). Start it again.")
        }
    }

    private func fail(_ job: Job, _ error: MeshError) async {
        await job.end { ended in
            ended.state = job.isCancelled ? .cancelled : .failed
            ended.error = job.isCancelled ? nil : error
        }
    }

    // MARK: Stopping

    /// Lets no job start from now on, interrupts those that can go on later and cancels the others, and returns when
    /// each stands still or has its receipt, and everybody who follows one has been told.
    func suspendAllAndWait() async {
        isClosed = true
        let unfinished = entries.values.filter { !$0.job.snapshot.state.hasEnded }
        for entry in unfinished {
            if entry.resumption == .none { entry.job.cancel() } else { entry.job.interrupt() }
            entry.task?.cancel()
        }
        for entry in unfinished {
            if let task = entry.task { await task.value } else { await entry.job.suspend() }
        }
        board.finish()
    }
}
