import BenchSupport
import ControlSocket
import Foundation

/// A daemon that is to be killed: started without the detours of `Process`, and waited for without polling.
final class FaultDaemon {
    enum Ending: Equatable {
        case exit(Int32)
        case signal(Int32)
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }

    let log: String
    private let pid: pid_t
    private var ending: Ending?

    /// - Parameter preload: the shim's control, where the shim is to be loaded.
    init(program: String, library: String, socket: String, log: String, shim: String?, control: FaultControl?) throws {
        self.log = log
        var environment = ProcessInfo.processInfo.environment
        environment["SWIFT_BACKTRACE"] = "enable=no"
        if let shim, let control {
            environment["LD_PRELOAD"] = shim
            environment["SMILEPILE_FAULTS"] = control.path
        }
        let arguments = [program, "--library", library, "--socket", socket]
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 2, 1)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Threads that Foundation started have signals blocked, and a process inherits that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid: pid_t = 0
        let status = posix_spawn(&pid, program, &actions, &attributes, &argv, &envp)
        guard status == 0 else { throw Failed(description: "\(program): \(String(cString: strerror(status)))") }
        self.pid = pid
        StartedProcesses.add(pid)
    }

    deinit { kill() }

    /// Returns once it listens.
    /// - Returns: nil where it ended instead.
    func connect(to socket: String) throws -> AccountedConnection? {
        let connection = AccountedConnection(name: "campaign", socket: socket)
        connection.isTimed = false
        for _ in 0..<30_000 {
            // The one that was killed may have been starting a helper, which has its socket until it runs: there one is
            // let in and never answered.
            if (try? connection.open()) != nil {
                if (try? connection.ask(Ping())) != nil { return connection }
                connection.close()
            }
            if poll() != nil { return nil }
            // A daemon tells a service manager when it listens, which this is not.
            usleep(1000)
        }
        throw Failed(description: "the daemon neither listens nor ends: \(words)")
    }

    func ask(to signal: Int32) { if ending == nil { Foundation.kill(pid, signal) } }

    /// Ends it the hard way, if it has not ended.
    func kill() {
        guard poll() == nil else { return }
        ask(to: SIGKILL)
        _ = try? wait()
    }

    func poll() -> Ending? { reap(WNOHANG) }

    /// Waits until it has ended, for a minute at most: a daemon that hangs is a finding, and must not hold this up.
    func wait() throws -> Ending {
        for _ in 0..<60_000 {
            if let ending = poll() { return ending }
            // Between two looks: a wait that blocks would have no end where the daemon has none.
            usleep(1000)
        }
        ask(to: SIGKILL)
        _ = reap(0)
        throw Failed(description: "the daemon did not end within a minute")
    }

    private func reap(_ options: Int32) -> Ending? {
        if let ending { return ending }
        var status: Int32 = 0
        guard waitpid(pid, &status, options) == pid else { return nil }
        StartedProcesses.remove(pid)
        ending = status & 0x7F == 0 ? .exit(status >> 8 & 0xFF) : .signal(status & 0x7F)
        return ending
    }

    /// The end of what it has said.
    var words: String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        return String(text.suffix(600)).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
