import CommandLineInterface

extension CommandTable {
    /// For packages, and for who installs without one.
    static let manualPageCommand = Command(
        words: ["man-page"], summary: "Print a program's page for man.",
        details: """
            Made from what the programs say of themselves with --help. The page's date is that of SOURCE_DATE_EPOCH where that
            is set, else today's.
            """,
        operands: [
            Operand(
                "PROGRAM", .words(ManualPage.Subject.allCases.map(\.rawValue)), .optional, help: "Else of this one.")
        ],
        examples: [
            Example("smilepile man-page > ~/.local/share/man/man1/smilepile.1", "Then 'man smilepile' shows it."),
            Example("smilepile man-page smilepiled", "The daemon's, of section 8."),
        ]
    ) { invocation, session in
        let subject = ManualPage.Subject(rawValue: invocation.operand("PROGRAM") ?? "") ?? .commandLine
        let date = ManualPage.date(session.environment)
        let text: String
        if subject == .commandLine {
            text = ManualPage.commandLine(date: date)
        } else {
            let program = try DaemonLaunch.locate(session, subject.rawValue)
            let help = try await OtherProgram(path: program, environment: session.environment).run(["--help"])
            guard help.status == 0, help.text.hasPrefix("Usage:") else {
                throw CommandFailure.local(
                    "\(program) does not explain itself (\(PlainText.neutralized(String(help.text.prefix(200))))). Install the "
                        + "programs of one version.")
            }
            text = ManualPage.program(subject, help: help.text, date: date)
        }
        if session.wantsJSON {
            try session.show(json: [
                "program": .string(subject.rawValue), "section": .integer(Int64(subject.section)),
                "page": .string(text),
            ])
        } else {
            session.console.result(text)
        }
        return .done
    }
}
