/// How large a terminal is.
package struct TerminalSize: Equatable, Sendable {
    /// Characters.
    package var columns: Int
    package var rows: Int
    /// Pixels of one character.
    package var cellWidth: Int
    package var cellHeight: Int

    /// Pixels are those of all of it; what is not told, or cannot be, is as with most fonts.
    package init(columns: Int, rows: Int, width: Int = 0, height: Int = 0) {
        self.columns = columns > 0 ? columns : 80
        self.rows = rows > 0 ? rows : 24
        cellWidth = width / self.columns
        cellHeight = height / self.rows
        if !(4...100).contains(cellWidth) || !(6...200).contains(cellHeight) { (cellWidth, cellHeight) = (10, 20) }
    }
}

/// Some of a terminal's characters.
package struct TerminalRectangle: Equatable, Sendable {
    package var left: Int
    package var top: Int
    package var columns: Int
    package var rows: Int

    package init(left: Int = 0, top: Int = 0, columns: Int, rows: Int) {
        self.left = left
        self.top = top
        self.columns = columns
        self.rows = rows
    }

    /// The largest part of this in which a picture has its own proportions, in the middle; nil where nothing could be seen. Small
    /// pictures are enlarged to it.
    package func fitting(width: Int, height: Int, _ size: TerminalSize) -> TerminalRectangle? {
        guard columns > 1, rows > 1, width > 0, height > 0 else { return nil }
        let room = (width: columns * size.cellWidth, height: rows * size.cellHeight)
        let scale = min(Double(room.width) / Double(width), Double(room.height) / Double(height))
        let fitted = TerminalRectangle(
            columns: min(columns, max(1, Int((Double(width) * scale / Double(size.cellWidth)).rounded()))),
            rows: min(rows, max(1, Int((Double(height) * scale / Double(size.cellHeight)).rounded()))))
        return TerminalRectangle(
            left: left + (columns - fitted.columns) / 2, top: top + (rows - fitted.rows) / 2, columns: fitted.columns,
            rows: fitted.rows)
    }
}
