import CommandLineInterface

/// Whether the programs are there, of one version, and run.
enum InstallationChecks {
    /// A program of ours, and what it says of itself.
    struct Program: Sendable {
        let name: String
        /// Nil where it was not found.
        let path: String?
        /// Nil where it says nothing, or is not asked.
        var version: String?
        /// Whether the library can be used without it.
        var isOptional = false
    }

    static func programs(_ programs: [Program], version: String) -> [Finding] {
        var findings: [Finding] = []
        for program in programs where program.path == nil {
            findings.append(
                Finding(
                    "program-\(program.name)", .installation, program.isOptional ? .advice : .problem,
                    "\(program.name) is neither beside this program nor in PATH"
                        + (program.isOptional ? ": there is no page for browsers." : "."),
                    remedy: "Install all programs of this version into one folder."))
        }
        if findings.isEmpty { findings.append(.fine("programs", .installation, "All programs are there.")) }
        let others = programs.filter { $0.version != nil && $0.version != version }
        guard others.isEmpty else {
            let names = others.map { "\($0.name) is \($0.version ?? "?")" }.joined(separator: ", ")
            return findings + [
                Finding(
                    "program-versions", .installation, .warning,
                    "The programs are of different versions: this one is \(version), \(names).",
                    remedy: "Install all of them anew, of one version.")
            ]
        }
        return findings + [.fine("program-versions", .installation, "The programs are of one version.")]
    }

    /// A configuration that can be used.
    /// - Parameter path: nil where there is none.
    static func configuration(path: String?) -> Finding {
        .fine(
            "configuration", .installation,
            path.map { "The configuration \($0) can be used." } ?? "There is no configuration: what is usual counts.")
    }

    /// - Parameter fault: the sentence that says what is wrong.
    static func configuration(fault: String) -> Finding {
        Finding(
            "configuration", .installation, .problem, fault,
            remedy: "Until it is put right, neither the daemon nor the page starts, and no other command works.",
            command: "smilepile config edit")
    }

    /// What is known of the daemon without its help.
    struct Outside: Sendable {
        let socket: String
        /// Who listens there.
        let listener: Int32?
        /// Whether a socket stands there.
        let isThere: Bool
        /// Daemons that listen elsewhere.
        let others: [OtherSocket]
        /// Where it writes its log; nil where there is none.
        let log: String?
        /// What to type to start it.
        let start: String
    }

    static func notRunning(_ outside: Outside) -> Finding {
        if let other = outside.others.first {
            return Finding(
                "daemon", .installation, .warning,
                "No daemon listens at \(outside.socket), and one does at \(other.path).",
                remedy: other.command == nil
                    ? other.advice + "." : "If that one is meant, name it for every command.",
                command: other.command)
        }
        let left = outside.isThere ? " The socket of its last run is left, and goes with the next start." : ""
        return Finding(
            "daemon", .installation, .warning,
            "The daemon is not running; files, keys and backups were not looked at.\(left)",
            remedy: outside.log.map { "Start it; where it does not stay, its log says why: \($0)" } ?? "Start it.",
            command: outside.start)
    }

    static func silent(_ outside: Outside, why: String) -> Finding {
        let process = outside.listener.map { " (process \($0))" } ?? ""
        return Finding(
            "daemon", .installation, .problem, "The daemon\(process) does not answer: \(why)",
            remedy: "Stop it, and start it again.", command: "smilepile down && " + outside.start)
    }

    /// - Parameters:
    ///   - version: the daemon's; `own`: this program's.
    ///   - isReplaced: whether its program's file is another one by now.
    ///   - start: what to type to start it.
    static func running(pid: Int32, version: String, own: String, isReplaced: Bool, start: String) -> Finding {
        let restart = "smilepile down && " + start
        guard version == own else {
            return Finding(
                "daemon", .installation, .warning,
                "The daemon that runs is version \(version), and this program \(own).",
                remedy: "Start the daemon anew.", command: restart)
        }
        guard !isReplaced else {
            return Finding(
                "daemon", .installation, .advice,
                "The daemon (process \(pid)) runs on from before its program was exchanged.",
                remedy: "Start it anew.", command: restart)
        }
        return .fine("daemon", .installation, "The daemon runs, and answers (process \(pid)).")
    }

    /// What the user's service manager knows.
    enum Service: Sendable {
        case noSystemd
        /// Its manager does not answer, as after su.
        case silent(isInstalled: Bool)
        /// The socket is where a unit of the system's serves an account.
        case ofSystem(unit: String, isEnabled: Bool, activity: String)
        case known(isInstalled: Bool, isEnabled: Bool, activity: String, restarts: Int, isForHome: Bool, lingers: Bool?)
    }

    private static let mostRestarts = 5

    static func service(_ service: Service) -> Finding {
        func finding(_ severity: Finding.Severity, _ what: String, _ remedy: String, _ command: String) -> Finding {
            Finding("service", .installation, severity, what, remedy: remedy, command: command)
        }
        switch service {
        case .noSystemd:
            return finding(
                .advice, "Nothing starts the daemon with the machine, which has no systemd.",
                "Add '@reboot smilepile up' to what cron starts.", "crontab -e")
        case .ofSystem(let unit, _, "failed"):
            return finding(
                .problem, "The daemon's service has failed.", "See why in its log.", "journalctl -u \(unit) -n 20")
        case .ofSystem(let unit, false, _):
            return finding(
                .warning, "The daemon's service does not start with the machine.", "Have it start.",
                "sudo systemctl enable --now \(unit)")
        case .ofSystem: return .fine("service", .installation, "The system starts the daemon, for this account.")
        case .silent(false), .known(false, _, _, _, _, _):
            return finding(
                .advice, "Nothing starts the daemon but you: it is not a service.",
                "Have it start by itself.", "smilepile service install")
        case .silent(true):
            return finding(
                .warning, "The daemon is a service, and this user's systemd does not answer.",
                "Log in as this user, at the machine or by ssh, and not by su or sudo; then look again.",
                "smilepile service status")
        case .known(_, _, "failed", _, _, _):
            return finding(
                .problem, "The daemon's service has failed.", "See why in its log.",
                "journalctl --user -u smilepile -n 20")
        case .known(_, false, _, _, _, _):
            return finding(
                .warning, "The daemon's service does not start by itself.", "Install it anew.",
                "smilepile service install")
        case .known(_, _, _, let restarts, _, _) where restarts >= mostRestarts:
            return finding(
                .warning, "The daemon had to be started again \(restarts) times.", "See why in its log.",
                "journalctl --user -u smilepile -n 50")
        case .known(_, _, _, _, true, false):
            return finding(
                .advice, "The page for the home is there only while this user is logged in.",
                "Have it start with the machine.", "smilepile service install --home --linger")
        case .known: return .fine("service", .installation, "The daemon is a service, and starts by itself.")
        }
    }
}
