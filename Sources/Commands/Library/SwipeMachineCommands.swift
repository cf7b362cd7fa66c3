import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

/// Reviews that a person's machines have in common.
extension CommandTable {
    private static let yes = Option.flag("yes", help: "Do not ask before.")
    private static let forget = Option.flag("forget", help: "Remove what came from it.")
    private static let forgetting = """
        What came from it stays; with --forget it goes, but for the decisions that were applied: of each photo the latest stays.
        """

    private static func forgotten(_ invocation: Invocation) -> String {
        invocation.has("forget") ? " What came from it is removed, but for what was applied." : ""
    }

    static let swipeMachineCommands: [Command] = [
        Command(
            words: ["swipe", "share"], summary: "Let another machine of yours in, to have reviews in common.",
            details: """
                What is printed lets it in, and whoever else has it: it opens reviews, and no photos. It is shown once.
                The other machine needs to reach this machine's page: smilepile web --help
                """,
            operands: [Operand("NAME", help: "What you call the other machine.")],
            options: [
                .value("address", "URL", .text, help: "Where it reaches this machine; the page's address unless given.")
            ],
            examples: [Example("smilepile swipe share laptop", "There: smilepile swipe join INVITATION")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ShareReviews(name: invocation.operand("NAME") ?? ""))
                let name = PlainText.neutralized(answer.value.machine.name)
                try showInvitation(
                    answer.value.token, for: .reviews, answer.json, invocation, session,
                    hint: "For \(name) alone, and shown once. There: smilepile swipe join INVITATION")
                return .done
            }
        },
        Command(
            words: ["swipe", "machines"], summary: "List your machines that have reviews in common with this one.",
            examples: [
                Example("smilepile swipe machines", "Who was let in, who was joined, and when each was last seen.")
            ]
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListReviewMachines())
                session.show(answer) { list in
                    guard !list.machines.isEmpty else {
                        session.console.message(
                            "No other machine. Let one in: smilepile swipe share NAME; or: smilepile swipe join INVITATION"
                        )
                        return
                    }
                    show(list.machines, session)
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "unshare"], summary: "Let another machine in for reviews no more.",
            details: forgetting,
            operands: [Operand("NAME", help: "What you call it, or the beginning of its id.")], options: [forget, yes],
            examples: [
                Example("smilepile swipe unshare laptop", "After a question."),
                Example("smilepile swipe unshare stranger --forget", "It was nobody's, and told too much."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await machine(invocation.operand("NAME"), isJoined: false, library)
                let name = PlainText.neutralized(found.name)
                let question =
                    "Let \(name) in for reviews no more"
                    + (invocation.has("forget") ? ", and remove what came from it?" : "?")
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    return .failed
                }
                let answer = try await library.send(
                    UnshareReviews(id: found.id, forget: invocation.has("forget") ? true : nil))
                session.show(answer) { _ in
                    session.console.result("\(name) is not let in any more.\(forgotten(invocation))")
                }
                return .done
            }
        },
        Command(
            words: ["swipe", "join"], summary: "Have reviews in common with another machine of yours.",
            details: """
                What is decided on one is on the other, by itself and offline first.
                With '-' the invitation is read from input, where no other user of this machine sees it.
                """,
            operands: [Operand("INVITATION", help: "As in https://photos.example:8468/#reviews=…, or '-'.")],
            options: [.flag("insecure-http", help: "Also where there is no TLS: their network can read along.")],
            examples: [
                Example("smilepile swipe join https://photos.example:8468/#reviews=…", "As 'swipe share' printed it.")
            ]
        ) { invocation, session in
            let link = try await readInvitation(for: .reviews, invocation, session)
            return try await session.withLibrary { library in
                let answer = try await library.send(
                    JoinReviews(
                        address: link.address.text, token: link.token,
                        allowsPlainHTTP: invocation.has("insecure-http") ? true : nil))
                session.show(answer) { machine in
                    session.console.result("Joined \(PlainText.neutralized(machine.name)).")
                    if let problem = machine.problem { session.console.message(PlainText.neutralized(problem)) }
                }
                return answer.value.problem == nil ? .done : .doneWithProblems
            }
        },
        Command(
            words: ["swipe", "sync"], summary: "Fetch and send reviews now.",
            details: "It happens by itself every quarter of an hour, and when a review ends.",
            operands: [Operand("MACHINE", .text, .optional, help: "One that was joined; all unless given.")],
            options: [detach, verbose], examples: [Example("smilepile swipe sync", "Now.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                var id: String?
                if let wanted = invocation.operand("MACHINE") {
                    id = try await machine(wanted, isJoined: true, library).id
                }
                return try await runJob(SyncReviews(machineId: id), invocation, session, library)
            }
        },
        Command(
            words: ["swipe", "leave"], summary: "Have reviews in common with another machine no more.",
            details: forgetting + "\nThe other machine is not told: smilepile swipe unshare, there.",
            operands: [
                Operand("MACHINE", .text, .optional, help: "Its address; not needed where one was joined.")
            ],
            options: [forget, yes], examples: [Example("smilepile swipe leave", "After a question.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let found = try await machine(invocation.operand("MACHINE"), isJoined: true, library)
                let name = PlainText.neutralized(found.name)
                let question =
                    "Have reviews in common with \(name) no more"
                    + (invocation.has("forget") ? ", and remove what came from it?" : "?")
                guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                    return .failed
                }
                let answer = try await library.send(
                    LeaveReviews(id: found.id, forget: invocation.has("forget") ? true : nil))
                session.show(answer) { _ in session.console.result("Left \(name).\(forgotten(invocation))") }
                return .done
            }
        },
    ]

    /// - Parameter wanted: nil for the only one that there is.
    private static func machine(
        _ wanted: String?, isJoined: Bool, _ library: any LibraryConnection
    ) async throws -> ReviewMachine {
        let machines = try await library.send(ListReviewMachines()).value.machines.filter { $0.isJoined == isJoined }
        var found = machines
        if let wanted {
            let (key, lower) = (CategoryName.key(wanted), wanted.lowercased())
            let address = (try? HubAddress(wanted))?.text
            found = machines.filter { machine in
                machine.id == lower || CategoryName.key(machine.name) == key || machine.name == address
                    || lower.utf8.count >= 4 && machine.id.hasPrefix(lower)
            }
        }
        if found.count == 1 { return found[0] }
        let what = isJoined ? "was joined" : "is let in"
        let shown = wanted.map { " '\(PlainText.neutralized(String($0.prefix(100))))'" } ?? ""
        throw CommandFailure.refused(
            found.isEmpty
                ? MeshError(.notFound, "No machine\(shown) \(what). List them: smilepile swipe machines")
                : MeshError(.invalidArgument, "\(found.count) machines\(shown). Name one: smilepile swipe machines"))
    }

    private static func show(_ machines: [ReviewMachine], _ session: Session) {
        var table = Table(
            .init(heading: "MACHINE", shrinks: true), .init(heading: "WHO ASKS"), .init(heading: "ADDED"),
            .init(heading: "LAST SEEN"), .init(heading: "PROBLEM", shrinks: true))
        for machine in machines {
            table.add([
                PlainText.neutralized(machine.name), machine.isJoined ? "this machine" : "that machine",
                LocalDate.text(machine.addedAt), machine.seenAt.map { LocalDate.text($0) } ?? "never",
                machine.problem.map(PlainText.neutralized) ?? "",
            ])
        }
        session.console.show(table)
    }
}
