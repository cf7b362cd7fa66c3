import CommandLineInterface

extension Command {
    /// `doctor`, a row for the program's table.
    package static let doctor = Command(
        words: ["doctor"], summary: "Look at the installation and the library, and say what to do.",
        details: """
            Programs, permissions, keys, the catalogue, every byte of every photo, thumbnails, backups, the disk, the clock, and
            libraries with known faults. Where no daemon runs, what can be looked at without one. Nothing is changed.

            With --fix it does what is safe: rights of other users on the library's folder, the socket and the key file are
            taken away, and missing thumbnails are made.

            Exit code 5: there is a warning or a problem. Advice alone is 0.
            """,
        options: [
            .flag("quick", help: "Compare names and sizes of files only, not the bytes."),
            .flag("fix", help: "Put right what is safe to put right."),
            .flag("verbose", help: "Also name the checks that found nothing."),
            .value(
                "library", "FOLDER", .folder,
                help: "Which one to look at where no daemon runs; else the service's, or the usual."),
        ],
        examples: [
            Example("smilepile doctor", "Is all well?"),
            Example("smilepile doctor --quick --json", "For a script, each day."),
            Example("smilepile doctor --fix", "Put right what can be."),
        ]
    ) { invocation, session in
        let report = try await Examination(
            session: session, isQuick: invocation.has("quick"), repairs: invocation.has("fix"),
            library: invocation.value("library")
        ).run()
        if session.wantsJSON {
            try session.show(json: report.json)
        } else {
            session.console.result(
                report.lines(
                    isVerbose: invocation.has("verbose"), style: session.console.style,
                    columns: session.console.results.columns()))
        }
        return report.exitCode
    }
}
