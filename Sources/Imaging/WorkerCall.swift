import ImageWorkerProtocol
import Synchronization

/// One call on the pool, from its task's point of view: it can be cancelled while it waits and while it runs, and is
/// answered exactly once.
final class WorkerCall<Answer: Sendable>: Sendable {
    typealias Outcome = Result<Answer, ImagingError>

    private enum Phase {
        case created
        case waiting(CheckedContinuation<Outcome, Never>)
        case running(CheckedContinuation<Outcome, Never>, WorkerProcess?)
        case cancelledWhileRunning(CheckedContinuation<Outcome, Never>)
        case ended
    }

    private let phase = Mutex(Phase.created)

    /// Gives the call its continuation. False where it was cancelled before that, and is answered.
    func wait(_ continuation: CheckedContinuation<Outcome, Never>) -> Bool {
        let accepted = phase.withLock { phase in
            guard case .created = phase else { return false }
            phase = .waiting(continuation)
            return true
        }
        if !accepted { continuation.resume(returning: .failure(.cancelled)) }
        return accepted
    }

    /// A thread takes the call up. False where it was cancelled meanwhile: then its descriptors may be closed.
    func begin() -> Bool {
        phase.withLock { phase in
            guard case .waiting(let continuation) = phase else { return false }
            phase = .running(continuation, nil)
            return true
        }
    }

    /// The worker that cancelling has to end. False where the call is cancelled already.
    func use(_ worker: WorkerProcess) -> Bool {
        phase.withLock { phase in
            guard case .running(let continuation, _) = phase else { return false }
            phase = .running(continuation, worker)
            return true
        }
    }

    /// Takes the worker out of cancelling's reach, so that the next call can have it. False where the call was
    /// cancelled before, and the worker is lost.
    func release() -> Bool {
        phase.withLock { phase in
            guard case .running(let continuation, _) = phase else { return false }
            phase = .running(continuation, nil)
            return true
        }
    }

    /// Answers the task; `.cancelled` whatever the outcome, once the call was cancelled.
    func end(_ outcome: Outcome) {
        let waiting: (CheckedContinuation<Outcome, Never>, Outcome)? = phase.withLock { phase in
            defer { phase = .ended }
            switch phase {
            case .created, .ended: return nil
            case .waiting(let continuation), .running(let continuation, _): return (continuation, outcome)
            case .cancelledWhileRunning(let continuation): return (continuation, .failure(.cancelled))
            }
        }
        if let (continuation, outcome) = waiting { continuation.resume(returning: outcome) }
    }

    /// A call that waits is answered at once; one that runs loses its worker and is answered by its thread, so that
    /// its descriptors are in use no longer when it returns.
    func cancel() {
        let waiting: CheckedContinuation<Outcome, Never>? = phase.withLock { phase in
            switch phase {
            case .created:
                phase = .ended
                return nil
            case .waiting(let continuation):
                phase = .ended
                return continuation
            case .running(let continuation, let worker):
                worker?.kill()
                phase = .cancelledWhileRunning(continuation)
                return nil
            case .cancelledWhileRunning, .ended: return nil
            }
        }
        waiting?.resume(returning: .failure(.cancelled))
    }

    var isCancelled: Bool {
        phase.withLock { phase in
            if case .cancelledWhileRunning = phase { return true }
            return false
        }
    }
}
