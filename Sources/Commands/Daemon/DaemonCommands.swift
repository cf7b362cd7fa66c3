import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Supervision

extension CommandTable {
    static let daemonCommands: [Command] = [
        Command(
            words: ["up"], summary: "Start the daemon, and wait until it is ready.",
            details: "It goes on after this program has ended. Where it runs already, nothing happens.",
            options: [
                .value(
                    "library", "FOLDER", .folder,
                    help: "The library's folder; else SMILEPILE_LIBRARY's, the configuration's, or the usual."),
                .flag(
                    "new",
                    help: "Make a new library where one was opened before and none is now. Without it that is refused: "
                        + "its disk may not be mounted."),
            ],
            examples: [
                Example("smilepile up", "The usual library."),
                Example("smilepile up --library /srv/photos --socket /tmp/photos.sock", "Another one, beside it."),
            ]
        ) { invocation, session in try await up(invocation, session) },
        Command(
            words: ["down"], summary: "Stop the daemon, and wait until it has.",
            details: """
                Running requests finish. A job is stopped where nothing is left half done.
                Where no daemon runs, nothing happens. One that answers nobody is stopped as well.
                """,
            examples: [Example("smilepile down", "Until the next 'smilepile up'.")]
        ) { _, session in try await down(session) },
        Command(
            words: ["status"], summary: "Show the library at a glance.",
            details: """
                In kids mode only that the daemon runs, its version and the mode: the rest is a parent's, and comes with a PIN's
                file, or where --full asks for the PIN.
                """,
            options: [.flag("full", help: "In kids mode, ask for the PIN and show everything.")],
            examples: [
                Example("smilepile status", "Where it is, what it holds."),
                Example("smilepile status --json", "For a script."),
            ]
        ) { invocation, session in try await status(session, full: invocation.has("full")) },
        Command(
            words: ["ping"], summary: "Ask the daemon for a sign of life.",
            examples: [Example("smilepile ping", "Does it answer, and how fast?")]
        ) { _, session in
            try await session.withLibrary { library in
                // The first answer pays for this program's own start.
                _ = try await library.send(Ping())
                let began = MonotonicClock.now()
                _ = try await library.send(Ping())
                let milliseconds = Double(MonotonicClock.now() &- began) / 1_000_000
                let answer = try await library.send(Hello())
                session.show(answer) { hello in
                    let version = PlainText.neutralized(hello.version)
                    session.console.result(
                        "smilepiled \(version) (process \(hello.pid)) answered in \(Figures.decimal(milliseconds)) ms.")
                    if hello.version != Release.version {
                        session.console.message("This program is \(Release.version).")
                    }
                }
                return .done
            }
        },
    ]

