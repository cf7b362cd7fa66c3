import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let trashed = Operand(
        "PHOTO", .numbers, .oneOrMore, help: "Numbers as 'smilepile trash' shows them, ranges such as 12-40, or '-'.")

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
            details: """
                A category that is gone is made again. What was imported again meanwhile stays in the trash, with a line; the
                command ends with 5 then.
                """, operands: [trashed],
            examples: [Example("smilepile trash restore 12 15-20", "Seven at once.")]
        ) { invocation, session in try await restore(invocation, session) },
        Command(
            words: ["trash", "purge"], summary: "Remove photos in the trash for good.",
            details: """
                Without numbers: those that have been there for more than 30 days, by the clock as it stands now: also \
                where it has jumped and the daemon waits. There is no way back.
                """,
            operands: [Operand("PHOTO", .numbers, .any, help: trashed.help)],
            options: [
                .flag("all", help: "Everything in the trash."), .flag("yes", help: "Do not ask before --all."),
            ],
            examples: [
                Example("smilepile trash purge", "Those whose time is over."),
                Example("smilepile trash purge --all --yes", "Everything, from a script."),
            ]
        ) { invocation, session in
            let all = invocation.has("all")
            let isNamed = !invocation.operandValues("PHOTO").isEmpty
            guard !all || !isNamed else { throw invocation.usageError("Give numbers, or --all.") }
            let selection = isNamed ? try await PhotoSelection(invocation, session) : nil
            return try await session.withLibrary { library in
                if all {
                    let count = try await library.send(GetLibraryStatus()).value.trashed
                    let question = "Remove \(Figures.count(count, "photo")) in the trash for good?"
                    guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
                        return .failed
                    }
                }
                let count: Int
                if let ids = try await selection?.trashedIDs(in: library) {
                    count = try await PhotoBatches.change(ids, session) { batch in
                        try await library.send(PurgeTrash(ids: batch)).value.count
                    }
                } else {
                    count = try await library.send(PurgeTrash(all: all ? true : nil)).value.count
                }
                try session.show(changed: count) { "\($0) removed for good." }
                return .done
            }
        },
    ]

    static func restore(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let selection = try await PhotoSelection(invocation, session)
        return try await session.withLibrary { library in
            var staying: [StayingPhoto] = []
            let count = try await PhotoBatches.change(try await selection.trashedIDs(in: library), session) { batch in
                let restored = try await library.send(RestorePhotos(ids: batch)).value
                staying += restored.staying ?? []
                return restored.count
            }
            if session.wantsJSON {
                session.show(
                    json: try JSONText.encode(RestoredPhotos(count: count, staying: staying.isEmpty ? nil : staying)))
            } else {
                session.console.result("\(Figures.count(count, "photo")) restored.")
                for photo in staying {
                    session.console.message(
                        "The photo \(photo.id) stays in the trash: it was imported again, as \(photo.sameAs).")
                }
                if !staying.isEmpty {
                    session.console.message("Purge what is not needed: smilepile trash purge NUMBER")
                }
            }
            return staying.isEmpty ? .done : .doneWithProblems
        }
    }

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
