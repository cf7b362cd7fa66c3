import CLinux
import Glibc
import Randomness
import ServiceMesh
import Synchronization

/// What the reactor's thread, the connections and the server's owner share.
final class ServerCore: Sendable {
    typealias Command = @Sendable (inout Reactor) -> Void

    private struct Inbox {
        /// Keys of connections where the reactor has something to do.
        var attention: [UInt64] = []
        var commands: [Command] = []
        var hasEnded = false
        var endWaiters: [CheckedContinuation<Void, Never>] = []
    }

    let mesh: Mesh
    let configuration: ControlServer.Configuration
    let discovery: Discovery
    /// Readable when the inbox has something.
    let wakeDescriptor: Int32
    let executor = InlineExecutor()
    let budget: ReplyBudget
    /// Whether requests are refused because the daemon stops.
    let isDraining = Atomic(false)
    private let inbox = Mutex(Inbox())
    private let runningBytes = Atomic(0)
    private let waitingFileCount = Atomic(0)
    private let traces = Atomic(UInt64.random(in: .min ... .max))

    init(mesh: Mesh, configuration: ControlServer.Configuration) throws(ControlError) {
        self.mesh = mesh
        self.configuration = configuration
        discovery = Discovery(mesh: mesh)
        budget = ReplyBudget(configuration.limits)
        wakeDescriptor = clinux_wake_create()
        if wakeDescriptor < 0 { throw ControlError.system(operation: "eventfd", errno: errno) }
    }

    deinit { if wakeDescriptor >= 0 { close(wakeDescriptor) } }

    var limits: ControlLimits { configuration.limits }

    /// Bytes of the params of all requests that run.
    var requestBytes: Int { runningBytes.load(ordering: .relaxed) }

    func countRequest(_ bytes: Int) { runningBytes.add(bytes, ordering: .relaxed) }

    /// Open files that wait for their readers, of all connections.
    var waitingFiles: Int { waitingFileCount.load(ordering: .relaxed) }

    func countFiles(_ difference: Int) {
        if difference != 0 { waitingFileCount.add(difference, ordering: .relaxed) }
    }

    /// A trace id for a request: distinct within the process, without the system call that a random one costs.
    func nextTrace() -> UInt64 {
        max(1, SplitMix64.mixed(traces.wrappingAdd(SplitMix64.increment, ordering: .relaxed).newValue))
    }

    /// Asks the reactor to look at a connection.
    func attend(_ key: UInt64) {
        inbox.withLock { $0.attention.append(key) }
        clinux_wake(wakeDescriptor)
    }

    /// Runs `command` on the reactor's thread; false, without running it, once that has ended.
    @discardableResult
    func submit(_ command: @escaping Command) -> Bool {
        let accepted = inbox.withLock { inbox in
            guard !inbox.hasEnded else { return false }
            inbox.commands.append(command)
            return true
        }
        if accepted { clinux_wake(wakeDescriptor) }
        return accepted
    }

    /// Runs `command` on the reactor's thread and returns when it has run, or at once when the reactor has ended.
    func perform(_ command: @escaping Command) async {
        await withCheckedContinuation { continuation in
            let accepted = submit { reactor in
                command(&reactor)
                continuation.resume()
            }
            if !accepted { continuation.resume() }
        }
    }

    func takeInbox() -> (attention: [UInt64], commands: [Command]) {
        inbox.withLock { inbox in
            defer {
                inbox.attention = []
                inbox.commands = []
            }
            return (inbox.attention, inbox.commands)
        }
    }

    /// Called by the reactor as its last act; gives back the commands that came too late to be seen.
    func end() -> [Command] {
        let (commands, waiters) = inbox.withLock { inbox in
            inbox.hasEnded = true
            defer {
                inbox.commands = []
                inbox.endWaiters = []
            }
            return (inbox.commands, inbox.endWaiters)
        }
        for waiter in waiters { waiter.resume() }
        return commands
    }

    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = inbox.withLock { inbox in
                if !inbox.hasEnded { inbox.endWaiters.append(continuation) }
                return inbox.hasEnded
            }
            if hasEnded { continuation.resume() }
        }
    }
}