    private static func status(_ session: Session, full: Bool) async throws -> ExitCode {
        try await session.withLibrary { library in
            if !full, !session.pins.hasFile {
                let hello = try await library.send(Hello()).value
                if hello.role == "\(Role.kid)" {
                    try show(hello, try await library.send(GetMode()).value.mode, session)
                    return .done
                }
            }
            let answer = try await library.send(GetLibraryStatus())
            let unfinished = try await library.send(ListJobs()).value.jobs.filter { !$0.state.hasEnded }
            let waiting = unfinished.filter { $0.state == .waiting }
            let paused = unfinished.filter { $0.state == .paused }
            let jobs = unfinished.count - waiting.count - paused.count
            guard !session.wantsJSON else {
                guard case .object(var members) = try JSONDecoder().decode(JSONValue.self, from: answer.json) else {
                    throw CommandFailure.local("The daemon's answer to library.status is not an object.")
                }
                members["runningJobs"] = .integer(Int64(jobs))
                if !waiting.isEmpty {
                    members["waitingJobs"] = .array(
                        waiting.map {
                            .object(["job": .string($0.id), "waitsFor": .string($0.obstacle?.message ?? "")])
                        })
                }
                if !paused.isEmpty {
                    members["pausedJobs"] = .array(
                        paused.map { job in
                            let why = job.obstacle.map { ["because": JSONValue.string($0.message)] } ?? [:]
                            return .object(["job": .string(job.id)].merging(why) { $1 })
                        })
                }
                try session.show(json: .object(members))
                return .done
            }
            let status = answer.value
            var sheet = FactSheet()
            sheet.add("Library", status.path)
            sheet.add("Photos", "\(status.photos), \(Figures.size(status.photoBytes))")
            if status.photosWithoutOriginal > 0 {
                sheet.add(
                    "Originals",
                    "not of \(Figures.count(status.photosWithoutOriginal, "photo")); importing their sources again adds them"
                )
            }
            sheet.add("Favourites", String(status.favorites))
            sheet.add("Categories", String(status.categories))
            sheet.add("In the trash", String(status.trashed))
            sheet.add("Free space", Figures.size(status.freeBytes))
            CommandTable.addBackups(of: status, to: &sheet)
            sheet.add("Jobs running", String(jobs))
            for job in waiting {
                sheet.add("Waiting", "\(job.id): \(PlainText.neutralized(job.obstacle?.message ?? ""))")
            }
            for job in paused {
                let why = job.obstacle.map { ": " + PlainText.neutralized($0.message) } ?? ""
                sheet.add(job.obstacle == nil ? "Paused" : "Stands still", job.id + why)
            }
            sheet.add("Daemon", "version \(status.version), process \(status.pid), \(session.socketPath)")
            let workers = status.imageWorkers
            sheet.add(
                "Peak memory",
                "\(Figures.size(status.peakMemoryBytes)), and \(Figures.size(workers.peakMemoryBytes)) "
                    + "in \(Figures.count(workers.pids.count, "image worker"))")
            if workers.crashed + workers.timedOut + (workers.lost ?? 0) > 0 {
                sheet.add(
                    "Image workers",
                    "\(workers.started) started, \(workers.crashed) crashed, \(workers.lost ?? 0) killed from outside, "
                        + "\(workers.timedOut) ran out of time")
            }
            if let missing = workers.cell?.missing, !missing.isEmpty {
                sheet.add("Not protected by", missing.joined(separator: "; "))
            }
            if let problem = status.catalogueProblems?.first {
                sheet.add("Catalogue", PlainText.neutralized(problem))
            }
            if let unreadable = status.unreadable {
                let names = unreadable.prefix(10).map(\.name).joined(separator: ", ")
                sheet.add(
                    "Unreadable",
                    PlainText.neutralized(names + (unreadable.count > 10 ? " and \(unreadable.count - 10) more" : ""))
                        + ": smilepile storage check")
            }
            if let lost = status.lostLogLines {
                sheet.add("Log", "\(Figures.count(lost, "line")) could not be written: look at its disk")
            }
            if let jump = status.clockJump { sheet.add("Clock", text(of: jump)) }
            session.console.show(sheet)
            return .done
        }
    }

    private static func text(of jump: ClockJump) -> String {
        let from = jump.from.map { "jumped from \(LocalDate.text($0)) to " } ?? "is taken on trust: it says "
        let end = LocalDate.text(jump.endsAt)
        let what =
            jump.photos > 0
            ? "\(Figures.count(jump.photos, "photo")) in the trash go for good on \(end), unless it is set right before"
            : "nothing is removed for its age before \(end)"
        return from + LocalDate.text(jump.to) + "; " + what
    }

    /// What anybody may know.
    private static func show(_ hello: HelloReply, _ mode: AppMode, _ session: Session) throws {
        guard !session.wantsJSON else {
            return try session.show(json: [
                "running": true, "version": .string(hello.version), "currentAppMode": .string(mode.rawValue),
            ])
        }
        var sheet = FactSheet()
        sheet.add("Daemon", "running, version \(hello.version)")
        sheet.add("Mode", mode.rawValue)
        session.console.show(sheet)
        session.console.message("The rest is a parent's: smilepile status --full")
    }

