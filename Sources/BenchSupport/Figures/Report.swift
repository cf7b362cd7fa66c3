import Foundation

/// What a subcommand prints at its end: a table for people, or the same as JSON for programs.
package struct Report: Codable {
    let figures: [Figure]

    package init(figures: [Figure]) {
        self.figures = figures
    }

    /// Figures that do not hold.
    package var missed: Int { figures.count { $0.holds == false } }

    package func print(asJSON: Bool) throws {
        if asJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            Swift.print(String(decoding: try encoder.encode(self), as: UTF8.self))
        } else {
            Swift.print(table)
        }
    }

    private var table: String {
        let head = ["what", "ours", "peer", "ratio", "must", "holds"]
        let rows = figures.map { figure in
            [
                figure.what, figure.ours, figure.peer, figure.ratio.map(Format.ratio) ?? "", figure.must ?? "",
                figure.holds.map { $0 ? "yes" : "NO" } ?? "",
            ]
        }
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            return padded.joined(separator: "  ").trimmingEnd
        }
        let rule = widths.map { String(repeating: "-", count: $0) }
        var lines = [line(head), line(rule)] + rows.map(line)
        let commands = figures.compactMap { figure in figure.command.map { "  \(figure.what): \($0)" } }
        if !commands.isEmpty { lines += ["", "peers, as they were run:"] + commands }
        return lines.joined(separator: "\n")
    }
}

extension String {
    fileprivate var trimmingEnd: String {
        var text = self
        while text.hasSuffix(" ") { text.removeLast() }
        return text
    }
}
