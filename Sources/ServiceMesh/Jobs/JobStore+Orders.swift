// What a person asks of a job that runs or stands still.
extension JobStore {
    /// Lets a job stand still at its next item. Asking again changes nothing.
    func pause(_ id: JobID) async throws -> JobSnapshot {
        let job = try await unfinished(id, "paused")
        job.pause()
        try await note(job)
        return job.snapshot
    }

    /// Lets a paused job go on. For one that runs already this changes nothing.
    func resume(_ id: JobID) async throws -> JobSnapshot {
        let job = try await unfinished(id, "resumed")
        if let record = entries[id]?.dormant {
            try await wake(record, job, by: .person)
        } else {
            job.resume()
            try await note(job)
        }
        return job.snapshot
    }

    /// Asks the job to stop. Asking again, or for one that has ended, changes nothing.
    func cancel(_ id: JobID) async throws -> JobSnapshot {
        let job = try await job(id)
        guard !job.snapshot.state.hasEnded else { return job.snapshot }
        try requireOpen()
        job.cancel()
        entries[id]?.task?.cancel()
        try await note(job)
        // Nothing runs for it yet: its body is started to find that it is called off, and to write the receipt.
        if let record = entries[id]?.dormant {
            do {
                try await wake(record, job, by: .person)
            } catch {
                await fail(job, record, error)
            }
        }
        return job.snapshot
    }

    private func unfinished(_ id: JobID, _ what: String) async throws -> Job {
        let job = try await job(id)
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

    /// Writes down the newest order that the job was given, whichever caller comes last to writing it.
    func note(_ job: Job) async throws {
        var noted: JobRequest
        repeat {
            noted = job.request
            try await journal.note(noted, of: job.id)
        } while noted != job.request
    }

    // MARK: Stopping

    /// Lets no job start from now on, interrupts those that can go on later and cancels the others.
    func suspendAll() {
        isClosed = true
        looking?.cancel()
        for entry in unfinished {
            if entry.resumption == .none { entry.job.cancel() } else { entry.job.interrupt() }
            entry.task?.cancel()
        }
    }

    private var unfinished: [Entry] { entries.values.filter { !$0.job.snapshot.state.hasEnded } }

    /// As ``suspendAll()``, and returns when each job stands still or has its receipt, and everybody who follows one has been told.
    func suspendAllAndWait() async {
        suspendAll()
        for entry in unfinished {
            if let task = entry.task { await task.value } else { await entry.job.suspend() }
        }
        // And until the log has a line of each that has just ended.
        for entry in entries.values { await entry.task?.value }
        board.finish()
        // What they were writing down when the library was closed comes before the journal is closed too.
        await resuming?.value
        tidying?.cancel()
        await tidying?.value
    }
}
