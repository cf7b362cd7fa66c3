import CLinux
import CWorker
import Foundation
import Glibc
import ImageWorkerProtocol
import Synchronization

/// One worker as its parent sees it: a process and a socket. Used by one thread at a time; only ``kill()`` may come
/// from any.
final class WorkerProcess: Sendable {
    let pid: pid_t
    private let socket: Int32
    /// True until the process is reaped: afterwards its number may be somebody else's.
    private let isAlive = Mutex(true)
    /// Conversions so far.
    private let files = Atomic(0)
    /// Whether something outside ended it, as far as that can be told.
    private let killed = Atomic(false)

    /// Starts `executable` and waits until it says that it is ready.
    /// - Parameter deadline: for its first word.
    init(executable: String, deadline: ContinuousClock.Instant) throws(ImagingError) {
        var ends: [Int32] = [-1, -1]
        // Packets keep their boundaries, so one line is one packet and nothing has to be put together.
        guard socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw .io("a socket pair: " + describe(errno))
        }
        // The worker's end is closed here before anything is awaited: its death must be seen as the end.
        do throws(ImagingError) {
            defer { close(ends[1]) }
            pid = try Self.spawn(executable, socket: ends[1])
        } catch {
            close(ends[0])
            throw error
        }
        socket = ends[0]
        var first: WorkerReply.Outcome?
        do throws(ImagingError) { first = try receive(until: deadline).outcome } catch {}
        guard first == .ready else {
            kill()
            throw .io("the image worker did not start: " + end())
        }
    }

    deinit { _ = end() }

    var conversions: Int { files.load(ordering: .relaxed) }

    /// Whether it was something outside that ended it: the kernel for want of memory, an operator, or whatever it was
    /// that came before its first request reached it. Its photo is not suspect then.
    var wasKilled: Bool { killed.load(ordering: .relaxed) }

    /// Whether it still lives: an idle worker has nothing to say, so anything to read is its end.
    var isReady: Bool {
        var state = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) == 0
    }

    /// One request and its answer. Anything thrown means that this worker is of no more use.
    func exchange(_ request: WorkerRequest, _ descriptors: [Int32], until deadline: ContinuousClock.Instant)
        throws(ImagingError) -> WorkerReply
    {
        files.add(1, ordering: .relaxed)
        guard let line = WorkerProtocol.line(request) else { throw .io("a request that cannot be written") }
        let sent = line.withUnsafeBytes {
            clinux_send_with_descriptors(socket, $0.baseAddress, $0.count, descriptors, Int32(descriptors.count))
        }
        guard sent == line.count else {
            let code = errno
            // A descriptor that is not open is the caller's mistake, not the worker's.
            if code == EBADF { throw .io("a descriptor that is not open") }
            killed.store(true, ordering: .relaxed)
            throw .workerCrashed(end())
        }
        return try receive(until: deadline)
    }

    private func receive(until deadline: ContinuousClock.Instant) throws(ImagingError) -> WorkerReply {
        var waiting = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else { throw .timedOut }
            let milliseconds = Int32(
                clamping: rest.components.seconds &* 1000 &+ 1
                    &+ rest.components.attoseconds / 1_000_000_000_000_000)
            let ready = poll(&waiting, 1, milliseconds)
            if ready > 0 { break }
            guard ready == 0 || errno == EINTR else { throw .io("waiting for a worker: " + describe(errno)) }
        }
        var line = [UInt8](repeating: 0, count: WorkerProtocol.longestLine)
        let length = recv(socket, &line, line.count, 0)
        guard length > 0, let reply: WorkerReply = WorkerProtocol.read(line[..<length]) else {
            kill()
            let ending = end()
            // A worker whose socket has ended was ending already, so its signal is not the one sent here.
            if length <= 0, Self.signalsFromOutside.contains(ending) { killed.store(true, ordering: .relaxed) }
            throw .workerCrashed(ending)
        }
        return reply
    }

    private static let signalsFromOutside = Set([SIGKILL, SIGTERM, SIGINT, SIGHUP].map { "signal \($0)" })

    /// Ends the process at once. Harmless when it has ended.
    func kill() {
        isAlive.withLock { if $0 { _ = Glibc.kill(pid, SIGKILL) } }
    }

    /// Ends the process if need be, reaps it, and says how it ended. Later calls say nothing new.
    @discardableResult
    func end() -> String {
        isAlive.withLock { alive in
            guard alive else { return "it had ended" }
            // Its own end comes first: a worker that has crashed keeps its signal, an idle one has nothing to lose.
            var status: Int32 = 0
            var reaped = waitpid(pid, &status, WNOHANG)
            if reaped == 0 {
                _ = Glibc.kill(pid, SIGKILL)
                repeat { reaped = waitpid(pid, &status, 0) } while reaped < 0 && errno == EINTR
            }
            alive = false
            close(socket)
            guard reaped == pid else { return "it cannot be waited for" }
            let signal = status & 0x7F
            return signal == 0 ? "exit status \(status >> 8 & 0xFF)" : "signal \(signal)"
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

    /// The little that a worker needs: where the time zone and the libraries are, and no secrets.
    private static func environment() -> [String] {
        let kept = ["TZ", "TZDIR", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"]
        let values = ProcessInfo.processInfo.environment
        return kept.compactMap { name in values[name].map { "\(name)=\($0)" } } + ["SWIFT_BACKTRACE=enable=no"]
    }
}

/// The system's words for an error number.
private func describe(_ code: Int32) -> String { String(cString: strerror(code)) }
