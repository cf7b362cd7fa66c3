import Foundation
import ServiceMeshTesting
import TestSupport
import Testing

@testable import ServiceMesh

/// Jobs that cannot go on yet, because what they need is not there.
@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
    private let time = HandClock()
    private let missing = JobObstacle("/media/stick is not there.")

    private func interrupted(_ journal: MemoryJobJournal, stones: Int = 4) async throws -> JobID {
        let (first, quarry) = try await startedQuarry(journal)
        let job = try await first.send(Dig(stones: stones, holdAt: 1)).job
        await quarry.gate.arrivals(1)
        await first.stopAtTheGate(quarry)
        return job
    }

    private func start(_ journal: MemoryJobJournal, _ obstacle: (any Error)?) async throws -> (Mesh, Quarry) {
        try await startedQuarry(journal, obstacle: obstacle, isOpen: true, clock: MeshClock(simulating: time))
    }

    @Test func aJobWaitsForWhatItNeedsAndGoesOnByItself() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, quarry) = try await start(journal, missing)
        let seen = EventLog()
        let watching = Task {
            try await mesh.observe(WatchJob(job: job)) { change in
                seen.add("\(change.value.state.rawValue) \(change.value.obstacle?.message ?? "")")
            }
        }
        let waiting = try await mesh.send(GetJob(job: job))
        #expect(waiting.state == .waiting && waiting.obstacle == missing.meshError)
        #expect(try await mesh.send(ListJobs()).jobs == [waiting])
        for _ in 0..<3 { await time.tick() }
        await time.sleeper()
        #expect(try await mesh.send(GetJob(job: job)) == waiting)
        await seen.meets { !$0.isEmpty }
        quarry.obstacle.set(nil)
        await time.tick()
        let ended = try await watching.value
        #expect(ended.state == .finished && ended.outcomes == ["dug": 4] && ended.obstacle == nil, "\(ended)")
        #expect(seen.all.first == "waiting /media/stick is not there.")
        #expect(Set(time.lengths) == [5_000_000_000])
        await mesh.stop()
    }

    @Test func nobodyLooksOnceNoJobWaits() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, quarry) = try await start(journal, missing)
        await time.sleeper()
        quarry.obstacle.set(nil)
        await time.tick()
        _ = try await mesh.send(WaitForJob(job: job))
        await mesh.jobs.looking?.value
        #expect(time.sleepers == 0)
        await mesh.stop()
    }

    @Test func resumingLooksNow() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, quarry) = try await start(journal, missing)
        #expect(try await mesh.send(ResumeJob(job: job)).state == .waiting)
        quarry.obstacle.set(nil)
        #expect(try await mesh.send(ResumeJob(job: job)).obstacle == nil)
        #expect(try await mesh.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        await mesh.stop()
    }

    @Test func aJobThatWaitsCanBeCancelledAndHasItsReceipt() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, _) = try await start(journal, missing)
        _ = try await mesh.send(CancelJob(job: job))
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .cancelled && ended.receipt?["made"] == 2 && ended.outcomes == ["dug": 2], "\(ended)")
        await mesh.stop()
    }

    @Test func aJobThatWaitsCanBePausedAlsoOverARestart() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, quarry) = try await start(journal, missing)
        #expect(try await mesh.send(PauseJob(job: job)).state == .paused)
        quarry.obstacle.set(nil)
        await time.tick()
        await mesh.jobs.looking?.value
        #expect(try await mesh.send(GetJob(job: job)).state == .paused)
        await mesh.stop()

        let (second, there) = try await start(journal, missing)
        #expect(try await second.send(GetJob(job: job)).state == .paused)
        // Not paused any more, it waits.
        let resumed = try await second.send(ResumeJob(job: job))
        #expect(resumed.state == .waiting && resumed.obstacle == missing.meshError)
        there.obstacle.set(nil)
        await time.tick()
        #expect(try await second.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        await second.stop()
    }

    @Test func aJobThatWaitsStandsStillWhenTheLibraryIsClosed() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, _) = try await start(journal, missing)
        await time.sleeper()
        let executor = StandstillExecutor()
        let following = Task(executorPreference: executor) { try await mesh.send(WaitForJob(job: job)) }
        await executor.standsStill()
        #expect(mesh.statistics.messages.first { $0.method == "job.wait" }?.inFlight == 1)
        await mesh.stop()
        #expect(try await following.value.state == .interrupted)
        let (second, _) = try await start(journal, nil)
        #expect(try await second.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        await second.stop()
    }

    /// Killed again and again while it waits.
    @Test func stopsWhileItWaitsAreNoneOfItsDoing() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        var abandoned: [(Mesh, Quarry)] = []
        for _ in 0..<(JobLimits.attempts + 2) {
            abandoned.append(try await start(journal, missing))
            #expect(try await journal.records().first?.snapshot.state == .waiting)
        }
        let (mesh, _) = try await start(journal, nil)
        #expect(try await mesh.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        await mesh.stop()
        for (other, _) in abandoned { await other.stop() }
    }

    /// What is in its way comes up while it works, or another job is before it.
    @Test func aBodyMayFindThatItHasToWait() async throws {
        let journal = MemoryJobJournal()
        let (mesh, quarry) = try await start(journal, nil)
        quarry.obstacle.set(missing)
        let job = try await mesh.send(Borrow(stones: 3)).job
        try await mesh.firstValue(of: WatchJob(job: job)) { $0.state == .waiting }
        let waiting = try await mesh.send(GetJob(job: job))
        #expect(waiting.obstacle == missing.meshError)
        await time.tick()
        await time.sleeper()
        quarry.obstacle.set(nil)
        await time.tick()
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["made"] == 3, "\(ended)")
        await mesh.stop()
    }
}
