import CLinux
import CWorker
import Foundation
import Glibc
import ImageWorkerProtocol
import Synchronization

/// One worker, or the nursery that workers are copies of, as its parent sees it: a process and a socket. Used by one thread at a
/// time; only ``kill()`` may come from any.
final class WorkerProcess: Sendable {
    let pid: pid_t
    let socket: Int32
    /// What keeps it in, as it says; nil where it does not.
    let cell: WorkerCell?
    /// Bytes of address space that it has given itself; 0 where it has no limit. It may not raise that, we may.
    private let addressSpace: UInt64
    /// True until the process is reaped: afterwards its number may be somebody else's.
    private let isAlive = Mutex(true)
    /// Whether it makes workers, and answers nothing else.
    let isNursery: Bool
    /// Kilobytes.
    private let peak = Atomic(0)

    /// Starts `executable` and waits until it says that it is ready.
    /// - Parameter deadline: for its first word.
    convenience init(executable: String, deadline: SuspendingClock.Instant) throws(ImagingError) {
        try self.init(deadline: deadline) { end throws(ImagingError) in try Self.spawn(executable, socket: end) }
    }

    /// Has a nursery make a worker, and waits until that is ready.
    /// - Parameters:
    ///   - prepared: reductions that it finds done.
    ///   - deadline: for both of their words.
    convenience init(
        from nursery: WorkerProcess, prepared: [ReductionShape], deadline: SuspendingClock.Instant
    ) throws(ImagingError) {
        try self.init(deadline: deadline) { end throws(ImagingError) in
            guard let line = WorkerProtocol.line(WorkerRequest.fork(prepared: prepared)),
                line.withUnsafeBytes({
                    clinux_send_with_descriptors(nursery.socket, $0.baseAddress, $0.count, [end], 1)
                }) == line.count,
                case .forked(let pid) = WorkerReply.first(on: nursery.socket, until: deadline)?.outcome, pid > 1
            else { throw .io("the image worker's program makes no workers") }
            return pid
        }
    }

    /// - Parameter start: gives a process the end of the socket that it is to have, and says its number.
    private init(
        deadline: SuspendingClock.Instant, start: (Int32) throws(ImagingError) -> pid_t
    ) throws(ImagingError) {
        var ends: [Int32] = [-1, -1]
        // Packets keep their boundaries, so one line is one packet and nothing has to be put together.
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .io("a socket pair: " + describe(errno))
        }
        // The worker's end is closed here before anything is awaited: its death must be seen as the end.
        do throws(ImagingError) {
            defer { close(ends[1]) }
            pid = try start(ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        socket = ends[0]
        let first = WorkerReply.first(on: socket, until: deadline)
        cell = first?.cell
        isNursery = first?.outcome == .nursery
        addressSpace = isNursery ? 0 : cworker_address_space(pid)
        guard first?.outcome == .ready || isNursery else {
            kill()
            throw .io("the image worker did not start: \(end())")
        }
    }

    deinit { _ = end() }

    /// Bytes of memory that it held at most, its share of its nursery's included; 0 until it has ended.
    var peakMemory: Int64 { Int64(peak.load(ordering: .relaxed)) << 10 }

    /// How long it has been on a processor.
    var processorTime: Duration { .nanoseconds(isAlive.withLock { $0 ? cworker_processor_time(pid) : 0 }) }

    /// Lends it memory beyond its own, or with 0 takes that back. What it has taken stays; it cannot take more.
    func lend(_ bytes: UInt64) {
        guard addressSpace > 0 else { return }
        isAlive.withLock { if $0 { _ = cworker_set_address_space(pid, addressSpace + bytes) } }
    }

    /// Whether it still lives: an idle worker has nothing to say, so anything to read is its end.
    var isReady: Bool {
        var state = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) == 0
    }

    /// Ends the process at once. Harmless when it has ended.
    func kill() {
        isAlive.withLock { if $0 { _ = Glibc.kill(pid, SIGKILL) } }
    }

    /// Waits until the process has ended, for a second at most, and leaves it to be reaped. Blocks.
    var endsByItself: Bool { cworker_wait_for_end(pid, 1_000) == 1 }

    /// How a worker's process ended.
    enum Ending: CustomStringConvertible {
        case exit(Int32)
        case signal(Int32)
        /// Told already, or not to be known.
        case unknown(String)

        /// Whether something outside ended it. A process gets these signals by what it does itself, by its limits and by
        /// its filter; it sends itself no other, and may not.
        var isFromOutside: Bool {
            guard case .signal(let number) = self else { return false }
            return ![SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGSYS, SIGXCPU, SIGXFSZ].contains(number)
        }

        var description: String {
            switch self {
            case .exit(let status): "exit status \(status)"
            case .signal(let number): "signal \(number)"
            case .unknown(let words): words
            }
        }
    }

    /// Ends the process if need be, reaps it, and says how it ended. Later calls say nothing new.
    @discardableResult
    func end() -> Ending {
        isAlive.withLock { alive in
            guard alive else { return .unknown("it had ended") }
            // Its own end comes first: a worker that has crashed keeps its signal, an idle one has nothing to lose.
            var status: Int32 = 0
            var usage = rusage()
            var reaped = wait4(pid, &status, WNOHANG, &usage)
            if reaped == 0 {
                _ = Glibc.kill(pid, SIGKILL)
                repeat { reaped = wait4(pid, &status, 0, &usage) } while reaped < 0 && errno == EINTR
            }
            alive = false
            if reaped == pid { peak.store(usage.ru_maxrss, ordering: .relaxed) }
            close(socket)
            guard reaped == pid else { return .unknown("it cannot be waited for") }
            let signal = status & 0x7F
            return signal == 0 ? .exit(status >> 8 & 0xFF) : .signal(signal)
        }
    }

    /// Starts the process with no descriptor but its socket, an output nowhere, and this process's standard error.
    /// In a group of its own, so that a terminal's Ctrl-C reaches the parent alone, which then ends its jobs.
    private static func spawn(_ executable: String, socket: Int32) throws(ImagingError) -> pid_t {
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(executable), nil]
        var environment = Self.environment().map { strdup($0) } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid: pid_t = 0
        let status = cworker_spawn(&pid, executable, socket, &arguments, &environment)
        guard status == 0 else { throw .io("starting the image worker: " + describe(status)) }
        return pid
    }

    /// The little that a worker needs, and no secrets: where the libraries are if somebody had to say so, and what a
    /// sanitizer was told. No locale and no time zone: nothing that a worker writes depends on one.
    private static func environment() -> [String] {
        let kept = ["LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"]
        let values = ProcessInfo.processInfo.environment
        return kept.compactMap { name in values[name].map { "\(name)=\($0)" } }
            + ["SWIFT_BACKTRACE=enable=no"]
    }
}

/// The system's words for an error number.
private func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
