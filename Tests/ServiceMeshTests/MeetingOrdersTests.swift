import Foundation
import ServiceMeshTesting
import Synchronization
import TestSupport
import Testing

@testable import ServiceMesh

/// Orders that come while a job is between running and standing still: each time the store has waited, it looks again.
@Suite(.timeLimit(.minutes(1))) struct MeetingOrdersTests {
    /// A journal whose writes stand at a gate, once a test wants them to.
    private struct HeldJournal: JobJournal {
        enum Step: Sendable { case append, note, resume }

        final class Hold: Sendable {
            let gate = TestSupport.Gate()
            private let step = Mutex<Step?>(nil)
            func at(_ step: Step) { self.step.withLock { $0 = step } }
            func pass(_ now: Step) async { if step.withLock({ $0 == now }) { await gate.pass() } }
        }

        let journal = MemoryJobJournal()
        let hold = Hold()
        /// Jobs of which is written down that they stand still.
        let suspended = EventLog()

        func records(_ retention: JobRetention) async throws -> [JobRecord] { try await journal.records(retention) }
        func jobs(beginningWith beginning: String, limit: Int) async throws -> [JobSnapshot] {
            try await journal.jobs(beginningWith: beginning, limit: limit)
        }
        func page(
            after: Int64?, limit: Int, _ retention: JobRetention
        ) async throws -> (jobs: [JobSnapshot], next: Int64?) {
            try await journal.page(after: after, limit: limit, retention)
        }
        func begin(_ record: JobRecord) async throws { try await journal.begin(record) }
        func append(_ lines: JobLines, to job: JobID) async throws {
            await hold.pass(.append)
            try await journal.append(lines, to: job)
        }
        func keep(checkpoint: Data, _ lines: JobLines, of job: JobID) async throws {
            try await journal.keep(checkpoint: checkpoint, lines, of: job)
        }
        func note(_ request: JobRequest, of job: JobID) async throws {
            await hold.pass(.note)
            try await journal.note(request, of: job)
        }
        func resume(_ job: JobID, attempts: JobAttempts, droppingLines: Bool) async throws {
            await hold.pass(.resume)
            try await journal.resume(job, attempts: attempts, droppingLines: droppingLines)
        }
        func suspend(_ snapshot: JobSnapshot) async throws {
            try await journal.suspend(snapshot)
            suspended.add(snapshot.id)
        }
        func end(_ snapshot: JobSnapshot) async throws { try await journal.end(snapshot) }
        func lines(of job: JobID, after: Int, limit: Int) async throws -> (lines: [ReceiptLine], next: Int?) {
            try await journal.lines(of: job, after: after, limit: limit)
        }
        func items(of job: JobID) async throws -> RecordedItems { try await journal.items(of: job) }
        func forget(_ jobs: [JobID]) async throws { try await journal.forget(jobs) }
        func tidy(
            _ retention: JobRetention, needsAttention: @escaping @Sendable (String, String) -> Bool
        ) async throws { try await journal.tidy(retention, needsAttention: needsAttention) }
    }

    private let journal = HeldJournal()
    private let missing = JobObstacle("/media/stick is not there.")

    private func kept(_ method: String, _ params: String, request: JobRequest = .run) async throws {
        let snapshot = JobSnapshot(id: "job-1", method: method)
        try await journal.begin(JobRecord(snapshot: snapshot, params: Data(params.utf8), request: request))
    }

    /// Stops while something stands at the journal's gate, which opens once the jobs are told.
    private func stop(_ mesh: Mesh) async {
        await mesh.jobs.suspendAll()
        journal.hold.gate.open()
        await mesh.stop()
    }

    @Test func aStopWhileABodyStandsBackSuspendsItsJob() async throws {
        let (mesh, _) = try await startedQuarry(journal, obstacle: missing, isOpen: true)
        journal.hold.at(.append)
        let job = try await mesh.send(Borrow(stones: 3)).job
        await journal.hold.gate.arrivals(1)
        await stop(mesh)
        #expect(try await mesh.jobs.job(job).snapshot.state == .interrupted)
        #expect(try await journal.records().first?.snapshot.state == .interrupted)
    }

    @Test func aJobThatIsCalledOffWhileItsBodyStandsBackEndsAtOnce() async throws {
        let (mesh, quarry) = try await startedQuarry(journal, obstacle: missing, isOpen: true)
        journal.hold.at(.append)
        let job = try await mesh.send(Borrow(stones: 3)).job
        await journal.hold.gate.arrivals(1)
        _ = try await mesh.send(CancelJob(job: job))
        journal.hold.gate.open()
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .cancelled && ended.error == nil && ended.obstacle == nil, "\(ended)")
        #expect(quarry.log.all.isEmpty)
        await mesh.stop()
    }

    @Test func aJobThatWouldWaitAndIsCalledOffHasNotFailed() async throws {
        let (mesh, _) = try await startedQuarry(journal, obstacle: missing, isOpen: true)
        let job = try await mesh.send(Borrow(stones: 3)).job
        try await mesh.firstValue(of: WatchJob(job: job)) { $0.state == .waiting }
        _ = try await mesh.send(CancelJob(job: job))
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .cancelled && ended.error == nil && ended.obstacle == nil, "\(ended)")
        await mesh.stop()
    }

    @Test func noBodyStartsAfterAStop() async throws {
        try await kept("test.dig", #"{"stones":1}"#, request: .pause)
        let (mesh, quarry) = try await startedQuarry(journal, isOpen: true)
        journal.hold.at(.note)
        let resuming = Task { try await mesh.send(ResumeJob(job: "job-1")) }
        await journal.hold.gate.arrivals(1)
        await stop(mesh)
        _ = try? await resuming.value
        #expect(await mesh.jobs.entries["job-1"]?.task == nil)
        #expect(quarry.log.all.isEmpty)
    }

    @Test func aPauseWhileAJobIsBeingWokenHolds() async throws {
        try await kept("test.dig", #"{"stones":1}"#, request: .pause)
        let (mesh, quarry) = try await startedQuarry(journal, isOpen: true)
        journal.hold.at(.resume)
        let resuming = Task { try await mesh.send(ResumeJob(job: "job-1")) }
        await journal.hold.gate.arrivals(1)
        _ = try await mesh.send(PauseJob(job: "job-1"))
        journal.hold.gate.open()
        #expect(try await resuming.value.state == .paused)
        #expect(try await journal.records().first?.request == .pause)
        #expect(quarry.log.all.isEmpty)
        #expect(try await mesh.send(ResumeJob(job: "job-1")).state != .paused)
        #expect(try await mesh.send(WaitForJob(job: "job-1")).state == .finished)
        await mesh.stop()
    }

    /// As where what a job needs is on a mount whose server is gone.
    @Test func theMeshStartsThoughNobodyAnswersWhetherAJobCanGoOn() async throws {
        try await kept("test.dig", #"{"stones":1}"#)
        let quarry = Quarry(answers: false)
        quarry.gate.open()
        let mesh = try Mesh(services: [quarry], journal: journal)
        try await mesh.start()
        await quarry.mount.arrivals(1)
        #expect(try await mesh.send(GetJob(job: "job-1")).state == .interrupted)
        let other = try await mesh.send(Borrow(stones: 1)).job
        #expect(try await mesh.send(WaitForJob(job: other)).state == .finished)
        quarry.mount.open()
        #expect(try await mesh.send(WaitForJob(job: "job-1")).state == .finished)
        await mesh.stop()
    }

    @Test func aStopWhileNobodyAnswersStartsNothing() async throws {
        try await kept("test.dig", #"{"stones":1}"#)
        let quarry = Quarry(answers: false)
        let mesh = try Mesh(services: [quarry], journal: journal)
        try await mesh.start()
        await quarry.mount.arrivals(1)
        async let stopping: Void = mesh.stop()
        // Who follows it is told before there is an answer.
        await journal.suspended.meets { !$0.isEmpty }
        #expect(try await journal.records().first?.snapshot.state == .interrupted)
        quarry.mount.open()
        await stopping
        #expect(await mesh.jobs.entries["job-1"]?.task == nil)
        let record = try await journal.records().first
        #expect(record?.snapshot.state == .interrupted && record?.attempts.count == 0)
    }

    @Test func aJobThatSomebodyElseHasStartedIsNotMarkedAsWaiting() async throws {
        try await kept("test.dig", #"{"stones":1,"holdAt":0}"#)
        let (mesh, quarry) = try await startedQuarry(journal, obstacle: missing)
        try await mesh.firstValue(of: WatchJob(job: "job-1")) { $0.state == .waiting }
        journal.hold.at(.note)
        // Finds that it has to wait still, and writes down that it was asked to go on.
        let first = Task { try await mesh.send(ResumeJob(job: "job-1")) }
        await journal.hold.gate.arrivals(1)
        quarry.obstacle.set(nil)
        _ = await mesh.jobs.lookAgain()
        await quarry.gate.arrivals(1)
        journal.hold.gate.open()
        #expect(try await first.value.state == .running)
        #expect(try await mesh.send(GetJob(job: "job-1")).state == .running)
        quarry.gate.open()
        #expect(try await mesh.send(WaitForJob(job: "job-1")).state == .finished)
        await mesh.stop()
    }
}
