/// The language of pages for man(1), as far as it is used here: what man(7) and mandoc(1) both take.
struct Roff {
    private(set) var lines: [String] = []

    /// - Parameters:
    ///   - date: `2026-11-30`.
    ///   - source: what the page is of, with its version.
    init(name: String, section: Int, date: String, source: String) {
        lines.append(".TH \(Self.word(name.uppercased())) \(section) \(date) \(Self.word(source)) SmilePile")
        // Nobody hyphenates what is typed, and lines that are stretched are hard to read.
        lines += [".nh", ".ad l"]
    }

    var text: String { lines.joined(separator: "\n") }

    mutating func section(_ title: String) { lines.append(".SH \(Self.word(title))") }

    mutating func part(_ title: String) { lines.append(".SS \(Self.word(title))") }

    mutating func paragraph(_ text: String) {
        begin()
        lines.append(Self.characters(text))
    }

    /// Begins a paragraph, unless a heading has.
    private mutating func begin() {
        if lines.last?.hasPrefix(".S") != true { lines.append(".PP") }
    }

    /// As the table's details are written.
    mutating func prose(_ text: String) {
        var isBetweenLines = false
        for piece in Prose.pieces(text) {
            switch piece {
            case .paragraph(let text):
                if isBetweenLines { lines += [".fi", ".RE"] }
                isBetweenLines = false
                paragraph(text)
            case .line("", _): continue
            case .line(let text, _):
                if !isBetweenLines {
                    begin()
                    lines += [".RS 4", ".nf"]
                }
                isBetweenLines = true
                lines.append(Self.characters(text))
            }
        }
        if isBetweenLines { lines += [".fi", ".RE"] }
    }

    /// A word in bold, and what it means beside it or below.
    mutating func item(_ name: String, _ meaning: String) {
        lines += [".TP", "\\fB\(Self.characters(name))\\fR", Self.characters(meaning)]
    }

    /// The same of `--library FOLDER`: what a person replaces is in italics.
    mutating func option(_ usage: String, _ meaning: String) {
        let words = usage.split(separator: " ").map { word in
            "\\f\(word.hasPrefix("-") ? "B" : "I")\(Self.characters(String(word)))\\fR"
        }
        lines += [".TP", words.joined(separator: " "), Self.characters(meaning)]
    }

    /// What is typed, in bold where it is a program's own word.
    mutating func usage(_ line: String) {
        let words = line.split(separator: " ").map(String.init)
        let own = words.prefix { $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "-" } }
        let rest = words.dropFirst(own.count).map(Self.characters)
        begin()
        lines += [
            (["\\fB" + Self.characters(own.joined(separator: " ")) + "\\fR"] + rest).joined(separator: " ")
        ]
    }

    /// What is typed, as it is.
    mutating func example(_ line: String) {
        begin()
        lines.append("\\fB" + Self.characters(line) + "\\fR")
    }

    /// The line that whatis(1) knows.
    mutating func name(_ name: String, _ purpose: String) {
        lines.append("\(Self.characters(name)) \\- \(Self.characters(purpose))")
    }

    mutating func references(_ pages: [(name: String, section: Int)]) {
        let last = pages.count - 1
        lines += pages.enumerated().map { number, page in
            ".BR \(Self.characters(page.name)) (\(page.section)\(number == last ? ")" : "),")"
        }
    }

    // MARK: Characters

    /// An argument of a request.
    private static func word(_ text: String) -> String { "\"" + characters(text) + "\"" }

    /// A text in which nothing is a request, an escape, or another character than the one that was written: what is copied
    /// off the page can be typed. Dashes, quotation marks, tildes and circumflexes else become what printers set for them.
    static func characters(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "'": escaped += "\\(aq"
            case "\"": escaped += "\\(dq"
            case "`": escaped += "\\(ga"
            case "^": escaped += "\\(ha"
            case "~": escaped += "\\(ti"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F: escaped += " "
            case _ where scalar.value > 0x7F:
                let hex = String(scalar.value, radix: 16, uppercase: true)
                escaped += "\\[u" + String(repeating: "0", count: max(0, 4 - hex.count)) + hex + "]"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        // A full stop at the beginning of a line begins a request.
        return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
    }
}
