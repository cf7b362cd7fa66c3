/// Rows under headings, in columns as wide as their widest cell. On a terminal too narrow for that, the columns
/// that may shrink give way. Cells are made harmless here, so that no caller can forget it.
struct Table {
    struct Column {
        let heading: String
        var isNumeric = false
        /// May be cut where the terminal is too narrow.
        var shrinks = false
    }

    private static let gap = 2
    private static let narrowest = 8

    let columns: [Column]
    private(set) var rows: [[String]] = []

    init(_ columns: Column...) { self.columns = columns }

    init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row; cells that are missing are empty, ones too many are dropped.
    mutating func add(_ cells: [String]) {
        let filled = cells + Array(repeating: "", count: max(0, columns.count - cells.count))
        rows.append(filled.prefix(columns.count).map(PlainText.neutralized))
    }

    /// - Parameter width: of the terminal in columns; nil where it does not matter.
    func lines(width: Int?, style: Style) -> [String] {
        let widths = fitted(to: width)
        let heading = line(columns.map(\.heading), widths)
        return [style.dim(heading)] + rows.map { line($0, widths) }
    }

    private func fitted(to width: Int?) -> [Int] {
        var widths = columns.indices.map { index in
            rows.reduce(TextWidth.of(columns[index].heading)) { max($0, TextWidth.of($1[index])) }
        }
        guard let width else { return widths }
        while case let over = widths.reduce(0, +) + Self.gap * (widths.count - 1) - width, over > 0 {
            // From the widest one that may shrink, down to the next widest, so that cuts are shared.
            let candidates = widths.indices.filter { columns[$0].shrinks && widths[$0] > Self.narrowest }
            guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
            let next = candidates.filter { widths[$0] < widths[widest] }.map { widths[$0] }.max() ?? Self.narrowest
            widths[widest] -= min(over, max(1, widths[widest] - next))
        }
        return widths
    }

    private func line(_ cells: [String], _ widths: [Int]) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            if index > 0 { text += String(repeating: " ", count: Self.gap) }
            let cut = TextWidth.cut(cell, to: widths[index])
            let isLast = index == cells.count - 1
            // No spaces at the end of a line: they wrap on narrow terminals and clutter copies.
            text +=
                columns[index].isNumeric
                ? TextWidth.padded(cut, to: widths[index], inFront: true)
                : isLast ? cut : TextWidth.padded(cut, to: widths[index])
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// Facts about one thing, `Name  value` a line, the values aligned.
struct FactSheet {
    private var facts: [(name: String, value: String)] = []

    var isEmpty: Bool { facts.isEmpty }

    mutating func add(_ name: String, _ value: String?) {
        if let value { facts.append((name, PlainText.neutralized(value))) }
    }

    func lines(style: Style) -> [String] {
        let width = facts.map { TextWidth.of($0.name) }.max() ?? 0
        return facts.map { style.dim(TextWidth.padded($0.name, to: width)) + "  " + $0.value }
    }
}
