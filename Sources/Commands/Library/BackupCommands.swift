import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let file = Operand("FILE", .path, help: "The backup, or the folder that it was unpacked into.")
    private static let passphrase: [Option] = [
        .flag("passphrase", help: "Ask for the passphrase of its sealed fields."),
        Passphrase.fileOption,
    ]

    static let backupCommands: [Command] = [
        Command(
            words: ["backup", "create"], summary: "Write a backup, and prove it readable.",
            details: """
                The backup has its name only once all of it has been read back and verified.
                Sealed fields are in it as this library has them, and only its keys open them. With a passphrase they can
                be opened on any machine.
                For a phone, it has what the phone apps read: photos, categories and favourites, and nothing sealed. What it
                leaves out is told; it does not count as a backup of the library.
                Exit code 5: it is there, but some photos of the library were damaged.
                """,
            operands: [
                Operand("FILE", .path, .optional, help: "The file, or a folder; else the library's folder 'backups'.")
            ],
            options: [
                .value("category", "NAME", .category, repeats: true, help: "Only this category."),
                .value("since", "DATE", .moment, help: "Only photos added from this day on."),
                .flag("without-originals", help: "Only photos as they are shown: smaller."),
                .flag("for-phone", help: "Only what the phone apps read."),
            ] + passphrase + [detach, verbose],
            examples: [
                Example("smilepile backup create /media/stick --passphrase", "Onto a stick, for any machine."),
                Example("smilepile backup create --category Family --since 2025-01-01", "A part of the library."),
                Example("smilepile backup create /media/stick --for-phone", "To be opened with the app of a phone."),
            ]
        ) { invocation, session in
            guard
                !invocation.has("for-phone")
                    || !(invocation.has("passphrase") || invocation.value("passphrase-file") != nil)
            else {
                throw invocation.usageError("A backup for a phone has no sealed fields: leave out the passphrase.")
            }
            return try await session.withLibrary { library in
                let names = invocation.values("category")
                let categories = names.isEmpty ? nil : try await library.categories(named: names).map(\.id)
                var key: BackupKey?
                if let passphrase = try await Passphrase.ofBackup(session, invocation, isNew: true) {
                    key = try await library.send(MakeBackupKey(passphrase: passphrase)).value
                }
                let message = CreateBackup(
                    path: invocation.operand("FILE").map(session.absolute), categoryIds: categories,
                    since: invocation.moment("since"),
                    withoutOriginals: invocation.has("without-originals") ? true : nil,
                    forPhone: invocation.has("for-phone") ? true : nil, key: key)
                return try await runJob(message, invocation, session, library)
            }
        },
        Command(
            words: ["backup", "verify"], summary: "Read a whole backup and check every byte of it.",
            details: """
                With the passphrase of its sealed fields, these are opened too. Of several backups, as one of the whole library
                and those that were made with --since, each is read, and then each photo of the library is looked for in
                them: what none of them has is a line of the receipt. The passphrase is the last one's.
                """,
            operands: [Operand("FILE", .path, .oneOrMore, help: "The backup; with several, the newest last.")],
            options: passphrase + [detach, verbose],
            examples: [
                Example("smilepile backup verify family.zip", "Is it still good?"),
                Example("smilepile backup verify year.zip march.zip april.zip", "Is everything in one of them?"),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                var others = invocation.operandValues("FILE").map { session.absolute($0) }
                let path = others.removeLast()
                let key = try await openedKey(of: path, invocation, session, library)
                let message = VerifyBackup(path: path, others: others.isEmpty ? nil : others, key: key)
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
                there, with a line for each difference. A library that has not been used yet becomes the backup. Replacing
                makes any library become the backup, and asks before.
                Sealed fields come back with the passphrase of the backup, or where its library's keys are; a photo whose
                fields do not open has a line, and keeps what it has here.
                """,
            operands: [file],
            options: [
                .flag("merge", help: "Add what is missing. This is what happens unless told otherwise."),
                .flag("replace", help: "The library becomes the backup."),
                .flag("prefer-backup", help: "Where a merge finds differences, the backup's word counts."),
                .flag("salvage", help: "Take what is whole of a damaged backup."),
                .flag("yes", help: "Do not ask before --replace."),
                .flag("dry-run", help: "Only say what would happen."),
            ] + passphrase + [detach, verbose],
            examples: [
                Example("smilepile backup restore family.zip --dry-run", "What would happen?"),
                Example(
                    "smilepile backup restore family.zip --passphrase", "With its sealed fields, on a new machine."),
                Example("smilepile backup restore family.zip --replace --yes", "Replace the library, from a script."),
            ]
        ) { invocation, session in
            guard !(invocation.has("merge") && invocation.has("replace")) else {
                throw invocation.usageError("Give --merge or --replace, not both.")
            }
            guard !(invocation.has("prefer-backup") && invocation.has("replace")) else {
                throw invocation.usageError(
                    "With --replace the backup's word counts anyway: leave out --prefer-backup.")
            }
            return try await session.withLibrary { library in
                let path = session.absolute(invocation.operand("FILE") ?? "")
                let isPreview = invocation.has("dry-run")
                if invocation.has("replace"), !isPreview,
                    try await !confirmReplacement(by: path, invocation, session, library)
                {
                    return .failed
                }
                let key = try await openedKey(of: path, invocation, session, library)
                let message = RestoreBackup(
                    path: path, mode: invocation.has("replace") ? .replace : .merge, dryRun: isPreview ? true : nil,
                    prefersBackup: invocation.has("prefer-backup") ? true : nil,
                    salvage: invocation.has("salvage") ? true : nil,
                    key: key)
                return try await runJob(message, invocation, session, library)
            }
        },
    ]

    private static func openedKey(
        of path: String, _ invocation: Invocation, _ session: Session, _ library: any LibraryConnection
    ) async throws -> BackupKey? {
        guard let passphrase = try await Passphrase.ofBackup(session, invocation, isNew: false) else { return nil }
        return try await library.send(OpenBackupKey(path: path, passphrase: passphrase)).value
    }

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
        if let values = backup.sealedValues {
            let isPassphrase = backup.sealedWith == BackupSummary.sealedWithPassphrase
            sheet.add(
                "Sealed fields",
                "\(Figures.count(values, "value")), "
                    + (isPassphrase ? "under a passphrase" : "under the keys of the library that wrote it"))
            if !isPassphrase, let ids = backup.sealedWith { sheet.add("Sealed with", ids) }
        }
        session.console.show(sheet)
    }
}
