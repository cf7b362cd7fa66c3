import Glibc
import ImageWorkerProtocol
import ServiceMesh

/// Workers start when they are needed, go from call to call, and are replaced when they have had their time.
extension ImageWorkerPool {
    /// A worker is replaced after this many photos, or when it has used up half of its processor time.
    private static let mostConversions = 1000
    private static let mostProcessorTime = Duration.seconds(ImageLimits.processorSeconds / 2)
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
                if statistics.started == 0, let worker = try? takeWorker() { giveBack(worker) }
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
        while let idle = state.withLock({ $0.idle.popLast() }) {
            if idle.isReady { return idle }
            // It ended while nobody asked anything of it; no photo is to blame.
            retire(idle) { $0.recycled += 1 }
            endedBeforeAnswering()
        }
        try askToStart()
        let worker: WorkerProcess
        do throws(ImagingError) {
            worker = try WorkerProcess(
                executable: executable, deadline: SuspendingClock.now.advanced(by: Self.startTimeout))
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

    func giveBack(_ worker: WorkerProcess, _ reply: WorkerReply? = nil) {
        let isUsedUp =
            worker.conversions >= Self.mostConversions
            || worker.processorTime >= Self.mostProcessorTime
            || reply.map { worker.hasGrown($0) || $0.lackedMemory == true } ?? false
        if isUsedUp {
            retire(worker) { $0.recycled += 1 }
        } else {
            worker.lend(0)
            state.withLock { $0.idle.append(worker) }
        }
    }

    func retire(_ worker: WorkerProcess, count: (inout Statistics) -> Void) {
        worker.end()
        state.withLock { state in
            state.statistics.livePIDs.removeAll { $0 == worker.pid }
            count(&state.statistics)
        }
    }
}
