import CLinux
import Foundation

/// Starts a program that stays, `smilepiled` or `smilepile-web`, in a session of its own and waits for it to say that
/// it is ready.
package struct DaemonLaunch {
    /// POSIX_SPAWN_SETSID of spawn.h, which Swift does not import because it stands behind _GNU_SOURCE.
    private static let ownSession: Int32 = 0x80
    /// A daemon that says nothing for so long is not waited for, but left to itself.
    private static let patience = Duration.seconds(300)

    package let library: String?
    package let session: Session
    package let log: DaemonLog
    /// The daemon's program; found beside this one or in PATH where it is not given.
    package var program: String?
    /// What it is called, as a program and in a sentence.
    package let name: String
    package let title: String
    /// Beside the library and the socket.
    package let arguments: [String]

    package init(
        library: String?, session: Session, log: DaemonLog, program: String? = nil, name: String = "smilepiled",
        title: String = "The daemon", arguments: [String] = []
    ) {
        self.library = library
        self.session = session
        self.log = log
        self.program = program
        self.name = name
        self.title = title
        self.arguments = arguments
    }

    private enum Event: Sendable {
        case ready
        case status(String)
        case exited(Int32)
        case silent
    }

    /// - Throws: ``CommandFailure`` with the end of the daemon's log where it did not start.
    package func untilReady() async throws {
        let readiness = try ReadinessSocket(environment: session.environment)
        defer { readiness.shut() }
        let pid = try spawn(notify: readiness.path)
        let (events, feed) = AsyncStream.makeStream(of: Event.self)
        // Threads, because both calls block; they end with their event, or with the program.
        Thread {
            while let lines = readiness.next() {
                if let status = lines.first(where: { $0.hasPrefix("STATUS=") }) {
                    feed.yield(.status(String(status.dropFirst(7))))
                }
                if lines.contains("READY=1") { feed.yield(.ready) }
            }
        }.start()
        Thread {
            var status: Int32 = 0
            while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
            feed.yield(.exited(status))
        }.start()
        let timer = Task {
            // A timer by nature: a daemon that says nothing for so long is given up.
            try await Task.sleep(for: Self.patience)
            feed.yield(.silent)
        }
        defer { timer.cancel() }
        for await event in events {
            switch event {
            case .ready: return
            case .status(let text): session.console.message(PlainText.neutralized(text))
            case .exited(let status): throw failure(status)
            case .silent:
                throw CommandFailure.refused(
                    .init(
                        .deadlineExceeded,
                        "\(title) (process \(pid)) is still starting. Look into \(log.path), or try 'smilepile status'."
                    ))
            }
        }
    }

    private func failure(_ status: Int32) -> CommandFailure {
        let signal = status & 0x7F
        let how = signal == 0 ? "ended with code \((status >> 8) & 0xFF)" : "was ended by signal \(signal)"
        let said = log.lastLines(5).map(Self.sentence).filter { !$0.isEmpty }
        return .local(
            "\(title) did not start: "
                + (said.isEmpty ? "it \(how). It said nothing." : said.joined(separator: " ") + " (It \(how).)")
                + " The whole log: \(log.path)")
    }

    /// What a line of the log says, without the time and the name of who said it, and without where to read on.
    static func sentence(_ line: String) -> String {
        var rest = PlainText.neutralized(line)[...]
        if let time = rest.prefixMatch(of: #/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z /#) {
            rest = rest[time.range.upperBound...]
        }
        if let name = rest.prefixMatch(of: #/smilepile[a-z-]*: /#) { rest = rest[name.range.upperBound...] }
        return rest.hasPrefix("Usage and examples: ") ? "" : String(rest)
    }

    // MARK: The process

    private func spawn(notify: String) throws -> pid_t {
        let program = try program ?? Self.locate(session, name)
        var arguments = [program] + arguments
        if let library { arguments += ["--library", library] }
        // Always named, so that both programs mean the same one whatever the environment is.
        arguments += ["--socket", session.socketPath]

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(Self.ownSession | Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF)))

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log.path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Whoever started us may wait for our descriptors to close; the daemon lives on and must not hold them.
        clinux_spawn_close_from(&actions, 3)

        Self.keepDescriptorsHere()
        var pid: pid_t = 0
        let error = Self.withCStrings(arguments) { argv in
            Self.withCStrings(environment(notify: notify)) { envp in
                posix_spawn(&pid, program, &actions, &attributes, argv, envp)
            }
        }
        guard error == 0 else {
            throw CommandFailure.local("\(program) cannot be started: \(String(cString: strerror(error))).")
        }
        return pid
    }

    /// Marks every descriptor that this process was given, beyond the three usual ones, to be closed in the daemon.
    ///
    /// Whoever started this program may wait for the end of a pipe or socket that it left open to us (Foundation's
    /// `Process` does, and so does `$(smilepile up 3>&1)`); a daemon that held it would keep them waiting for ever.
    /// posix_spawn's own way, `addclosefrom_np`, is not imported by Swift.
    private static func keepDescriptorsHere() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? [] {
            guard let descriptor = Int32(name), descriptor > 2 else { continue }
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }

    /// Ours, without what a service manager said to us and not to the daemon.
    private func environment(notify: String) -> [String] {
        var environment = session.environment
        for name in [
            "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID", "JOURNAL_STREAM",
        ] {
            environment[name] = nil
        }
        environment["NOTIFY_SOCKET"] = notify
        return environment.map { "\($0.key)=\($0.value)" }
    }

    /// Beside this program, else in PATH.
    package static func locate(_ session: Session, _ name: String = "smilepiled") throws -> String {
        var folders = (session.environment["PATH"] ?? "").split(separator: ":").map(String.init)
        if let own = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe") {
            folders.insert(URL(fileURLWithPath: own).deletingLastPathComponent().path, at: 0)
        }
        for folder in folders where folder.hasPrefix("/") {
            let candidate = folder + "/" + name
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw CommandFailure.local(
            "\(name) is neither beside this program nor in PATH. Build it with 'swift build', or install it.")
    }

    private static func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return body(pointers + [nil])
    }
}
