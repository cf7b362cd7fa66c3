import Executors
import Foundation
import Glibc
// ImagingError, ConvertedPhoto and ImageLimits are this module's vocabulary too.
@_exported import ImageWorkerProtocol
import ServiceMesh
import Synchronization

/// Image conversion in helper processes, from the daemon's side.
///
/// A photo that crashes its worker, hangs it or eats its memory costs that photo alone: the call throws a typed error
/// and the next call gets a fresh worker. A photo that lost its worker is tried once more on a fresh one while the
/// budget of ``ServiceMesh/ProcessBoundary`` lasts, because a worker may be killed for reasons that are not the photo's;
/// where workers cannot be started at all, calls fail at once for a while. Workers start when first needed, serve many photos, and are replaced
/// when they have grown. Each of `workers` threads leads one conversation at a time; calls beyond that wait in order
/// (bounding how many is the caller's business, as the mesh does).
///
///     let pool = ImageWorkerPool(executable: path, workers: 2)
///     let photo = try await pool.convert(source: source, photo: photo, thumbnail: thumbnail, keepOriginal: false)
///     // fsync both outputs here: a worker makes nothing durable.
///     await pool.shutDown()
public final class ImageWorkerPool: Sendable {
    /// What has become of workers so far.
    public struct Statistics: Sendable, Equatable {
        /// Processes started.
        public var started = 0
        /// Ended by themselves, or killed from outside, while they had a photo.
        public var crashed = 0
        /// Photos that were given to a second worker.
        public var retried = 0
        /// Calls that were refused because workers cannot be started.
        public var refused = 0
        /// Ended because they did not answer in time.
        public var timedOut = 0
        /// Ended because the call was cancelled.
        public var cancelled = 0
        /// Replaced after many photos, because they had grown, or because they had ended while idle.
        public var recycled = 0
        /// Process ids of those that live now.
        public var livePIDs: [Int32] = []
    }

    private struct State {
        var idle: [WorkerProcess] = []
        var statistics = Statistics()
        var boundary = ProcessBoundary(now: MonotonicClock.now())
        var calls: [ObjectIdentifier: @Sendable () -> Void] = [:]
        var isShutDown = false
    }

    /// A worker is replaced after this many photos, or when it still holds more than this after one.
    private static let mostConversions = 1000
    private static let mostResidentKilobytes = 96 << 10
    /// For a worker's first word. Generous: a loaded machine may take seconds to page a program in.
    private static let startTimeout: Duration = .seconds(30)

    private let executable: String
    private let timeout: Duration
    private let threads: BlockingPool
    private let state = Mutex(State())

    /// - Parameters:
    ///   - executable: path of `smilepile-image-worker`; see ``defaultExecutable()``.
    ///   - workers: how many processes at most, 1 or more. As many as cores is right.
    ///   - timeout: for one photo, from the moment that a worker has it.
    public init(executable: String, workers: Int, timeout: Duration = .seconds(60)) {
        self.executable = executable
        self.timeout = timeout
        threads = BlockingPool(name: "image-worker", threads: max(1, workers))
    }

    /// Converts one source file into a stored photo and its thumbnail.
    ///
    /// The descriptors stay the caller's, and are in use until this returns: `source` a regular file open for
    /// reading, `photo` and `thumbnail` regular files open for writing, which are overwritten from their beginning and
    /// truncated. Where this throws, both may hold anything. Making them durable is the caller's part.
    ///
    /// - Parameter keepOriginal: stores the source byte for byte whatever its type and size; without it a JPEG
    ///   within 2048 pixels is kept so, and all else re-encoded (PRODUCT.md, section 2).
    public func convert(source: Int32, photo: Int32, thumbnail: Int32, keepOriginal: Bool)
        async throws(ImagingError) -> ConvertedPhoto
    {
        try await ask(.convert(keepOriginal: keepOriginal), [source, photo, thumbnail]) { outcome in
            guard case .converted(let made) = outcome, made.isPossible(photo: photo, thumbnail: thumbnail) else {
                return nil
            }
            return made
        }
    }

    /// Makes the thumbnail of a stored photo again. The descriptors are used as in `convert`.
    public func makeThumbnail(source: Int32, thumbnail: Int32) async throws(ImagingError) -> ConvertedThumbnail {
        try await ask(.thumbnail, [source, thumbnail]) { outcome in
            guard case .thumbnail(let made) = outcome, made.isPossible(thumbnail: thumbnail) else { return nil }
            return made
        }
    }

    /// Counts since the start, and who lives now.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Cancels what runs and waits, ends all workers, and returns when the threads have ended. Later calls throw
    /// ``ImagingError/cancelled``.
    public func shutDown() async {
        let calls = state.withLock { state in
            state.isShutDown = true
            return Array(state.calls.values)
        }
        for cancel in calls { cancel() }
        await threads.shutDown()
        let idle = state.withLock { state in
            defer { state.idle = [] }
            return state.idle
        }
        for worker in idle { retire(worker) { _ in } }
    }

    // MARK: One call

