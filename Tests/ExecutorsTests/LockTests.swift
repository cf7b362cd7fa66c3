import Executors
import Testing
import Synchronization

@Suite struct LockTests {
    private final class Counter: Sendable {
        let count = Mutex(0)
    }

    @Test func noUpdateIsLost() async throws {
        let counter = Counter()
        let pool = BlockingPool(name: "test", threads: 4)
        for _ in 0..<4 {
            pool.submit { for _ in 0..<10_000 { counter.count.withLock { $0 += 1 } } }
        }
        await pool.shutDown()
        #expect(counter.count.withLock { $0 } == 40_000)
    }

    @Test func errorsPassAndTheLockIsFreeAgain() {
        struct Odd: Error, Equatable {}
        let lock = Mutex(1)
        #expect(throws: Odd()) {
            try lock.withLock { value throws(Odd) in
                value = 2
                throw Odd()
            }
        }
        #expect(lock.withLock { $0 } == 2)
    }

    @Test func theValueGoesWithTheLock() {
        final class Witness: Sendable {}
        weak var remaining: Witness?
        do {
            let witness = Witness()
            remaining = witness
            let lock = Mutex(witness)
            #expect(lock.withLock { $0 === witness })
            #expect(remaining != nil)
        }
        #expect(remaining == nil)
    }
}
