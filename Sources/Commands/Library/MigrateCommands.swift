import CommandLineInterface
import LibraryModel

extension CommandTable {
    static let migrateCommands: [Command] = [
        Command(
            words: ["migrate"], summary: "Take over the library of the Android app.",
            details: """
                DATABASE is the app's own file smilepile_database (versions 4 to 8), copied from the phone with the app
                closed, together with the files of the same name that end in -wal and -journal, if there are any. It is only
                read. Photos are found by the names of their files. The same command again changes nothing, and completes
                what was stopped.
                Exit code 5: something was defaulted, renamed, missing or left; the receipt names it.
                """,
            operands: [Operand("DATABASE", .path, help: "The old database.")],
            options: [
                .value("photos", "DIR", .folder, help: "Where the photo files are now, in or below it."),
                .flag("keep-missing", help: "Take photos over whose files are not found, without a picture."),
                .flag("dry-run", help: "Only look: say what would be taken over, change nothing."), detach, verbose,
            ],
            examples: [
                Example("smilepile migrate smilepile_database --photos ~/phone/DCIM --dry-run", "What would happen?"),
                Example("smilepile migrate smilepile_database --photos ~/phone/DCIM", "Take it over."),
            ]
        ) { invocation, session in
            try await session.withLibrary { library in
                let message = MigrateLibrary(
                    database: session.absolute(invocation.operand("DATABASE") ?? ""),
                    photos: invocation.value("photos").map(session.absolute),
                    keepMissing: invocation.has("keep-missing") ? true : nil,
                    dryRun: invocation.has("dry-run") ? true : nil)
                return try await runJob(message, invocation, session, library)
            }
        }
    ]
}
