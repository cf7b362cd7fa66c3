import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import Supervision

extension CommandTable {
    static let webCommands: [Command] =
        [
            Command(
                words: ["web", "start"], summary: "Start the page, and print the address that lets one browser in.",
                details: """
                    It goes on after this program has ended; again, only a new address is made.
                    Each address lets one browser in, within ten minutes. It then stays in.
                    With --home every phone and computer of the home reaches it, over TLS: each opens the first address
                    once and installs what is there, and then the second. Without it, only this machine does, unless
                    --listen says more.
                    --for says whose the browser will be: a parent's, which may everything; a looker's, which sees,
                    marks favourites and downloads; or a child's, always in kids mode with the categories that --category
                    names, and without originals. A PIN lifts neither of the last two. Change it with 'smilepile web devices role'.
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
                    .value("for", "ROLE", .words(DeviceRole.allCases.map(\.rawValue)), help: WebDevices.roleHelp),
                    .value("category", "NAME", .category, repeats: true, help: WebDevices.categoryHelp),
                ],
                examples: [
                    Example("smilepile web --open", "On this machine."),
                    Example("smilepile web --home", "For every phone of the house."),
                    Example(
                        "smilepile web --for child --category Family", "A child's tablet, which sees that category."),
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
                        sheet.add(
                            "Renewed before", LocalDate.text(Timestamp(milliseconds: home.certificateEnds * 1_000)))
                        sheet.add("Authority ends", LocalDate.text(Timestamp(milliseconds: home.authorityEnds * 1_000)))
                    }
                    sheet.add("Process", String(running.pid))
                    session.console.show(sheet)
                } else {
                    session.console.result("The page does not run. Start it: smilepile web")
                }
                return .done
            },
        ] + deviceCommands

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
