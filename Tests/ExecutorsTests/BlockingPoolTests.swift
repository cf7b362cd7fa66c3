import Dispatch
import Executors
import Foundation
import Testing
import Synchronization

/// Opens once; everybody who waits, on a thread of their own, goes through.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func pass() {
        semaphore.wait()
        semaphore.signal()
    }
}

/// Numbers that several threads add to.
private final class Record: Sendable {
    private let numbers = Mutex<[Int]>([])

    /// Returns how many there are then.
    @discardableResult
    func add(_ number: Int) -> Int {
        numbers.withLock { numbers in
            numbers.append(number)
            return numbers.count
        }
    }

    var all: [Int] { numbers.withLock { $0 } }
}

private struct Refused: Error, Equatable { let number: Int }

@Suite struct BlockingPoolTests {
    @Test func returnsAndThrowsWhatTheWorkDoes() async throws {
        let pool = BlockingPool(name: "test", threads: 2)
        let sum = try await pool.run { (1...10).reduce(0, +) }
        #expect(sum == 55)
        await #expect(throws: Refused(number: 3)) { try await pool.run { throw Refused(number: 3) } }
        await pool.shutDown()
    }

    @Test func runsOnThreadsOfItsOwnWithTheirNameAndNiceness() async throws {
        let pool = BlockingPool(name: "a-name-longer-than-fifteen", threads: 1, niceness: 7)
        let (name, niceness) = try await pool.run {
            let name = try String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
            return (name, getpriority(__priority_which_t(0), 0))
        }
        #expect(name == "a-name-longer-t\n")
        #expect(niceness == 7)
        await pool.shutDown()
    }

    /// With one thread fewer the barrier would never be passed.
    @Test func hasAsManyThreadsAsAskedFor() async throws {
        let pool = BlockingPool(name: "test", threads: 3)
        let gate = Gate()
        let arrived = Record()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    try await pool.run {
                        if arrived.add(1) == 3 { gate.open() }
                        gate.pass()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(arrived.all.count == 3)
        await pool.shutDown()
    }

    @Test func oneThreadTakesWorkInOrderAlsoPastTheCompaction() async throws {
        let pool = BlockingPool(name: "test", threads: 1, capacity: 5_000)
        let gate = Gate()
        let order = Record()
        pool.submit { gate.pass() }
        for number in 0..<4_000 { #expect(pool.submit { order.add(number) }) }
        gate.open()
        await pool.shutDown()
        #expect(order.all == Array(0..<4_000))
    }

    @Test func refusesPastItsCapacityAndRecovers() async throws {
        let pool = BlockingPool(name: "test", threads: 1, capacity: 3)
        let gate = Gate()
        let started = Gate()
        let done = Record()
        pool.submit {
            started.open()
            gate.pass()
        }
        // On a pool of its own: this thread must not block.
        let waiter = BlockingPool(name: "waiter", threads: 1)
        try await waiter.run { started.pass() }
        for _ in 0..<3 { #expect(pool.submit { done.add(1) }) }
        #expect(!pool.submit { done.add(1) })
        await #expect(throws: BlockingPool.Refusal.full) { try await pool.run {} }
        gate.open()
        await pool.shutDown()
        #expect(done.all.count == 3)
        await waiter.shutDown()
    }

    @Test func shuttingDownFinishesWhatIsQueuedAndRefusesTheRest() async throws {
        let pool = BlockingPool(name: "test", threads: 2)
        let done = Record()
        for _ in 0..<100 { pool.submit { done.add(1) } }
        async let first: Void = pool.shutDown()
        async let second: Void = pool.shutDown()
        _ = await (first, second)
        #expect(done.all.count == 100)
        #expect(!pool.submit {})
        await #expect(throws: BlockingPool.Refusal.shutDown) { try await pool.run {} }
    }

    /// For Thread Sanitizer: the first look at what the work has made, also where it was made before anybody waited for it.
    @Test func whatTheWorkMakesIsHandedOver() async throws {
        final class Made: Sendable {
            let number: Int
            init(_ number: Int) { self.number = number }
        }
        let pool = BlockingPool(name: "test", threads: 2)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for number in 0..<2000 {
                        let made = try await pool.run { Made(number) }
                        #expect(made.number == number)
                    }
                }
            }
            try await group.waitForAll()
        }
        await pool.shutDown()
    }

    /// What belongs to the thread goes with it: without its end this would wait for ever.
    @Test func aForgottenPoolFinishesItsWorkAndEnds() async {
        final class Witness: Sendable {
            let gone: @Sendable () -> Void
            init(_ gone: @escaping @Sendable () -> Void) { self.gone = gone }
            deinit { gone() }
        }
        await withCheckedContinuation { continuation in
            let witness = Witness { continuation.resume() }
            let pool = BlockingPool(name: "test", threads: 1)
            pool.submit { Thread.current.threadDictionary["witness"] = witness }
        }
    }
}
