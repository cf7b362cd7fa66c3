import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let numbers = Operand(
        "PHOTO", .number(1...Int64.max), .oneOrMore, help: "Their numbers, as 'smilepile trash' shows them.")

    static let trashCommands: [Command] = [
        Command(
            words: ["trash", "list"], summary: "Show the photos in the trash, the latest first.", options: paging,
            examples: [Example("smilepile trash", "What could be restored?")], isDefaultOfGroup: true
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    ListTrash(limit: invocation.number("limit"), after: invocation.value("after")))
                session.show(answer) { page in
                    show(page.photos, session)
                    if let next = page.next {
                        session.console.message("There are more: repeat with --after \(PlainText.neutralized(next))")
                    }
                }
                return .done
            }
        },
        Command(
            words: ["trash", "restore"], summary: "Take photos out of the trash, back into their category.",
            details: "A category that is gone is made again.", operands: [numbers],
            examples: [Example("smilepile trash restore 12 13", "Two at once.")]
        ) { invocation, session in try await restore(invocation, session) },
        Command(
            words: ["trash", "purge"], summary: "Remove photos in the trash for good.",
            details: "Without numbers: those that have been there for more than 30 days. There is no way back.",
            operands: [Operand("PHOTO", .number(1...Int64.max), .any, help: "Their numbers.")],
            options: [
                .flag("all", help: "Everything in the trash."), .flag("yes", help: "Do not ask before --all."),
            ],
            examples: [
                Example("smilepile trash purge", "Those whose time is over."),
                Example("smilepile trash purge --all --yes", "Everything, from a script."),
            ]
        ) { invocation, session in
            let ids = invocation.operandValues("PHOTO").compactMap { Int64($0) }
            let all = invocation.has("all")
            guard !all || ids.isEmpty else { throw invocation.usageError("Give numbers, or --all.") }
            return try await session.withLibrary { library in
                if all {
                    let count = try await library.send(GetLibraryStatus()).value.trashed
                    let question = "Remove \(Figures.count(count, "photo")) in the trash for good?"
                    guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                        return .failed
                    }
                }
                let answer = try await library.send(PurgeTrash(ids: ids.isEmpty ? nil : ids, all: all ? true : nil))
                session.show(answer) { changed in
                    session.console.result("\(Figures.count(changed.count, "photo")) removed for good.")
                }
                return .done
            }
        },
    ]

    private static func show(_ trashed: [TrashedPhoto], _ session: Session) {
        guard !trashed.isEmpty else { return session.console.message("The trash is empty.") }
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "NAME", shrinks: true),
            .init(heading: "CATEGORY", shrinks: true), .init(heading: "DELETED"), .init(heading: "GOES FOR GOOD"),
            .init(heading: "SIZE", isNumeric: true))
        for entry in trashed {
            table.add([
                String(entry.photo.id), entry.photo.displayName, entry.categoryName, LocalDate.text(entry.deletedAt),
                LocalDate.text(entry.purgeAfter), Figures.size(entry.photo.fileSize),
            ])
        }
        session.console.show(table)
    }
}
