import LibraryModel
import ServiceMesh
import Synchronization

/// A machine has failed several times, and is not asked.
struct HubLeftAlone: MeshErrorConvertible {
    let nanoseconds: UInt64

    var meshError: MeshError {
        MeshError(
            .unavailable,
            "The other machine has not answered several times. It is asked again in \((nanoseconds + 999_999_999) / 1_000_000_000) s."
        )
    }
}

/// The way to one machine, be it for groups or for reviews, with what keeps one that fails from being asked all the time: a purse
/// for trying again, and a breaker for not trying at all (<doc:/ServiceMesh/LeavingTheProcess>).
final class HubLink<Remote: Sendable>: Sendable {
    /// Tries of one question.
    private static var tries: Int { 3 }
    /// Nanoseconds between them, doubled each time, and up to as much again by chance: hubs are asked by several.
    private static var firstPause: UInt64 { 200_000_000 }

    let remote: Remote
    let token: String
    private let clock: MeshClock
    private let state: Mutex<(breaker: CircuitBreaker, retries: RetryBudget)>

    init(_ remote: Remote, token: String, clock: MeshClock) {
        self.remote = remote
        self.token = token
        self.clock = clock
        state = Mutex(
            (
                Self.breaker,
                RetryBudget(percent: 20, floor: 0, burst: 10, now: clock.now())
            ))
    }

    /// Somebody wants to know now, and has perhaps just switched the hub on.
    func forgive() { state.withLock { $0.breaker = Self.breaker } }

    private static var breaker: CircuitBreaker {
        CircuitBreaker(failures: 3, openFor: 30_000_000_000, atMost: 900_000_000_000)
    }

    /// Asks, and asks again where that may help and is not too much by now.
    /// - Throws: the last answer, as a `MeshError`; ``HubLeftAlone`` at once while the hub is left alone; `CancellationError`.
    func ask<Answer>(_ question: (Remote) async throws -> Answer) async throws -> Answer {
        var pause = Self.firstPause
        for number in 1... {
            try Task.checkCancellation()
            if case .refused(let wait) = state.withLock({ $0.breaker.decide(at: clock.now()) }) {
                throw HubLeftAlone(nanoseconds: wait)
            }
            do {
                let answer = try await question(remote)
                state.withLock { state in
                    state.breaker.succeed()
                    if number == 1 { state.retries.succeed() }
                }
                return answer
            } catch {
                // Whoever was called off says nothing about the hub; whoever is refused has been answered.
                guard !(error is CancellationError) else { throw error }
                let error = MeshError(describing: error)
                guard error.isRetryable else {
                    state.withLock { $0.breaker.succeed() }
                    throw error
                }
                let mayRetry = state.withLock { state in
                    state.breaker.fail(at: clock.now())
                    return number < Self.tries && state.breaker.isClosed && state.retries.withdraw(at: clock.now())
                }
                guard mayRetry else { throw error }
                // A timer by nature: a hub that fails is given time. What is added to it is by chance, as far as others can tell,
                // and yet the same in a run that is replayed.
                let now = clock.now()
                try await clock.sleep(until: now + pause + now % (pause + 1))
                pause *= 2
            }
        }
        throw CancellationError()
    }
}
