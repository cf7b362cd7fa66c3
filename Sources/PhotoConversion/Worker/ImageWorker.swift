import CLinux
import CWorker
import Glibc
import ImageWorkerProtocol

/// The body of `smilepile-image-worker`: answers requests until its parent closes the socket.
public enum ImageWorker {
    /// Runs until the end of requests, and returns the process's exit status.
    public static func run() -> Int32 {
        // Whoever stops the daemon's whole process group (a terminal, a service manager) means the daemon, which still
        // needs its workers for the photos under way; they end with its socket.
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_IGN) }
        guard restrict() else { return 71 }
        let conversation = WorkerConversation(socket: WorkerProtocol.descriptor)
        let converter = PhotoConverter()
        guard conversation.send(.ready) else { return 0 }
        while let request = conversation.receive() {
            let outcome = answer(request, converter)
            for descriptor in request.descriptors { close(descriptor) }
            // gd takes a block a row: far below what goes back to the system by itself.
            if residentAndVirtualBytes().resident > 64 << 20 { cworker_release_memory() }
            guard conversation.send(outcome) else { return 0 }
        }
        return 0
    }

    private static func answer(_ request: WorkerConversation.Received, _ converter: PhotoConverter)
        -> WorkerReply.Outcome
    {
        guard let asked = request.request, request.descriptors.count == asked.descriptorCount else {
            return .failed(.io("a request that this worker does not know"))
        }
        do throws(ImagingError) {
            switch asked {
            case .convert(let keepOriginal):
                return .converted(
                    try converter.convert(
                        source: request.descriptors[0], photo: request.descriptors[1],
                        thumbnail: request.descriptors[2], keepOriginal: keepOriginal))
            case .thumbnail:
                return .thumbnail(
                    try converter.makeThumbnail(source: request.descriptors[0], thumbnail: request.descriptors[1]))
            }
        } catch {
            return .failed(error)
        }
    }

    /// Gives up what a process that reads hostile files should not have.
    private static func restrict() -> Bool {
        // With the parent gone nobody wants the answer. The signal comes when the parent's *thread* that started
        // this process ends, which is why the pool starts workers on threads that live as long as it does.
        guard clinux_set_parent_death_signal(SIGKILL) == 0 else { return false }
        _ = nice(10)
        cworker_tune_allocator()
        // A build with a sanitizer has reserved far more address space than any limit; leave it alone.
        let isSanitized = residentAndVirtualBytes().virtual > ImageLimits.workerAddressSpace / 2
        guard cworker_limit(isSanitized ? 0 : ImageLimits.workerAddressSpace) == 0 else { return false }
        signal(SIGPIPE, SIG_IGN)
        // From here on standard error goes nowhere: libraries print to it what hostile files tell them, and that
        // has no place in the daemon's log. Up to here it says why a worker cannot start.
        let nowhere = clinux_open("/dev/null", O_WRONLY, 0)
        guard nowhere >= 0, dup2(nowhere, 2) == 2 else { return false }
        close(nowhere)
        return true
    }

    static func residentAndVirtualBytes() -> (resident: UInt64, virtual: UInt64) {
        let descriptor = clinux_open("/proc/self/statm", O_RDONLY, 0)
        guard descriptor >= 0 else { return (0, 0) }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &text, text.count)
        guard count > 0 else { return (0, 0) }
        let numbers = text[..<count].split(separator: 0x20).prefix(2).map {
            (UInt64(String(decoding: $0, as: UTF8.self)) ?? 0) * UInt64(sysconf(Int32(_SC_PAGESIZE)))
        }
        return numbers.count == 2 ? (numbers[1], numbers[0]) : (0, 0)
    }
}

/// The worker's side of the socket.
struct WorkerConversation {
    let socket: Int32

    struct Received {
        /// Nil where the line is no request that this build knows.
        var request: WorkerRequest?
        var descriptors: [Int32]
    }

    /// The next request; nil when the parent has closed its end.
    func receive() -> Received? {
        var line = [UInt8](repeating: 0, count: WorkerProtocol.longestLine)
        var descriptors = [Int32](repeating: -1, count: 4)
        var count: Int32 = 0
        let length = clinux_receive_with_descriptors(
            socket, &line, line.count, &descriptors, Int32(descriptors.count), &count)
        guard length > 0 else { return nil }
        let request: WorkerRequest? = WorkerProtocol.read(line[..<length])
        return Received(request: request, descriptors: Array(descriptors[..<Int(count)]))
    }

    /// Returns false when the parent is gone.
    func send(_ outcome: WorkerReply.Outcome) -> Bool {
        let resident = ImageWorker.residentAndVirtualBytes().resident
        let reply = WorkerReply(outcome: outcome, residentKilobytes: Int(resident >> 10))
        guard let line = WorkerProtocol.line(reply) else { return false }
        return line.withUnsafeBytes {
            clinux_send_with_descriptors(socket, $0.baseAddress, $0.count, nil, 0) == $0.count
        }
    }
}
