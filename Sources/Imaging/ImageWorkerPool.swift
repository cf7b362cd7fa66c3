import Executors
import Foundation
import Glibc
// ImagingError, ConvertedPhoto and ImageLimits are this module's vocabulary too.
@_exported import ImageWorkerProtocol
import ServiceMesh
import Synchronization

/// Image conversion in helper processes, from the daemon's side.
///
/// Workers are in a cell (<doc:Imaging>): a photo that takes one over finds nothing there to take, and nobody comes after it: each
/// worker has one photo and ends. They are copies of a process that has loaded their libraries, the nursery. A worker writes into
/// memory, which is sealed, looked at and copied (`WorkerOutput`); it has no file of the library but to read it. A photo that
/// crashes its worker, hangs it or eats its memory costs that photo alone: the call throws a typed error. A photo whose worker was
/// killed from outside is tried once more on another one, and so is one that crashed its worker while the budget of
/// ``/ServiceMesh/ProcessBoundary`` lasts; where workers cannot be started at all, calls fail at once for a while. Each of
/// `workers` threads leads one conversation at a time; calls beyond that wait in order (bounding how many is the caller's
/// business, as the mesh does). What somebody is waiting to look at has as many threads of its own: photos that hang keep
/// imports up, and no picture.
///
///     let pool = ImageWorkerPool(executable: path, workers: 2)
///     let photo = try await pool.convert(source: source, photo: photo, thumbnail: thumbnail, preview: preview)
///     // fsync what is to last here: nothing is made durable by this.
///     await pool.shutDown()
public final class ImageWorkerPool: Sendable {
    /// Whose turn a call waits for.
    public enum Lane: Sendable {
        /// Jobs.
        case working
        /// Somebody who looks at the picture now.
        case looking
    }

    /// What has become of workers so far.
    public struct Statistics: Sendable, Equatable {
        /// Workers started.
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
        /// Process ids of those that live now, the nursery's among them.
        public var livePIDs: [Int32] = []
        /// Bytes of memory that one of them held at most, of those that have ended.
        public var peakMemory: Int64 = 0
        /// What keeps workers in, as the one that was started last said it; nil where none was.
        public var cell: WorkerCell?
    }

    struct State {
        /// Workers that no call has used: one is started to tell what keeps workers in.
        var unused: [WorkerProcess] = []
        /// Reductions that workers have needed, the latest last.
        var prepared: [ReductionShape] = []
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
    private let lookingThreads: BlockingPool
    let state = Mutex(State())
    /// The process that workers are copies of. Held for as long as one is made: by threads of this pool, which may block.
    let nursery = Mutex<WorkerProcess?>(nil)

    /// - Parameters:
    ///   - executable: path of `smilepile-image-worker`; see ``defaultExecutable()``.
    ///   - workers: how many of each lane at most, 1 or more. As many as cores is right.
    ///   - processorTime: that a worker may use for one photo, two minutes at most.
    ///   - clockTime: for one photo, from the moment that a worker has it and its memory.
    ///   - idleTime: of the clock, in which it may use no processor at all.
    ///   - sharedMemory: bytes that all workers together may use for big photos, beside
    ///     ``/ImageWorkerProtocol/ImageLimits/workerMemory`` of each; see
    ///     ``/ImageWorkerProtocol/ImageLimits/sharedMemory(ofMachine:)``.
    ///   - other: a pool whose shared memory this one's workers share too, in place of their own.
    public init(
        executable: String, workers: Int, processorTime: Duration = .seconds(ImageLimits.photoProcessorSeconds),
        clockTime: Duration = .seconds(ImageLimits.photoClockSeconds),
        idleTime: Duration = .seconds(ImageLimits.photoIdleSeconds),
        sharedMemory: UInt64 = ImageLimits.sharedMemory(ofMachine: ProcessInfo.processInfo.physicalMemory),
        sharingMemoryOf other: ImageWorkerPool? = nil
    ) {
        self.executable = executable
        time = WorkerTime(processor: processorTime, clock: clockTime, idle: idleTime)
        memory = other?.memory ?? MemoryBudget(total: sharedMemory)
        threads = BlockingPool(name: "image-worker", threads: max(1, workers))
        lookingThreads = BlockingPool(name: "image-looker", threads: max(1, workers))
    }

