import Executors
import Foundation
import Synchronization
import Testing

@Suite struct ConcurrentStepsTests {
    private struct Fault: Error, Equatable { let number: Int }

    @Test(arguments: [0, 1, 7, 8, 9, 1000]) func valuesComeInOrder(_ count: Int) {
        var taken: [Int] = []
        concurrently(count, make: { $0 * $0 }, take: { taken.append($0) })
        #expect(taken == (0..<count).map { $0 * $0 })
    }

    @Test(arguments: [0, 1, 63, 64, 65, 5000]) func valuesOfElementsComeInOrder(_ count: Int) {
        let elements = (0..<count).map { "\($0)" }
        var taken: [String] = []
        concurrently(elements, make: { $0 + "!" }, take: { taken.append($0) })
        #expect(taken == elements.map { $0 + "!" })
    }

    @Test func allElementsBeforeAFaultAreTaken() {
        var taken: [Int] = []
        #expect(throws: Fault(number: 777)) {
            try concurrently(Array(0..<5000)) { number throws(Fault) in
                guard number < 777 else { throw Fault(number: number) }
                return number
            } take: { number throws(Fault) in
                taken.append(number)
            }
        }
        #expect(taken == Array(0..<777))
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

    @Test func whatIsMadeLikeThisItselfEnds() {
        var sums: [Int] = []
        concurrently(200) { outer in
            var sum = 0
            concurrently(50, make: { outer * $0 }, take: { sum += $0 })
            return sum
        } take: {
            sums.append($0)
        }
        #expect(sums == (0..<200).map { $0 * 1225 })
    }

    @Test func nothingIsMadeAfterItHasReturned() {
        for end in [0, 3, 40] {
            let making = Mutex(0)
            #expect(throws: Fault(number: end)) {
                try concurrently(1000) { number in
                    making.withLock { $0 += 1 }
                    defer { making.withLock { $0 -= 1 } }
                    return number
                } take: {
                    if $0 == end { throw Fault(number: end) }
                }
            }
            #expect(making.withLock { $0 } == 0)
        }
    }

    @Test func noMoreThanTwoBatchesAreAheadOfWhatIsTaken() {
        let made = Mutex(0)
        let most = 2 * 4 * ProcessInfo.processInfo.activeProcessorCount
        var taken = 0
        concurrently(10_000) { _ in
            made.withLock { $0 += 1 }
        } take: {
            #expect(made.withLock { $0 } - taken <= most)
            taken += 1
        }
        #expect(taken == 10_000)
    }
}
