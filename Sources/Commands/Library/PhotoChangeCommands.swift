import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let photoChangeCommands: [Command] = [
        Command(
            words: ["photos", "favorite"], summary: "Mark photos as favourites.", details: Option.selectionExplained,
            operands: [.photos], options: Option.selection,
            examples: [
                Example("smilepile photos favorite 12 15-20", "Seven at once."),
                Example("smilepile photos favorite --where decision=favorite", "Those that a review chose."),
            ]
        ) { invocation, session in try await setFavorite(true, invocation, session) },
        Command(
            words: ["photos", "unfavorite"], summary: "Take the favourite mark away.",
            details: Option.selectionExplained,
            operands: [.photos], options: Option.selection,
            examples: [Example("smilepile photos unfavorite 12", "One photo.")]
        ) { invocation, session in try await setFavorite(false, invocation, session) },
        Command(
            words: ["photos", "move"], summary: "Move photos to another category.", details: Option.selectionExplained,
            operands: [.photos],
            options: [.value("to", "NAME", .category, isRequired: true, help: "The category, by name or #number.")]
                + Option.selection,
            examples: [
                Example("smilepile photos move 12 15-20 --to Holidays", "Seven photos, one new place."),
                Example(
                    "smilepile photos move --where category=Family --where from=2025 --to Holidays",
                    "All of Family since 2025."),
                Example("smilepile photos move - --to Holidays", "Those that 'photos search … --all --ids |' found."),
            ]
        ) { invocation, session in
            let selection = try await PhotoSelection(invocation, session)
            return try await session.withLibrary { library in
                let category = try await library.category(named: invocation.value("to") ?? "")
                let place = PlainText.neutralized(category.displayName)
                let (ids, ending) = try await selection.agreed(in: library, invocation, session) {
                    "Move \($0) to \(place)?"
                }
                if let ending { return ending }
                let count = try await PhotoBatches.change(ids, session) { batch in
                    try await library.send(
                        MovePhotos(ids: batch, categoryId: category.id, ignoreMissing: selection.ignoreMissing)
                    ).value.count
                }
                try session.show(changed: count) { "\($0) moved to \(place)." }
                return .done
            }
        },
        Command(
            words: ["photos", "caption"], summary: "Write the caption of photos, or remove it.",
            details: """
                Captions are searched and shown. What says something about a child does not belong there.
                """ + "\n\n" + Option.selectionExplained,
            operands: [
                Operand("PHOTO", .text, .optional, help: "A number, a range such as 12-40, a uuid, or '-'."),
                Operand("TEXT", .text, .optional, help: "The caption; put it in quotes."),
            ],
            options: [.flag("remove", help: "Remove the caption.")] + Option.selection,
            examples: [
                Example("smilepile photos caption 12 'First day at the sea'", "Write one."),
                Example(
                    "smilepile photos caption --where from=2025-06-12 'At the sea'", "The same for a day and after."),
                Example("smilepile photos caption 12-40 --remove", "Remove some."),
            ]
        ) { invocation, session in try await setCaption(invocation, session) },
        editCommand,
        rotateCommand,
        Command(
            words: ["photos", "redate"],
            summary: "Find out again when photos were taken and with what, from what is kept.",
            details: """
                For libraries from before the camera or its clock was kept, and when SmilePile has learned to read more. What a person
                has said stays, and a better source is never replaced by a worse one. Each photo that changes has a line; look at
                them first with --dry-run. The files stay as they are.
                """ + "\n\n" + Option.datesExplained,
            options: Option.filters + [.flag("dry-run", help: "Only say what would change."), detach],
            examples: [
                Example("smilepile photos redate --dry-run", "Which dates would change?"),
                Example("smilepile photos redate --camera none", "The cameras of photos from before they were kept."),
                Example("smilepile photos redate --category Family --to 2025-12-31", "Of a category, up to a day."),
            ]
        ) { invocation, session in
            let filters = try PhotoFilters(invocation)
            return try await session.withLibrary { library in
                let request = RedatePhotos(
                    try await filters.filter(in: library), dryRun: invocation.has("dry-run") ? true : nil)
                return try await runJob(request, invocation, session, library)
            }
        },
        Command(
            words: ["photos", "delete"], summary: "Put photos into the trash.",
            details: """
                They can be restored for 30 days: smilepile trash restore.
                """ + "\n\n" + Option.selectionExplained,
            operands: [.photos], options: Option.selection,
            examples: [
                Example("smilepile photos delete 12 15-20", "Seven at once."),
                Example(
                    "smilepile photos delete --where category=Games --where to=2024", "Old ones, after a question."),
                Example("smilepile photos delete --where text=screenshot --yes", "From a script."),
            ]
        ) { invocation, session in
            let selection = try await PhotoSelection(invocation, session)
            return try await session.withLibrary { library in
                let (ids, ending) = try await selection.agreed(in: library, invocation, session) {
                    "Put \($0) into the trash?"
                }
                if let ending { return ending }
                let count = try await PhotoBatches.change(ids, session) { batch in
                    try await library.send(DeletePhotos(ids: batch, ignoreMissing: selection.ignoreMissing)).value.count
                }
                try session.show(changed: count) { "\($0) went to the trash." }
                guard !session.wantsJSON else { return .done }
                session.console.message(
                    NumberRanges.text(ids).map { "Undo it with: smilepile trash restore \($0)" }
                        ?? "They stay there for 30 days: smilepile trash")
                return .done
            }
        },
        Command(
            words: ["photos", "restore"], summary: "Take photos out of the trash.",
            details: "The same as 'smilepile trash restore'.",
            operands: [trashed],
            examples: [Example("smilepile photos restore 12", "Back into its category.")]
        ) { invocation, session in try await restore(invocation, session) },
        Command(
            words: ["photos", "forget"], summary: "Take photos out of the library and leave their files.",
            details: """
                The files stay where they are, and are named. There is no way back but moving them out of the library and
                importing them from there.
                """,
            operands: [.photos], options: Option.selection,
            examples: [Example("smilepile photos forget 12", "Where is its file?")]
        ) { invocation, session in
            let selection = try await PhotoSelection(invocation, session)
            return try await session.withLibrary { library in
                let folder = try await library.send(GetLibraryStatus()).value.path
                let (ids, ending) = try await selection.agreed(in: library, invocation, session) {
                    "Forget \($0), and leave their files?"
                }
                if let ending { return ending }
                var paths: [String] = []
                _ = try await PhotoBatches.change(ids, session) { batch in
                    let forgotten = try await library.send(ForgetPhotos(ids: batch)).value.paths
                    paths += forgotten
                    if !session.wantsJSON {
                        session.console.result(forgotten.map { PlainText.neutralized(folder + "/" + $0) })
                    }
                    return batch.count
                }
                if session.wantsJSON { session.show(json: try JSONText.encode(ForgottenPhotos(paths: paths))) }
                return .done
            }
        },
    ]

    private static func setFavorite(
        _ isFavorite: Bool, _ invocation: Invocation, _ session: Session
    ) async throws -> ExitCode {
        let selection = try await PhotoSelection(invocation, session)
        return try await session.withLibrary { library in
            let (ids, ending) = try await selection.agreed(in: library, invocation, session) { photos in
                isFavorite ? "Mark \(photos) as favourites?" : "Take the favourite mark of \(photos) away?"
            }
            if let ending { return ending }
            let count = try await PhotoBatches.change(ids, session) { batch in
                try await library.send(
                    SetFavorite(ids: batch, isFavorite: isFavorite, ignoreMissing: selection.ignoreMissing)
                ).value.count
            }
            try session.show(changed: count) { "\($0) changed." }
            return .done
        }
    }

    private static func setCaption(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        var words = [invocation.operand("PHOTO"), invocation.operand("TEXT")].compactMap { $0 }
        // Described photos have no word of their own: the only one is the text.
        let isDescribed = invocation.has("where")
        let text = words.count > (isDescribed ? 0 : 1) ? words.removeLast() : nil
        guard (text == nil) == invocation.has("remove") else {
            throw invocation.usageError("Give a TEXT, or --remove.")
        }
        let selection = try await PhotoSelection(invocation, session, words: words)
        return try await session.withLibrary { library in
            let (ids, ending) = try await selection.agreed(in: library, invocation, session) { photos in
                text == nil ? "Remove the captions of \(photos)?" : "Write this caption to \(photos)?"
            }
            if let ending { return ending }
            func tell(_ photo: Photo) {
                let now = photo.caption.map { "is now: " + PlainText.neutralized($0) } ?? "was removed."
                session.console.result("The caption of photo \(photo.id) \(now)")
            }
            guard ids.count > 1 else {
                let answer = try await selection.unlessGone {
                    try await library.send(SetCaption(id: ids[0], caption: text))
                }
                if let answer { session.show(answer, human: tell) }
                return .done
            }
            var captioned: [Photo] = []
            _ = try await PhotoBatches.change(ids, session, most: EditPhotos.maximumCount) { batch in
                let message = EditPhotos(ids: batch, caption: text ?? "", ignoreMissing: selection.ignoreMissing)
                let photos = try await library.send(message).value.photos
                if session.wantsJSON { captioned += photos } else { photos.forEach(tell) }
                return photos.count
            }
            if session.wantsJSON { session.show(json: try JSONText.encode(PhotoPage(photos: captioned, next: nil))) }
            return .done
        }
    }
}