    /// Converts one source file into a stored photo, its thumbnail and its preview. A JPEG within 2048 pixels is stored byte for byte,
    /// all else re-encoded (<doc:Imaging>). A photo that needs no preview has none (``/ImageWorkerProtocol/ConvertedPhoto/previewSize``).
    ///
    /// The descriptors stay the caller's, and are in use until this returns: `source` a regular file open for
    /// reading, the others regular files open for writing, which are overwritten from their beginning and
    /// truncated, and which no worker gets to see. Where this throws, they may hold anything. Making them durable is the
    /// caller's part.
    /// - Parameter processorTime: less than a photo has otherwise.
    public func convert(
        source: Int32, photo: Int32, thumbnail: Int32, preview: Int32, within processorTime: Duration? = nil
    ) async throws(ImagingError) -> ConvertedPhoto {
        try await ask(.convert, by: .working, within: processorTime) { () throws(ImagingError) in
            let given = try WorkerSource(source)
            let shown = try WorkerOutput(upTo: ImageLimits.photoBytes)
            let small = try WorkerOutput(upTo: ImageLimits.thumbnailBytes)
            let middle = try WorkerOutput(upTo: ImageLimits.previewBytes)
            return Attempt(descriptors: [source, shown.descriptor, small.descriptor, middle.descriptor]) {
                outcome throws(ImagingError) -> ConvertedPhoto? in
                guard case .converted(let made) = outcome else { return nil }
                return try ConvertedPhoto(
                    made, of: given, shown: shown, small: small, middle: middle, photo: photo, thumbnail: thumbnail,
                    preview: preview)
            }
        }
    }

    /// Makes the thumbnail of a stored photo again. The descriptors are used as in `convert`.
    /// - Parameter turned: degrees by which the photo is shown turned, clockwise: 0, 90, 180, 270. So too in what follows.
    public func makeThumbnail(
        source: Int32, thumbnail: Int32, turned: Int = 0, by lane: Lane = .working
    ) async throws(ImagingError) -> ConvertedThumbnail {
        try await ask(.thumbnail(turned: turned), by: lane) { () throws(ImagingError) in
            let small = try WorkerOutput(upTo: ImageLimits.thumbnailBytes)
            return Attempt(descriptors: [source, small.descriptor]) {
                outcome throws(ImagingError) -> ConvertedThumbnail? in
                guard case .thumbnail(var made) = outcome, made.isPossible, let file = small.seal(),
                    file.isJPEG(width: made.width, height: made.height)
                else { return nil }
                made.fileSize = try FileCopy.copy(file.descriptor, to: thumbnail).size
                return made
            }
        }
    }

    /// Makes the preview of a stored photo, where it has one (``/ImageWorkerProtocol/ConvertedPreview/fileSize``). The descriptors are
    /// used as in `convert`.
    public func makePreview(
        source: Int32, preview: Int32, turned: Int = 0, by lane: Lane = .working
    ) async throws(ImagingError) -> ConvertedPreview {
        try await ask(.preview(turned: turned), by: lane) { () throws(ImagingError) in
            let middle = try WorkerOutput(upTo: ImageLimits.previewBytes)
            return Attempt(descriptors: [source, middle.descriptor]) {
                outcome throws(ImagingError) -> ConvertedPreview? in
                guard case .preview(var made) = outcome, let file = made.made(in: middle, turned: turned) else {
                    return nil
                }
                made.fileSize = nil
                if let file { made.fileSize = try FileCopy.copy(file.descriptor, to: preview).size }
                return made
            }
        }
    }

    /// Makes the library's own picture anew, for others: all that is left of it are its pixels
    /// (``/ImageWorkerProtocol/BarePicture``). The descriptors are used as in `convert`.
    public func makeBare(
        source: Int32, picture: Int32, turned: Int = 0
    ) async throws(ImagingError) -> BarePicture {
        try await makePicture(.bare(turned: turned), source: source, picture: picture)
    }

    /// Makes the library's own picture anew as a person has turned it, with what its file says of itself. The descriptors are used as
    /// in `convert`.
    public func makeWhole(source: Int32, picture: Int32, turned: Int) async throws(ImagingError) -> BarePicture {
        try await makePicture(.whole(turned: turned), source: source, picture: picture)
    }

