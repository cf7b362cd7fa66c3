import LibraryModel
import ServiceMesh

extension CommandTable {
    static let photoChangeCommands: [Command] = [
        Command(
            words: ["photos", "favorite"], summary: "Mark photos as favourites.", operands: [photos],
            examples: [Example("smilepile photos favorite 12 13", "Two at once.")]
        ) { invocation, session in try await setFavorite(true, invocation, session) },
        Command(
            words: ["photos", "unfavorite"], summary: "Take the favourite mark away.", operands: [photos],
            examples: [Example("smilepile photos unfavorite 12", "One photo.")]
        ) { invocation, session in try await setFavorite(false, invocation, session) },
        Command(
            words: ["photos", "move"], summary: "Move photos to another category.", operands: [photos],
            options: [.value("to", "NAME", .category, isRequired: true, help: "The category, by name or id.")],
            examples: [Example("smilepile photos move 12 13 --to Holidays", "Two photos, one new place.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let category = try await library.category(named: invocation.value("to") ?? "")
                let ids = try await library.photoIDs(named: invocation.operandValues("PHOTO"))
                let answer = try await library.send(MovePhotos(ids: ids, categoryId: category.id))
                session.show(answer) { changed in
                    let place = PlainText.neutralized(category.displayName)
                    session.console.result("\(Figures.count(changed.count, "photo")) moved to \(place).")
                }
                return .done
            }
        },
        Command(
            words: ["photos", "caption"], summary: "Write a photo's caption, or remove it.",
            details: """
                Captions are searched and shown. What says something about a child does not belong there.
                """,
            operands: [photo, Operand("TEXT", .text, .optional, help: "The caption; put it in quotes.")],
            options: [.flag("remove", help: "Remove the caption.")],
            examples: [
                Example("smilepile photos caption 12 'First day at the sea'", "Write one."),
                Example("smilepile photos caption 12 --remove", "Remove it."),
            ]
        ) { invocation, session in
            let text = invocation.operand("TEXT")
            guard (text == nil) == invocation.has("remove") else {
                throw invocation.usageError("Give a TEXT, or --remove.")
            }
            return try await session.withLibrary { library in
                let ids = try await library.photoIDs(named: [invocation.operand("PHOTO") ?? ""])
                let answer = try await library.send(SetCaption(id: ids[0], caption: text))
                session.show(answer) { photo in
                    let now = photo.caption.map { "is now: " + PlainText.neutralized($0) } ?? "was removed."
                    session.console.result("The caption of photo \(photo.id) \(now)")
                }
                return .done
            }
        },
        Command(
            words: ["photos", "edit"], summary: "Change a photo's name or its date.",
            details: """
                The date is what the camera's clock showed, or should have shown; the photo's own file stays as it is. A shift
                is written as 1h, -30m, 2d or 1h30m; several photos of one camera whose clock was wrong take the same one.
                """,
            operands: [photos],
            options: [
                .value("name", "TEXT", .text, help: "What it is called; an empty text gives it its file's name."),
                .value("date", "DATE", .date, help: "When it was taken: 2025-06-15 or 2025-06-15T14:05."),
                .value("shift", "TIME", .text, help: "By how much its date is moved."),
                .value("offset", "OFFSET", .text, help: "How far the camera's clock was from UTC: +02:00, -3:30, 0."),
            ],
            examples: [
                Example("smilepile photos edit 12 --date 1987-08-01", "A scan of an old print."),
                Example("smilepile photos edit 12 13 14 --shift +1h", "The camera was not set to summer time."),
            ]
        ) { invocation, session in try await edit(invocation, session) },
        Command(
            words: ["photos", "redate"], summary: "Find out again when photos were taken, from their files and names.",
            details: """
                For libraries from before the camera's clock was kept, and when SmilePile has learned to read more. What a person
                has said stays, and a better source is never replaced by a worse one. Each photo that changes has a line; look at
                them first with --dry-run. The files stay as they are.
                """,
            options: filters + [.flag("dry-run", help: "Only say what would change."), detach],
            examples: [
                Example("smilepile photos redate --dry-run", "Which dates would change?"),
                Example("smilepile photos redate --category Family --to 2025-12-31", "Of a category, up to a day."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                var category: Int64?
                if let name = invocation.value("category") { category = try await library.category(named: name).id }
                let request = RedatePhotos(
                    categoryId: category, from: invocation.from("from"), to: invocation.through("to"),
                    favoritesOnly: invocation.has("favorites") ? true : nil, reviewed: try invocation.isReviewed(),
                    decision: invocation.decision,
                    dryRun: invocation.has("dry-run") ? true : nil)
                return try await runJob(request, invocation, session, library)
            }
        },
        Command(
            words: ["photos", "delete"], summary: "Put photos into the trash.",
            details: "They can be restored for 30 days: smilepile trash restore.", operands: [photos],
            examples: [Example("smilepile photos delete 12 13", "Two at once.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let ids = try await library.photoIDs(named: invocation.operandValues("PHOTO"))
                let answer = try await library.send(DeletePhotos(ids: ids))
                session.show(answer) { changed in
                    session.console.result("\(Figures.count(changed.count, "photo")) went to the trash.")
                    let again = ids.map(String.init).joined(separator: " ")
                    session.console.message("Undo it with: smilepile trash restore \(again)")
                }
                return .done
            }
        },
        Command(
            words: ["photos", "restore"], summary: "Take photos out of the trash.",
            details: "The same as 'smilepile trash restore'.",
            operands: [Operand("PHOTO", .number(1...Int64.max), .oneOrMore, help: "Their numbers.")],
            examples: [Example("smilepile photos restore 12", "Back into its category.")]
        ) { invocation, session in try await restore(invocation, session) },
        Command(
            words: ["photos", "forget"], summary: "Take photos out of the library and leave their files.",
            details: """
                The files stay where they are, and are named. There is no way back but moving them out of the library and
                importing them from there.
                """,
            operands: [photos],
            examples: [Example("smilepile photos forget 12", "Where is its file?")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let folder = try await library.send(GetLibraryStatus()).value.path
                let ids = try await library.photoIDs(named: invocation.operandValues("PHOTO"))
                let answer = try await library.send(ForgetPhotos(ids: ids))
                session.show(answer) { forgotten in
                    for path in forgotten.paths {
                        session.console.result(PlainText.neutralized(folder + "/" + path))
                    }
                }
                return .done
            }
        },
    ]

    private static func setFavorite(
        _ isFavorite: Bool, _ invocation: Invocation, _ session: Session
    ) async throws -> ExitCode {
        try await session.withLibrary { library in
            let ids = try await library.photoIDs(named: invocation.operandValues("PHOTO"))
            let answer = try await library.send(SetFavorite(ids: ids, isFavorite: isFavorite))
            session.show(answer) { changed in
                session.console.result("\(Figures.count(changed.count, "photo")) changed.")
            }
            return .done
        }
    }

    private static func edit(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let shift = try invocation.value("shift").map { text in
            guard let shift = TimeText.shift(text) else {
                throw invocation.usageError("'\(text)' is no time. Write 1h, -30m, 2d or 1h30m.")
            }
            return shift
        }
        let offset = try invocation.value("offset").map { text in
            guard let offset = TimeText.offset(text) else {
                throw invocation.usageError("'\(text)' is no offset from UTC. Write +02:00, -3:30 or 0.")
            }
            return offset
        }
        let names = invocation.operandValues("PHOTO")
        guard names.count == 1 || invocation.value("name") == nil else {
            throw invocation.usageError("Name one photo at a time.")
        }
        guard invocation.value("name") != nil || invocation.value("date") != nil || shift != nil || offset != nil else {
            throw invocation.usageError("Say what changes: --name, --date, --shift or --offset.")
        }
        return try await session.withLibrary { library in
            // All of them first: a number that was mistyped must not leave half of them changed.
            let ids = try await library.photoIDs(named: names)
            for id in ids {
                let answer = try await library.send(
                    EditPhoto(
                        id: id, name: invocation.value("name"), takenAt: invocation.from("date"), takenOffset: offset,
                        shift: shift))
                session.show(answer) { photo in
                    let date = LocalDate.taken(photo) ?? "no date"
                    session.console.result(
                        "Photo \(photo.id): \(PlainText.neutralized(photo.displayName)), \(date)")
                }
            }
            return .done
        }
    }

    static func restore(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        try await session.withLibrary { library in
            let ids = invocation.operandValues("PHOTO").compactMap { Int64($0) }
            let answer = try await library.send(RestorePhotos(ids: ids))
            session.show(answer) { changed in
                session.console.result("\(Figures.count(changed.count, "photo")) restored.")
            }
            return .done
        }
    }
}
