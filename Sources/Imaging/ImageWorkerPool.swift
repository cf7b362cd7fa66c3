import Executors
import Foundation
import Glibc
// ImagingError, ConvertedPhoto and ImageLimits are this module's vocabulary too.
@_exported import ImageWorkerProtocol
import ServiceMesh
import Synchronization

/// Image conversion in helper processes, from the daemon's side.
///
/// Workers are in a cell (<doc:Imaging>): a photo that takes one over finds nothing there to take. A photo that crashes its
/// worker, hangs it or eats its memory costs that photo alone: the call throws a typed error
/// and the next call gets a fresh worker. A photo whose worker was killed from outside is tried once more on a fresh one,
/// and so is one that crashed its worker while the budget of ``/ServiceMesh/ProcessBoundary`` lasts; where workers
/// cannot be started at all, calls fail at once for a while. Workers start when first needed, serve many photos, and are
/// replaced when they have grown. Each of `workers` threads leads one conversation at a time; calls beyond that wait in
/// order (bounding how many is the caller's business, as the mesh does).
///
///     let pool = ImageWorkerPool(executable: path, workers: 2)
///     let photo = try await pool.convert(source: source, photo: photo, thumbnail: thumbnail)
///     // fsync both outputs here: a worker makes nothing durable.
///     await pool.shutDown()
public final class ImageWorkerPool: Sendable {
    /// What has become of workers so far.
    public struct Statistics: Sendable, Equatable {
        /// Processes started.
        public var started = 0
        /// Ended by themselves while they had a photo.
        public var crashed = 0
        /// Killed from outside while they had a photo.
        public var lost = 0
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
        /// What keeps workers in, as the one that was started last said it; nil where none was.
        public var cell: WorkerCell?
    }

    struct State {
        var idle: [WorkerProcess] = []
        var statistics = Statistics()
        var boundary = ProcessBoundary(now: MonotonicClock.now())
        var calls: [ObjectIdentifier: @Sendable () -> Void] = [:]
        /// Who asks what keeps workers in; nil once the first one has told, or has not come.
        var cellAskers: [CheckedContinuation<Void, Never>]? = []
        var isShutDown = false
    }

    let executable: String
    private let time: WorkerTime
    /// What workers share for big photos.
    let memory: MemoryBudget
    let threads: BlockingPool
    let state = Mutex(State())

    /// - Parameters:
    ///   - executable: path of `smilepile-image-worker`; see ``defaultExecutable()``.
    ///   - workers: how many processes at most, 1 or more. As many as cores is right.
    ///   - processorTime: that a worker may use for one photo, two minutes at most.
    ///   - clockTime: for one photo, from the moment that a worker has it and its memory.
    ///   - sharedMemory: bytes that all workers together may use for big photos, beside
    ///     ``/ImageWorkerProtocol/ImageLimits/workerMemory`` of each; see
    ///     ``/ImageWorkerProtocol/ImageLimits/sharedMemory(ofMachine:)``.
    public init(
        executable: String, workers: Int, processorTime: Duration = .seconds(ImageLimits.photoProcessorSeconds),
        clockTime: Duration = .seconds(ImageLimits.photoClockSeconds),
        sharedMemory: UInt64 = ImageLimits.sharedMemory(ofMachine: ProcessInfo.processInfo.physicalMemory)
    ) {
        self.executable = executable
        time = WorkerTime(processor: processorTime, clock: clockTime)
        memory = MemoryBudget(total: sharedMemory)
        threads = BlockingPool(name: "image-worker", threads: max(1, workers))
    }