    private func ask<Answer: Sendable>(
        _ request: WorkerRequest, _ descriptors: [Int32], answer: @escaping @Sendable (WorkerReply.Outcome) -> Answer?
    ) async throws(ImagingError) -> Answer {
        let call = WorkerCall<Answer>()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard call.wait(continuation) else { return }
                register(call) { call.cancel() }
                let accepted = threads.submit { [self] in
                    guard call.begin() else { return }
                    call.end(run(request, descriptors, call, answer, isFirst: true))
                }
                if !accepted { call.end(.failure(.cancelled)) }
            }
        } onCancel: {
            call.cancel()
        }
        state.withLock { $0.calls[ObjectIdentifier(call)] = nil }
        return try outcome.get()
    }

    private func register(_ call: any AnyObject & Sendable, cancel: @escaping @Sendable () -> Void) {
        let isShutDown = state.withLock { state in
            state.calls[ObjectIdentifier(call)] = cancel
            return state.isShutDown
        }
        if isShutDown { cancel() }
    }

    /// Leads the conversation, on one of the pool's threads.
    private func run<Answer: Sendable>(
        _ request: WorkerRequest, _ descriptors: [Int32], _ call: WorkerCall<Answer>,
        _ answer: (WorkerReply.Outcome) -> Answer?, isFirst: Bool
    ) -> Result<Answer, ImagingError> {
        let worker: WorkerProcess
        do throws(ImagingError) { worker = try takeWorker() } catch { return .failure(error) }
        guard call.use(worker) else {
            giveBack(worker, residentKilobytes: 0)
            return .failure(.cancelled)
        }
        do throws(ImagingError) {
            let reply = try worker.exchange(request, descriptors, until: .now.advanced(by: timeout))
            guard call.release() else {
                retire(worker) { $0.cancelled += 1 }
                return .failure(.cancelled)
            }
            state.withLock { $0.boundary.answered(atFirst: isFirst) }
            if case .failed(let error) = reply.outcome, error.isPossible {
                giveBack(worker, residentKilobytes: reply.residentKilobytes)
                return .failure(error)
            }
            guard let found = answer(reply.outcome) else {
                retire(worker) { $0.crashed += 1 }
                return .failure(.workerCrashed("an answer that cannot be right"))
            }
            giveBack(worker, residentKilobytes: reply.residentKilobytes)
            return .success(found)
        } catch {
            retire(worker) { statistics in
                if call.isCancelled {
                    statistics.cancelled += 1
                } else if error == .timedOut {
                    statistics.timedOut += 1
                } else {
                    statistics.crashed += 1
                }
            }
            guard isFirst, mayRetry(worker, error, call) else { return .failure(error) }
            // Outputs are overwritten from their beginning, so the first worker's half is no obstacle.
            return run(request, descriptors, call, answer, isFirst: false)
        }
    }

    private func mayRetry<Answer: Sendable>(
        _ worker: WorkerProcess, _ error: ImagingError, _ call: WorkerCall<Answer>
    ) -> Bool {
        guard case .workerCrashed = error, !call.isCancelled else { return false }
        return state.withLock { state in
            let loss: ProcessBoundary.Loss = worker.wasKilled ? .killed : .crashed
            guard state.boundary.mayRetry(after: loss, at: MonotonicClock.now()) else { return false }
            state.statistics.retried += 1
            return true
        }
    }

    // MARK: Workers

    private func takeWorker() throws(ImagingError) -> WorkerProcess {
        while let idle = state.withLock({ $0.idle.popLast() }) {
            if idle.isReady { return idle }
            // It ended while nobody asked anything of it; no photo is to blame.
            retire(idle) { $0.recycled += 1 }
            endedUnproved()
        }
        try askToStart()
        let worker: WorkerProcess
        do throws(ImagingError) {
            worker = try WorkerProcess(executable: executable, deadline: .now.advanced(by: Self.startTimeout))
        } catch {
            endedUnproved()
            throw error
        }
        state.withLock { state in
            state.boundary.started()
            state.statistics.started += 1
            state.statistics.livePIDs.append(worker.pid)
        }
        return worker
    }

    private func endedUnproved() {
        state.withLock { $0.boundary.endedUnproved(at: MonotonicClock.now()) }
    }

    private func askToStart() throws(ImagingError) {
        let wait: UInt64? = state.withLock { state in
            guard case .refused(let wait) = state.boundary.mayStart(at: MonotonicClock.now()) else { return nil }
            state.statistics.refused += 1
            return wait
        }
        if let wait { throw .noWorkers(secondsToNextTry: Int(clamping: wait / 1_000_000_000) + 1) }
    }

    private func giveBack(_ worker: WorkerProcess, residentKilobytes: Int) {
        if worker.conversions >= Self.mostConversions || residentKilobytes > Self.mostResidentKilobytes {
            retire(worker) { $0.recycled += 1 }
        } else {
            state.withLock { $0.idle.append(worker) }
        }
    }

    private func retire(_ worker: WorkerProcess, count: (inout Statistics) -> Void) {
        worker.end()
        state.withLock { state in
            state.statistics.livePIDs.removeAll { $0 == worker.pid }
            count(&state.statistics)
        }
    }

    // MARK: Finding the program

    /// Where `smilepile-image-worker` is: the environment's SMILEPILE_IMAGE_WORKER, else beside this program, else in
    /// PATH. Nil where it is nowhere.
    public static func defaultExecutable() -> String? {
        let name = "smilepile-image-worker"
        let environment = ProcessInfo.processInfo.environment
        if let named = environment["SMILEPILE_IMAGE_WORKER"], !named.isEmpty { return named }
        var folders: [String] = []
        if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            folders.append(URL(fileURLWithPath: program).deletingLastPathComponent().path)
        }
        // Tests can run inside a program of the toolchain, with their bundle as an argument.
        folders += CommandLine.arguments.filter { $0.hasSuffix(".xctest") }.map {
            URL(fileURLWithPath: $0).deletingLastPathComponent().path
        }
        folders += (environment["PATH"] ?? "").split(separator: ":").map(String.init)
        return folders.map { $0 + "/" + name }.first { access($0, X_OK) == 0 }
    }
}
