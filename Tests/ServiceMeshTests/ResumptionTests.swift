import Foundation
import ServiceMesh
import ServiceMeshTesting
import Testing

/// Two meshes with one journal are two starts of the daemon.
@Suite struct ResumptionTests {
    @Test func anInterruptedJobGoesOnAtTheNextStartUnderItsName() async throws {
        let (journal, log) = (MemoryJobJournal(), EventLog())
        let (first, quarry) = try await startedQuarry(journal, log: log)
        let job = try await first.send(Dig(stones: 10, holdAt: 4)).job
        await quarry.gate.arrivals(1)
        let began = try await first.send(GetJob(job: job)).startedAt
        await first.stopAtTheGate(quarry)

        let (second, _) = try await startedQuarry(journal, log: log, isOpen: true)
        let ended = try await second.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["dug": 10] && ended.receipt?["made"] == 10)
        #expect(ended.startedAt == began)
        // Each once, and in order: nothing was repeated and nothing left out.
        #expect(log.all == (0..<10).map { "stone \($0)" })
        #expect(try await second.send(GetJobReceipt(job: job)).lines.map(\.item) == log.all)
        await second.stop()
    }

    @Test func whatAMessageOnlyNamesIsWrittenDownInItsPlace() async throws {
        let (journal, log) = (MemoryJobJournal(), EventLog())
        let (first, quarry) = try await startedQuarry(journal, log: log)
        let job = try await first.send(Dig(stones: -1, holdAt: 2)).job
        await quarry.gate.arrivals(1)
        await first.stopAtTheGate(quarry)
        let params = try #require(try await journal.records().first?.params)
        #expect(try JSONDecoder().decode(Dig.self, from: params).stones == 6)

        let (second, _) = try await startedQuarry(journal, log: log, isOpen: true)
        #expect(try await second.send(WaitForJob(job: job)).outcomes == ["dug": 6])
        await second.stop()
    }

    @Test func everyFollowerIsToldThatItsJobWasInterrupted() async throws {
        let (mesh, quarry) = try await startedQuarry(MemoryJobJournal())
        let job = try await mesh.send(Dig(stones: 10, holdAt: 4)).job
        await quarry.gate.arrivals(1)
        let seen = EventLog()
        let watchers = (0..<20).map { number in
            Task {
                try await mesh.observe(WatchJob(job: job)) { _ in seen.add("\(number)") }
            }
        }
        await seen.meets { Set($0).count == 20 }
        await mesh.stopAtTheGate(quarry)
        for watcher in watchers { #expect(try await watcher.value.state == .interrupted) }
    }

    @Test func aPausedJobStaysPausedOverARestart() async throws {
        let (journal, log) = (MemoryJobJournal(), EventLog())
        let (first, quarry) = try await startedQuarry(journal, log: log)
        let job = try await first.send(Dig(stones: 4, holdAt: 1)).job
        await quarry.gate.arrivals(1)
        _ = try await first.send(PauseJob(job: job))
        await first.stopAtTheGate(quarry)

        let (second, _) = try await startedQuarry(journal, log: log, isOpen: true)
        #expect(try await second.send(GetJob(job: job)).state == .paused)
        #expect(try await second.send(PauseJob(job: job)).state == .paused)
        #expect(log.all == ["stone 0", "stone 1"])
        await second.stop()

        let (third, _) = try await startedQuarry(journal, log: log, isOpen: true)
        #expect(try await third.send(ResumeJob(job: job)).state != .paused)
        #expect(try await third.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        #expect(log.all == (0..<4).map { "stone \($0)" })
        await third.stop()
    }

    @Test func aJobThatWasPausedBeforeARestartCanBeCancelledAfterIt() async throws {
        let journal = MemoryJobJournal()
        let (first, quarry) = try await startedQuarry(journal)
        let job = try await first.send(Dig(stones: 4, holdAt: 1)).job
        await quarry.gate.arrivals(1)
        _ = try await first.send(PauseJob(job: job))
        await first.stopAtTheGate(quarry)

        let (second, _) = try await startedQuarry(journal, isOpen: true)
        _ = try await second.send(CancelJob(job: job))
        let ended = try await second.send(WaitForJob(job: job))
        #expect(ended.state == .cancelled && ended.receipt?["made"] == 2 && ended.outcomes == ["dug": 2])
        await second.stop()
    }

    @Test func aPausedJobThatCannotGoOnNowStaysPaused() async throws {
        let journal = MemoryJobJournal()
        let (first, quarry) = try await startedQuarry(journal)
        let job = try await first.send(Dig(stones: 4, holdAt: 1)).job
        await quarry.gate.arrivals(1)
        _ = try await first.send(PauseJob(job: job))
        await first.stopAtTheGate(quarry)

        let obstacle = MeshError(.failedPrecondition, "Another one is running.")
        let (second, _) = try await startedQuarry(journal, obstacle: obstacle)
        #expect(await meshStatus { _ = try await second.send(ResumeJob(job: job)) } == .failedPrecondition)
        #expect(try await second.send(GetJob(job: job)).state == .paused)
        await second.stop()
        let (third, _) = try await startedQuarry(journal, isOpen: true)
        _ = try await third.send(ResumeJob(job: job))
        #expect(try await third.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        await third.stop()
    }

    @Test func aJobThatBeginsAnewDropsItsLinesAndHasItsCheckpoint() async throws {
        let (journal, log) = (MemoryJobJournal(), EventLog())
        let (first, quarry) = try await startedQuarry(journal, log: log)
        let job = try await first.send(Sift(keeps: true)).job
        await quarry.gate.arrivals(1)
        await first.stopAtTheGate(quarry)
        let (second, _) = try await startedQuarry(journal, log: log, isOpen: true)
        let ended = try await second.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["sifted": 1])
        #expect(log.all == ["sifting after nothing", "sifting after half"])
        #expect(try await second.send(GetJobReceipt(job: job)).lines.count == 1)
        await second.stop()
    }

    @Test func aJobThatCannotGoOnIsCancelledWithTheLibraryAndItsMessageIsNotKept() async throws {
        let journal = MemoryJobJournal()
        let (mesh, quarry) = try await startedQuarry(journal)
        let job = try await mesh.send(Whisper(secret: "1234")).job
        await quarry.gate.arrivals(1)
        #expect(try await journal.records().first?.params == nil)
        await mesh.stopAtTheGate(quarry)
        let (second, _) = try await startedQuarry(journal)
        #expect(try await second.send(GetJob(job: job)).state == .cancelled)
        await second.stop()
    }

    @Test func resultsSurviveARestartForAnHour() async throws {
        let journal = MemoryJobJournal()
        let (first, _) = try await startedQuarry(journal, isOpen: true)
        let job = try await first.send(Dig(stones: 3, holdAt: nil)).job
        let ended = try await first.send(WaitForJob(job: job))
        await first.stop()
        var old = JobSnapshot(id: "old", method: Dig.method, state: .finished)
        old.endedAt = Timestamp(milliseconds: Timestamp.now().milliseconds - 3_700_000)
        try await journal.begin(JobRecord(snapshot: old))

        let (second, _) = try await startedQuarry(journal)
        #expect(try await second.send(GetJob(job: job)) == ended)
        #expect(try await second.send(ListJobs()).jobs == [ended])
        #expect(try await second.send(GetJobReceipt(job: job)).lines.count == 3)
        #expect(try await second.send(WaitForJob(job: job)) == ended)
        #expect(try await second.send(CancelJob(job: job)).state == .finished)
        #expect(try await journal.records().map(\.snapshot.id) == [job])
        await second.stop()
    }

    // MARK: What was not left cleanly

    /// The journal of a daemon that was killed while a job ran.
    private func killed(
        _ method: String, _ params: String?, attempts: JobAttempts = JobAttempts(), request: JobRequest = .run
    ) async throws -> MemoryJobJournal {
        let journal = MemoryJobJournal()
        try await journal.begin(
            JobRecord(
                snapshot: JobSnapshot(id: "job-1", method: method), params: params.map { Data($0.utf8) },
                request: request, attempts: attempts))
        return journal
    }

    private static let oddities: [(String, String?, MeshStatus)] = [
        ("no.such", "{}", .unimplemented), ("test.dig", #"{"stones":"many"}"#, .invalidArgument),
        ("test.dig", #"{"stones":1,"more":1}"#, .invalidArgument), ("test.dig", "\u{0}", .invalidArgument),
        ("job.list", "{}", .unimplemented), ("job.watch", #"{"job":"job-1"}"#, .unimplemented),
        ("test.dig", nil, .unavailable), ("test.whisper", #"{"secret":"x"}"#, .failedPrecondition),
    ]

    @Test(arguments: oddities)
    func whatTheJournalSaysMayBeAnything(_ method: String, _ params: String?, _ status: MeshStatus) async throws {
        let (mesh, _) = try await startedQuarry(try await killed(method, params), isOpen: true)
        let job = try await mesh.send(WaitForJob(job: "job-1"))
        #expect(job.state == .failed && job.error?.status == status, "\(job)")
        await mesh.stop()
    }

    @Test func aRefusalAtTheNextStartEndsTheJob() async throws {
        let journal = try await killed("test.dig", #"{"stones":1}"#)
        let obstacle = MeshError(.notFound, "The quarry is gone.")
        try await journal.append(JobLines([ReceiptLine(item: "stone 0", outcome: "dug")]), to: "job-1")
        let (mesh, _) = try await startedQuarry(journal, obstacle: obstacle)
        let job = try await mesh.send(GetJob(job: "job-1"))
        #expect(job.state == .failed && job.error == obstacle)
        // What it did until then is told all the same.
        #expect(job.receipt?["made"] == 1 && job.receipt?["ending"] == "failed" && job.outcomes == ["dug": 1])
        #expect(try await mesh.send(GetJobReceipt(job: "job-1")).lines.map(\.item) == ["stone 0"])
        await mesh.stop()
    }

    @Test func aJobThatWasBeingCancelledWhenTheDaemonWasKilledEndsCancelled() async throws {
        let journal = try await killed("test.dig", #"{"stones":3}"#, request: .cancel)
        let (mesh, quarry) = try await startedQuarry(journal, isOpen: true)
        let job = try await mesh.send(WaitForJob(job: "job-1"))
        #expect(job.state == .cancelled && job.receipt?["made"] == 0)
        #expect(quarry.log.all.isEmpty)
        await mesh.stop()
    }

    @Test func aJobThatBreaksTheDaemonEachTimeStandsStillUntilAPersonLetsItGoOn() async throws {
        let journal = try await killed("test.dig", #"{"stones":2,"holdAt":1}"#)
        try await journal.append(JobLines([ReceiptLine(item: "stone 0", outcome: "dug")]), to: "job-1")
        for start in 1...4 {
            // Never stopped: what is in the journal then is what a kill leaves.
            let (mesh, quarry) = try await startedQuarry(journal)
            await quarry.gate.arrivals(1)
            #expect(try await journal.records().first?.attempts.count == start)
            #expect(try await mesh.send(GetJob(job: "job-1")).state == .running)
            Self.abandoned.add(mesh, quarry)
        }
        for _ in 0..<2 {
            let (mesh, quarry) = try await startedQuarry(journal)
            let job = try await mesh.send(GetJob(job: "job-1"))
            #expect(job.state == .paused && job.outcomes == ["dug": 1], "\(job)")
            #expect(job.obstacle?.message.contains("5 times") == true, "the second start says why, as the first did")
            #expect(quarry.log.all.isEmpty)
            // Killed while it stands still: that is none of its doing.
            Self.abandoned.add(mesh, quarry)
        }
        let (mesh, quarry) = try await startedQuarry(journal)
        #expect(try await mesh.send(ResumeJob(job: "job-1")).state == .running)
        await quarry.gate.arrivals(1)
        Self.abandoned.add(mesh, quarry)
        // The count has begun anew.
        let (last, open) = try await startedQuarry(journal, isOpen: true)
        let ended = try await last.send(WaitForJob(job: "job-1"))
        #expect(ended.state == .finished && ended.outcomes == ["dug": 2] && open.log.all == ["stone 1"])
        await last.stop()
    }

    @Test func itSaysWhyItStandsStillAndCanBeGivenUp() async throws {
        let journal = try await killed(
            "test.dig", #"{"stones":2}"#, attempts: JobAttempts(count: 4, mark: 0))
        let (mesh, quarry) = try await startedQuarry(journal, isOpen: true)
        let held = try await mesh.send(GetJob(job: "job-1"))
        #expect(held.state == .paused && held.obstacle?.message.contains("5 times") == true)
        _ = try await mesh.send(CancelJob(job: "job-1"))
        let ended = try await mesh.send(WaitForJob(job: "job-1"))
        #expect(ended.state == .cancelled && ended.receipt?["made"] == 0 && ended.obstacle == nil)
        #expect(quarry.log.all.isEmpty)
        await mesh.stop()
    }

    @Test func comingFurtherBeginsTheCountAnew() async throws {
        let journal = try await killed(
            "test.dig", #"{"stones":2,"holdAt":1}"#, attempts: JobAttempts(count: 4, mark: 0))
        try await journal.append(JobLines([ReceiptLine(item: "stone 0", outcome: "dug")]), to: "job-1")
        let (mesh, quarry) = try await startedQuarry(journal)
        await quarry.gate.arrivals(1)
        #expect(try await journal.records().first?.attempts == JobAttempts(count: 1, mark: 1))
        quarry.gate.open()
        #expect(try await mesh.send(WaitForJob(job: "job-1")).outcomes == ["dug": 2])
        await mesh.stop()
    }

    /// Meshes that were "killed": their jobs stand at a gate for ever, and a mesh must outlive its calls.
    private static let abandoned = Abandoned()
}

private final class Abandoned: Sendable {
    private let meshes = EventLogOf<(Mesh, Quarry)>()
    func add(_ mesh: Mesh, _ quarry: Quarry) { meshes.add((mesh, quarry)) }
}
