import Executors
import Synchronization
import Testing

@Suite struct ConcurrentStepsTests {
    private struct Fault: Error, Equatable { let number: Int }

    @Test(arguments: [0, 1, 7, 8, 9, 1000]) func valuesComeInOrder(_ count: Int) throws {
        var taken: [Int] = []
        try concurrently(count, make: { $0 * $0 }, take: { taken.append($0) })
        #expect(taken == (0..<count).map { $0 * $0 })
    }

    @Test func theLowestFaultIsThrownAndAllBeforeItTaken() {
        var taken: [Int] = []
        #expect(throws: Fault(number: 501)) {
            try concurrently(1000) { number in
                guard number < 501 else { throw Fault(number: number) }
                return number
            } take: {
                taken.append($0)
            }
        }
        #expect(taken == Array(0...500))
    }

    @Test func whoTakesMayEndIt() {
        let made = Mutex(0)
        #expect(throws: Fault(number: 3)) {
            try concurrently(100_000) { number in
                made.withLock { $0 += 1 }
                return number
            } take: {
                if $0 == 3 { throw Fault(number: 3) }
            }
        }
        #expect(made.withLock { $0 } < 100_000, "only some are made before they are taken")
    }
}
