import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    private static let fileHelp = "The backup, the folder that it was unpacked into, or a backup folder."
    private static let snapshot = Option.value(
        "snapshot", "DATE", .text, help: "Of a backup folder the one of this day; else the newest.")
    private static let file = Operand("FILE", .path, help: fileHelp)
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
                With --incremental the place is a folder that holds each file once: only what it has not is copied, and a small
                file in its folder 'snapshots' says what the library is now. Files in there that were lost or changed are
                copied anew. This is how scheduled backups are made.
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
                .flag("incremental", help: "Into a folder that holds each file once: only what is new."),
            ] + passphrase + [detach, verbose],
            examples: [
                Example("smilepile backup create /media/stick --passphrase", "Onto a stick, for any machine."),
                Example(
                    "smilepile backup create /media/disk/family --incremental", "Only what is new since the last time."),
                Example("smilepile backup create /media/stick --for-phone", "To be opened with the app of a phone."),
            ]
        ) { invocation, session in
            guard
                !invocation.has("for-phone")
                    || !(invocation.has("passphrase") || invocation.value("passphrase-file") != nil)
            else {
                throw invocation.usageError("A backup for a phone has no sealed fields: leave out the passphrase.")
            }
            let wholeOnly = ["category", "since", "for-phone"].first(where: invocation.has)
            if invocation.has("incremental"), let wholeOnly {
                throw invocation.usageError(
                    "A backup folder has the whole library: leave out --\(wholeOnly), or --incremental.")
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
                    forPhone: invocation.has("for-phone") ? true : nil,
                    incremental: invocation.has("incremental") ? true : nil, key: key)
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
            options: [snapshot] + passphrase + [detach, verbose],
            examples: [
                Example("smilepile backup verify family.zip", "Is it still good?"),
                Example(
                    "smilepile backup verify /media/disk/family", "The newest in a backup folder, each file of it."),
                Example("smilepile backup verify year.zip march.zip april.zip", "Is everything in one of them?"),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                var others = invocation.operandValues("FILE").map { session.absolute($0) }
                let path = others.removeLast()
                let key = try await openedKey(of: path, invocation, session, library)
                let message = VerifyBackup(
                    path: path, others: others.isEmpty ? nil : others, snapshot: invocation.value("snapshot"), key: key)
                return try await runJob(message, invocation, session, library)
            }
        },
        Command(
            words: ["backup", "inspect"], summary: "Show what a backup says about itself.",
            details: "Its photos are not read; that is 'smilepile backup verify'.", operands: [file],
            options: [snapshot],
            examples: [Example("smilepile backup inspect family.zip", "Date, counts, kind.")]
        ) { invocation, session in
            try await session.withLibrary { library in
                let answer = try await library.send(
                    InspectBackup(
                        path: session.absolute(invocation.operand("FILE") ?? ""),
                        snapshot: invocation.value("snapshot")))
                session.show(answer) { show($0, session) }
                return .done
            }
        },
        Command(
            words: ["backup", "restore"], summary: "Bring a backup back into the library.",
            details: """
                The backup is checked whole before anything is written. Merging adds what is missing and keeps what is
                there, with a line for each difference. A library that has not been used yet becomes the backup. Replacing
                makes any library become the backup. Where the library has photos, both show first what would happen, and ask.
                Sealed fields come back with the passphrase of the backup, or where its library's keys are; a photo whose
                fields do not open has a line, and keeps what it has here.
                """,
            operands: [Operand("FILE", .path, .optional, help: fileHelp)],
            options: [
                .flag("merge", help: "Add what is missing. This is what happens unless told otherwise."),
                .flag("replace", help: "The library becomes the backup."),
                .flag("prefer-backup", help: "Where a merge finds differences, the backup's word counts."),
                .flag("salvage", help: "Take what is whole of a damaged backup."),
                snapshot,
                .value("undo", "JOB", .text, help: "Put back what this restore has overwritten, and nothing else."),
                .flag("yes", help: "Do not ask."),
                .flag("dry-run", help: "Only say what would happen."),
            ] + passphrase + [detach, verbose],
            examples: [
                Example("smilepile backup restore family.zip --dry-run", "What would happen?"),
                Example(
                    "smilepile backup restore family.zip --passphrase", "With its sealed fields, on a new machine."),
                Example("smilepile backup restore /media/disk/family --snapshot 2026-11-28", "As it was on that day."),
            ]
        ) { invocation, session in
            guard !(invocation.has("merge") && invocation.has("replace")) else {
                throw invocation.usageError("Give --merge or --replace, not both.")
            }
            guard !(invocation.has("prefer-backup") && invocation.has("replace")) else {
                throw invocation.usageError(
                    "With --replace the backup's word counts anyway: leave out --prefer-backup.")
            }
            if let job = invocation.value("undo") {
                let others = [
                    "merge", "replace", "prefer-backup", "salvage", "snapshot", "dry-run", "passphrase",
                    "passphrase-file",
                ]
                guard invocation.operand("FILE") == nil, !others.contains(where: invocation.has) else {
                    throw invocation.usageError("With --undo there is no backup, and nothing else to choose.")
                }
                return try await session.withLibrary { library in
                    let restore = try await library.send(GetJob(job: job)).value.id
                    return try await runJob(UndoRestore(job: restore), invocation, session, library)
                }
            }
            guard let file = invocation.operand("FILE") else { throw invocation.usageError("Name the backup.") }
            return try await session.withLibrary { library in
                let path = session.absolute(file)
                func message(isPreview: Bool, _ key: BackupKey?) -> RestoreBackup {
                    RestoreBackup(
                        path: path, mode: invocation.has("replace") ? .replace : .merge,
                        dryRun: isPreview ? true : nil, prefersBackup: invocation.has("prefer-backup") ? true : nil,
                        salvage: invocation.has("salvage") ? true : nil, snapshot: invocation.value("snapshot"),
                        key: key)
                }
                let isPreview = invocation.has("dry-run")
                var changed: LibraryStatus?
                if !isPreview, !invocation.has("yes") {
                    let now = try await library.send(GetLibraryStatus()).value
                    // A merge into a library without photos costs nobody anything.
                    if invocation.has("replace") || now.photos > 0 { changed = now }
                }
                if changed != nil { try session.requireSomebodyToAsk(invocation) }
                let key = try await openedKey(of: path, invocation, session, library)
                if let changed,
                    let ending = try await endUnlessConfirmed(
                        message(isPreview: true, key), changed, invocation, session, library)
                {
                    return ending
                }
                let mode = try await library.send(GetMode()).value.mode
                do {
                    return try await runJob(message(isPreview: isPreview, key), invocation, session, library)
                } catch CommandFailure.refused(let error) where error.neededRole == .parent && mode == .parent {
                    return try await tellLocked(orThrow: error, session, library)
                }
            }
        },
    ]

    /// The backup's lock came with it, so that the person who has restored it has the role of a kid now, and reads no receipt without
    /// the PIN. On a terminal the person is asked for the PIN, and this is not called.
    private static func tellLocked(
        orThrow error: MeshError, _ session: Session, _ library: any LibraryConnection
    ) async throws -> ExitCode {
        guard try await library.send(GetMode()).value.mode == .kids else { throw CommandFailure.refused(error) }
        session.console.message(
            "The backup is restored. It was in kids mode, and so the library is now: what the restore did is told with the PIN of then, "
                + "by 'smilepile jobs list --all' and 'smilepile jobs show JOB'.")
        return .done
    }

    private static func openedKey(
        of path: String, _ invocation: Invocation, _ session: Session, _ library: any LibraryConnection
    ) async throws -> BackupKey? {
        guard let passphrase = try await Passphrase.ofBackup(session, invocation, isNew: false) else { return nil }
        return try await library.send(
            OpenBackupKey(path: path, snapshot: invocation.value("snapshot"), passphrase: passphrase)
        ).value
    }

    /// Shows what would happen, and asks.
    /// - Parameters:
    ///   - preview: what is to be done, as a trial.
    ///   - now: the library as it is.
    /// - Returns: how the command ends where it is not to be done, or cannot be; nil where somebody says yes.
    private static func endUnlessConfirmed(
        _ preview: RestoreBackup, _ now: LibraryStatus, _ invocation: Invocation, _ session: Session,
        _ library: any LibraryConnection
    ) async throws -> ExitCode? {
        let follower = JobFollower(session: session, library: library, cancelsOnInterrupt: true)
        guard let trial = try await follower.run({ try await library.send(preview).value.job }) else {
            return .cancelled
        }
        let report = JobReport(session: session, library: library, isVerbose: false)
        guard trial.value.state == .finished, let found = trial.value.receipt else {
            return try await report.show(trial)
        }
        let receipt = try JSONDecoder().decode(RestoreReceipt.self, from: JSONText.encode(found))
        try await report.preview(trial.value)
        let backup = receipt.backup
        let there =
            "the library (\(Figures.count(now.photos, "photo")) in "
            + "\(Figures.count(now.categories, "category", "categories")))"
        let wanted =
            "the backup of \(LocalDate.text(backup.timestamp)), \(backup.appVersion) "
            + "(\(Figures.count(backup.photoCount, "photo")) in "
            + "\(Figures.count(backup.categoryCount, "category", "categories")))"
        let isWanted = try await session.confirm(
            preview.mode == .replace ? "Replace \(there) by \(wanted)?" : "Merge \(wanted) into \(there)?",
            given: false, command: invocation)
        return isWanted ? nil : .failed
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
