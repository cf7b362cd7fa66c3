import CommandLineInterface
import ControlSocket
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let deviceCommands: [Command] = [
        Command(
            words: ["web", "devices", "list"], summary: "List the browsers that are paired, and whose each is.",
            examples: [Example("smilepile web devices", "Whose is let in, and when it last was.")],
            isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListDevices())
                let names = try await WebDevices.categoryNames(of: answer.value.devices, library)
                session.show(answer) { list in
                    guard !list.devices.isEmpty else {
                        session.console.message("No browser is paired. Pair one: smilepile web")
                        return
                    }
                    var table = Table(
                        .init(heading: "DEVICE"), .init(heading: "NAME", shrinks: true),
                        .init(heading: "FOR", shrinks: true), .init(heading: "PAIRED"), .init(heading: "LAST SEEN"))
                    for device in list.devices {
                        table.add([
                            String(device.id.prefix(8)), device.name, WebDevices.words(device.rights, names),
                            LocalDate.text(device.createdAt), LocalDate.text(device.lastSeenAt),
                        ])
                    }
                    session.console.show(table)
                }
                return .done
            }
        },
        Command(
            words: ["web", "devices", "role"], summary: "Say whose a browser is; what it has open follows at once.",
            details: """
                A parent's may everything, in kids mode with the PIN. A looker's sees all photos, marks favourites and
                downloads. A child's is always in kids mode, with the categories that are named and without originals.
                A PIN on it lifts neither of the last two.
                """,
            operands: [
                Operand("DEVICE", help: "Its id, the beginning of that, or its name."),
                Operand("ROLE", .words(DeviceRole.allCases.map(\.rawValue)), help: WebDevices.roleHelp),
            ],
            options: [.value("category", "NAME", .category, repeats: true, help: WebDevices.categoryHelp)],
            examples: [
                Example("smilepile web devices role 'Old tablet' looker", "It sees and marks favourites."),
                Example(
                    "smilepile web devices role Tablet child --category Family --category Cars", "It sees these two."),
            ]
        ) { invocation, session in
            let role = DeviceRole(rawValue: invocation.operand("ROLE") ?? "") ?? .child
            return try await session.withLibrary { library in
                let categories = try await WebDevices.categoryIDs(invocation, role, library)
                let device = try await WebDevices.find(invocation.operand("DEVICE") ?? "", library)
                let answer = try await library.send(
                    SetDeviceRole(id: device.id, role: role, categoryIds: categories))
                let names = try await WebDevices.categoryNames(of: [answer.value], library)
                session.show(answer) { device in
                    session.console.result(
                        "\(PlainText.neutralized(device.name)) is for: "
                            + "\(PlainText.neutralized(WebDevices.words(device.rights, names))).")
                }
                return .done
            }
        },
        Command(
            words: ["web", "password"], summary: "Make a password for a program on a device that uploads by itself.",
            details: """
                For PhotoSync, FolderSync, rclone and others that speak WebDAV: what they send is
                imported, and they see what this device has sent, and nothing else. A folder is a category. The address
                and the password are printed once; a new password ends the one before. Only a parent's device may have
                one, and it ends when the device is forgotten.
                """,
            operands: [Operand("DEVICE", help: "Its id, the beginning of that, or its name.")],
            options: [.flag("revoke", help: "End the password: the device's programs are out at once.")],
            examples: [
                Example("smilepile web password 'Anna’s phone'", "What to enter into PhotoSync there."),
                Example("smilepile web password 'Anna’s phone' --revoke", "When the program is not used any more."),
            ]
        ) { invocation, session in
            let wanted = invocation.operand("DEVICE") ?? ""
            return try await session.withLibrary { library in
                let device = try await WebDevices.find(wanted, library)
                guard !invocation.has("revoke") else {
                    session.show(try await library.send(EndDevicePassword(id: device.id))) { device in
                        session.console.result(
                            "Programs on \(PlainText.neutralized(device.name)) are out. What they sent stays.")
                    }
                    return .done
                }
                let answer = try await library.send(MakeDevicePassword(id: device.id))
                let address = WebDevices.programAddress(WebRecord.running(socket: session.socketPath))
                session.show(answer) { made in
                    var sheet = FactSheet()
                    sheet.add("Address", address ?? "/dav/ behind the page's address")
                    sheet.add("User name", made.user)
                    sheet.add("Password", made.password)
                    session.console.show(sheet)
                    session.console.message(
                        "The password is shown this once. End it: smilepile web password DEVICE --revoke")
                    if address == nil {
                        session.console.message("The page does not run. Start it: smilepile web --home")
                    }
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
                let device = try await WebDevices.find(wanted, library)
                let answer = try await library.send(ForgetDevice(id: device.id))
                session.show(answer) { device in
                    session.console.result("\(PlainText.neutralized(device.name)) is forgotten.")
                }
                return .done
            }
        },
    ]
}

