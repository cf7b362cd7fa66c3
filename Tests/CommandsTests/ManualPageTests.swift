import Foundation
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Pages for man")
struct ManualPageTests {
    private static let groff = "/usr/bin/groff"
    private static let hasGroff = FileManager.default.isExecutableFile(atPath: groff)

    /// As the daemon and the page's program write their help.
    private static let help = """
        Usage: smilepiled [--library DIR] [--new]
                          [--socket PATH]
               smilepiled --reset-pin

        Keeps a photo library and serves it. 'smilepile up'
        starts it in the background.

        Options:
          --library DIR   The library's folder. Default: ~/.local/share/smilepile,
                          else nothing.
          --help          Print this and exit.

        Example:
          smilepiled --library ~/Pictures

        Signals: SIGTERM stops it, a second one
        at once.
        """

    /// What groff makes of a page, and what it has to say against it.
    private func rendered(_ page: String) throws -> (text: String, warnings: String) {
        let folder = try TemporaryFolder("man-page")
        let file = folder.file("page")
        try page.write(toFile: file, atomically: true, encoding: .utf8)
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: Self.groff)
        process.arguments = ["-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=200n", file]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        // A file, so that neither stream waits for the other to be read.
        let said = folder.file("warnings")
        try Data().write(to: URL(fileURLWithPath: said))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: said))
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (text, try String(contentsOfFile: said, encoding: .utf8))
    }

    @Test(
        "Every command, option and example stands on the page as it is typed, and groff has nothing to say against it")
    func table() throws {
        let page = ManualPage.commandLine(date: "2026-11-30")
        for command in CommandTable.all {
            #expect(page.contains("\n.SS \"\(Roff.characters(command.name))\"\n"), "\(command.name)")
        }
        try #require(Self.hasGroff, "groff is not installed")
        let (text, warnings) = try rendered(page)
        #expect(warnings.isEmpty, "\(warnings)")
        let oneLine = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for command in CommandTable.all {
            #expect(text.contains("   \(command.name)\n"), "\(command.name)")
            for option in command.allOptions { #expect(text.contains("--" + option.name)) }
            for example in command.examples {
                let line = example.line.split(separator: " ").joined(separator: " ")
                #expect(oneLine.contains(line), "\(example.line)")
            }
        }
    }

    @Test("What another program prints for --help becomes a page of the same parts")
    func otherPrograms() throws {
        for subject in [ManualPage.Subject.daemon, .page] {
            let page = ManualPage.program(subject, help: Self.help, date: "2026-11-30")
            #expect(
                page.hasPrefix(#".TH "\#(subject.rawValue.uppercased().replacing("-", with: "\\-"))" 8 2026-11-30 "#)
            )
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "SIGNALS", "SYSTEMD", "SEE ALSO"]
            {
                #expect(page.contains("\n.SH \"\(section)\"\n"), "\(section)")
            }
            #expect(page.contains("\\fBsmilepiled\\fR [\\-\\-library DIR] [\\-\\-new] [\\-\\-socket PATH]\n"))
            #expect(page.contains("\\fBsmilepiled \\-\\-reset\\-pin\\fR\n"))
            #expect(page.contains("\n.TP\n\\fB\\-\\-library\\fR \\fIDIR\\fR\nThe library\\(aqs folder. Default: "))
            #expect(
                page.contains("smilepile, else nothing.\n")
                    && page.contains("\nSIGTERM stops it, a second one at once.\n"))
            if Self.hasGroff { #expect(try rendered(page).warnings.isEmpty) }
        }
    }

    @Test("Nothing that a text has in it is a request or an escape")
    func characters() {
        #expect(Roff.characters(".so /etc/passwd") == "\\&.so /etc/passwd")
        #expect(Roff.characters("'br \\n \"x\" `y` ~ ^ -") == "\\(aqbr \\en \\(dqx\\(dq \\(gay\\(ga \\(ti \\(ha \\-")
        #expect(Roff.characters("PATH… 😀\n") == "PATH\\[u2026] \\[u1F600] ")
    }

    @Test("The date is that of SOURCE_DATE_EPOCH, where it is set to one")
    func date() async {
        #expect(ManualPage.date(["SOURCE_DATE_EPOCH": "1795976347"]) == "2026-11-29")
        #expect(ManualPage.date(["SOURCE_DATE_EPOCH": "soon"]) == ManualPage.date([:]))
        let stage = Stage(environment: ["SOURCE_DATE_EPOCH": "0"])
        #expect(await stage.run("man-page") == .done)
        #expect(stage.results.hasPrefix(#".TH "SMILEPILE" 1 1970-01-01 "SmilePile "#))
    }
}
