import CCell
import CLinux
import Glibc
import ImageWorkerProtocol

/// The body of `smilepile-image-worker`: a process that makes workers of itself, and each worker's one answer.
///
/// A worker has one request and ends: what a photo has done to a process, the next photo does not meet. Starting a program for
/// each would cost 10 ms, a ninth of what a photo takes; a copy of one that has loaded its libraries costs a fraction. The
/// nursery, of which they are copies, reads nothing but its parent's words.
public enum ImageWorker {
    /// Runs until the end of requests, and returns the process's exit status.
    public static func run() -> Int32 {
        run { conversation, reductions in
            let converter = PhotoConverter(reductions: reductions, memory: conversation.ask)
            return { request, descriptors throws(ImagingError) in try answer(request, descriptors, converter) }
        }
    }

    /// The same processes around another program's answers.
    /// - Parameter prepare: what its libraries make at their first use, made before there are copies.
    package static func run(
        preparing prepare: @escaping () -> Void, answering makeAnswer: @escaping (PhotoConverter) -> Answer
    ) -> Int32 {
        run(preparing: prepare) { conversation, reductions in
            makeAnswer(PhotoConverter(reductions: reductions, memory: conversation.ask))
        }
    }

    package typealias Answer = (WorkerRequest, [Int32]) throws(ImagingError) -> WorkerReply.Outcome

    /// The same processes around other answers: tests see with them what a worker can do that was taken over.
    package static func run(answering makeAnswer: @escaping (WorkerConversation) -> Answer) -> Int32 {
        run { conversation, _ in makeAnswer(conversation) }
    }

    private static func run(
        preparing prepare: () -> Void = {}, _ makeAnswer: (WorkerConversation, ReductionCache) -> Answer
    ) -> Int32 {
        // Whoever stops the daemon's whole process group (a terminal, a service manager) means the daemon, which still
        // needs its workers for the photos under way; they end with its socket.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        prepare()
        let reductions = ReductionCache()
        // A sanitizer's own thread would not be in a copy.
        if ccell_is_sanitized() == 0 {
            guard let isNursery = nursery(reductions) else { return 71 }
            if isNursery { return 0 }
        }
        guard let cell = Cell.enter() else { return 71 }
        let conversation = WorkerConversation(socket: WorkerProtocol.descriptor)
        guard conversation.send(WorkerReply(outcome: .ready, cell: cell)) else { return 0 }
        let answer = makeAnswer(conversation, reductions)
        guard let received = conversation.receive() else { return 0 }
        errno = 0
        let outcome = outcome(of: received, answer)
        // The decoders say of most failures only that there was one. This is what the allocator leaves behind.
        let lackedMemory = if case .failed = outcome { errno == ENOMEM } else { false }
        _ = conversation.send(
            WorkerReply(
                outcome: outcome, lackedMemory: lackedMemory ? true : nil,
                prepared: reductions.made.isEmpty ? nil : reductions.made))
        // Until the parent has looked at what there is, and ends it.
        _ = conversation.receive()
        return 0
    }

    /// Makes a worker for each that is asked for, until nobody asks any more.
    /// - Returns: false in each copy, where its socket is in the place of the nursery's; nil where it cannot begin.
    private static func nursery(_ reductions: ReductionCache) -> Bool? {
        guard Cell.prepare() else { return nil }
        let conversation = WorkerConversation(socket: WorkerProtocol.descriptor)
        guard conversation.send(WorkerReply(outcome: .nursery)) else { return true }
        while let received = conversation.receive() {
            guard case .fork(let shapes) = received.request, let socket = received.descriptors.first,
                received.descriptors.count == 1
            else { return true }
            reductions.prepare(shapes)
            let pid = ccell_make_sibling()
            if pid == 0 { return dup2(socket, WorkerProtocol.descriptor) < 0 ? nil : false }
            let outcome: WorkerReply.Outcome =
                pid > 0 ? .forked(pid: pid) : .failed(.io("another worker: " + describe(errno)))
            close(socket)
            guard conversation.send(WorkerReply(outcome: outcome)) else { return true }
        }
        return true
    }

    private static func outcome(of received: WorkerConversation.Received, _ answer: Answer) -> WorkerReply.Outcome {
        let unknown = ImagingError.io("a request that this worker does not know")
        guard let request = received.request, received.descriptors.count == request.descriptorCount else {
            return .failed(unknown)
        }
        // Nothing was asked for, and no worker makes another.
        switch request {
        case .proceed, .fork: return .failed(unknown)
        default: break
        }
        do throws(ImagingError) { return try answer(request, received.descriptors) } catch { return .failed(error) }
    }

    private static func answer(_ request: WorkerRequest, _ descriptors: [Int32], _ converter: PhotoConverter)
        throws(ImagingError) -> WorkerReply.Outcome
    {
        switch request {
        case .convert:
            .converted(
                try converter.convert(
                    source: descriptors[0], photo: descriptors[1], thumbnail: descriptors[2], preview: descriptors[3]))
        case .thumbnail(let turned):
            .thumbnail(
                try converter.makeThumbnail(source: descriptors[0], thumbnail: descriptors[1], turned: turned))
        case .preview(let turned):
            .preview(try converter.makePreview(source: descriptors[0], preview: descriptors[1], turned: turned))
        case .bare(let turned):
            .bare(try converter.makeBare(source: descriptors[0], picture: descriptors[1], turned: turned))
        case .whole(let turned):
            .bare(try converter.makeWhole(source: descriptors[0], picture: descriptors[1], turned: turned))
        case .readFacts: .facts(try converter.readFacts(source: descriptors[0]))
        case .pixels(let width, let height, let turned):
            .pixels(
                try converter.pixels(
                    source: descriptors[0], within: PixelSize(width: width, height: height), into: descriptors[1],
                    turned: turned))
        case .sheet:
            .sheet(
                bytes: try converter.drawSheet(
                    page: descriptors[0], layout: descriptors[1], fonts: Array(descriptors[3...]), into: descriptors[2])
            )
        case .film, .proceed, .fork: throw .io("a request that this worker does not know")
        }
    }
}