/// What the commands about devices have in common.
enum WebDevices {
    static let roleHelp = "Whose it is: parent, looker (sees, marks favourites, downloads) or child."
    static let categoryHelp = "Of a child's device: a category that it shows."

    /// - Throws: `CommandFailure` where none is meant, or several are.
    static func find(_ wanted: String, _ library: any LibraryConnection) async throws -> Device {
        let found = matches(wanted, in: try await library.send(ListDevices()).value.devices)
        guard found.count == 1, let device = found.first else {
            throw CommandFailure.local(
                found.isEmpty
                    ? "No device is '\(PlainText.neutralized(wanted))'. See which are: smilepile web devices"
                    : "\(found.count) devices are '\(PlainText.neutralized(wanted))'. Name one by its id: "
                        + "smilepile web devices")
        }
        return device
    }

    /// Where programs of other devices put files; nil while the page does not run.
    static func programAddress(_ record: WebRecord?) -> String? {
        record.map { ($0.home?.addresses.first ?? $0.address) + "/dav/" }
    }

    /// By the whole id, else by the name, else by how the id begins.
    static func matches(_ wanted: String, in devices: [Device]) -> [Device] {
        let lower = wanted.lowercased()
        let whole = devices.filter { $0.id == lower }
        if !whole.isEmpty { return whole }
        let named = devices.filter { $0.name == wanted }
        if !named.isEmpty { return named }
        return lower.count < 4 ? [] : devices.filter { $0.id.hasPrefix(lower) }
    }

    /// The categories that were named for a child's device; nil for others.
    /// - Throws: `CommandFailure` for a child's device without any, and for another one with some.
    static func categoryIDs(
        _ invocation: Invocation, _ role: DeviceRole, _ library: any LibraryConnection
    ) async throws -> [Int64]? {
        let named = invocation.values("category")
        guard role == .child else {
            guard named.isEmpty else {
                throw invocation.usageError(
                    "--category is for a child's device; a \(role.rawValue)'s shows all of them.")
            }
            return nil
        }
        guard !named.isEmpty else {
            throw invocation.usageError("A child's device shows chosen categories. Name them: --category NAME")
        }
        return try await library.categories(named: named).map(\.id)
    }

    /// By their ids; asked for only where they are shown.
    static func categoryNames(
        of devices: [Device], _ library: any LibraryConnection
    ) async throws -> [Int64: String] {
        guard devices.contains(where: { $0.role == .child }) else { return [:] }
        let all = try await library.send(ListCategories()).value.categories
        return Dictionary(all.map { ($0.id, $0.displayName) }) { first, _ in first }
    }

    /// `child: Family, Cars`.
    static func words(_ rights: DeviceRights, _ names: [Int64: String]) -> String {
        guard let chosen = rights.categoryIds else { return rights.role.rawValue }
        let shown = chosen.map { names[$0] ?? "#\($0)" }.joined(separator: ", ")
        return "\(rights.role.rawValue): \(shown.isEmpty ? "nothing" : shown)"
    }
}
