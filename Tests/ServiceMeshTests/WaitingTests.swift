import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ServiceMesh

/// Jobs that cannot go on yet, because what they need is not there.
@Suite(.timeLimit(.minutes(1))) struct WaitingTests {
    /// Time in which each pause ends when the test says so.
    private final class Ticks: SimulatedTime {
        private struct State {
            var sleeping: [UInt64: CheckedContinuation<Void, any Error>] = [:]
            var next: UInt64 = 0
            var lengths: [UInt64] = []
        }

        private let state = Mutex(State())

        func now() -> UInt64 { 0 }

        func sleep(until nanoseconds: UInt64) async throws {
            let ticket = state.withLock { state in
                state.next += 1
                return state.next
            }
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let isCancelled = state.withLock { state -> Bool in
                        state.lengths.append(nanoseconds)
                        if !Task.isCancelled { state.sleeping[ticket] = continuation }
                        return Task.isCancelled
                    }
                    if isCancelled { continuation.resume(throwing: CancellationError()) }
                }
            } onCancel: {
                state.withLock { $0.sleeping.removeValue(forKey: ticket) }?.resume(throwing: CancellationError())
            }
        }

        /// Waits until somebody sleeps, and wakes all who do.
        func tick() async {
            var woken: [CheckedContinuation<Void, any Error>] = []
            while woken.isEmpty {
                await Task.yield()
                woken = state.withLock { state in
                    defer { state.sleeping = [:] }
                    return Array(state.sleeping.values)
                }
            }
            for continuation in woken { continuation.resume() }
        }

        /// Waits until somebody sleeps.
        func pause() async {
            while state.withLock({ $0.sleeping.isEmpty }) { await Task.yield() }
        }

        var sleepers: Int { state.withLock { $0.sleeping.count } }
        var lengths: [UInt64] { state.withLock { $0.lengths } }
    }

    private let ticks = Ticks()
    private let missing = JobObstacle("/media/stick is not there.")

    private func interrupted(_ journal: MemoryJobJournal, stones: Int = 4) async throws -> JobID {
        let (first, quarry) = try await startedQuarry(journal)
        let job = try await first.send(Dig(stones: stones, holdAt: 1)).job
        await quarry.gate.arrivals(1)
        await first.stopAtTheGate(quarry)
        return job
    }

    private func start(_ journal: MemoryJobJournal, _ obstacle: (any Error)?) async throws -> (Mesh, Quarry) {
        try await startedQuarry(journal, obstacle: obstacle, isOpen: true, clock: MeshClock(simulating: ticks))
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
        for _ in 0..<3 { await ticks.tick() }
        await ticks.pause()
        #expect(try await mesh.send(GetJob(job: job)) == waiting)
        while seen.all.isEmpty { await Task.yield() }
        quarry.obstacle.set(nil)
        await ticks.tick()
        let ended = try await watching.value
        #expect(ended.state == .finished && ended.outcomes == ["dug": 4] && ended.obstacle == nil, "\(ended)")
        #expect(seen.all.first == "waiting /media/stick is not there.")
        #expect(Set(ticks.lengths) == [5_000_000_000])
        await mesh.stop()
    }

    @Test func nobodyLooksOnceNoJobWaits() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, quarry) = try await start(journal, missing)
        await ticks.pause()
        quarry.obstacle.set(nil)
        await ticks.tick()
        _ = try await mesh.send(WaitForJob(job: job))
        while await mesh.jobs.looking != nil { await Task.yield() }
        #expect(ticks.sleepers == 0)
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
        await ticks.tick()
        while await mesh.jobs.looking != nil { await Task.yield() }
        #expect(try await mesh.send(GetJob(job: job)).state == .paused)
        await mesh.stop()

        let (second, there) = try await start(journal, missing)
        #expect(try await second.send(GetJob(job: job)).state == .paused)
        // Not paused any more, it waits.
        let resumed = try await second.send(ResumeJob(job: job))
        #expect(resumed.state == .waiting && resumed.obstacle == missing.meshError)
        there.obstacle.set(nil)
        await ticks.tick()
        #expect(try await second.send(WaitForJob(job: job)).outcomes == ["dug": 4])
        await second.stop()
    }

    @Test func aJobThatWaitsStandsStillWhenTheLibraryIsClosed() async throws {
        let journal = MemoryJobJournal()
        let job = try await interrupted(journal)
        let (mesh, _) = try await start(journal, missing)
        let following = Task { try await mesh.send(WaitForJob(job: job)) }
        await ticks.pause()
        while mesh.statistics.messages.first(where: { $0.method == "job.wait" })?.inFlight != 1 {
            await Task.yield()
        }
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
            while try await journal.records().first?.snapshot.state != .waiting { await Task.yield() }
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
        while try await mesh.send(GetJob(job: job)).state != .waiting { await Task.yield() }
        let waiting = try await mesh.send(GetJob(job: job))
        #expect(waiting.obstacle == missing.meshError)
        await ticks.tick()
        await ticks.pause()
        quarry.obstacle.set(nil)
        await ticks.tick()
        let ended = try await mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["made"] == 3, "\(ended)")
        await mesh.stop()
    }
}
