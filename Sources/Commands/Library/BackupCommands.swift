import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let file = Operand("FILE", .path, help: "The backup.")

    static let backupCommands: [Command] = [
        Command(
            words: ["backup", "create"], summary: "Write a backup, and prove it readable.",
            details: """
                The backup has its name only once all of it has been read back and verified.
                Exit code 5: it is there, but some photos of the library were damaged.
                """,
            operands: [
                Operand("FILE", .path, .optional, help: "The file, or a folder; else the library's folder 'backups'.")
            ],
            options: [
                .value("category", "NAME", .category, repeats: true, help: "Only this category."),
                .value("since", "DATE", .moment, help: "Only photos added from this day on."), detach, verbose,
            ],
            examples: [
                Example("smilepile backup create", "Into the library's own folder."),
                Example("smilepile backup create /media/stick", "Onto a stick, under the usual name."),
                Example("smilepile backup create --category Family --since 2025-01-01", "A part of the library."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let names = invocation.values("category")
                let categories = names.isEmpty ? nil : try await library.categories(named: names).map(\.id)
                let message = CreateBackup(
                    path: invocation.operand("FILE").map(session.absolute), categoryIds: categories,
                    since: invocation.moment("since"))
                return try await runJob(message, invocation, session, library)
            }
        },
        Command(
            words: ["backup", "verify"], summary: "Read a whole backup and check every byte of it.",
            operands: [file], options: [detach, verbose],
            examples: [Example("smilepile backup verify family.zip", "Is it still good?")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let message = VerifyBackup(path: session.absolute(invocation.operand("FILE") ?? ""))
                return try await runJob(message, invocation, session, library)
            }
        },
        Command(
            words: ["backup", "inspect"], summary: "Show what a backup says about itself.",
            details: "Its photos are not read; that is 'smilepile backup verify'.", operands: [file],
            examples: [Example("smilepile backup inspect family.zip", "Date, counts, kind.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    InspectBackup(path: session.absolute(invocation.operand("FILE") ?? "")))
                session.show(answer) { show($0, session) }
                return .done
            }
        },
        Command(
            words: ["backup", "restore"], summary: "Bring a backup back into the library.",
            details: """
                The backup is checked whole before anything is written. Merging adds what is missing and keeps what is
                there. Replacing makes the library become the backup, and asks before.
                """,
            operands: [file],
            options: [
                .flag("merge", help: "Add what is missing. This is what happens unless told otherwise."),
                .flag("replace", help: "The library becomes the backup."),
                .flag("yes", help: "Do not ask before --replace."),
                .flag("dry-run", help: "Only say what would happen."), detach, verbose,
            ],
            examples: [
                Example("smilepile backup restore family.zip --dry-run", "What would happen?"),
                Example("smilepile backup restore family.zip", "Add what is missing."),
                Example("smilepile backup restore family.zip --replace --yes", "Replace the library, from a script."),
            ]
        ) { invocation, session in
            guard !(invocation.has("merge") && invocation.has("replace")) else {
                throw invocation.usageError("Give --merge or --replace, not both.")
            }
            return try await session.withLibrary { library in
                let path = session.absolute(invocation.operand("FILE") ?? "")
                let isPreview = invocation.has("dry-run")
                if invocation.has("replace"), !isPreview,
                    try await !confirmReplacement(by: path, invocation, session, library)
                {
                    return .failed
                }
                let message = RestoreBackup(
                    path: path, mode: invocation.has("replace") ? .replace : .merge, dryRun: isPreview ? true : nil)
                return try await runJob(message, invocation, session, library)
            }
        },
    ]

    private static func confirmReplacement(
        by path: String, _ invocation: Invocation, _ session: Session, _ library: any LibraryConnection
    ) async throws -> Bool {
        if invocation.has("yes") { return true }
        let backup = try await library.send(InspectBackup(path: path)).value
        let now = try await library.send(GetLibraryStatus()).value
        return try await session.confirm(
            "Replace the library (\(Figures.count(now.photos, "photo")) in "
                + "\(Figures.count(now.categories, "category", "categories"))) by the backup of "
                + "\(LocalDate.text(backup.timestamp)) (\(Figures.count(backup.photoCount, "photo")) in "
                + "\(Figures.count(backup.categoryCount, "category", "categories")))?",
            given: false, command: invocation)
    }

    private static func show(_ backup: BackupSummary, _ session: Session) {
        var sheet = FactSheet()
        sheet.add("Written", LocalDate.text(backup.timestamp))
        sheet.add("Photos", String(backup.photoCount))
        sheet.add("Categories", String(backup.categoryCount))
        sheet.add("Contents", backup.isPartial ? "a part of a library" : "a whole library")
        sheet.add("Kind", "\(backup.dialect), version \(backup.backupVersion)")
        sheet.add("Written by", backup.appVersion)
        sheet.add("Sealed with", backup.sealedWith)
        session.console.show(sheet)
    }
}
