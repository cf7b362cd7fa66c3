import Foundation
import Synchronization
import Testing

@testable import ServiceMesh
import ServiceMeshTesting

extension JobStore {
    /// Returns when the ends of jobs are seen to that were told by now.
    fileprivate func untilTidy() async {
        for entry in entries.values where entry.job.snapshot.state.hasEnded { await entry.task?.value }
        await tidying?.value
    }
}

/// Jobs that ended long ago, by the clock of the mesh, and the log's line of each.
@Suite struct KeptJobTests {
    private static let day: UInt64 = 86_400 * 1_000_000_000

    private let journal = MemoryJobJournal()
    private let time = Pauses()
    private var clock: MeshClock { MeshClock(simulating: time) }

    private func pass(days: UInt64, milliseconds: UInt64 = 0) {
        time.clock.withLock { $0 += days * Self.day + milliseconds * 1_000_000 }
    }

    private func quarry(
        isOpen: Bool = true, obstacle: (any Error)? = nil, jobLog: @escaping @Sendable (JobNotice) -> Void = { _ in }
    ) async throws -> (Mesh, Quarry) {
        try await startedQuarry(journal, obstacle: obstacle, isOpen: isOpen, clock: clock, jobLog: jobLog)
    }

    private func dug(_ stones: Int, in mesh: Mesh) async throws -> JobSnapshot {
        let job = try await mesh.send(Dig(stones: stones, holdAt: nil)).job
        return try await mesh.send(WaitForJob(job: job))
    }

    private func all(_ mesh: Mesh) async throws -> [JobSnapshot] { try await mesh.send(ListJobs(all: true)).jobs }

    // MARK: Long after

    @Test func howeverAJobEndedItsReceiptIsThereForNinetyDaysOverRestarts() async throws {
        let (first, stopped) = try await quarry(isOpen: false)
        let done = try await dug(3, in: first)
        let cancelling = try await first.send(Dig(stones: 4, holdAt: 1)).job
        await stopped.gate.arrivals(1)
        _ = try await first.send(CancelJob(job: cancelling))
        stopped.gate.open()
        let cancelled = try await first.send(WaitForJob(job: cancelling))
        stopped.obstacle.set(MeshError(.dataLoss, "It broke."))
        let failing = try await first.send(Borrow(stones: 2)).job
        let failed = try await first.send(WaitForJob(job: failing))
        let ended = [failed, cancelled, done]
        #expect(ended.map(\.state) == [.failed, .cancelled, .finished])
        #expect(try await all(first) == ended)
        #expect(try await first.send(ListJobs()).jobs == Array(ended.reversed()))
        await first.stop()

        pass(days: 0, milliseconds: 3_600_001)
        let (second, _) = try await quarry()
        #expect(try await second.send(ListJobs()).jobs.isEmpty)
        await second.jobs.untilTidy()
        for job in ended {
            #expect(try await second.send(GetJob(job: job.id)) == job, "in the form that it had")
            #expect(try await second.send(WaitForJob(job: job.id)) == job)
            #expect(try await second.observe(WatchJob(job: job.id)) { _ in } == job)
            #expect(try await second.send(CancelJob(job: job.id)) == job)
            #expect(await meshStatus { _ = try await second.send(ResumeJob(job: job.id)) } == .failedPrecondition)
        }
        pass(days: 89)
        #expect(try await all(second) == ended)
        #expect(
            try await second.send(GetJobReceipt(job: done.id)).lines.map(\.item) == ["stone 0", "stone 1", "stone 2"])
        #expect(try await second.send(GetJobReceipt(job: failing)).lines.map(\.outcome) == ["fetched"])

