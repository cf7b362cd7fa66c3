/// Rows under headings, in columns as wide as their widest cell. On a terminal too narrow for that, the columns
/// that may shrink give way. Cells are made harmless here, so that no caller can forget it.
package struct Table {
    package struct Column {
        package let heading: String
        package var isNumeric = false
        /// May be cut where the terminal is too narrow.
        package var shrinks = false
        /// Its cells are `#RRGGBB`, and a patch of that colour stands before each where there are colours.
        package var isColour = false

        package init(heading: String, isNumeric: Bool = false, shrinks: Bool = false, isColour: Bool = false) {
            self.heading = heading
            self.isNumeric = isNumeric
            self.shrinks = shrinks
            self.isColour = isColour
        }
    }

    /// The patch, and a space.
    private static let patchWidth = 3

    private static let gap = 2
    private static let narrowest = 8

    package let columns: [Column]
    package private(set) var rows: [[String]] = []

    package init(_ columns: Column...) { self.columns = columns }

    package init(_ columns: [Column]) { self.columns = columns }

    /// Adds a row; cells that are missing are empty, ones too many are dropped.
    package mutating func add(_ cells: [String]) {
        let filled = cells + Array(repeating: "", count: max(0, columns.count - cells.count))
        rows.append(filled.prefix(columns.count).map(PlainText.neutralized))
    }

    /// - Parameter width: of the terminal in columns; nil where it does not matter.
    package func lines(width: Int?, style: Style) -> [String] {
        let widths = fitted(to: width, style)
        return [heading(widths, style)] + rows.map { line($0, widths, style) }
    }

    fileprivate func heading(_ widths: [Int], _ style: Style) -> String {
        style.dim(line(columns.map(\.heading), widths))
    }

    fileprivate func fitted(to width: Int?, _ style: Style) -> [Int] {
        var widths = columns.indices.map { index in
            let patch = columns[index].isColour && style.isOn ? Self.patchWidth : 0
            return rows.reduce(TextWidth.of(columns[index].heading)) { max($0, TextWidth.of($1[index]) + patch) }
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

    /// - Parameter cuts: whether what is wider than its column is cut; else it pushes aside what follows.
    fileprivate func line(
        _ cells: [String], _ widths: [Int], _ style: Style = Style(isOn: false), cuts: Bool = true
    ) -> String {
        var text = ""
        for (index, cell) in cells.enumerated() {
            if index > 0 { text += String(repeating: " ", count: Self.gap) }
            var width = widths[index]
            if columns[index].isColour, style.isOn {
                text += (style.patch(of: cell) ?? "  ") + " "
                width -= Self.patchWidth
            }
            let cut = cuts ? TextWidth.cut(cell, to: width) : cell
            let isLast = index == cells.count - 1
            // No spaces at the end of a line: they wrap on narrow terminals and clutter copies.
            text +=
                columns[index].isNumeric
                ? TextWidth.padded(cut, to: width, inFront: true) : isLast ? cut : TextWidth.padded(cut, to: width)
        }
        while text.last == " " { text.removeLast() }
        return text
    }
}

/// Tables that come one after the other and are shown as one: a heading, and columns as wide as the first one's. Nothing is
/// cut where no terminal says how wide it is.
package struct TableStream {
    private var widths: [Int]?

    package init() {}

    package mutating func lines(_ table: Table, width: Int?, style: Style) -> [String] {
        if let widths { return table.rows.map { table.line($0, widths, style, cuts: width != nil) } }
        let first = table.fitted(to: width, style)
        widths = first
        return [table.heading(first, style)] + table.rows.map { table.line($0, first, style) }
    }
}

/// Facts about one thing, `Name  value` a line, the values aligned.
package struct FactSheet {
    private var facts: [(name: String, value: String)] = []

    package init() {}

    package var isEmpty: Bool { facts.isEmpty }

    package mutating func add(_ name: String, _ value: String?) {
        if let value { facts.append((name, PlainText.neutralized(value))) }
    }

    package func lines(style: Style) -> [String] {
        let width = facts.map { TextWidth.of($0.name) }.max() ?? 0
        return facts.map { style.dim(TextWidth.padded($0.name, to: width)) + "  " + $0.value }
    }
}
