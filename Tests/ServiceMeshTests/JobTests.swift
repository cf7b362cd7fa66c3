import Foundation
import ServiceMesh
import Synchronization
import Testing

@Suite struct JobTests {
    @Test func aJobEndsWithItsReceiptAndLines() async throws {
        let (mesh, _) = try await startedMesh()
        let started = try await mesh.send(Produce(items: 1500, holdAt: nil))
        let job = try await mesh.send(WaitForJob(job: started.job))
        #expect(job.state == .finished && job.outcomes == ["made": 1500] && job.endedAt != nil)
        #expect(job.receipt?["made"] == 1500 && job.progress.itemsDone == 1500)
        let first = try await mesh.send(GetJobReceipt(job: started.job))
        #expect(first.lines.count == 1000 && first.next == 1000)
        let second = try await mesh.send(GetJobReceipt(job: started.job, after: first.next))
        #expect(second.lines.count == 500 && second.next == nil)
        #expect(second.lines.last?.item == "item 1499")
        await mesh.stop()
    }

    @Test func cancellingKeepsWhatWasDone() async throws {
        let (mesh, workshop) = try await startedMesh()
        let started = try await mesh.send(Produce(items: 10, holdAt: 4))
        await workshop.gate.arrivals(1)
        _ = try await mesh.send(CancelJob(job: started.job))
        _ = try await mesh.send(CancelJob(job: started.job))
        workshop.gate.open()
        let job = try await mesh.send(WaitForJob(job: started.job))
        #expect(job.state == .cancelled && job.receipt?["made"] == 4 && job.outcomes == ["made": 4])
        #expect(try await mesh.send(CancelJob(job: started.job)).state == .cancelled)
        await mesh.stop()
    }

    @Test func aFailureIsAReceiptToo() async throws {
        let (mesh, _) = try await startedMesh()
        let started = try await mesh.send(Stuck())
        let job = try await mesh.send(WaitForJob(job: started.job))
        #expect(job.state == .failed && job.error == MeshError(.dataLoss, "It broke.") && job.outcomes == ["made": 1])
        await mesh.stop()
    }

    @Test func watchingEndsWithTheLastStateAndNeverGoesBack() async throws {
        let (mesh, workshop) = try await startedMesh()
        let started = try await mesh.send(Produce(items: 2000, holdAt: 0))
        let seen = Mutex<[(UInt64, JobSnapshot)]>([])
        let watching = Task {
            try await mesh.observe(WatchJob(job: started.job)) { change in
                seen.withLock { $0.append((change.sequence, change.value)) }
            }
        }
        await workshop.gate.arrivals(1)
        workshop.gate.open()
        let final = try await watching.value
        #expect(final.state == .finished)
        let changes = seen.withLock { $0 }
        #expect(changes.last?.1.state == .finished)
        #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.0 < $1.0 })
        let making = changes.filter { $0.1.progress.phase == "making" }.map(\.1.progress.itemsDone)
        #expect(making == making.sorted())
        await mesh.stop()
    }

    @Test func severalWatchersEachSeeTheEndAndOneMayLeave() async throws {
        let (mesh, workshop) = try await startedMesh()
        let started = try await mesh.send(Produce(items: 5, holdAt: 2))
        await workshop.gate.arrivals(1)
        let watchers = (0..<3).map { _ in
            Task { try await mesh.observe(WatchJob(job: started.job)) { _ in } }
        }
        watchers[0].cancel()
        #expect(await meshStatus { _ = try await watchers[0].value } == .cancelled)
        workshop.gate.open()
        for watcher in watchers.dropFirst() { #expect(try await watcher.value.state == .finished) }
        await mesh.stop()
    }

    @Test func unknownJobsAreNotFound() async throws {
        let (mesh, _) = try await startedMesh()
        #expect(await meshStatus { _ = try await mesh.send(GetJob(job: "none")) } == .notFound)
        #expect(await meshStatus { _ = try await mesh.send(WaitForJob(job: "none")) } == .notFound)
        #expect(await meshStatus { _ = try await mesh.send(CancelJob(job: "none")) } == .notFound)
        #expect(
            await meshStatus { _ = try await mesh.send(GetJobReceipt(job: "none", limit: 0)) } == .invalidArgument)
        await mesh.stop()
    }

