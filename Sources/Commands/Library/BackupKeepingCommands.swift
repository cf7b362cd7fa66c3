import CommandLineInterface
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let backupKeepingCommands: [Command] = [
        Command(
            words: ["backup", "schedule"], summary: "Have backups made by themselves, or no more.",
            details: """
                Without anything: how it stands. A backup is made when it is due, the machine has little to do and the
                folder is there; a stick that is not plugged in is waited for, and 'smilepile status' says so. After each
                one the oldest go, as with 'smilepile backup prune'. The folder holds each file once, and each backup copies
                only what is new; with --zip each is one file that holds everything.
                """,
            operands: [Operand("FOLDER", .folder, .optional, help: "Where they go; it has to be there now.")],
            options: [
                .value("every", "SPAN", .span, help: "Such as 7d or 12h; 7d unless told."),
                .value("keep", "N", .number(1...1_000), help: "How many verified ones stay; 4 unless told."),
                .flag("zip", help: "Each backup is one file with everything."),
                .flag("off", help: "No more backups by themselves. Those that are there stay."),
                .flag("passphrase", help: "Ask for a passphrase of their sealed fields."),
                Passphrase.fileOption,
            ],
            examples: [
                Example("smilepile backup schedule /media/stick", "Once a week, the last four."),
                Example("smilepile backup schedule /media/stick --every 1d --keep 14", "Each day, two weeks back."),
                Example("smilepile backup schedule --off", "No more."),
            ]
        ) { invocation, session in try await schedule(invocation, session) },
        Command(
            words: ["backup", "list"], summary: "Show the backups that this library has made.",
            details: "The newest first. Each file is looked at, and not read: that is 'smilepile backup verify'.",
            examples: [Example("smilepile backup list", "How old is the newest, and where is it?")]
        ) { _, session in
            try await session.withLibrary { library in
                let answer = try await library.send(ListBackups())
                session.show(answer) { list in
                    guard !list.backups.isEmpty else {
                        session.console.message("No backup was made yet. Make one: smilepile backup create FOLDER")
                        return
                    }
                    var table = Table(
                        .init(heading: "MADE"), .init(heading: "PHOTOS", isNumeric: true),
                        .init(heading: "SIZE", isNumeric: true), .init(heading: "STATE"),
                        .init(heading: "FILE", shrinks: true))
                    for backup in list.backups {
                        table.add([
                            LocalDate.text(backup.madeAt), String(backup.photos), Figures.size(backup.bytes),
                            state(of: backup), backup.path,
                        ])
                    }
                    session.console.show(table)
                }
                return .done
            }
        },
        Command(
            words: ["backup", "prune"], summary: "Remove the oldest backups, and keep the newest verified ones.",
            details: """
                Only backups that this library has made and named itself, and that are unchanged since. Partial ones
                neither count nor go, and the newest without a damaged photo stays in any case. There is no way back.
                """,
            operands: [Operand("FOLDER", .folder, .optional, help: "Where they are; else that of the schedule.")],
            options: [
                .value("keep", "N", .number(1...1_000), help: "How many stay; else as the schedule says."),
                .flag("dry-run", help: "Only say what would go."),
                .flag("yes", help: "Do not ask."),
            ],
            examples: [
                Example("smilepile backup prune /media/stick --keep 4 --dry-run", "What would go?"),
                Example("smilepile backup prune --yes", "As the schedule does, from a script."),
            ]
        ) { invocation, session in try await prune(invocation, session) },
    ]

    private static func schedule(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let folder = invocation.operand("FOLDER")
        let isOff = invocation.has("off")
        let options = ["every", "keep", "zip", "passphrase", "passphrase-file"].filter { invocation.has($0) }
        guard !isOff || folder == nil && options.isEmpty else {
            throw invocation.usageError("With --off nothing else is said.")
        }
        guard folder != nil || options.isEmpty else {
            throw invocation.usageError("Name the folder that backups go to.")
        }
        let everyHours = try invocation.value("every").map { try hours(of: $0, invocation) }
        return try await session.withLibrary { library in
            guard isOff || folder != nil else {
                let answer = try await library.send(ListBackups())
                session.show(answer) { show(ScheduledBackups(schedule: $0.schedule), session) }
                return .done
            }
            var key: BackupKey?
            if !isOff, let passphrase = try await Passphrase.ofBackup(session, invocation, isNew: true) {
                key = try await library.send(MakeBackupKey(passphrase: passphrase)).value
            }
            let message = ScheduleBackups(
                folder: folder.map(session.absolute), everyHours: everyHours, keep: invocation.number("keep"),
                zip: invocation.has("zip") ? true : nil, key: key,
                off: isOff ? true : nil)
            let answer = try await library.send(message)
            session.show(answer) { show($0, session) }
            return .done
        }
    }

    private static func prune(_ invocation: Invocation, _ session: Session) async throws -> ExitCode {
        let folder = invocation.operand("FOLDER").map(session.absolute)
        let isPreview = invocation.has("dry-run")
        return try await session.withLibrary { library in
            func pruned(dryRun: Bool) async throws -> Answer<PrunedBackups> {
                try await library.send(
                    PruneBackups(folder: folder, keep: invocation.number("keep"), dryRun: dryRun ? true : nil))
            }
            if !isPreview, !invocation.has("yes") {
                let going = try await pruned(dryRun: true).value.removed
                if !going.isEmpty {
                    for backup in going { session.console.message(PlainText.neutralized(backup.path)) }
                    let question = "Remove \(Figures.count(going.count, "backup")) for good?"
                    guard try await session.confirm(question, given: false, command: invocation) else {
                        return .failed
                    }
                }
            }
            let answer = try await pruned(dryRun: isPreview)
            session.show(answer) { pruned in
                if let files = pruned.files {
                    session.console.result([
                        "Removed with them: \(Figures.count(files, "file")) that no snapshot names any more."
                    ])
                }
                for backup in pruned.removed {
                    session.console.result([
                        (isPreview ? "Would be removed: " : "Removed: ") + PlainText.neutralized(backup.path)
                    ])
                }
                let stay = "\(Figures.count(pruned.kept, "verified backup")) "
                session.console.result([
                    stay + (isPreview ? "would stay in " : pruned.kept == 1 ? "is in " : "are in ")
                        + PlainText.neutralized(pruned.folder) + "."
                ])
            }
            return .done
        }
    }

    private static func hours(of text: String, _ invocation: Invocation) throws -> Int {
        let hour: Int64 = 3_600_000
        guard let span = TimeText.shift(text), span % hour == 0,
            ScheduleBackups.everyHoursRange.contains(Int(span / hour))
        else { throw invocation.usageError("--every is a number of days or hours such as 7d or 12h, a year at most.") }
        return Int(span / hour)
    }

    private static func state(of backup: KnownBackup) -> String {
        switch backup.presence {
        case .there:
            backup.verifiedAt == nil ? "damaged" : backup.isWhole ? "verified" : "verified, a part"
        case .gone: "gone"
        case .changed: "changed"
        case .outOfReach: "not plugged in"
        }
    }

    private static func show(_ answer: ScheduledBackups, _ session: Session) {
        guard let schedule = answer.schedule else {
            session.console.message("No backups are made by themselves. Begin: smilepile backup schedule FOLDER")
            return
        }
        var sheet = FactSheet()
        sheet.add("Folder", schedule.folder)
        sheet.add("Every", span(schedule.everyHours))
        sheet.add("Kept", Figures.count(schedule.keep, "verified backup"))
        sheet.add("Kind", schedule.isZip ? "each one file with everything" : "only what is new; each file once")
        if schedule.hasPassphrase { sheet.add("Sealed fields", "under a passphrase") }
        sheet.add("Next", LocalDate.text(schedule.nextAt))
        sheet.add("Late because", schedule.problem)
        session.console.show(sheet)
    }

    private static func span(_ hours: Int) -> String {
        hours % 24 == 0 ? Figures.count(hours / 24, "day") : Figures.count(hours, "hour")
    }

    /// Lines of `smilepile status`.
    static func addBackups(of status: LibraryStatus, to sheet: inout FactSheet) {
        if let newest = status.newestBackup {
            let hours = Int(newest.ageSeconds / 3600)
            let age =
                hours >= 48
                ? Figures.count(hours / 24, "day")
                : hours >= 1 ? Figures.count(hours, "hour") : Figures.count(newest.ageSeconds / 60, "minute")
            sheet.add("Last backup", "\(LocalDate.text(newest.madeAt)), \(age) ago, read back and verified")
            sheet.add("Its file", newest.path)
        } else if let last = status.lastBackupDate {
            sheet.add("Last backup", "\(LocalDate.text(last)), and no sound one of the whole library is known")
        } else {
            sheet.add("Last backup", "never")
        }
        guard let schedule = status.backupSchedule else { return }
        sheet.add("Next backup", "\(LocalDate.text(schedule.nextAt)), to \(schedule.folder)")
        sheet.add("Backup late", schedule.problem)
    }
}
