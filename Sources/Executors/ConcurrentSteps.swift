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
public func concurrently<Value: Sendable, Failure: Error>(
    _ count: Int, make: @Sendable (Int) throws(Failure) -> Value, take: (Value) throws(Failure) -> Void
) throws(Failure) {
    // More than one for each processor, because they do not take equally long.
    let batch = 4 * ProcessInfo.processInfo.activeProcessorCount
    for start in stride(from: 0, to: count, by: batch) {
        let numbers = start..<min(start + batch, count)
        let made = Mutex([Result<Value, Failure>?](repeating: nil, count: numbers.count))
        DispatchQueue.concurrentPerform(iterations: numbers.count) { index in
            let result = Result { () throws(Failure) in try make(numbers.lowerBound + index) }
            made.withLock { $0[index] = result }
        }
        for result in made.withLock({ $0 }) {
            if let value = try result?.get() { try take(value) }
        }
    }
}

/// Makes a value of each element on all processors, and gives them to `take` in the order of the elements: as it is done for
/// numbers, for values that take microseconds, some elements at a time.
public func concurrently<Element: Sendable, Value: Sendable, Failure: Error>(
    _ elements: [Element], make: @Sendable (Element) throws(Failure) -> Value, take: (Value) throws(Failure) -> Void
) throws(Failure) {
    let portion = 64
    let starts = Array(stride(from: 0, to: elements.count, by: portion))
    try concurrently(starts.count) { number throws(Failure) -> [Result<Value, Failure>] in
        elements[starts[number]...].prefix(portion).map { element in
            Result { () throws(Failure) in try make(element) }
        }
    } take: { results throws(Failure) in
        for result in results { try take(result.get()) }
    }
}
