import Glibc
import ImageWorkerProtocol
import ServiceMesh

/// Workers are made when they are needed, and end with their call.
extension ImageWorkerPool {
    /// For a worker's first word. Generous: a loaded machine may take seconds to page a program in.
    private static let startTimeout: Duration = .seconds(30)

    /// What keeps workers in, as the last one that was started says; the first is started for this question. Nil where
    /// that one could not be, and none was since.
    public func cell() async -> WorkerCell? {
        await withCheckedContinuation { continuation in
            let waits = state.withLock { state in
                state.cellAskers?.append(continuation)
                return state.cellAskers != nil
            }
            let start: @Sendable () -> Void = { [self] in
                if statistics.started == 0, let worker = try? takeWorker() { keep(worker) }
                answerCellAskers()
            }
            if !waits {
                continuation.resume()
            } else if !threads.submit(start) {
                answerCellAskers()
            }
        }
        return statistics.cell
    }

    private func answerCellAskers() {
        let askers = state.withLock { state in
            defer { state.cellAskers = nil }
            return state.cellAskers ?? []
        }
        for asker in askers { asker.resume() }
    }

    func takeWorker() throws(ImagingError) -> WorkerProcess {
        while let unused = state.withLock({ $0.unused.popLast() }) {
            if unused.isReady { return unused }
            // It ended while nobody asked anything of it; no photo is to blame.
            retire(unused) { _ in }
            endedBeforeAnswering()
        }
        try askToStart()
        let worker: WorkerProcess
        do throws(ImagingError) {
            worker = try makeWorker(until: SuspendingClock.now.advanced(by: Self.startTimeout))
        } catch {
            endedBeforeAnswering()
            throw error
        }
        state.withLock { state in
            state.boundary.started()
            state.statistics.started += 1
            state.statistics.livePIDs.append(worker.pid)
            state.statistics.cell = worker.cell
        }
        answerCellAskers()
        return worker
    }

    /// A copy of the nursery, or what the program is that makes none: a sanitizer's, or one of a test.
    private func makeWorker(until deadline: SuspendingClock.Instant) throws(ImagingError) -> WorkerProcess {
        let prepared = state.withLock { $0.prepared }
        let made: Result<WorkerProcess, ImagingError> = nursery.withLock { nursery in
            if let idle = nursery, !idle.isReady {
                retire(idle) { _ in }
                nursery = nil
            }
            do throws(ImagingError) {
                if nursery == nil {
                    let first = try WorkerProcess(executable: executable, deadline: deadline)
                    guard first.isNursery else { return .success(first) }
                    state.withLock { $0.statistics.livePIDs.append(first.pid) }
                    nursery = first
                }
                guard let mother = nursery else { return .failure(.io("no image worker")) }
                return .success(try WorkerProcess(from: mother, prepared: prepared, deadline: deadline))
            } catch {
                // Whatever became of it, the next one is a new one.
                if let lost = nursery { retire(lost) { _ in } }
                nursery = nil
                return .failure(error)
            }
        }
        return try made.get()
    }

    /// Has these ready for the next workers.
    func remember(_ shapes: [ReductionShape]?) {
        guard let shapes, shapes.count <= ReductionShape.most else { return }
        state.withLock { state in
            for shape in shapes where shape.isPossible {
                state.prepared.removeAll { $0 == shape }
                state.prepared.append(shape)
            }
            state.prepared.removeFirst(max(0, state.prepared.count - ReductionShape.most))
        }
    }

    private func endedBeforeAnswering() {
        state.withLock { $0.boundary.endedBeforeAnswering(at: MonotonicClock.now()) }
    }

    private func askToStart() throws(ImagingError) {
        let wait: UInt64? = state.withLock { state in
            guard case .refused(let wait) = state.boundary.mayStart(at: MonotonicClock.now()) else { return nil }
            state.statistics.refused += 1
            return wait
        }
        if let wait { throw .noWorkers(secondsToNextTry: Int(clamping: wait / 1_000_000_000) + 1) }
    }

    /// For the next call: it has had none.
    func keep(_ worker: WorkerProcess) { state.withLock { $0.unused.append(worker) } }

    func retire(_ worker: WorkerProcess, count: (inout Statistics) -> Void) {
        worker.end()
        state.withLock { state in
            state.statistics.livePIDs.removeAll { $0 == worker.pid }
            state.statistics.peakMemory = max(state.statistics.peakMemory, worker.peakMemory)
            count(&state.statistics)
        }
    }
}
