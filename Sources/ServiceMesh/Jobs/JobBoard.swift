import Synchronization

/// All jobs as those see them who observe the list. Changes of progress come ten times a second at most, taken
/// together; a job that begins, stands still or ends comes at once.
final class JobBoard: Sendable {
    private struct State {
        var jobs: [JobID: JobSnapshot] = [:]
        var order: [JobID] = []
        var lastPublished: UInt64 = 0
    }

    private static let publishingInterval: UInt64 = 100_000_000

    private let clock: MeshClock
    private let state = Mutex(State())
    private let observed = ObservedValue(JobList(jobs: []))

    init(clock: MeshClock) { self.clock = clock }

    func put(_ job: JobSnapshot, isTurn: Bool) {
        state.withLock { state in
            if state.jobs.updateValue(job, forKey: job.id) == nil { state.order.append(job.id) }
            publish(&state, always: isTurn)
        }
    }

    func remove(_ jobs: Set<JobID>) {
        guard !jobs.isEmpty else { return }
        state.withLock { state in
            for job in jobs { state.jobs[job] = nil }
            state.order.removeAll { jobs.contains($0) }
            publish(&state, always: true)
        }
    }

    private func publish(_ state: inout State, always: Bool) {
        let now = clock.now()
        guard always || now &- state.lastPublished >= Self.publishingInterval else { return }
        state.lastPublished = now
        let jobs = state.jobs
        observed.publish(JobList(jobs: state.order.compactMap { jobs[$0] }))
    }

    func observe() -> Observation<JobList> { observed.observe() }

    /// The library is closed: who observes gets the last list, and his reply.
    func finish() { observed.finish() }
}
