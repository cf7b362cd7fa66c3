import Dispatch
import Executors
import ServiceMesh
import Synchronization
import TestSupport
import Testing

@testable import Sealing

/// Derivations take turns: one at a time, a bounded number of them wait, and who is called off waits no more.
@Suite(.timeLimit(.minutes(1))) struct KeyDeriverTests {
    /// A deriver whose thread is held until it is let go.
    private struct Held {
        let deriver: KeyDeriver
        private let door = DispatchSemaphore(value: 0)
        private let holder: Task<Void, any Error>
        private var arrivals: AsyncStream<Void>.Iterator

        init() async {
            let (stream, arrived) = AsyncStream.makeStream(of: Void.self)
            let (entries, entered) = AsyncStream.makeStream(of: Void.self)
            let pool = BlockingPool(name: "held", threads: 1)
            deriver = KeyDeriver(on: pool) { arrived.yield() }
            holder = Task { [deriver, door] in
                try await deriver.turn {
                    entered.yield()
                    door.wait()
                }
            }
            arrivals = stream.makeAsyncIterator()
            await waiting(1)
            for await _ in entries { break }
        }

        /// Returns when so many more wait, or have waited.
        mutating func waiting(_ count: Int) async { for _ in 0..<count { await arrivals.next() } }

        func letGo() async throws {
            door.signal()
            try await holder.value
        }
    }

    private final class Counts: Sendable {
        private let running = Atomic(0)
        private let most = Atomic(0)

        var mostAtOnce: Int { most.load(ordering: .relaxed) }

        func work() {
            _ = most.max(running.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            running.subtract(1, ordering: .relaxed)
        }
    }

    @Test func oneIsMadeAtATime() async throws {
        let (deriver, counts) = (KeyDeriver(), Counts())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<KeyDeriver.mostWaiting {
                group.addTask {
                    try await deriver.turn { counts.work() }
                }
            }
            try await group.waitForAll()
        }
        #expect(counts.mostAtOnce == 1)
        await deriver.shutDown()
    }

    /// As many as may wait do; the next is refused at once, and told so. When they are through, others may.
    @Test func theQueueIsBounded() async throws {
        var held = await Held()
        let deriver = held.deriver
        let waiting = (0..<KeyDeriver.mostWaiting).map { number in
            Task { try await deriver.turn { number } }
        }
        await held.waiting(KeyDeriver.mostWaiting)
        let error = await #expect(throws: MeshError.self) { try await deriver.turn {} }
        #expect(error?.status == .resourceExhausted)
        try await held.letGo()
        for (number, task) in waiting.enumerated() { #expect(try await task.value == number) }
        #expect(try await deriver.turn { 7 } == 7)
        await deriver.shutDown()
    }

    /// It is gone while the thread is still held, its place is free, and its work is not done.
    @Test func whoIsCalledOffWaitsNoMore() async throws {
        var held = await Held()
        let deriver = held.deriver
        let counts = Counts()
        let waiting = (0..<KeyDeriver.mostWaiting).map { _ in
            Task { try await deriver.turn { counts.work() } }
        }
        await held.waiting(KeyDeriver.mostWaiting)
        for task in waiting { task.cancel() }
        for task in waiting {
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        let next = Task { try await deriver.turn { 1 } }
        await held.waiting(1)
        try await held.letGo()
        #expect(try await next.value == 1)
        #expect(counts.mostAtOnce == 0)
        await deriver.shutDown()
    }

    @Test func oneThatWasCalledOffBeforeDoesNotWait() async throws {
        let held = await Held()
        let deriver = held.deriver
        let gate = Gate()
        let task = Task {
            await gate.pass()
            try await deriver.turn {}
        }
        task.cancel()
        gate.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await held.letGo()
        await deriver.shutDown()
    }

    @Test func afterTheEndNothingIsTaken() async throws {
        let deriver = KeyDeriver()
        await deriver.shutDown()
        await #expect(throws: BlockingPool.Refusal.self) { try await deriver.turn {} }
    }
}