    /// Converts one source file into a stored photo and its thumbnail. A JPEG within 2048 pixels is stored byte for byte, all
    /// else re-encoded (<doc:Imaging>).
    ///
    /// The descriptors stay the caller's, and are in use until this returns: `source` a regular file open for
    /// reading, `photo` and `thumbnail` regular files open for writing, which are overwritten from their beginning and
    /// truncated. Where this throws, both may hold anything. Making them durable is the caller's part.
    public func convert(source: Int32, photo: Int32, thumbnail: Int32) async throws(ImagingError) -> ConvertedPhoto {
        try await ask(.convert, [source, photo, thumbnail]) { outcome in
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

    /// Makes the library's own picture anew, for others: all that is left of it are its pixels
    /// (``/ImageWorkerProtocol/BarePicture``). The descriptors are used as in `convert`.
    public func makeBare(source: Int32, picture: Int32) async throws(ImagingError) -> BarePicture {
        try await ask(.bare, [source, picture]) { outcome in
            guard case .bare(let made) = outcome, made.isPossible(picture: picture) else { return nil }
            return made
        }
    }

    /// Counts since the start, and who lives now.
    public var statistics: Statistics { state.withLock { $0.statistics } }

    /// Bytes that all workers together may use for big photos.
    public var sharedMemory: UInt64 { memory.total }

    /// Cancels what runs and waits, ends all workers, and returns when the threads have ended. Later calls throw
    /// ``/ImageWorkerProtocol/ImagingError/cancelled``.
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

    func ask<Answer: Sendable>(
        _ request: WorkerRequest, _ descriptors: [Int32], answer: @escaping @Sendable (WorkerReply.Outcome) -> Answer?
    ) async throws(ImagingError) -> Answer {
        let call = WorkerCall<Answer>()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard call.wait(continuation) else { return }
                register(call) { call.cancel() }
                let accepted = threads.submit { [self] in
                    guard call.begin() else { return }
                    call.end(run(request, descriptors, call, answer))
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
        _ answer: (WorkerReply.Outcome) -> Answer?
    ) -> Result<Answer, ImagingError> {
        do throws(Failure) {
            return .success(try attempt(request, descriptors, call, answer, isFirst: true))
        } catch {
            guard mayRetry(after: error, call) else { return .failure(error.error) }
        }
        do throws(Failure) {
            // Outputs are overwritten from their beginning, so the first worker's half is no obstacle.
            return .success(try attempt(request, descriptors, call, answer, isFirst: false))
        } catch {
            return .failure(error.error)
        }
    }

    /// How an attempt failed.
    private struct Failure: Error {
        let error: ImagingError
        /// Why another attempt may end better; nil where it would not.
        var reason: Reason?

        enum Reason {
            case loss(ProcessBoundary.Loss)
            case lackOfMemory
        }
    }

    /// - Parameter isFirst: the second attempt has all the memory that there is, with no other big photo beside it. The
    ///   first one may have been lost for want of it: a decoder that gets none may crash, and the kernel ends the biggest.
    private func attempt<Answer: Sendable>(
        _ request: WorkerRequest, _ descriptors: [Int32], _ call: WorkerCall<Answer>,
        _ answer: (WorkerReply.Outcome) -> Answer?, isFirst: Bool
    ) throws(Failure) -> Answer {
        let worker: WorkerProcess
        do throws(ImagingError) { worker = try takeWorker() } catch { throw Failure(error: error) }
        // Given back last, when the worker cannot use it any more.
        let share = MemoryShare(of: memory)
        defer { share.giveBack() }
        guard call.use(worker) else {
            giveBack(worker)
            throw Failure(error: .cancelled)
        }
        let reply: WorkerReply
        do throws(ImagingError) {
            if !isFirst, !share.takeAll(unlessReadable: worker.socket) { throw worker.ended() }
            reply = try worker.exchange(request, descriptors, within: time, share)
        } catch {
            retire(worker) { $0.count(error, isCancelled: call.isCancelled) }
            throw Failure(error: error, reason: error.loss.map(Failure.Reason.loss))
        }
        guard call.release() else {
            retire(worker) { $0.cancelled += 1 }
            throw Failure(error: .cancelled)
        }
        state.withLock { $0.boundary.answered(atFirst: isFirst) }
        if case .failed(let error) = reply.outcome, error.isPossible {
            let lackedMemory = reply.lackedMemory == true && share.held < memory.total
            giveBack(worker, reply)
            throw Failure(error: error, reason: lackedMemory ? .lackOfMemory : nil)
        }
        guard let found = answer(reply.outcome) else {
            retire(worker) { $0.crashed += 1 }
            throw Failure(error: .workerCrashed("an answer that cannot be right"))
        }
        giveBack(worker, reply)
        return found
    }

    private func mayRetry<Answer: Sendable>(after failure: Failure, _ call: WorkerCall<Answer>) -> Bool {
        guard let reason = failure.reason, !call.isCancelled else { return false }
        return state.withLock { state in
            if case .loss(let loss) = reason, !state.boundary.mayRetry(after: loss, at: MonotonicClock.now()) {
                return false
            }
            state.statistics.retried += 1
            return true
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

extension ImagingError {
    /// How the worker was lost; nil where it was not, or took too long.
    fileprivate var loss: ProcessBoundary.Loss? {
        switch self {
        case .workerCrashed: .crashed
        case .workerLost: .killed
        default: nil
        }
    }
}

extension ImageWorkerPool.Statistics {
    /// Counts a worker that was of no more use.
    fileprivate mutating func count(_ error: ImagingError, isCancelled: Bool) {
        switch error {
        case _ where isCancelled: cancelled += 1
        case .timedOut: timedOut += 1
        case .workerLost: lost += 1
        default: crashed += 1
        }
    }
}
