import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

/// Pages for man(1), made from what else explains the programs: the table of commands, and what the others print for `--help`.
struct ManualPage {
    /// A program that has a page.
    enum Subject: String, CaseIterable {
        case commandLine = "smilepile"
        case daemon = "smilepiled"
        case page = "smilepile-web"

        /// 1 is for what people type, 8 for what administrators have started.
        var section: Int { self == .commandLine ? 1 : 8 }
        var others: [Subject] { Self.allCases.filter { $0 != self } }

        /// As apropos(1) lists it.
        var purpose: String {
            switch self {
            case .commandLine: "keep a family's photos and films on a machine of their own"
            case .daemon: "keep a library of photos, and serve it on a socket"
            case .page: "serve the page on which a family looks at its photos"
            }
        }
    }

    /// The day that the page is of: SOURCE_DATE_EPOCH, where who builds has set it, so that two builds are the same; else today.
    static func date(_ environment: [String: String]) -> String {
        let said = environment["SOURCE_DATE_EPOCH"].flatMap { Int64($0) }
        let moment = said.flatMap { Timestamp(milliseconds: $0 &* 1000).rfc3339 } ?? Timestamp.now().rfc3339
        return String((moment ?? "").prefix(10))
    }

    /// The page of the command line: every command with all that its own help says.
    static func commandLine(date: String) -> String {
        var page = begin(.commandLine, date)
        page.section("SYNOPSIS")
        page.usage(HelpText.usage(for: []))
        page.section("DESCRIPTION")
        page.paragraph(
            "smilepile talks to a daemon that keeps the photos, smilepiled, over a Unix socket. \(Self.first) Every command explains "
                + "itself with --help, and prints JSON with --json.")
        page.section("OPTIONS OF EVERY COMMAND")
        for option in Option.everywhere { page.option(option.usage, HelpText.text(of: option)) }
        page.option("--version", "Print the version.")
        page.section("COMMANDS")
        var group: String?
        for command in CommandTable.all {
            let own = command.words.count > 1 ? command.words[0] : nil
            if own != group, let own, let about = CommandTable.groups[own] {
                page.part(own)
                page.paragraph(about)
            }
            group = own
            add(command, to: &page)
        }
        page.section("EXIT STATUS")
        for code in ExitCode.allCases { page.item(String(code.rawValue), code.meaning) }
        page.section("ENVIRONMENT")
        for (name, meaning) in environment { page.item(name, meaning) }
        page.section("FILES")
        for (name, meaning) in files { page.item(name, meaning) }
        end(.commandLine, &page)
        return page.text
    }

    private static let first =
        "'smilepile up' starts the daemon, 'smilepile import ~/Pictures' brings the first photos."

    private static func add(_ command: Command, to page: inout Roff) {
        page.part(command.name)
        page.usage(HelpText.usage(for: command.words))
        page.paragraph(command.summary)
        if command.isDefaultOfGroup {
            page.paragraph("This is also what 'smilepile \(command.words.dropLast().joined(separator: " "))' does.")
        }
        page.prose(command.details)
        for operand in command.operands { page.option(operand.name, HelpText.text(of: operand)) }
        for option in command.options { page.option(option.usage, HelpText.text(of: option)) }
        for example in command.examples { page.item(example.line, example.purpose) }
    }

    private static let environment = [
        ("SMILEPILE_SOCKET", "The daemon's socket, where --socket names none."),
        ("SMILEPILE_LIBRARY", "The library's folder, where --library names none."),
        ("SMILEPILE_WORKERS", "Pictures that the daemon opens at once, where the daemon's --workers says nothing."),
        ("SMILEPILE_LOG_LEVEL", "What the daemon logs, where its --log-level says nothing: error, warning or info."),
        ("SMILEPILE_PIN_FILE", "The PIN's file, where --pin-file names none."),
        ("SMILEPILE_KEY_FILE", "The key of the sealed fields, for commands that look after keys, and for the daemon."),
        ("XDG_RUNTIME_DIR", "The socket is smilepile/control.sock in there, unless it is named."),
        ("XDG_DATA_HOME", "The library is smilepile in there, unless it is named; else ~/.local/share/smilepile."),
        (
            "XDG_CONFIG_HOME",
            "The configuration is smilepile/config.toml in there, and the key smilepile/sealing.key; else in ~/.config."
        ),
        ("VISUAL, EDITOR", "What 'smilepile config edit' opens the configuration in."),
        ("XDG_STATE_HOME", "The daemon's log is smilepile/daemon.log in there; else in ~/.local/state."),
        ("NO_COLOR", "No colours, also on a terminal."),
    ]

    private static let files = [
        ("~/.local/share/smilepile", "The library: photos, originals, thumbnails and the catalogue."),
        ("~/.config/smilepile/config.toml", "What the programs are started with: smilepile config."),
        ("~/.config/smilepile/sealing.key", "What opens the sealed fields. Save it elsewhere: smilepile keys export."),
        ("/var/lib/smilepile/USER", "What smilepiled@USER.service keeps: library and config, with the key."),
    ]

