import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import QRCodes
import ServiceMesh
import Supervision

/// `smilepile web`: starts the web program where it does not run, and lets one more browser in.
struct WebStart {
    let invocation: Invocation
    let session: Session

    func run() async throws -> ExitCode {
        // Before anything is started: without a daemon there is nothing to show.
        try await session.withLibrary { _ = try await $0.send(Hello()) }
        let role = invocation.value("for").flatMap(DeviceRole.init) ?? .parent
        let categories = try await session.withLibrary { try await WebDevices.categoryIDs(invocation, role, $0) }
        let (running, isNew) = try await running()
        let invitation = try await session.withLibrary {
            try await $0.send(InviteDevice(role: role, categoryIds: categories)).value
        }
        let base = Self.reachable(running)
        // In the fragment, which a browser keeps to itself: neither a log nor a proxy has it.
        let fragment = "/#pair=" + invitation.code
        if session.wantsJSON {
            var members: [String: JSONValue] = [
                "address": .string(base), "pairing": .string(base + fragment), "listens": .string(running.listens),
                "expiresAt": .string("\(invitation.expiresAt)"), "role": .string(role.rawValue),
                "pid": .integer(Int64(running.pid)),
                "started": .bool(isNew),
            ]
            if let home = running.home { members["home"] = home.json }
            try session.show(json: .object(members))
        } else if let home = running.home {
            show(home, base + fragment)
        } else {
            show(base + fragment, isForOthers: !Self.isLoopback(running.listens))
        }
        // This machine's own browser has an address without a certificate, where there is one.
        if invocation.has("open") { try await session.openFile(running.address + fragment) }
        return .done
    }

    private func running() async throws -> (record: WebRecord, isNew: Bool) {
        if let record = WebRecord.running(socket: session.socketPath) { return (try accept(record), false) }
        let turn = await StartTurn.take(in: try DaemonLog.folder(environment: session.environment)) {
            session.console.message("Another one is starting it. Waiting for its end.")
        }
        defer { withExtendedLifetime(turn) {} }
        if turn != nil, let record = WebRecord.running(socket: session.socketPath) {
            return (try accept(record), false)
        }
        if arguments.isEmpty, try await SupervisedProgram.start(ServiceUnit.pageName, session),
            let record = WebRecord.running(socket: session.socketPath)
        {
            return (record, true)
        }
        let log = try DaemonLog.open("web.log", environment: session.environment)
        let launch = DaemonLaunch(
            library: nil, session: session, log: log, name: "smilepile-web", title: "The page", arguments: arguments)
        try await launch.untilReady()
        guard let record = WebRecord.running(socket: session.socketPath) else {
            throw CommandFailure.local("The page said that it is ready, but does not run. Look into \(log.path).")
        }
        return (record, true)
    }

    private var arguments: [String] {
        var arguments: [String] = invocation.has("home") ? ["--home"] : []
        if let listen = invocation.value("listen") { arguments += ["--listen", listen] }
        for name in ["tls-cert", "tls-key", "access-log"] {
            if let file = invocation.value(name) { arguments += ["--" + name, session.absolute(file)] }
        }
        if invocation.has("insecure-http") { arguments.append("--insecure-http") }
        for name in invocation.values("name") { arguments += ["--name", name] }
        return arguments
    }

    /// What runs already, unless something else was asked for.
    private func accept(_ record: WebRecord) throws -> WebRecord {
        let wanted = ["listen", "tls-cert", "tls-key", "access-log", "name"].filter { !invocation.values($0).isEmpty }
        let listen = invocation.value("listen") ?? ""
        let isSame = wanted == ["listen"] && [listen, listen + ":8468"].contains(record.listens)
        guard wanted.isEmpty || isSame, !invocation.has("home") || record.home != nil else {
            throw CommandFailure.local(
                "The page runs already, on \(record.listens). Stop it first, to start it otherwise: smilepile web stop")
        }
        return record
    }

    /// First what each device does once, then what lets one in.
    private func show(_ home: WebRecord.Home, _ address: String) {
        let console = session.console
        guard let door = home.doors.first else {
            console.result(address)
            console.message(
                "No other device reaches this machine yet: it has no address in a home's network. Connect it with the router, "
                    + "by cable or wireless, and ask again: smilepile web")
            return
        }
        console.message("1. Once on each phone or computer, open there and follow the steps:")
        console.message("   " + door)
        console.message("2. Then scan this there, or open it:")
        showCode(address)
        console.result(address)
        console.message("Good for one browser, within \(InviteDevice.validMinutes) minutes. Another: smilepile web")
    }

    private func showCode(_ address: String) {
        let console = session.console
        guard console.results.isTerminal, let code = QRCode(address) else { return }
        if code.columns <= console.results.columns() ?? 80 { console.result(code.lines) }
    }

    private func show(_ address: String, isForOthers: Bool) {
        let console = session.console
        if isForOthers { showCode(address) }
        console.result(address)
        console.message("Good for one browser, within \(InviteDevice.validMinutes) minutes. Another: smilepile web")
        if !isForOthers {
            console.message("Only this machine reaches it. For phones: smilepile web stop, then smilepile web --home")
        }
    }

    // MARK: Where it is

    private static func isLoopback(_ listens: String) -> Bool {
        listens.hasPrefix("127.") || listens.hasPrefix("[::1]")
    }

    /// A home's page is shown with the address that its devices reach, and what listens on every address with the one that others in the house reach.
    static func reachable(_ record: WebRecord) -> String {
        if let home = record.home { return home.addresses.first ?? record.address }
        let isAny = record.listens.hasPrefix("0.0.0.0:") || record.listens.hasPrefix("[::]:")
        guard isAny, let own = ownAddress(), let port = record.listens.split(separator: ":").last,
            let scheme = record.address.split(separator: ":").first
        else { return record.address }
        return "\(scheme)://\(own):\(port)"
    }

    /// The first IPv4 address that is not this machine's alone, nor that of a network inside it.
    private static func ownAddress() -> String? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        let inside = ["lo", "docker", "veth", "br-", "virbr", "tun", "tap"]
        for entry in sequence(first: list, next: { $0?.pointee.ifa_next }) {
            guard let entry, let address = entry.pointee.ifa_addr, address.pointee.sa_family == sa_family_t(AF_INET),
                case let name = String(cString: entry.pointee.ifa_name), !inside.contains(where: name.hasPrefix)
            else { continue }
            var four = UnsafeRawPointer(address).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_addr
            var text = [CChar](repeating: 0, count: 64)
            inet_ntop(AF_INET, &four, &text, socklen_t(text.count))
            return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        return nil
    }
}

extension WebRecord.Home {
    /// As programs read it.
    var json: JSONValue {
        [
            "addresses": .array(addresses.map(JSONValue.string)), "doors": .array(doors.map(JSONValue.string)),
            "authority": .string(authority), "fingerprint": .string(fingerprint),
            "certificateEnds": .string("\(Timestamp(milliseconds: certificateEnds * 1_000))"),
            "authorityEnds": .string("\(Timestamp(milliseconds: authorityEnds * 1_000))"),
        ]
    }
}
