import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization

/// A machine has failed several times, and is not asked.
struct CircuitOpen: MeshErrorConvertible {
    let nanoseconds: UInt64

    var meshError: MeshError {
        MeshError(
            .unavailable,
            "The other machine has not answered several times. It is asked again in \((nanoseconds + 999_999_999) / 1_000_000_000) s."
        )
    }
}

/// The way to one machine, be it for groups or for reviews, with what keeps one that fails from being asked all the time: tokens
/// for trying again, and a breaker for not trying at all (<doc:/ServiceMesh/LeavingTheProcess>).
final class PeerLink<Remote: Sendable>: Sendable {
    /// Tries of one question.
    private static var tries: Int { 3 }
    /// Photos that are remembered to have failed: a hub's groups have 4,800 at most, of which a turn tries a few in vain.
    private static var mostFailures: Int { 1000 }
    /// Nanoseconds between them, doubled each time, and up to as much again by chance: hubs are asked by several.
    private static var firstPause: UInt64 { 200_000_000 }

    let remote: Remote
    let token: String
    private let clock: MeshClock
    private let state: Mutex<(breaker: CircuitBreaker, retries: RetryBudget)>
    /// Photos that failed, by when they last did.
    private let failures = Mutex<(count: UInt64, last: [String: UInt64])>((0, [:]))

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
    func reset() { state.withLock { $0.breaker = Self.breaker } }

    private static var breaker: CircuitBreaker {
        CircuitBreaker(failures: 3, openFor: 30_000_000_000, atMost: 900_000_000_000)
    }

    /// Puts photos that failed behind the others, those that failed last behind all: so that one which breaks off each turn, or
    /// more than a turn bears, keep none waiting for ever.
    func ordered(_ photos: [StoredGroupPhoto]) -> [StoredGroupPhoto] {
        failures.withLock { failures in
            let last = failures.last
            // The order in which they were given among those that have not failed.
            return photos.enumerated().sorted {
                (last[$0.element.id] ?? 0, $0.offset) < (last[$1.element.id] ?? 0, $1.offset)
            }.map(\.element)
        }
    }

    func noteFailure(of photo: String) {
        failures.withLock { failures in
            failures.count += 1
            failures.last[photo] = failures.count
            // Of what expired or went: those that failed longest ago.
            while failures.last.count > Self.mostFailures, let oldest = failures.last.min(by: { $0.value < $1.value }) {
                failures.last[oldest.key] = nil
            }
        }
    }

    /// Asks, and asks again where that may help and is not too much by now.
    /// - Throws: the last answer, as a `MeshError`; ``HubDeclined``; ``CircuitOpen`` at once while the hub is left alone; `CancellationError`.
    func ask<Answer>(_ question: (Remote) async throws -> Answer) async throws -> Answer {
        var pause = Self.firstPause
        for number in 1... {
            try Task.checkCancellation()
            if case .refused(let wait) = state.withLock({ $0.breaker.decide(at: clock.now()) }) {
                throw CircuitOpen(nanoseconds: wait)
            }
            do {
                let answer = try await question(remote)
                state.withLock { state in
                    state.breaker.succeed()
                    if number == 1 { state.retries.succeed() }
                }
                return answer
            } catch let declined as HubDeclined {
                state.withLock { $0.breaker.succeed() }
                throw declined
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
