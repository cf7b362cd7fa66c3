import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Supervision

extension CommandTable {
    static let serviceCommands: [Command] = [
        Command(
            words: ["service", "install"],
            summary: "Have the daemon and the page start by themselves.",
            details: """
                They become services of this user's systemd, which starts them again where they end. What runs already is
                stopped before. Given again, the services are made anew, with the options that are given then.
                A session lasts from the first login to the last logout. With --linger it lasts as long as the machine runs,
                without anybody logged in: what a machine in a cupboard needs.
                """,
            options: [
                .value(
                    "library", "FOLDER", .folder,
                    help: "The library's folder; else the one that is served now."),
                .flag("home", help: "Let every phone and computer of the home reach the page."),
                .flag("no-page", help: "The daemon alone."),
                .flag("linger", help: "Start with the machine, and not with the first login."),
            ],
            examples: [
                Example("smilepile service install --home --linger", "A machine in a cupboard, for the whole home."),
                Example("smilepile service install", "While this user is logged in, for this machine."),
            ]
        ) { invocation, session in try await installService(invocation, session) },
        Command(
            words: ["service", "remove"], summary: "Stop both, and have them start no more.",
            details: "The library stays where it is. Where nothing is installed, nothing happens.",
            examples: [Example("smilepile service remove", "Then 'smilepile up' starts the daemon by hand.")]
        ) { _, session in
            let manager = try userManager(session)
            try await manager.requireRunning()
            let there = ServiceUnit.names.filter { manager.installed($0) != nil }
            // The page first: it looks for its daemon.
            try await manager.remove(there.reversed())
            if session.wantsJSON {
                try session.show(json: ["removed": .array(there.map(JSONValue.string))])
            } else {
                session.console.result(
                    there.isEmpty ? "Nothing is installed." : "Stopped and removed. The library stays where it is.")
            }
            return .done
        },
        Command(
            words: ["service", "unit"],
            summary: "Print a unit for a machine that several families share.",
            details: """
                It belongs into the system's folder of units. Its instances are accounts: the daemon of smilepiled@ada runs as ada,
                keeps everything in /var/lib/smilepile/ada and listens at /run/smilepile/ada/control.sock.
                """,
            operands: [Operand("UNIT", .words(ServiceUnit.systemNames), help: "Which one")],
            options: [.value("programs", "FOLDER", .folder, help: "Where the programs are; else beside this one.")],
            examples: [
                Example(
                    "smilepile service unit smilepiled@.service > /etc/systemd/system/smilepiled@.service",
                    "Then, with the socket's: systemctl enable --now smilepiled@ada.service")
            ]
        ) { invocation, session in
            let folder =
                try invocation.value("programs").map(session.absolute)
                ?? (DaemonLaunch.locate(session) as NSString).deletingLastPathComponent
            guard let unit = ServiceUnit.system(invocation.operand("UNIT") ?? "", programs: folder) else {
                throw invocation.usageError("UNIT is missing.")
            }
            if session.wantsJSON {
                try session.show(json: ["name": .string(unit.name), "text": .string(unit.text)])
            } else {
                session.console.result(unit.text.trimmingCharacters(in: .newlines))
            }
            return .done
        },
        Command(
            words: ["service", "status"], summary: "Show whether they are installed, and run.",
            examples: [Example("smilepile service status", "After the machine was started again.")],
            isDefaultOfGroup: true
        ) { _, session in try await serviceStatus(session) },
    ]

    private static func userManager(_ session: Session) throws -> UserManager {
        guard let manager = UserManager(session.environment) else {
            throw CommandFailure.local(
                "This machine has no systemd. Have 'smilepile up' and 'smilepile web' run where its programs are started, such as "
                    + "'crontab -e' with '@reboot'.")
        }
        return manager
    }

    private static func installService(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let manager = try userManager(session)
        try await manager.requireRunning()
        if invocation.has("home"), invocation.has("no-page") {
            throw invocation.usageError("--home is about the page, which --no-page leaves out.")
        }
        let served = try? await session.withLibrary { try await $0.send(Hello()).value.library }
        let programs = ServiceUnit.Programs(
            daemon: try DaemonLaunch.locate(session), page: try DaemonLaunch.locate(session, "smilepile-web"),
            socket: session.socketPath, library: invocation.value("library").map(session.absolute) ?? served,
            environment: session.environment)
        var units = [ServiceUnit.daemon(programs)]
        if !invocation.has("no-page") {
            units.append(.page(programs, options: invocation.has("home") ? ["--home"] : []))
        }
        try await stopAll(manager, session)
        // A page of before, where none is wanted any more.
        try await manager.remove(ServiceUnit.names.filter { name in !units.contains { $0.name == name } })
        session.console.message("Starting. A library that an older version has written is converted first.")
        try await manager.install(units)
        let lingers = try await lingering(manager, wanted: invocation.has("linger"), session)
        if session.wantsJSON {
            try session.show(json: [
                "units": .array(units.map { .string(manager.path(of: $0.name)) }), "lingers": .bool(lingers),
                "socket": .string(session.socketPath),
            ])
            return .done
        }
        var sheet = FactSheet()
        for unit in units {
            sheet.add(unit.name == ServiceUnit.daemonName ? "Daemon" : "Page", manager.path(of: unit.name))
        }
        sheet.add(
            "Starts", lingers ? "with the machine" : "with this user's first login, and ends with the last logout")
        session.console.show(sheet)
        if units.count > 1 { session.console.message("Let a browser in: smilepile web") }
        return .done
    }