    private func makePicture(
        _ request: WorkerRequest, source: Int32, picture: Int32
    ) async throws(ImagingError) -> BarePicture {
        try await ask(request, by: .looking) { () throws(ImagingError) in
            let output = try WorkerOutput(upTo: ImageLimits.photoBytes)
            return Attempt(descriptors: [source, output.descriptor]) {
                outcome throws(ImagingError) -> BarePicture? in
                guard case .bare(var made) = outcome, made.isPossible, let file = output.seal(),
                    file.isJPEG(width: made.width, height: made.height)
                else { return nil }
                made.fileSize = try FileCopy.copy(file.descriptor, to: picture).size
                return made
            }
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
        await lookingThreads.shutDown()
        let unused = state.withLock { state in
            defer { state.unused = [] }
            return state.unused
        }
        for worker in unused { retire(worker) { _ in } }
        let last = nursery.withLock { nursery in
            defer { nursery = nil }
            return nursery
        }
        if let last { retire(last) { _ in } }
    }

    // MARK: One call

    /// What a worker is given, and what is made of its answer.
    struct Attempt<Answer: Sendable> {
        let descriptors: [Int32]
        /// Nil for what no worker of ours answers.
        let answer: (WorkerReply.Outcome) throws(ImagingError) -> Answer?
    }

    /// - Parameter attempt: made anew for each worker that gets the request: what another one has written to is not used again.
    func ask<Answer: Sendable>(
        _ request: WorkerRequest, by lane: Lane, within processorTime: Duration? = nil,
        attempt: @escaping @Sendable () throws(ImagingError) -> Attempt<Answer>
    ) async throws(ImagingError) -> Answer {
        let call = WorkerCall<Answer>()
        var time = time
        if let processorTime { time.processor = min(time.processor, processorTime) }
        let (limit, threads) = (time, lane == .looking ? lookingThreads : threads)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                guard call.wait(continuation) else { return }
                register(call) { call.cancel() }
                let accepted = threads.submit { [self] in
                    guard call.begin() else { return }
                    call.end(run(request, call, within: limit, attempt))
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
        _ request: WorkerRequest, _ call: WorkerCall<Answer>, within time: WorkerTime,
        _ make: () throws(ImagingError) -> Attempt<Answer>
    ) -> Result<Answer, ImagingError> {
        do throws(Failure) {
            return .success(try attempt(request, call, within: time, make, isFirst: true))
        } catch {
            guard mayRetry(after: error, call) else { return .failure(error.error) }
        }
        do throws(Failure) {
            return .success(try attempt(request, call, within: time, make, isFirst: false))
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
        _ request: WorkerRequest, _ call: WorkerCall<Answer>, within time: WorkerTime,
        _ make: () throws(ImagingError) -> Attempt<Answer>, isFirst: Bool
    ) throws(Failure) -> Answer {
        let given: Attempt<Answer>
        let worker: WorkerProcess
        do throws(ImagingError) {
            given = try make()
            worker = try takeWorker()
        } catch { throw Failure(error: error) }
        // Given back last, when the worker cannot use it any more.
        let share = MemoryShare(of: memory)
        defer { share.giveBack() }
        guard call.use(worker) else {
            keep(worker)
            throw Failure(error: .cancelled)
        }
        let reply: WorkerReply
        do throws(ImagingError) {
            if !isFirst, !share.takeAll(unlessReadable: worker.socket) { throw worker.ended() }
            reply = try worker.exchange(request, given.descriptors, within: time, share)
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
            retire(worker) { _ in }
            throw Failure(error: error, reason: lackedMemory ? .lackOfMemory : nil)
        }
        let found: Answer?
        do throws(ImagingError) {
            found = try given.answer(reply.outcome)
        } catch {
            retire(worker) { _ in }
            throw Failure(error: error)
        }
        guard let found else {
            retire(worker) { $0.crashed += 1 }
            throw Failure(error: .workerCrashed("an answer that cannot be right"))
        }
        retire(worker) { _ in }
        remember(reply.prepared)
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

    /// Where `smilepile-image-worker` is: the environment's SMILEPILE_IMAGE_WORKER, else beside this program, else where an
    /// installation keeps what nobody types (`/usr/libexec/smilepile` for `/usr/bin`), else in PATH. Nil where it is nowhere.
    public static func defaultExecutable() -> String? {
        executable("smilepile-image-worker", named: "SMILEPILE_IMAGE_WORKER", beside: nil)
    }

    /// Where `smilepile-film-worker` is: the environment's SMILEPILE_FILM_WORKER, else beside an image worker, else as that is
    /// looked for. Nil where it is nowhere.
    public static func defaultFilmExecutable(beside imageWorker: String? = nil) -> String? {
        executable("smilepile-film-worker", named: "SMILEPILE_FILM_WORKER", beside: imageWorker)
    }

    private static func executable(_ name: String, named variable: String, beside other: String?) -> String? {
        let environment = ProcessInfo.processInfo.environment
        if let named = environment[variable], !named.isEmpty { return named }
        var folders = other.map { [URL(fileURLWithPath: $0).deletingLastPathComponent().path] } ?? []
        if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            let folder = URL(fileURLWithPath: program).deletingLastPathComponent()
            folders.append(folder.path)
            folders.append(folder.deletingLastPathComponent().path + "/libexec/smilepile")
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
