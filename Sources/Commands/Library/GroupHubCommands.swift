import CommandLineInterface
import ControlSocket
import Foundation
import LibraryModel
import QRCodes
import ServiceMesh

/// Groups between machines.
extension CommandTable {
    private static let group = Operand("GROUP", help: "Its name, its id, or the beginning of that.")
    private static let member = Operand("NAME", help: "The member's first name, or the beginning of their id.")
    private static let hub = Operand("MACHINE", help: "Its address, or the beginning of its id.")
    private static let yes = Option.flag("yes", help: "Do not ask before.")

    static let groupHubCommands: [Command] = [
        Command(
            words: ["groups", "invite"], summary: "Take somebody on another machine into a group.",
            details: """
                What is printed lets them in, and whoever else has it: hand it over where nobody else reads it. It is shown once.
                They need to reach this machine's page: smilepile web --help
                """,
            operands: [group, Operand("NAME", help: "Their first name.")],
            options: [
                .value(
                    "address", "URL", .text, help: "Where they reach this machine; the page's address unless given."),
                .flag("again", help: "They are in it already, and have lost their invitation: the old one ends."),
                .flag("known", help: "They are in another group of yours, and come in with the invitation they have."),
            ],
            examples: [
                Example("smilepile groups invite Cousins Ben", "They join with: smilepile groups join INVITATION"),
                Example("smilepile groups invite Cousins Ben --again", "A new invitation in place of the old one."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let groups = try await library.send(ListGroups()).value.groups
                let found = try GroupNames.one(invocation.operand("GROUP") ?? "", of: groups)
                let answer = try await library.send(try invitation(invocation, to: found, of: groups))
                try show(answer, to: found, invocation, session)
                return .done
            }
        },
        Command(
            words: ["groups", "remove"], summary: "Take somebody out of a group.",
            details: "What they have sent stays until it expires.", operands: [group, member], options: [yes],
            examples: [Example("smilepile groups remove Cousins Ben", "After a question.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await library.group(named: invocation.operand("GROUP") ?? "")
                let who = try GroupNames.member(invocation.operand("NAME") ?? "", of: found.members)
                let name = PlainText.neutralized(who.firstName)
                let question = "Take \(name) out of \(PlainText.neutralized(found.name))?"
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    return .failed
                }
                let answer = try await library.send(RemoveGroupMember(groupId: found.id, userId: who.userId))
                session.show(answer) {
                    session.console.result("\(name) is not in \(PlainText.neutralized($0.name)) any more.")
                }
                return .done
            }
        },
        Command(
            words: ["groups", "join"], summary: "Join groups that another machine keeps.",
            details: """
                What is sent here goes out when that machine can be reached, and what others send comes in by itself.
                With '-' the invitation is read from input, where no other user of this machine sees it.
                """,
            operands: [Operand("INVITATION", help: "As in https://photos.example:8468/#join=…, or '-'.")],
            options: [.flag("insecure-http", help: "Also where there is no TLS: their network can read along.")],
            examples: [Example("smilepile groups join https://photos.example:8468/#join=…", "As you were given it.")]
        ) { invocation, session in
            let link = try await readInvitation(for: .groups, invocation, session)
            return try await session.withLibrary { library in
                let answer = try await library.send(
                    JoinGroups(
                        address: link.address.text, token: link.token,
                        allowsPlainHTTP: invocation.has("insecure-http") ? true : nil))
                let groups = try await library.send(ListGroups()).value.groups.filter { $0.hub == answer.value.address }
                session.show(answer) { hub in
                    let names = groups.map { PlainText.neutralized($0.name) }.joined(separator: ", ")
                    session.console.result("Joined \(hub.address): \(names).")
                }
                return .done
            }
        },
        Command(
            words: ["groups", "hubs"], summary: "List the other machines that keep groups.",
            details: "Also photos of the last \(UndeliveredGroupPhoto.keptDays) days that you sent and nobody got.",
            examples: [Example("smilepile groups hubs", "When each was last reached.")]
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListGroupHubs())
                session.show(answer) { list in
                    if list.hubs.isEmpty {
                        session.console.message(
                            "No other machine keeps a group for you. Join one: smilepile groups join INVITATION")
                    } else {
                        show(list.hubs, session)
                    }
                    show(list.undelivered, session)
                }
                return .done
            }
        },
        Command(
            words: ["groups", "forget"], summary: "Forget another machine, with the groups that it keeps.",
            details: "It is not told. To go out of a group: smilepile groups leave", operands: [hub], options: [yes],
            examples: [
                Example("smilepile groups forget https://photos.example:8468", "One that is not there any more.")
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let hubs = try await library.send(ListGroupHubs()).value.hubs
                let found = try GroupNames.hub(invocation.operand("MACHINE") ?? "", of: hubs)
                let groups = Set(
                    try await library.send(ListGroups()).value.groups.filter { $0.hub == found.address }.map(\.id))
                let photos = try await library.send(ListGroupPhotos()).value.photos
                let question =
                    "Forget \(found.address), with the groups that it keeps?"
                    + notDelivered(photos.filter { groups.contains($0.groupId) })
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    return .failed
                }
                let answer = try await library.send(ForgetGroupHub(id: found.id))
                session.show(answer) { session.console.result("Forgot \($0.address).") }
                return .done
            }
        },
        Command(
            words: ["groups", "sync"], summary: "Send and fetch photos of groups that other machines keep.",
            details: "It happens by itself every quarter of an hour, and when something is sent.",
            operands: [Operand("MACHINE", .text, .optional, help: "One of them; all unless given.")],
            options: [detach, verbose], examples: [Example("smilepile groups sync", "Now.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                var id: String?
                if let wanted = invocation.operand("MACHINE") {
                    id = try GroupNames.hub(wanted, of: try await library.send(ListGroupHubs()).value.hubs).id
                }
                return try await runJob(SyncGroups(hubId: id), invocation, session, library)
            }
        },
    ]

    /// What a question says of photos that would not go out any more.
    static func notDelivered(_ photos: [GroupPhoto]) -> String {
        let count = photos.count { $0.isWaiting == true }
        return count == 0
            ? ""
            : " \(Figures.count(count, "photo")) of yours that \(count == 1 ? "waits" : "wait") to go out would reach nobody."
    }

    private static func invitation(
        _ invocation: Invocation, to group: Group, of groups: [Group]
    ) throws -> InviteGroupMember {
        let name = invocation.operand("NAME") ?? ""
        guard !(invocation.has("again") && invocation.has("known")) else {
            throw CommandFailure.refused(
                MeshError(
                    .invalidArgument, "--again is for who is in this group, --known for who is in another. Choose one.")
            )
        }
        if invocation.has("again") {
            return InviteGroupMember(
                groupId: group.id, userId: try GroupNames.member(name, of: group.members).userId, newToken: true)
        }
        if invocation.has("known") {
            var seen: Set<String> = []
            let others = groups.filter { $0.hub == nil }.flatMap(\.members).filter { seen.insert($0.userId).inserted }
            return InviteGroupMember(groupId: group.id, userId: try GroupNames.member(name, of: others).userId)
        }
        return InviteGroupMember(groupId: group.id, firstName: name)
    }

    private static func show(
        _ answer: Answer<GroupInvitation>, to group: Group, _ invocation: Invocation, _ session: Session
    ) throws {
        let name = PlainText.neutralized(answer.value.member.firstName)
        guard let token = answer.value.token else {
            if session.wantsJSON {
                return try session.show(json: try JSONDecoder().decode(JSONValue.self, from: answer.json))
            }
            session.console.result(
                "\(name) is in \(PlainText.neutralized(group.name)) now, with the invitation they have.")
            return
        }
        try showInvitation(
            token, for: .groups, answer.json, invocation, session,
            hint: "For \(name) alone, and shown once. On their machine: smilepile groups join INVITATION")
    }

    /// What lets another machine in, as text, and as a code where a terminal shows it.
    /// - Parameters:
    ///   - json: the reply that the token is from.
    ///   - hint: whom it is for.
    static func showInvitation(
        _ token: String, for purpose: InvitationLink.Purpose, _ json: Data, _ invocation: Invocation,
        _ session: Session, hint: String
    ) throws {
        let record = WebRecord.running(socket: session.socketPath)
        let place = try (invocation.value("address") ?? record.map(WebStart.reachable)).map(address)
        let link = place.map { InvitationLink(address: $0, token: token, for: purpose).description }
        if session.wantsJSON {
            var members = try JSONDecoder().decode([String: JSONValue].self, from: json)
            if let link { members["invitation"] = .string(link) }
            return try session.show(json: .object(members))
        }
        let console = session.console
        guard let link, let place else {
            console.result(token)
            console.message(
                "This is the token. It is used as ADDRESS/#\(purpose.rawValue)=TOKEN, where ADDRESS is this machine's page."
            )
            console.message("The page does not run: smilepile web --help tells how others reach it.")
            return
        }
        if console.results.isTerminal, let code = QRCode(link) {
            let lines = code.lines
            if code.columns <= console.results.columns() ?? 80 { console.result(lines) }
        }
        console.result(link)
        console.message(hint)
        if record == nil {
            console.message("The page does not run. Start it, for others to reach: smilepile web --help")
        }
        if place.host == "localhost" || place.host.hasPrefix("127.") || place.host == "::1" {
            console.message("Only this machine reaches this address. For others: smilepile web --help")
        }
    }

    static func readInvitation(
        for purpose: InvitationLink.Purpose, _ invocation: Invocation, _ session: Session
    ) async throws -> InvitationLink {
        var text = invocation.operand("INVITATION") ?? ""
        if text == "-" { text = String(decoding: try await session.console.input(4096), as: UTF8.self) }
        do {
            return try InvitationLink(text.trimmingCharacters(in: .whitespacesAndNewlines), for: purpose)
        } catch let error as MeshError {
            throw CommandFailure.refused(error)
        }
    }

    private static func address(_ text: String) throws -> HubAddress {
        do {
            return try HubAddress(text)
        } catch let error as MeshError {
            throw CommandFailure.refused(error)
        }
    }

    private static func show(_ hubs: [GroupHub], _ session: Session) {
        var table = Table(
            .init(heading: "MACHINE", shrinks: true), .init(heading: "SYNCED"), .init(heading: "PROBLEM", shrinks: true)
        )
        for hub in hubs {
            table.add([
                hub.address, hub.syncedAt.map { LocalDate.text($0) } ?? "never",
                hub.problem.map(PlainText.neutralized) ?? "",
            ])
        }
        session.console.show(table)
    }

    private static func show(_ undelivered: [UndeliveredGroupPhoto], _ session: Session) {
        guard !undelivered.isEmpty else { return }
        session.console.result(["", "Not delivered, and still in your library:"])
        var table = Table(
            .init(heading: "SENT"), .init(heading: "GROUP", shrinks: true), .init(heading: "WHY", shrinks: true))
        for photo in undelivered {
            table.add([
                LocalDate.text(photo.sentAt), PlainText.neutralized(photo.groupName), why(photo),
            ])
        }
        session.console.show(table)
    }

    private static func why(_ photo: UndeliveredGroupPhoto) -> String {
        switch photo.reason {
        case .anotherPhoto: "Another photo of yours was there that day."
        case .groupGone: "The group is gone, or you are not in it any more."
        case .left: "You left the group, or forgot the machine, before it went out."
        case .expired: "\(photo.hub) could not be reached in time."
        case .refused: photo.detail.map(PlainText.neutralized) ?? "\(photo.hub) does not take it."
        }
    }
}
