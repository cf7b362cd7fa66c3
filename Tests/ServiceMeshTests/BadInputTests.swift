import Synchronization
import TestSupport
import Testing

@testable import ServiceMesh

/// Callers and services that misbehave, one test for each way, and the bound that holds for it.
///
/// Workshop lets two calls run and three wait.
@Suite struct BadInputTests {
    private func load(_ mesh: Mesh) async throws -> MeshStatistics.Service {
        try #require(try await mesh.send(GetMeshStatistics()).services.first { $0.name == "Workshop" })
    }

    @Test func aCallerThatNeverReads() async throws {
        let (mesh, _) = try await startedMesh()
        // Nobody looks at these replies: each is one reply, kept by its own task, and its place is free.
        let executor = StandstillExecutor()
        let unread = (0..<200).map { _ in
            Task(executorPreference: executor) { try await mesh.send(Echo(text: "unread")) }
        }
        await executor.standsStill()
        let counts = try await mesh.counts("test.echo")
        #expect(counts.completed + counts.refused == unread.count)
        let load = try await load(mesh)
        #expect(load.running == 0 && load.waiting == 0)
        await mesh.stop()
    }

    @Test func aCallerThatCancelsTwice() async throws {
        let (mesh, workshop) = try await startedMesh()
        let running = Task { try await mesh.send(Hold(text: "")) }
        await workshop.gate.arrivals(1)
        for _ in 0..<2 { running.cancel() }
        workshop.gate.open()
        #expect(await meshStatus { _ = try await running.value } == .cancelled)
        running.cancel()
        let counts = try await mesh.counts("test.hold")
        #expect(counts.admitted == 1 && counts.cancelled == 1 && counts.inFlight == 0)
        #expect(try await load(mesh).running == 0)
        await mesh.stop()
    }

    @Test func aCallerThatCancelsBeforeStart() async throws {
        let (mesh, _) = try await startedMesh()
        // The gate is closed, so a call that reached its service would not end.
        let start = Gate()
        let call = Task {
            await start.pass()
            return try await mesh.send(Hold(text: ""))
        }
        call.cancel()
        start.open()
        #expect(await meshStatus { _ = try await call.value } == .cancelled)
        let counts = try await mesh.counts("test.hold")
        #expect(counts.completed == 0 && counts.cancelled == 1 && counts.inFlight == 0)
        await mesh.stop()
    }

    @Test func aCallerThatPassesAPastDeadline() async throws {
        let (mesh, _) = try await startedMesh()
        for deadline in [Deadline(nanoseconds: 0), .after(milliseconds: -1), .after(milliseconds: .min)] {
            #expect(
                await meshStatus { _ = try await mesh.send(Hold(text: ""), deadline: deadline) } == .deadlineExceeded)
        }
        let counts = try await mesh.counts("test.hold")
        #expect(counts.admitted == 0 && counts.refused == 3)
        await mesh.stop()
    }

    @Test func aCallerThatFloodsOneService() async throws {
        let (mesh, workshop) = try await startedMesh()
        let executor = StandstillExecutor()
        let flood = (0..<1_000).map { _ in
            Task(executorPreference: executor) { try await mesh.send(Hold(text: "")) }
        }
        await executor.standsStill()
        // All but five are answered while the gate is closed, so nothing but the bound can have answered them.
        #expect(try await mesh.counts("test.hold").refused == 995)
        let load = try await load(mesh)
        #expect(load.running == 2 && load.waiting == 3)
        // The other services do not feel it.
        #expect(try await mesh.send(ListJobs()).jobs.isEmpty)
        workshop.gate.open()
        var ends: [MeshStatus?: Int] = [:]
        for task in flood { ends[await meshStatus { _ = try await task.value }, default: 0] += 1 }
        #expect(ends == [nil: 5, .resourceExhausted: 995])
        await mesh.stop()
    }

    @Test func aServiceThatThrows() async throws {
        let (mesh, _) = try await startedMesh()
        for _ in 0..<500 { #expect(await meshStatus { _ = try await mesh.send(Fail()) } == .internal) }
        let counts = try await mesh.counts("test.fail")
        #expect(counts.admitted == 500 && counts.failed == 500 && counts.inFlight == 0)
        #expect(try await load(mesh).running == 0)
        #expect(try await mesh.send(Echo(text: "still there")).text == "still there")
        await mesh.stop()
    }

    @Test func aServiceThatHangs() async throws {
        let (mesh, workshop) = try await startedMesh()
        let stuck = (0..<2).map { _ in Task { try await mesh.send(Commit()) } }
        await workshop.gate.arrivals(2)
        // Who waits behind it leaves with the deadline, however long it hangs; and it is named.
        for _ in 0..<3 {
            #expect(
                await meshStatus { _ = try await mesh.send(Echo(text: ""), deadline: .after(milliseconds: 5)) }
                    == .deadlineExceeded)
        }
        let counts = try await mesh.counts("test.commit")
        #expect(counts.inFlight == 2 && counts.oldest != nil)
        #expect(try await load(mesh).waiting == 0)
        workshop.gate.open()
        for task in stuck { _ = try await task.value }
        await mesh.stop()
    }

    @Test func aServiceThatAnswersAfterItsCallerHasGone() async throws {
        let (mesh, workshop) = try await startedMesh()
        let call = Task { try await mesh.send(Commit()) }
        await workshop.gate.arrivals(1)
        call.cancel()
        #expect(try await load(mesh).running == 1, "it holds its place for as long as it works, and no longer")
        workshop.gate.open()
        _ = try await call.value
        let counts = try await mesh.counts("test.commit")
        #expect(counts.completed == 1 && counts.cancelled == 0 && counts.inFlight == 0)
        #expect(try await load(mesh).running == 0)
        await mesh.stop()
    }

    /// Counts those of its kind that are alive.
    private final class Witness: Sendable {
        static let alive = Atomic(0)
        init() { Self.alive.add(1, ordering: .relaxed) }
        deinit { Self.alive.subtract(1, ordering: .relaxed) }
    }

    @Test func aConsumerThatNeverIterates() async {
        let observed = ObservedValue(Witness())
        let idle = observed.observe()
        for _ in 0..<10_000 { observed.publish(Witness()) }
        #expect(Witness.alive.load(ordering: .relaxed) == 1, "the newest, which its slot and the source share")
        var iterator = idle.makeAsyncIterator()
        let change = await iterator.next()
        #expect(change?.sequence == 10_001 && change?.overflowed == true)
    }
}
