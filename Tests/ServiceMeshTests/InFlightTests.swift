import Synchronization
import TestSupport
import Testing

@testable import ServiceMesh

@Suite struct InFlightTests {
    @Test func everyPlaceIsTakenOnceAndAgainAfterItIsFree() throws {
        let table = InFlightTable(count: 3)
        let word = InFlightTable.word(message: 255, began: 4_800)
        let places = (0..<3).compactMap { _ in table.claim(word) }
        #expect(Set(places) == [0, 1, 2])
        #expect(table.claim(word) == nil)
        #expect(table.running.allSatisfy { $0.message == 255 && $0.began == 4_800 && $0.waitsFor == 0 })
        table.mark(1, waitsFor: 7)
        table.release(1)
        #expect(table.runningCount == 2)
        #expect(table.claim(word) == 1)
        #expect(table.running.allSatisfy { $0.waitsFor == 0 }, "a mark does not outlive its call")
    }

    private final class Holders: Sendable {
        private let places = Mutex<Set<Int32>>([])
        func add(_ place: Int32) -> Bool { places.withLock { $0.insert(place).inserted } }
        func remove(_ place: Int32) { _ = places.withLock { $0.remove(place) } }
    }

    @Test func noTwoTasksHoldOnePlace() async {
        let table = InFlightTable(count: 4)
        let holders = Holders()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<2_000 {
                        guard let place = table.claim(1) else {
                            await Task.yield()
                            continue
                        }
                        #expect(holders.add(place))
                        holders.remove(place)
                        table.release(place)
                    }
                }
            }
        }
        #expect(table.runningCount == 0)
    }

    @Test func theStatisticsNameWhatRunsSinceWhenAndWhatItWaitsFor() async throws {
        let (mesh, workshop) = try await startedMesh()
        let executor = StandstillExecutor()
        // Two fill Workshop: the third relay's call stands in its queue, and all three wait.
        let relays = (0..<3).map { _ in
            Task(executorPreference: executor) { try await mesh.send(Relay(text: "")) }
        }
        await executor.standsStill()
        let before = try await mesh.counts("test.hold")
        #expect(before.queued == 1 && before.inFlight == 2 && before.admitted == 2 && before.completed == 0)
        let oldest = try #require(before.oldest)
        #expect(oldest > 0)
        let relay = try await mesh.counts("test.relay")
        #expect(relay.inFlight == 3 && relay.waitsFor == ["test.hold": 3])
        let load = try #require(
            try await mesh.send(GetMeshStatistics()).services.first { $0.name == "Workshop" })
        #expect(load.running == 2 && load.waiting == 1)
        #expect(try #require(load.longestWait) > 0)
        // The same call is the oldest one still, so its age can only have grown.
        #expect(try #require(try await mesh.counts("test.hold").oldest) > oldest)
        workshop.gate.open()
        for task in relays { _ = try await task.value }
        for method in ["test.hold", "test.relay"] {
            let after = try await mesh.counts(method)
            #expect(after.inFlight == 0 && after.oldest == nil && after.waitsFor.isEmpty && after.queued == 0)
            #expect(after.admitted == 3 && after.completed == 3)
            #expect(after.p50 > 0 && after.p50 <= after.p90 && after.p90 <= after.p99 && after.p99 <= after.max)
        }
        await mesh.stop()
    }

    @Test func whatHasEndedWaitsForNothing() async throws {
        let (mesh, workshop) = try await startedMesh()
        let relay = Task { try await mesh.send(Relay(text: ""), deadline: .after(milliseconds: 600_000)) }
        await workshop.gate.arrivals(1)
        relay.cancel()
        workshop.gate.open()
        #expect(await meshStatus { _ = try await relay.value } == .cancelled)
        let counts = try await mesh.counts("test.relay")
        #expect(counts.cancelled == 1 && counts.inFlight == 0 && counts.waitsFor.isEmpty)
        await mesh.stop()
    }
}
