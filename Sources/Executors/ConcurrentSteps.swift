import Dispatch
import Foundation
import Synchronization

/// Makes a value for each number in `0..<count` on all processors, and gives them to `take` in the order of the numbers.
///
/// Some values at a time are made and taken, so that no more than those are in memory. Blocks its thread: for one of a
/// ``BlockingPool``, not for those that tasks share.
///
/// - Parameters:
///   - make: runs on any thread, several at a time.
///   - take: runs on the caller's.
/// - Throws: the error of the lowest number whose value could not be made, when all before it were taken, as a loop would.
public func concurrently<Value: Sendable>(
    _ count: Int, make: @Sendable (Int) throws -> Value, take: (Value) throws -> Void
) throws {
    // More than one for each processor, because they do not take equally long.
    let batch = 4 * ProcessInfo.processInfo.activeProcessorCount
    for start in stride(from: 0, to: count, by: batch) {
        let numbers = start..<min(start + batch, count)
        let made = Mutex([Result<Value, any Error>?](repeating: nil, count: numbers.count))
        DispatchQueue.concurrentPerform(iterations: numbers.count) { index in
            let result = Result { try make(numbers.lowerBound + index) }
            made.withLock { $0[index] = result }
        }
        for result in made.withLock({ $0 }) {
            if let value = try result?.get() { try take(value) }
        }
    }
}