    /// What runs at the socket, however it was started: its units are to be the ones that run.
    private static func stopAll(_ manager: UserManager, _ session: Session) async throws {
        for name in ServiceUnit.names.reversed() where manager.installed(name) != nil { try await manager.stop(name) }
        if let page = WebRecord.running(socket: session.socketPath) {
            let program = try DaemonWatch(socket: page.address, pid: page.pid, program: "smilepile-web")
            try program.askToStop()
            await program.untilGone()
        }
        if let pid = ListeningDaemon.process(at: session.socketPath) {
            session.console.message("Stopping the daemon that runs (process \(pid)).")
            let daemon = try DaemonWatch(socket: session.socketPath, pid: pid)
            try daemon.askToStop()
            await daemon.untilGone()
        }
    }

    private static func lingering(_ manager: UserManager, wanted: Bool, _ session: Session) async throws -> Bool {
        if try await manager.lingers() == true { return true }
        guard wanted else {
            session.console.message("To have it start with the machine: smilepile service install --linger")
            return false
        }
        let isSet = try await manager.setLingering()
        if !isSet {
            session.console.message(
                "Only an administrator can have it start with the machine: sudo loginctl enable-linger $USER")
        }
        return isSet
    }

    private static func serviceStatus(_ session: Session) async throws -> ExitCode {
        let manager = try userManager(session)
        try await manager.requireRunning()
        var states: [(name: String, state: UserManager.State)] = []
        for name in ServiceUnit.names { states.append((name, try await manager.state(of: name))) }
        let lingers = try await manager.lingers()
        if session.wantsJSON {
            let units = states.map { name, state in
                JSONValue.object([
                    "name": .string(name), "installed": .bool(state.isInstalled), "enabled": .bool(state.isEnabled),
                    "activity": .string(state.activity), "pid": .integer(Int64(state.pid)),
                    "restarts": .integer(Int64(state.restarts)),
                ])
            }
            var members: [String: JSONValue] = ["units": .array(units)]
            if let lingers { members["lingers"] = .bool(lingers) }
            try session.show(json: .object(members))
            return .done
        }
        guard states.contains(where: \.state.isInstalled) else {
            session.console.result("Nothing is installed. Have it start by itself: smilepile service install")
            return .done
        }
        var sheet = FactSheet()
        for (name, state) in states where state.isInstalled {
            let again = state.restarts > 0 ? ", started again \(Figures.count(state.restarts, "time"))" : ""
            sheet.add(
                name == ServiceUnit.daemonName ? "Daemon" : "Page",
                (state.pid > 0 ? "\(state.activity), process \(state.pid)\(again)" : state.activity)
                    + (state.isEnabled ? "" : "; it does not start by itself: smilepile service install"))
        }
        sheet.add("Starts", lingers == true ? "with the machine" : "with this user's first login")
        sheet.add("Log", "journalctl --user -u smilepile -u smilepile-web")
        session.console.show(sheet)
        return .done
    }
}

/// Programs that this user's systemd runs are started and stopped by it: it would start again what ends, and know nothing of
/// what others start.
enum SupervisedProgram {
    /// - Returns: whether the unit of this socket's program was started; false where there is none.
    static func start(_ unit: String, _ session: Session) async throws -> Bool {
        guard let manager = UserManager(session.environment),
            manager.unit(unit, serving: session.socketPath) != nil
        else { return false }
        try await manager.requireRunning()
        try await manager.start(unit)
        return true
    }

    /// - Returns: whether the process was its unit's, and has stopped.
    static func stop(_ unit: String, process pid: Int32, _ session: Session) async throws -> Bool {
        guard let manager = UserManager(session.environment),
            manager.unit(unit, serving: session.socketPath) != nil, try await manager.state(of: unit).pid == pid
        else { return false }
        try await manager.stop(unit)
        return true
    }
}
