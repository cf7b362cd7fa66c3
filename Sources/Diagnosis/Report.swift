import CommandLineInterface
import LibraryModel
import ServiceMesh

/// All findings of one run, and how they are told.
package struct Report: Sendable {
    package let findings: [Finding]
    /// Nil where none is known.
    package let library: String?
    package let socket: String
    /// The daemon's process and version; nil where none answered.
    package let daemon: (pid: Int32, version: String)?

    package init(findings: [Finding], library: String?, socket: String, daemon: (pid: Int32, version: String)?) {
        (self.findings, self.library, self.socket, self.daemon) = (findings, library, socket, daemon)
    }

    /// What is left, what was put right not counted.
    package var worst: Finding.Severity { findings.filter { $0.fixed == nil }.map(\.severity).max() ?? .ok }

    package var exitCode: ExitCode { worst > .advice ? .doneWithProblems : .done }

    package var json: JSONValue {
        var members: [String: JSONValue] = [
            "version": .string(Release.version), "socket": .string(socket), "worst": .string(worst.rawValue),
            "checks": .integer(Int64(findings.count)), "findings": .array(findings.map(\.json)),
        ]
        if let library { members["library"] = .string(library) }
        if let daemon { members["daemon"] = ["pid": .integer(Int64(daemon.pid)), "version": .string(daemon.version)] }
        return .object(members)
    }

    // MARK: For a person

    private static let usualWidth = 80
    /// Longer lines are hard to read.
    private static let greatestWidth = 100
    /// Of the severity, with the spaces around it.
    private static let indent = 11

    /// - Parameters:
    ///   - isVerbose: whether the checks that found nothing are named.
    ///   - columns: of the terminal; nil where there is none.
    package func lines(isVerbose: Bool, style: Style, columns: Int?) -> [String] {
        let width = min(columns ?? Self.usualWidth, Self.greatestWidth)
        var lines: [String] = []
        for area in Finding.Area.allCases {
            let shown = findings.filter { $0.area == area && (isVerbose || $0.severity > .ok) }
                .sorted { $0.severity > $1.severity }
            guard !shown.isEmpty else { continue }
            lines += [style.bold(area.title)] + shown.flatMap { self.lines($0, style, width) } + [""]
        }
        return lines + summary(isVerbose: isVerbose, width)
    }

    private func lines(_ finding: Finding, _ style: Style, _ width: Int) -> [String] {
        func wrapped(_ text: String) -> [String] {
            TextWidth.wrapped(PlainText.neutralized(text), to: width, indent: Self.indent)
        }
        let word = finding.fixed == nil ? finding.severity.rawValue : "fixed"
        let coloured =
            switch finding.severity {
            case _ where finding.fixed != nil: style.bold(word)
            case .problem: style.red(word)
            case .warning: style.yellow(word)
            case .advice: style.bold(word)
            case .ok: style.dim(word)
            }
        let spaces = String(repeating: " ", count: Self.indent - 2 - word.count)
        var lines = wrapped(finding.what)
        lines[0] = "  " + coloured + spaces + lines[0].dropFirst(Self.indent)
        if let fixed = finding.fixed { return lines + wrapped(fixed) }
        if let remedy = finding.remedy { lines += wrapped(finding.command == nil ? remedy : Self.leading(remedy)) }
        // What is typed off the screen stays one line, further to the left where it is long.
        if let command = finding.command.map(PlainText.neutralized) {
            let indent = max(4, min(Self.indent + 2, width - TextWidth.of(command)))
            lines.append(String(repeating: " ", count: indent) + command)
        }
        return lines
    }

    /// With a colon where a command follows.
    private static func leading(_ remedy: String) -> String {
        remedy.hasSuffix(".") ? remedy.dropLast() + ":" : remedy
    }

    private func summary(isVerbose: Bool, _ width: Int) -> [String] {
        let left = findings.filter { $0.severity > .ok && $0.fixed == nil }
        let fine = findings.count - findings.filter { $0.severity > .ok }.count
        guard !left.isEmpty else {
            return TextWidth.wrapped("\(Figures.count(findings.count, "check")): all is well.", to: width)
        }
        let counts = [Finding.Severity.problem, .warning, .advice].compactMap { severity -> String? in
            let number = left.filter { $0.severity == severity }.count
            guard number > 0 else { return nil }
            return severity == .advice
                ? Figures.count(number, "piece of advice", "pieces of advice")
                : Figures.count(number, severity.rawValue)
        }
        let others = fine == 1 ? "1 check is fine." : "\(fine) checks are fine."
        var lines = TextWidth.wrapped(counts.joined(separator: ", ") + ". " + others, to: width)
        if left.contains(where: { $0.repair != nil }) {
            lines += TextWidth.wrapped("Some of it can be put right at once: smilepile doctor --fix", to: width)
        }
        return lines
    }
}
