import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Supervision

extension CommandTable {
    static let webCommands: [Command] = [
        Command(
            words: ["web", "start"], summary: "Start the page, and print the address that lets one browser in.",
            details: """
                It goes on after this program has ended; again, only a new address is made.
                Each address lets one browser in, within ten minutes. It then stays in.
                With --home every phone and computer of the home reaches it, over TLS: each opens the first address
                once and installs what is there, and then the second. Without it, only this machine does, unless
                --listen says more.
                """,
            options: [
                .flag("open", help: "Open it in this machine's browser."),
                .flag("home", help: "For the devices of the home, at this machine's private addresses."),
                .value("listen", "ADDRESS", .text, help: "In digits, as 192.168.1.5:8468; 0.0.0.0 for every one."),
                .value("tls-cert", "FILE", .path, help: "The certificate for others than this machine, as PEM."),
                .value("tls-key", "FILE", .path, help: "Its key, as PEM."),
                .flag("insecure-http", help: "Serve others without TLS: their network can read along."),
                .value("access-log", "FILE", .path, help: "Write down there what other machines ask of groups."),
                .value("name", "NAME", .text, repeats: true, help: "Another name under which browsers reach it."),
            ],
            examples: [
                Example("smilepile web --open", "On this machine."),
                Example("smilepile web --home", "For every phone of the house."),
            ], isDefaultOfGroup: true
        ) { invocation, session in try await WebStart(invocation: invocation, session: session).run() },
        Command(
            words: ["web", "stop"], summary: "Stop the page, and wait until it has.",
            details: "Browsers that are paired stay so. Where it does not run, nothing happens.",
            examples: [Example("smilepile web stop", "Until the next 'smilepile web'.")]
        ) { _, session in try await stopWeb(session) },
        Command(
            words: ["web", "status"], summary: "Show whether the page runs, and where.",
            details: """
                For a home also where devices get its certificate, the fingerprint that they show of it, and until when
                it counts. It is renewed by itself.
                """,
            examples: [Example("smilepile web status", "Its address, without letting anybody in.")]
        ) { _, session in
            let running = WebRecord.running(socket: session.socketPath)
            if session.wantsJSON {
                var members: [String: JSONValue] = ["running": .bool(running != nil)]
                if let running {
                    members["address"] = .string(running.address)
                    members["listens"] = .string(running.listens)
                    members["pid"] = .integer(Int64(running.pid))
                    if let home = running.home { members["home"] = home.json }
                }
                try session.show(json: .object(members))
            } else if let running {
                var sheet = FactSheet()
                sheet.add("Address", running.address)
                sheet.add("Listens on", running.listens)
                if let home = running.home {
                    for (address, door) in zip(home.addresses, home.doors) {
                        sheet.add("For devices", address)
                        sheet.add("Certificate at", door)
                    }
                    if home.addresses.isEmpty { sheet.add("For devices", "this machine is in no home's network") }
                    sheet.add("Authority", home.authority)
                    sheet.add("SHA-256", home.fingerprint)
                    sheet.add("Renewed before", LocalDate.text(Timestamp(milliseconds: home.certificateEnds * 1_000)))
                    sheet.add("Authority ends", LocalDate.text(Timestamp(milliseconds: home.authorityEnds * 1_000)))
                }
                sheet.add("Process", String(running.pid))
                session.console.show(sheet)
            } else {
                session.console.result("The page does not run. Start it: smilepile web")
            }
            return .done
        },
        Command(
            words: ["web", "devices"], summary: "List the browsers that are paired.",
            examples: [Example("smilepile web devices", "Whose is let in, and when it last was.")]
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListDevices())
                session.show(answer) { list in
                    guard !list.devices.isEmpty else {
                        session.console.message("No browser is paired. Pair one: smilepile web")
                        return
                    }
                    var table = Table(
                        .init(heading: "DEVICE"), .init(heading: "NAME", shrinks: true), .init(heading: "PAIRED"),
                        .init(heading: "LAST SEEN"))
                    for device in list.devices {
                        table.add([
                            String(device.id.prefix(8)), device.name, LocalDate.text(device.createdAt),
                            LocalDate.text(device.lastSeenAt),
                        ])
                    }
                    session.console.show(table)
                }
                return .done
            }
        },
        Command(
            words: ["web", "forget"], summary: "Forget a browser: it is out at once.",
            operands: [Operand("DEVICE", help: "Its id, the beginning of that, or its name.")],
            examples: [Example("smilepile web forget 'Old phone'", "One that is lost.")]
        ) { invocation, session in
            let wanted = invocation.operand("DEVICE") ?? ""
            return try await session.withLibrary { library in
                let devices = try await library.send(ListDevices()).value.devices
                let found = matches(wanted, in: devices)
                guard found.count == 1, let device = found.first else {
                    throw CommandFailure.local(
                        found.isEmpty
                            ? "No device is '\(PlainText.neutralized(wanted))'. See which are: smilepile web devices"
                            : "\(found.count) devices are '\(PlainText.neutralized(wanted))'. Name one by its id: "
                                + "smilepile web devices")
                }
                let answer = try await library.send(ForgetDevice(id: device.id))
                session.show(answer) { device in
                    session.console.result("\(PlainText.neutralized(device.name)) is forgotten.")
                }
                return .done
            }
        },
    ]

    /// By the whole id, else by the name, else by how the id begins.
    static func matches(_ wanted: String, in devices: [Device]) -> [Device] {
        let lower = wanted.lowercased()
        let whole = devices.filter { $0.id == lower }
        if !whole.isEmpty { return whole }
        let named = devices.filter { $0.name == wanted }
        if !named.isEmpty { return named }
        return lower.count < 4 ? [] : devices.filter { $0.id.hasPrefix(lower) }
    }

    private static func stopWeb(_ session: Session) async throws -> ExitCode {
        guard let running = WebRecord.running(socket: session.socketPath) else {
            if session.wantsJSON { try session.show(json: ["stopped": false]) }
            session.console.message("The page does not run.")
            return .done
        }
        let program = try DaemonWatch(socket: running.address, pid: running.pid, program: "smilepile-web")
        if try await !SupervisedProgram.stop(ServiceUnit.pageName, process: running.pid, session) {
            try program.askToStop()
        }
        await program.untilGone()
        if session.wantsJSON {
            try session.show(json: ["stopped": true, "pid": .integer(Int64(running.pid))])
        } else {
            session.console.result("The page has stopped.")
        }
        return .done
    }
}
