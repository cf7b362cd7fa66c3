import CCell
import CLinux
import Glibc
import ImageWorkerProtocol

/// The body of `smilepile-image-worker`: answers requests until its parent closes the socket.
public enum ImageWorker {
    /// Runs until the end of requests, and returns the process's exit status.
    public static func run() -> Int32 {
        run { conversation in
            let converter = PhotoConverter(memory: conversation.ask)
            return { request, descriptors throws(ImagingError) in try answer(request, descriptors, converter) }
        }
    }

    package typealias Answer = (WorkerRequest, [Int32]) throws(ImagingError) -> WorkerReply.Outcome

    /// The same process around other answers: tests see with it what a worker can do that was taken over.
    package static func run(answering makeAnswer: (WorkerConversation) -> Answer) -> Int32 {
        // Whoever stops the daemon's whole process group (a terminal, a service manager) means the daemon, which still
        // needs its workers for the photos under way; they end with its socket.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        guard let (cell, memory) = Cell.enter() else { return 71 }
        let conversation = WorkerConversation(socket: WorkerProtocol.descriptor, memory: memory)
        guard conversation.send(.ready, cell: cell) else { return 0 }
        let answer = makeAnswer(conversation)
        while let received = conversation.receive() {
            errno = 0
            let outcome = outcome(of: received, answer)
            // The decoders say of most failures only that there was one. This is what the allocator leaves behind.
            let lackedMemory = if case .failed = outcome { errno == ENOMEM } else { false }
            for descriptor in received.descriptors { close(descriptor) }
            // gd takes a block a row: far below what goes back to the system by itself.
            if memory.read().resident > 64 << 20 { ccell_release_memory() }
            guard conversation.send(outcome, lackedMemory: lackedMemory) else { return 0 }
        }
        return 0
    }

    private static func outcome(of received: WorkerConversation.Received, _ answer: Answer) -> WorkerReply.Outcome {
        let unknown = ImagingError.io("a request that this worker does not know")
        guard let request = received.request, received.descriptors.count == request.descriptorCount else {
            return .failed(unknown)
        }
        // Nothing was asked for.
        if case .proceed = request { return .failed(unknown) }
        do throws(ImagingError) { return try answer(request, received.descriptors) } catch { return .failed(error) }
    }

    private static func answer(_ request: WorkerRequest, _ descriptors: [Int32], _ converter: PhotoConverter)
        throws(ImagingError) -> WorkerReply.Outcome
    {
        switch request {
        case .convert:
            .converted(
                try converter.convert(source: descriptors[0], photo: descriptors[1], thumbnail: descriptors[2]))
        case .thumbnail:
            .thumbnail(try converter.makeThumbnail(source: descriptors[0], thumbnail: descriptors[1]))
        case .bare: .bare(try converter.makeBare(source: descriptors[0], picture: descriptors[1]))
        case .readFacts: .facts(try converter.readFacts(source: descriptors[0]))
        case .pixels(let width, let height):
            .pixels(
                try converter.pixels(
                    source: descriptors[0], within: PixelSize(width: width, height: height), into: descriptors[1]))
        case .sheet:
            .sheet(
                bytes: try converter.drawSheet(
                    page: descriptors[0], layout: descriptors[1], fonts: Array(descriptors[3...]), into: descriptors[2])
            )
        case .proceed: throw .io("a request that this worker does not know")
        }
    }
}