    private static func up(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let option = invocation.value("library").map(session.absolute)
        let wanted = try option ?? session.namedLibrary()
        if let running = try await greeting(session) { return try accept(running, wanted: wanted, session) }
        let turn = await StartTurn.take(in: try DaemonLog.folder(environment: session.environment)) {
            session.console.message("Another 'smilepile up' is at it. Waiting for its end.")
        }
        defer { withExtendedLifetime(turn) {} }
        if turn != nil, let running = try await greeting(session) {
            return try accept(running, wanted: wanted, session)
        }
        if !invocation.has("new"), try await SupervisedProgram.start(ServiceUnit.daemonName, session),
            let running = try await greeting(session)
        {
            guard keeps(running, wanted) else { return try accept(running, wanted: wanted, session) }
            return try announce(running, isNew: true, log: nil, session)
        }
        let log = try DaemonLog.open(environment: session.environment)
        let launch = DaemonLaunch(
            library: option, session: session, log: log, arguments: invocation.has("new") ? ["--new"] : [])
        do {
            try await launch.untilReady()
        } catch {
            // A daemon that a service manager started may have been the faster one to take the socket.
            guard let running = try await greeting(session), keeps(running, wanted) else { throw error }
            return try announce(running, isNew: false, log: nil, session)
        }
        guard let running = try await greeting(session) else {
            throw CommandFailure.local("The daemon said that it is ready, but does not answer. Look into \(log.path).")
        }
        return try announce(running, isNew: true, log: log.path, session)
    }

    private static func accept(_ running: HelloReply, wanted: String?, _ session: Session) throws -> ExitCode {
        guard keeps(running, wanted) else {
            throw CommandFailure.local(
                "The daemon at \(session.socketPath) keeps another library: \(running.library). "
                    + "Stop it with 'smilepile down', or choose another socket with --socket.")
        }
        return try announce(running, isNew: false, log: nil, session)
    }

    /// Whether it is the library that was asked for, if any was.
    private static func keeps(_ running: HelloReply, _ wanted: String?) -> Bool {
        wanted.map { canonical($0) == canonical(running.library) } ?? true
    }

    private static func greeting(_ session: Session) async throws -> HelloReply? {
        do {
            return try await session.withLibrary { try await $0.send(Hello()).value }
        } catch CommandFailure.notRunning {
            return nil
        }
    }

    /// The same folder may be named through links.
    private static func canonical(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }

    /// - Parameter log: where it writes; nil where a service manager keeps what it says.
    private static func announce(
        _ running: HelloReply, isNew: Bool, log: String?, _ session: Session
    ) throws -> ExitCode {
        if session.wantsJSON {
            var members: [String: JSONValue] = [
                "pid": .integer(Int64(running.pid)), "library": .string(running.library),
                "socket": .string(session.socketPath), "started": .bool(isNew),
            ]
            if let log { members["log"] = .string(log) }
            try session.show(json: .object(members))
            return .done
        }
        session.console.message(isNew ? "The daemon is running." : "The daemon is running already.")
        var sheet = FactSheet()
        sheet.add("Library", running.library)
        sheet.add("Socket", session.socketPath)
        sheet.add("Process", String(running.pid))
        sheet.add("Log", log)
        session.console.show(sheet)
        if log != nil { session.console.message("To have it start by itself: smilepile service install") }
        return .done
    }

    private static func down(_ session: Session) async throws -> ExitCode {
        let daemon: DaemonWatch
        do {
            daemon = try await session.withLibrary { library in
                try DaemonWatch(socket: session.socketPath, pid: try await library.send(Hello()).value.pid)
            }
        } catch CommandFailure.notRunning where ListeningDaemon.process(at: session.socketPath) == nil {
            if session.wantsJSON { try session.show(json: ["stopped": false]) }
            session.console.message("The daemon is not running.")
            return .done
        } catch {
            // Too many connections, or one that hangs: the owner can stop it without its help.
            guard let pid = ListeningDaemon.process(at: session.socketPath) else { throw error }
            session.console.message(CommandFailure(describing: error).message)
            daemon = try DaemonWatch(socket: session.socketPath, pid: pid)
        }
        session.console.message("Stopping the daemon (process \(daemon.pid)).")
        if try await !SupervisedProgram.stop(ServiceUnit.daemonName, process: daemon.pid, session) {
            try daemon.askToStop()
        }
        await daemon.untilGone()
        if session.wantsJSON {
            try session.show(json: ["stopped": true, "pid": .integer(Int64(daemon.pid))])
        } else {
            session.console.result("The daemon has stopped.")
        }
        return .done
    }
}
