import Synchronization

/// Asks one service whether it can work, and takes no answer for one when its time is over.
///
/// The check of a service that hangs cannot be ended from outside, so it is left behind, and the next who asks joins it
/// instead of starting another: a service has one check at most, however often and by how many it is asked.
final class HealthProbe: Sendable {
    private struct Asker {
        let continuation: CheckedContinuation<MeshError?, Never>
        let timer: Task<Void, Never>
    }

    private struct State {
        var isChecking = false
        var nextID: UInt64 = 0
        var waiting: [UInt64: Asker] = [:]
    }

    private let serviceName: String
    private let check: @Sendable () async throws -> Void
    private let state = Mutex(State())

    init(serviceName: String, check: @escaping @Sendable () async throws -> Void) {
        self.serviceName = serviceName
        self.check = check
    }

    /// - Parameters:
    ///   - deadline: for the answer; it comes then whatever the service does.
    ///   - clock: that of the mesh.
    ///   - context: in which a check runs that is started here.
    /// - Returns: nil for a service that can work, else what is wrong.
    func ask(until deadline: Deadline, on clock: MeshClock, in context: CallContext) async -> MeshError? {
        await withCheckedContinuation { continuation in
            let starts = state.withLock { state in
                state.nextID += 1
                let id = state.nextID
                // Made under the lock, which it takes itself, so it cannot be over before it is known.
                let timer = Task(executorPreference: MeshClock.executor) { [self] in
                    try? await clock.sleep(until: deadline.nanoseconds)
                    let late = self.state.withLock { $0.waiting.removeValue(forKey: id) }
                    late?.continuation.resume(returning: hanging)
                }
                state.waiting[id] = Asker(continuation: continuation, timer: timer)
                defer { state.isChecking = true }
                return !state.isChecking
            }
            guard starts else { return }
            Task(executorPreference: MeshClock.executor) { [self] in
                var problem: MeshError?
                do {
                    try await CallContext.$current.withValue(context) { try await check() }
                } catch {
                    problem = MeshError(describing: error)
                }
                answer(problem)
            }
        }
    }

    private func answer(_ problem: MeshError?) {
        let waiting = state.withLock { state in
            state.isChecking = false
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for asker in waiting {
            asker.timer.cancel()
            asker.continuation.resume(returning: problem)
        }
    }

    private var hanging: MeshError {
        MeshError(
            .deadlineExceeded,
            "\(serviceName) does not answer. If this does not pass, stop the library and start it again.")
    }
}