    @Test func tooManyAtOnceAreRefused() async throws {
        let (mesh, workshop) = try await startedMesh()
        var started: [JobStarted] = []
        for _ in 0..<32 { started.append(try await mesh.send(Produce(items: 1, holdAt: 0))) }
        #expect(
            await meshStatus { _ = try await mesh.send(Produce(items: 1, holdAt: nil)) } == .resourceExhausted)
        workshop.gate.open()
        for job in started { _ = try await mesh.send(WaitForJob(job: job.job)) }
        _ = try await mesh.send(Produce(items: 1, holdAt: nil))
        await mesh.stop()
    }

    @Test func stoppingTheMeshGivesEveryJobItsReceipt() async throws {
        let (mesh, workshop) = try await startedMesh()
        let started = try await mesh.send(Produce(items: 10, holdAt: 3))
        await workshop.gate.arrivals(1)
        let waiting = Task { try await mesh.send(WaitForJob(job: started.job)) }
        let stopping = Task { await mesh.stop() }
        workshop.gate.open()
        await stopping.value
        // Asked for before the end or refused after it: but never left without an answer.
        switch await waiting.result {
        case .success(let job): #expect(job.state == .cancelled || job.state == .finished)
        case .failure(let error): #expect(MeshError(describing: error).status == .unavailable)
        }
    }
}

@Suite struct ObservationTests {
    @Test func theCurrentValueComesFirst() async {
        let value = ObservedValue(1)
        value.publish(2)
        var iterator = value.observe().makeAsyncIterator()
        #expect(await iterator.next()?.value == 2)
    }

    @Test func aSlowConsumerGetsTheNewestAndIsToldSo() async {
        let value = ObservedValue(0)
        var iterator = value.observe().makeAsyncIterator()
        for number in 1...1000 { value.publish(number) }
        let change = await iterator.next()
        #expect(change?.value == 1000 && change?.overflowed == true && change?.sequence == 1001)
    }

    @Test func theLastValueIsNotLostByFinishing() async {
        let value = ObservedValue(0)
        var iterator = value.observe().makeAsyncIterator()
        value.publish(7)
        value.finish()
        #expect(await iterator.next()?.value == 7)
        #expect(await iterator.next() == nil)
        var late = value.observe().makeAsyncIterator()
        #expect(await late.next()?.value == 7)
        #expect(await late.next() == nil)
    }

    @Test func cancellingOneConsumerLeavesTheOthers() async {
        let value = ObservedValue(0)
        let other = value.observe()
        let waiting = Task {
            for await change in value.observe() where change.value == 5 { return true }
            return false
        }
        waiting.cancel()
        #expect(await waiting.value == false)
        value.publish(5)
        var iterator = other.makeAsyncIterator()
        #expect(await iterator.next()?.value == 5)
    }

    @Test func concurrentPublishersLoseNoFinalState() async {
        let value = ObservedValue(0)
        let last = Task {
            var last: Change<Int>?
            for await change in value.observe() {
                #expect(change.sequence > last?.sequence ?? 0)
                last = change
            }
            return last?.value
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 1...500 { group.addTask { value.publish(number) } }
        }
        value.publish(-1)
        value.finish()
        #expect(await last.value == -1)
    }
}

@Suite struct JobCountTests {
    /// Sparse files say what sizes they like; two of them add up past what a number holds.
    @Test func countsPastTheEndOfNumbersStayThere() async throws {
        let (mesh, _) = try await startedMesh()
        let started = try await mesh.send(Boast())
        let job = try await mesh.send(WaitForJob(job: started.job))
        #expect(job.state == .finished && job.progress.bytesDone == .max && job.progress.itemsDone == .max)
        await mesh.stop()
    }
}
