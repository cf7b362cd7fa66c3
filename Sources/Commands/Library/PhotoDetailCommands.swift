import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let fieldNames = SealedField.allCases.map(\.rawValue)

    static let photoDetailCommands: [Command] = [
        Command(
            words: ["photos", "detail"], summary: "Show, write or clear a photo's sealed fields.",
            details: """
                They are for what says something about a child: childName, childAge, notes, tags, milestone, location,
                metadata. They are stored encrypted, and their key lies outside of the library: smilepile keys status.
                Several tags are separated by commas.
                """,
            operands: [photo],
            options: [
                .value("set", "FIELD=VALUE", .text, repeats: true, help: "Write a field; put it in quotes."),
                .value("clear", "FIELD", .words(fieldNames), repeats: true, help: "Clear a field"),
            ],
            examples: [
                Example("smilepile photos detail 12", "What do they say?"),
                Example("smilepile photos detail 12 --set childName=Ylva --set 'tags=sea, first steps'", "Write two."),
                Example("smilepile photos detail 12 --clear location", "Clear one."),
            ]
        ) { invocation, session in
            let change = try change(invocation)
            return try await session.withLibrary { library in
                let id = try await library.photoID(named: invocation.operand("PHOTO") ?? "")
                guard let change else {
                    session.show(try await library.send(GetPhotoDetail(id: id))) { show($0, session) }
                    return .done
                }
                session.show(try await library.send(change(id))) { show($0, session) }
                return .done
            }
        },
        Command(
            words: ["photos", "sealed"], summary: "Show the photos that have sealed fields, or a text in them.",
            details: """
                No index knows what they say: to find a text, all of them are opened, which takes a moment where there
                are many.
                """,
            operands: [Operand("TEXT", .text, .optional, help: "What to look for, anywhere in a field.")],
            options: [
                .value("field", "FIELD", .words(fieldNames), repeats: true, help: "Only there")
            ] + paging,
            examples: [
                Example("smilepile photos sealed", "Which photos have any?"),
                Example("smilepile photos sealed Ylva --field childName", "All photos of one child."),
            ]
        ) { invocation, session in
            let fields = invocation.values("field").compactMap(SealedField.init)
            guard let text = invocation.operand("TEXT") else {
                guard fields.isEmpty else { throw invocation.usageError("Give a TEXT to look for in the fields.") }
                return try await session.withLibrary { library in
                    let answer = try await library.send(
                        ListSealedPhotos(limit: invocation.number("limit"), after: invocation.value("after")))
                    session.show(answer) { found in
                        show(found.photos, total: found.total, next: found.next, session)
                    }
                    return .done
                }
            }
            return try await session.withLibrary { library in
                let answer = try await library.send(
                    SearchPhotoDetails(
                        text: text, fields: fields.isEmpty ? nil : fields, limit: invocation.number("limit"),
                        after: invocation.value("after")))
                session.show(answer) { found in
                    show(found.photos, total: found.total, next: found.next, session)
                    if found.unreadable > 0 {
                        session.console.message(
                            "\(Figures.count(found.unreadable, "value")) could not be looked into: smilepile keys status"
                        )
                    }
                }
                return answer.value.unreadable > 0 ? .doneWithProblems : .done
            }
        },
        Command(
            words: ["photos", "erase"], summary: "Erase what the library knows about a child.",
            details: """
                All sealed fields of these photos, or of all whose childName is NAME, those in the trash included; the name in
                receipts of jobs; with --files originals and sidecars too. The pictures stay. There is no way back, and
                backups and copies elsewhere are not reached.
                """,
            operands: [.photos],
            options: [
                .value("child", "NAME", .text, help: "All photos of this child."),
                .flag("files", help: "Remove their originals and sidecars."),
                .flag("yes", help: "Do not ask."), detach,
            ],
            examples: [
                Example("smilepile photos erase --child Ylva", "Everything about one child."),
                Example("smilepile photos erase 12 13 --files", "Of two photos, with what was kept beside them."),
            ]
        ) { invocation, session in try await erase(invocation, session) },
    ]

    private static func erase(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let names = invocation.operandValues("PHOTO")
        let files = invocation.has("files") ? true : nil
        let child = invocation.value("child")
        guard names.isEmpty != (child == nil) else {
            throw invocation.usageError("Name photos, or a child by --child.")
        }
        let selection = names.isEmpty ? nil : try await PhotoSelection(invocation, session)
        let what =
            child.map { "of all photos of '\(PlainText.neutralized($0))'" }
            ?? "of \(selection?.summary ?? "")"
        let also = files == true ? ", with originals and sidecars" : ""
        let question = "Erase the sealed fields \(what)\(also), for good?"
        guard try await session.confirm(question, given: invocation.has("yes"), command: invocation) else {
            return .failed
        }
        return try await session.withLibrary { library in
            let request =
                if let child {
                    ErasePhotoDetails(childName: child, files: files)
                } else {
                    ErasePhotoDetails(ids: try await selection?.ids(in: library) ?? [], files: files)
                }
            return try await runJob(request, invocation, session, library)
        }
    }

    /// The request for a photo's id; nil where nothing is to be changed.
    private static func change(_ invocation: Invocation) throws -> (@Sendable (Int64) -> SetPhotoDetail)? {
        var values: [SealedField: String] = [:]
        for pair in invocation.values("set") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, let field = SealedField(rawValue: parts[0]) else {
                let hint = Spelling.suggestion(for: parts[0], among: fieldNames)
                throw invocation.usageError(
                    "--set takes FIELD=VALUE, and FIELD is one of \(fieldNames.joined(separator: ", "))\(hint)")
            }
            guard values[field] == nil else { throw invocation.usageError("--set names \(parts[0]) twice.") }
            values[field] = parts[1]
        }
        let clear = invocation.values("clear").compactMap(SealedField.init)
        guard !values.isEmpty || !clear.isEmpty else { return nil }
        let said = values
        return { id in
            SetPhotoDetail(
                id: id, childName: said[.childName], childAge: said[.childAge], notes: said[.notes],
                tags: said[.tags].map { $0.split(separator: ",").map(String.init) }, milestone: said[.milestone],
                location: said[.location], metadata: said[.metadata], clear: clear.isEmpty ? nil : clear)
        }
    }

    private static func show(_ detail: PhotoDetail, _ session: Session) {
        var sheet = FactSheet()
        for field in SealedField.allCases {
            let texts = detail.texts(field)
            if !texts.isEmpty { sheet.add(field.rawValue, texts.joined(separator: ", ")) }
            if detail.unreadable.contains(field) { sheet.add(field.rawValue, "(does not open: smilepile keys status)") }
        }
        guard sheet.isEmpty else { return session.console.show(sheet) }
        session.console.message("Photo \(detail.photoId) has nothing in its sealed fields.")
    }

    private static func show(_ photos: [Photo], total: Int, next: String?, _ session: Session) {
        guard !photos.isEmpty else { return session.console.message("No photos.") }
        var table = Table(
            .init(heading: "ID", isNumeric: true), .init(heading: "DATE"), .init(heading: "NAME", shrinks: true))
        for photo in photos {
            table.add([String(photo.id), LocalDate.taken(photo) ?? "no date", photo.displayName])
        }
        session.console.show(table)
        if let next {
            session.console.message(
                "\(photos.count) of \(total). There are more: repeat with --after \(PlainText.neutralized(next))")
        }
    }
}