        pass(days: 1)
        #expect(try await all(second).isEmpty, "gone before anybody has removed it")
        for job in ended {
            #expect(await meshStatus { _ = try await second.send(GetJob(job: job.id)) } == .notFound)
            #expect(await meshStatus { _ = try await second.send(GetJobReceipt(job: job.id)) } == .notFound)
        }
        // The end of another one removes them.
        let last = try await dug(1, in: second)
        await second.jobs.untilTidy()
        #expect(try await journal.jobs(beginningWith: "", limit: 9) == [last])
        await second.stop()
    }

    /// In memory is what ended within the hour; the rest is with the journal, in one list.
    @Test func runningJobsAndThoseOfBeforeAreInOneList() async throws {
        let (mesh, quarry) = try await quarry(isOpen: false)
        var ids: [JobID] = []
        for _ in 0..<3 {
            ids.insert(try await dug(1, in: mesh).id, at: 0)
            pass(days: 1)
        }
        let running = try await mesh.send(Dig(stones: 4, holdAt: 2)).job
        await quarry.gate.arrivals(1)
        await mesh.jobs.untilTidy()
        #expect(try await mesh.send(ListJobs()).jobs.map(\.id) == [running])
        let whole = try await mesh.send(ListJobs(all: true))
        #expect(whole.jobs.map(\.id) == [running] + ids && whole.next == nil)
        #expect(whole.jobs.first?.outcomes == ["dug": 2], "as it is now, and not as it was written down last")
        var pages: [[JobID]] = []
        var after: Int64?
        repeat {
            let page = try await mesh.send(ListJobs(all: true, after: after, limit: 3))
            pages.append(page.jobs.map(\.id))
            after = page.next
        } while after != nil
        #expect(pages == [[running] + ids.prefix(2), [ids[2]]])
        quarry.gate.open()
        await mesh.stop()
    }

    @Test func aReceiptIsCutOnlyAfterAnHourAndKeepsWhatItsKindSays() async throws {
        let lines = (0..<JobLimits.keptLines).map { ReceiptLine(item: "stone \($0)", outcome: "dug") }
        var snapshot = JobSnapshot(id: "dig-1", method: Dig.method, startedAt: clock.timestamp())
        try await journal.begin(JobRecord(snapshot: snapshot))
        try await journal.append(JobLines(lines + [ReceiptLine(item: "bone", outcome: "broken")]), to: "dig-1")
        snapshot.state = .finished
        snapshot.endedAt = clock.timestamp()
        try await journal.end(snapshot)
        let (mesh, _) = try await quarry()
        await mesh.jobs.untilTidy()
        #expect(
            try await mesh.send(GetJobReceipt(job: "dig-1", after: JobLimits.keptLines)).lines.map(\.item) == ["bone"])
        #expect(try await mesh.send(GetJob(job: "dig-1")).unlistedLines == nil)
        pass(days: 1)
        #expect(try await mesh.send(ListJobs()).jobs.isEmpty)
        await mesh.jobs.untilTidy()
        let job = try await mesh.send(GetJob(job: "dig-1"))
        #expect(job.unlistedLines == 1 && job.outcomes == ["dug": JobLimits.keptLines, "broken": 1])
        let last = try await mesh.send(GetJobReceipt(job: "dig-1", after: JobLimits.keptLines - 2)).lines.map(\.item)
        #expect(last == ["stone \(JobLimits.keptLines - 2)", "bone"], "a bone is worth a look, a stone is not")
        await mesh.stop()
    }

    // MARK: Finding

    @Test func theBeginningOfAnIDIsEnoughWhereItIsOneJobs() async throws {
        for id in ["dig-ab", "dig-abc", "sift-1"] {
            var snapshot = JobSnapshot(id: id, method: Dig.method, state: .finished)
            snapshot.endedAt = clock.timestamp()
            try await journal.begin(JobRecord(snapshot: snapshot))
        }
        let (mesh, _) = try await quarry()
        pass(days: 1)
        #expect(try await mesh.send(GetJob(job: "sift")).id == "sift-1")
        #expect(try await mesh.send(GetJob(job: "dig-ab")).id == "dig-ab", "its whole id is no beginning")
        do {
            _ = try await mesh.send(GetJob(job: "dig-"))
            Issue.record("one of two was taken")
        } catch {
            let error = MeshError(describing: error)
            #expect(
                error.status == .invalidArgument && error.message.contains("dig-ab, dig-abc. Give more"), "\(error)")
        }
        for none in ["", "dig-b", "sift-12", "%"] {
            #expect(await meshStatus { _ = try await mesh.send(GetJob(job: none)) } == .notFound)
        }
        // What is done to a job is done to the one that is named.
        #expect(await meshStatus { _ = try await mesh.send(CancelJob(job: "sift")) } == .notFound)
        await mesh.stop()
    }

    @Test func onlyWhoMayReadJobsReadsThoseOfBefore() async throws {
        let (mesh, _) = try await quarry()
        let job = try await dug(1, in: mesh).id
        pass(days: 20)
        let kid = CallContext.root(mesh: mesh, role: .kid)
        #expect(await meshStatus { _ = try await mesh.send(ListJobs(all: true), in: kid) } == .permissionDenied)
        #expect(await meshStatus { _ = try await mesh.send(GetJob(job: job), in: kid) } == .permissionDenied)
        #expect(await meshStatus { _ = try await mesh.send(GetJobReceipt(job: job), in: kid) } == .permissionDenied)
        let parent = CallContext.root(mesh: mesh, role: .parent)
        #expect(try await mesh.send(GetJob(job: job), in: parent).id == job)
        await mesh.stop()
    }

    @Test func pagesAreOfAllJobsOnlyAndBounded() async throws {
        let (mesh, _) = try await quarry()
        for wrong in [ListJobs(limit: 5), ListJobs(all: false, after: 3), ListJobs(all: true, limit: 0)] {
            #expect(await meshStatus { _ = try await mesh.send(wrong) } == .invalidArgument)
        }
        #expect(await meshStatus { _ = try await mesh.send(ListJobs(all: true, limit: 1001)) } == .invalidArgument)
        #expect(try await mesh.send(ListJobs(all: true, after: .min, limit: 1000)).jobs.isEmpty)
        await mesh.stop()
    }

    // MARK: The log

    @Test func theLogHasALineForTheBeginningAndTheEndOfEachJob() async throws {
        let notices = Mutex<[JobNotice]>([])
        let note: @Sendable (JobNotice) -> Void = { notice in notices.withLock { $0.append(notice) } }
        func lines() -> [String] { notices.withLock { $0.map(\.description) } }
        let (first, stopped) = try await quarry(isOpen: false, jobLog: note)
        let done = try await first.send(Dig(stones: 2, holdAt: 1)).job
        await stopped.gate.arrivals(1)
        pass(days: 0, milliseconds: 61_250)
        stopped.gate.open()
        _ = try await first.send(WaitForJob(job: done))
        stopped.obstacle.set(MeshError(.dataLoss, "/home/ada/secret\nis broken."))
        let broken = try await first.send(Borrow(stones: 1)).job
        await first.stop()
        #expect(
            lines() == [
                "job \(done): test.dig started, asked for by the parent role",
                "job \(done): test.dig finished after 61.2 s: 2 dug",
                "job \(broken): test.borrow started, asked for by the parent role",
                "job \(broken): test.borrow failed (data_loss) after 0.0 s: 1 fetched",
            ])
    }

    @Test func aJobThatGoesOnIsToldOnceForEachStart() async throws {
        let notices = Mutex<[JobNotice]>([])
        let note: @Sendable (JobNotice) -> Void = { notice in notices.withLock { $0.append(notice) } }
        let (first, stopped) = try await quarry(isOpen: false, jobLog: note)
        let job = try await first.send(Dig(stones: 3, holdAt: 1)).job
        await stopped.gate.arrivals(1)
        await first.stopAtTheGate(stopped)
        let (second, quarry) = try await quarry(isOpen: false, jobLog: note)
        _ = try await second.send(GetJob(job: job))
        quarry.gate.open()
        _ = try await second.send(WaitForJob(job: job))
        await second.stop()
        #expect(notices.withLock { $0.map(\.moment) } == [.started(by: .parent), .goesOn, .ended])
        #expect(notices.withLock { $0.map(\.job.id) } == [job, job, job])
    }
}
