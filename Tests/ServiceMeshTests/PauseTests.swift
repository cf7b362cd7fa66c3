import ServiceMesh
import ServiceMeshTesting
import TestSupport
import Testing

@Suite struct PauseTests {
    @Test func aPausedJobStandsStillAtItsNextItemAndGoesOn() async throws {
        let (mesh, quarry) = try await startedQuarry(MemoryJobJournal())
        let executor = StandstillExecutor()
        let job = try await MeshClock.$executor.withValue(executor) {
            try await mesh.send(Dig(stones: 5, holdAt: 2)).job
        }
        await quarry.gate.arrivals(1)
        #expect(try await mesh.send(PauseJob(job: job)).state == .paused)
        #expect(try await mesh.send(PauseJob(job: job)).state == .paused)
        quarry.gate.open()
        await executor.standsStill()
        // The item under way is finished and has its line; the next one is not begun.
        #expect(try await mesh.send(GetJobReceipt(job: job)).lines.count == 3)
        #expect(try await mesh.send(GetJob(job: job)).progress.itemsDone == 3)
        #expect(quarry.log.all == ["stone 0", "stone 1", "stone 2"])
        #expect(try await mesh.send(ResumeJob(job: job)).state != .paused)
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["dug": 5])
        await mesh.stop()
    }

    @Test func resumingWhatRunsChangesNothing() async throws {
        let (mesh, quarry) = try await startedQuarry(MemoryJobJournal())
        let job = try await mesh.send(Dig(stones: 2, holdAt: 0)).job
        #expect(try await mesh.send(ResumeJob(job: job)).state == .running)
        quarry.gate.open()
        #expect(try await mesh.send(WaitForJob(job: job)).state == .finished)
        await mesh.stop()
    }

    @Test func aPausedJobCanBeCancelled() async throws {
        let (mesh, quarry) = try await startedQuarry(MemoryJobJournal())
        let job = try await mesh.send(Dig(stones: 5, holdAt: 2)).job
        await quarry.gate.arrivals(1)
        _ = try await mesh.send(PauseJob(job: job))
        quarry.gate.open()
        _ = try await mesh.send(CancelJob(job: job))
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .cancelled && ended.receipt?["made"] == 3)
        #expect(try await mesh.send(CancelJob(job: job)).state == .cancelled)
        await mesh.stop()
    }

    @Test func whatHasEndedOrWasCalledOffIsNeitherPausedNorResumed() async throws {
        let (mesh, quarry) = try await startedQuarry(MemoryJobJournal())
        let job = try await mesh.send(Dig(stones: 1, holdAt: 0)).job
        await quarry.gate.arrivals(1)
        _ = try await mesh.send(CancelJob(job: job))
        #expect(await meshStatus { _ = try await mesh.send(PauseJob(job: job)) } == .failedPrecondition)
        #expect(await meshStatus { _ = try await mesh.send(ResumeJob(job: job)) } == .failedPrecondition)
        quarry.gate.open()
        _ = try await mesh.send(WaitForJob(job: job))
        #expect(await meshStatus { _ = try await mesh.send(PauseJob(job: job)) } == .failedPrecondition)
        #expect(await meshStatus { _ = try await mesh.send(ResumeJob(job: job)) } == .failedPrecondition)
        #expect(await meshStatus { _ = try await mesh.send(PauseJob(job: "none")) } == .notFound)
        #expect(await meshStatus { _ = try await mesh.send(ResumeJob(job: "none")) } == .notFound)
        await mesh.stop()
    }

    @Test func theListOfJobsIsObservedUntilTheEnd() async throws {
        let (mesh, quarry) = try await startedQuarry(MemoryJobJournal())
        let lists = EventLog()
        let observing = Task {
            try await mesh.observe(ObserveJobs()) { change in
                lists.add(change.value.jobs.map(\.state.rawValue).joined(separator: " "))
            }
        }
        await lists.meets { !$0.isEmpty }
        let job = try await mesh.send(Dig(stones: 1, holdAt: 0)).job
        await lists.meets { $0.last == "running" }
        _ = try await mesh.send(PauseJob(job: job))
        await lists.meets { $0.last == "paused" }
        _ = try await mesh.send(ResumeJob(job: job))
        quarry.gate.open()
        await lists.meets { $0.last == "finished" }
        await mesh.stop()
        #expect(try await observing.value == Done())
        #expect(lists.all.first == "")
    }
}
