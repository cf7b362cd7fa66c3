/// Stops asking what does not answer: after some failures in a row every call fails at once, and from time to time
/// one is let through to see.
///
/// For what leaves the process only. Between actors of one process nothing fails by itself, and admission bounds what
/// is slow. Closed, open and half-open as in Nygard's book and in Envoy's outlier detection.
public struct CircuitBreaker: Sendable, Equatable {
    public enum Decision: Sendable, Equatable {
        case allowed
        /// Nanoseconds until the next try.
        case refused(UInt64)
    }

    private enum State: Equatable {
        case closed(failures: Int)
        case open(until: UInt64)
        /// One call is on its way. One that never reports, because its caller went away, counts for `until` that long.
        case halfOpen(until: UInt64)
    }

    private let threshold: Int
    private let first: UInt64
    private let longest: UInt64
    private var pause: UInt64
    private var state = State.closed(failures: 0)

    /// - Parameters:
    ///   - failures: in a row, after which it opens; 1 or more.
    ///   - openFor: nanoseconds for the first time; twice that for the next, and so on.
    ///   - atMost: nanoseconds, `openFor` or more.
    public init(failures: Int, openFor: UInt64, atMost: UInt64) {
        precondition(failures >= 1 && openFor > 0 && atMost >= openFor)
        threshold = failures
        first = openFor
        longest = atMost
        pause = openFor
    }

    public var isClosed: Bool {
        if case .closed = state { true } else { false }
    }

    /// Asked before each call. Where it allows one, ``succeed()`` or ``fail(at:)`` tells how that ended.
    public mutating func decide(at now: UInt64) -> Decision {
        switch state {
        case .closed: return .allowed
        case .open(let until), .halfOpen(let until):
            guard now >= until else { return .refused(until - now) }
            state = .halfOpen(until: now.addingClamped(pause))
            return .allowed
        }
    }

    public mutating func succeed() {
        state = .closed(failures: 0)
        pause = first
    }

    public mutating func fail(at now: UInt64) {
        switch state {
        case .closed(let failures) where failures + 1 < threshold: state = .closed(failures: failures + 1)
        case .closed: open(at: now)
        case .halfOpen:
            pause = min(longest, pause > longest / 2 ? longest : pause * 2)
            open(at: now)
        case .open: break  // A call from before it opened; known already.
        }
    }

    private mutating func open(at now: UInt64) { state = .open(until: now.addingClamped(pause)) }
}

extension UInt64 {
    fileprivate func addingClamped(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