    // MARK: What all have

    private static func begin(_ subject: Subject, _ date: String) -> Roff {
        var page = Roff(
            name: subject.rawValue, section: subject.section, date: date, source: "SmilePile \(Release.version)")
        page.section("NAME")
        page.name(subject.rawValue, subject.purpose)
        return page
    }

    private static func end(_ subject: Subject, _ page: inout Roff) {
        page.section("SEE ALSO")
        page.references(
            subject.others.sorted { ($0.section, $0.rawValue) < ($1.section, $1.rawValue) }.map {
                ($0.rawValue, $0.section)
            })
    }
}

// MARK: - The other programs

extension ManualPage {
    /// The page of a program, from what it prints for `--help`.
    /// - Parameter help: lines for `Usage:`; paragraphs; lists under `Options:`; examples; `Signals:` and the like.
    static func program(_ subject: Subject, help: String, date: String) -> String {
        var page = begin(subject, date)
        let blocks = help.split(separator: "\n\n").map { block in
            block.split(separator: "\n").map(String.init)
        }
        for (number, block) in blocks.enumerated() {
            guard let first = block.first else { continue }
            let title = first.prefix { $0 != ":" }
            switch title {
            case "Usage":
                page.section("SYNOPSIS")
                for line in joined(block.map { String($0.replacing("Usage:", with: "      ")) }, indent: 7) {
                    page.usage(line)
                }
                page.section("DESCRIPTION")
            case "Options":
                page.section("OPTIONS")
                for (name, meaning) in list(block.dropFirst()) { page.option(name, meaning) }
            case "Example", "Examples":
                page.section("EXAMPLES")
                for line in joined(Array(block.dropFirst()), indent: 2) { page.example(line) }
            case _ where title.count < first.count && title.allSatisfy(\.isLetter) && number > 1:
                page.section(title.uppercased())
                page.paragraph(block.joined(separator: " ").dropFirst(title.count + 2).description)
            default: page.prose(block.joined(separator: "\n"))
            }
        }
        for (title, text) in more(subject) {
            page.section(title)
            page.prose(text)
        }
        end(subject, &page)
        return page.text
    }

    /// Lines of which those that are indented further go on with the one before.
    private static func joined(_ lines: [String], indent: Int) -> [String] {
        lines.reduce(into: []) { joined, line in
            let spaces = line.prefix { $0 == " " }.count
            let text = String(line.dropFirst(spaces))
            if spaces > indent, !joined.isEmpty { joined[joined.count - 1] += " " + text } else { joined.append(text) }
        }
    }

    /// Names at two spaces, what they mean two or more spaces behind them, and further lines of that.
    private static func list(_ lines: some Sequence<String>) -> [(String, String)] {
        joined(Array(lines), indent: 2).map { line in
            guard let gap = line.firstRange(of: "  ") else { return (line, "") }
            return (String(line[..<gap.lowerBound]), String(line[gap.upperBound...].drop { $0 == " " }))
        }
    }

    /// What only an administrator asks.
    private static func more(_ subject: Subject) -> [(String, String)] {
        switch subject {
        case .commandLine: []
        case .daemon:
            [
                (
                    "SYSTEMD",
                    """
                    A person's own daemon is a unit of that person: smilepile service install. On a machine that several families
                    share, each has an account, and the administrator says for each:

                        systemctl enable --now smilepiled@ada.socket smilepiled@ada.service

                    The daemon runs as ada, keeps everything in /var/lib/smilepile/ada and listens at
                    /run/smilepile/ada/control.sock, which is what ada's SMILEPILE_SOCKET names. It reads pictures in /home and writes
                    nothing there; backups and exports may go below /media, /mnt, /srv and /run/media. Other places are allowed with
                    'systemctl edit smilepiled@ada': [Service], ReadWritePaths=/where.

                    The key of the sealed fields is made in /var/lib/smilepile/ada/config, or comes as the credential smilepile-key:
                    the file /etc/credstore/smilepile-key.ada, where there is one.

                    A configuration for this account is /etc/smilepile/ada/config.toml, which has to be root's or ada's; the unit's own
                    options stand above it. SIGHUP (systemctl reload) has it read again.

                    Backups by themselves need no timer: smilepile backup schedule.
                    """
                )
            ]
        case .page:
            [
                (
                    "SYSTEMD",
                    """
                    Beside smilepiled@ada.service: systemctl enable --now smilepile-web@ada.service. Its options are in
                    /etc/smilepile/ada/web.conf, and each family needs a port of its own:

                        SMILEPILE_WEB_OPTIONS=--home --listen 192.168.1.5:8470

                    The page reaches the library through the daemon's socket alone; its unit hides the files from it.
                    """
                )
            ]
        }
    }
}
