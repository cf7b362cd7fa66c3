import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let group = Operand("GROUP", help: "Its name, its id, or the beginning of that.")
    private static let groupPhoto = Operand("PHOTO", help: "Its id as 'smilepile groups today' shows it.")
    private static let yes = Option.flag("yes", help: "Do not ask before.")

    static let groupCommands: [Command] = [
        Command(
            words: ["groups", "list"], summary: "Show the groups, and whether you have sent your photo of the day.",
            examples: [Example("smilepile groups", "All of them.")], isDefaultOfGroup: true
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListGroups(utcOffset: LocalDate.utcOffset()))
                let hubs = try await library.hubs(of: answer.value.groups)
                if session.wantsJSON {
                    try session.show(answer, with: hubs)
                } else if answer.value.groups.isEmpty {
                    session.console.message("There is no group. Make one: smilepile groups create NAME --as YOU")
                } else {
                    show(answer.value.groups, session)
                    show(ageOf: hubs, session)
                }
                return .done
            }
        },
        Command(
            words: ["groups", "create"], summary: "Make a group, with yourself in it.",
            operands: [Operand("NAME", help: "How it is called.")],
            options: [.value("as", "NAME", .text, isRequired: true, help: "Your first name, as others see it.")],
            examples: [Example("smilepile groups create Cousins --as Ada", "The first member is you.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    CreateGroup(
                        name: invocation.operand("NAME") ?? "", firstName: invocation.value("as") ?? ""))
                session.show(answer) { session.console.result("Made the group \(named($0)).") }
                return .done
            }
        },
        Command(
            words: ["groups", "rename"], summary: "Give a group another name.",
            operands: [group, Operand("NAME", help: "Its new name.")],
            examples: [Example("smilepile groups rename Cousins 'All cousins'", "A new name.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await library.group(named: invocation.operand("GROUP") ?? "")
                let answer = try await library.send(RenameGroup(id: found.id, name: invocation.operand("NAME") ?? ""))
                session.show(answer) { session.console.result("It is called \(PlainText.neutralized($0.name)) now.") }
                return .done
            }
        },
        Command(
            words: ["groups", "delete"], summary: "Delete a group with its photos.",
            details:
                "It ends for all its members. There is no way back. Photos that you have kept stay in the library.",
            operands: [group],
            options: [yes], examples: [Example("smilepile groups delete Cousins", "After a question.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await library.group(named: invocation.operand("GROUP") ?? "")
                let ends = found.keptFor == 0 ? "" : " It ends for \(Figures.count(found.keptFor, "other"))."
                let question = "Delete the group \(described(found))?\(ends)"
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    return .failed
                }
                let answer = try await library.send(DeleteGroup(id: found.id))
                session.show(answer) { session.console.result("Deleted the group \(named($0)).") }
                return .done
            }
        },
        Command(
            words: ["groups", "leave"], summary: "Go out of a group.",
            details: "The group and its photos are gone from here. Photos that you have kept stay in the library.",
            operands: [group], options: [yes],
            examples: [Example("smilepile groups leave Cousins", "After a question.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await library.group(named: invocation.operand("GROUP") ?? "")
                // Before a question whose answer would change nothing.
                guard found.keptFor == 0 || found.members.allSatisfy({ !$0.isSelf }) else {
                    throw CommandFailure.refused(LeaveGroup.refusal(keptFor: found.keptFor))
                }
                let photos =
                    found.hub == nil ? [] : try await library.send(ListGroupPhotos(groupId: found.id)).value.photos
                let question = "Leave the group \(described(found))?\(notDelivered(photos))"
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    return .failed
                }
                let answer = try await library.send(LeaveGroup(id: found.id))
                session.show(answer) { session.console.result("You have left \(named($0)).") }
                return .done
            }
        },
        Command(
            words: ["groups", "members"], summary: "List who is in a group.", operands: [group],
            examples: [Example("smilepile groups members Cousins", "Everybody, you among them.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await library.group(named: invocation.operand("GROUP") ?? "")
                let answer = try await library.send(ListGroupMembers(id: found.id))
                session.show(answer) { show($0.members, session) }
                return .done
            }
        },
        Command(
            words: ["groups", "show"], summary: "Show a group: its members, and its photos that have not expired.",
            operands: [group], examples: [Example("smilepile groups show Cousins", "Who has sent what?")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await library.group(named: invocation.operand("GROUP") ?? "")
                let answer = try await library.send(GetGroup(id: found.id, utcOffset: LocalDate.utcOffset()))
                let photos = try await library.send(ListGroupPhotos(groupId: found.id))
                let hubs = try await library.hubs(of: [found])
                if session.wantsJSON {
                    try session.show(json: [
                        "group": JSONDecoder().decode(JSONValue.self, from: answer.json),
                        "photos": JSONDecoder().decode([String: JSONValue].self, from: photos.json)["photos"] ?? [],
                        "hubs": Session.json(of: hubs),
                    ])
                } else {
                    show(answer.value, photos.value.photos, session)
                    show(ageOf: hubs, session)
                }
                return .done
            }
        },
        Command(
            words: ["groups", "send"], summary: "Send a photo to a group: one a day.",
            details: """
                What the others get is made for them: 2048 pixels at most, and nothing but the picture. No place, no date, no
                camera, no caption. It is gone after 48 hours. A day is one on your own calendar.
                """,
            operands: [
                photo, Operand("GROUP", .text, .optional, help: "Where to; your only group unless given."),
            ],
            examples: [
                Example("smilepile groups send 12 Cousins", "Today's photo."),
                Example("smilepile groups send 12", "Where you have one group."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let to = try await library.groupToSendTo(invocation.operand("GROUP"))
                let wanted = invocation.operand("PHOTO") ?? ""
                let offset = LocalDate.utcOffset()
                let message =
                    Int64(wanted).map { SendGroupPhoto(groupId: to.id, id: $0, utcOffset: offset) }
                    ?? SendGroupPhoto(groupId: to.id, uuid: wanted.lowercased(), utcOffset: offset)
                let answer = try await library.send(message)
                session.show(answer) { sent in
                    let verb = sent.isWaiting == true ? "Goes" : "Sent"
                    session.console.result(
                        "\(verb) to \(PlainText.neutralized(to.name)): \(sent.width) x \(sent.height), "
                            + "\(Figures.size(sent.fileSize)), until \(LocalDate.text(sent.expiresAt)).")
                }
                return .done
            }
        },
        Command(
            words: ["groups", "today"], summary: "List the photos that were sent today.",
            operands: [Operand("GROUP", .text, .optional, help: "Of one group; of all unless given.")],
            examples: [Example("smilepile groups today", "In all groups.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let groups = try await library.send(ListGroups()).value.groups
                let chosen = try invocation.operand("GROUP").map { try GroupNames.one($0, of: groups) }
                let answer = try await library.send(
                    ListTodaysGroupPhotos(groupId: chosen?.id, utcOffset: LocalDate.utcOffset()))
                let hubs = try await library.hubs(of: chosen.map { [$0] } ?? groups)
                if session.wantsJSON {
                    try session.show(answer, with: hubs)
                    return .done
                }
                if answer.value.photos.isEmpty {
                    session.console.message("Nobody has sent a photo today. Be the first: smilepile groups send PHOTO")
                } else {
                    show(answer.value.photos, groups, session)
                }
                show(ageOf: hubs, session)
                return .done
            }
        },
        Command(
            words: ["groups", "open"], summary: "Open a group's photo in the desktop's viewer.", operands: [groupPhoto],
            examples: [Example("smilepile groups open 1f2e3d4c", "In the program that shows pictures.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let id = try await library.groupPhoto(named: invocation.operand("PHOTO") ?? "").id
                // Asked for even where it is not read: it notes the use, and says why there is no file.
                let answer = try await library.send(OpenGroupPhoto(photoId: id))
                let folder = try await library.send(GetLibraryStatus()).value.path
                let path = folder + "/" + (answer.value.photo.localPath ?? "")
                do {
                    try await session.openFile(path)
                } catch CommandFailure.local(let why) {
                    throw CommandFailure.local(
                        "\(why) Its file is \(path); keep it: smilepile groups keep \(id.prefix(8))")
                }
                session.show(answer) { _ in session.console.message("Opened \(path).") }
                return .done
            }
        },
        Command(
            words: ["groups", "keep"], summary: "Import a group's photo into the library, where it stays.",
            operands: [groupPhoto],
            options: [
                .value("category", "NAME", .category, help: "Where it goes; the first category unless given."), detach,
                verbose,
            ],
            examples: [Example("smilepile groups keep 1f2e3d4c --category Family", "Before it expires.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                var category: Int64?
                if let name = invocation.value("category") { category = try await library.category(named: name).id }
                let id = try await library.groupPhoto(named: invocation.operand("PHOTO") ?? "").id
                return try await runJob(
                    KeepGroupPhoto(photoId: id, categoryId: category), invocation, session, library)
            }
        },
    ]

    // MARK: Showing

    private static func short(_ id: String) -> String { PlainText.neutralized(String(id.prefix(8))) }

    private static func named(_ group: Group) -> String { "\(PlainText.neutralized(group.name)) (\(short(group.id)))" }

    private static func described(_ group: Group) -> String {
        PlainText.neutralized(group.name)
            + " with \(Figures.count(group.members.count, "member")) and \(Figures.count(group.photoCount, "photo"))"
    }

    private static func show(_ groups: [Group], _ session: Session) {
        var table = Table(
            .init(heading: "GROUP"), .init(heading: "NAME", shrinks: true), .init(heading: "MEMBERS", isNumeric: true),
            .init(heading: "PHOTOS", isNumeric: true), .init(heading: "YOU TODAY"), .init(heading: "LAST PHOTO"))
        for group in groups {
            table.add([
                short(group.id), group.name, String(group.members.count), String(group.photoCount),
                group.hasSentToday ? "sent" : "not yet", group.lastPhotoDate.map { LocalDate.text($0) } ?? "never",
            ])
        }
        session.console.show(table)
    }

    private static func show(_ members: [GroupMember], _ session: Session) {
        var table = Table(
            .init(heading: "MEMBER"), .init(heading: "NAME", shrinks: true), .init(heading: "JOINED"),
            .init(heading: ""))
        for member in members {
            table.add([
                short(member.userId), member.firstName, LocalDate.text(member.joinedAt), member.isSelf ? "you" : "",
            ])
        }
        session.console.show(table)
    }

    private static func show(_ group: Group, _ photos: [GroupPhoto], _ session: Session) {
        var sheet = FactSheet()
        sheet.add("Group", "\(group.name) (\(group.id))")
        sheet.add("Made", LocalDate.text(group.createdAt))
        if let hub = group.hub { sheet.add("Kept by", hub) }
        sheet.add("You today", group.hasSentToday ? "sent" : "not yet")
        sheet.add("Last photo", group.lastPhotoDate.map { LocalDate.text($0) } ?? "never")
        sheet.add(
            "Members", group.members.map { $0.isSelf ? "\($0.firstName) (you)" : $0.firstName }.joined(separator: ", "))
        session.console.show(sheet)
        if photos.isEmpty {
            session.console.message("It has no photo that has not expired.")
        } else {
            show(photos, [], session)
        }
    }

    private static func size(_ photo: GroupPhoto) -> String {
        if photo.isWaiting == true { return "waits to go out" }
        if photo.localPath != nil { return Figures.size(photo.fileSize) }
        return photo.isComing == true ? "on its way" : photo.width == 0 ? "could not be fetched" : "no file"
    }

    /// - Parameter groups: by which each photo's is named; empty where all are of one.
    private static func show(_ photos: [GroupPhoto], _ groups: [Group], _ session: Session) {
        let names = Dictionary(groups.map { ($0.id, $0.name) }, uniquingKeysWith: { first, _ in first })
        var columns: [Table.Column] = [.init(heading: "PHOTO")]
        if !groups.isEmpty { columns.append(.init(heading: "GROUP", shrinks: true)) }
        columns += [
            .init(heading: "FROM", shrinks: true), .init(heading: "SENT"), .init(heading: "GONE AT"),
            .init(heading: "SIZE", isNumeric: true),
        ]
        var table = Table(columns)
        for photo in photos {
            table.add(
                [short(photo.id)] + (groups.isEmpty ? [] : [names[photo.groupId] ?? short(photo.groupId)])
                    + [
                        photo.senderName, LocalDate.text(photo.createdAt), LocalDate.text(photo.expiresAt),
                        size(photo),
                    ])
        }
        session.console.show(table)
    }
}
