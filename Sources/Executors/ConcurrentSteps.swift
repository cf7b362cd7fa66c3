import Dispatch
import Foundation
import Synchronization

/// Makes a value for each number in `0..<count` on all processors, and gives them to `take` in the order of the numbers.
///
/// Some values at a time are made, and the next ones while those are taken, so that no more than two times as many are in memory.
/// Blocks its thread: for one of a ``BlockingPool``, not for those that tasks share.
///
/// - Parameters:
///   - make: runs on any thread, several at a time.
///   - take: runs on the caller's.
/// - Throws: the error of the lowest number whose value could not be made, when all before it were taken, as a loop would.
public func concurrently<Value: Sendable, Failure: Error>(
    _ count: Int, make: @Sendable (Int) throws(Failure) -> Value, take: (Value) throws(Failure) -> Void
) throws(Failure) {
    let failure = withoutActuallyEscaping(make) { make -> Failure? in
        var begun = MadeValues(from: 0, of: count, make: make)
        // Whatever becomes of it, nobody makes anything after this has returned.
        defer { begun.end() }
        while !begun.isEmpty {
            let made = begun.wait()
            begun = MadeValues(from: begun.numbers.upperBound, of: count, make: make)
            do throws(Failure) {
                for result in made { try take(result.get()) }
            } catch {
                return error
            }
        }
        return nil
    }
    if let failure { throw failure }
}

/// Values of some numbers, which other processors begin to make at once.
private final class MadeValues<Value: Sendable, Failure: Error>: Sendable {
    typealias Make = @Sendable (Int) throws(Failure) -> Value

    private struct State {
        /// Nil once all are made: a helper that comes too late must not keep what it was to call.
        var make: Make?
        var next: Int
        var made: [Result<Value, Failure>?]
        /// Threads that help, and have helped.
        var helpers = 0
    }

    let numbers: Range<Int>
    var isEmpty: Bool { numbers.isEmpty }
    private let state: Mutex<State>
    /// Signalled by each helper once.
    private let helped = DispatchSemaphore(value: 0)

    init(from first: Int, of count: Int, make: @escaping Make) {
        // More than one for each processor, because they do not take equally long.
        let processors = ProcessInfo.processInfo.activeProcessorCount
        let numbers = first..<min(first + 4 * processors, count)
        self.numbers = numbers
        state = Mutex(State(make: make, next: first, made: Array(repeating: nil, count: numbers.count)))
        for _ in 1..<max(min(processors, numbers.count), 1) { DispatchQueue.global().async { self.help() } }
    }

    private func help() {
        let isInTime = state.withLock { state in
            if state.make != nil { state.helpers += 1 }
            return state.make != nil
        }
        guard isInTime else { return }
        while makeNext() {}
        helped.signal()
    }

    private func makeNext() -> Bool {
        let next = state.withLock { state -> (number: Int, make: Make)? in
            guard let make = state.make, state.next < numbers.upperBound else { return nil }
            defer { state.next += 1 }
            return (state.next, make)
        }
        guard let next else { return false }
        let result = Result { () throws(Failure) in try next.make(next.number) }
        state.withLock { $0.made[next.number - numbers.lowerBound] = result }
        return true
    }

    /// Makes no more.
    func end() {
        state.withLock { $0.next = numbers.upperBound }
        _ = wait()
    }

    /// Makes with the others what is not made yet. Helpers that have not begun are not waited for: on a machine that has much to
    /// do, or within a value that is made like this itself, they may not come before this has returned.
    func wait() -> [Result<Value, Failure>] {
        while makeNext() {}
        let helpers = state.withLock { state in
            state.make = nil
            return state.helpers
        }
        for _ in 0..<helpers { helped.wait() }
        return state.withLock { state in
            state.helpers = 0
            defer { state.made = [] }
            return state.made.compactMap { $0 }
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
