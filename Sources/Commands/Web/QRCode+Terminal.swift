import QRCodes

extension QRCode {
    /// Characters of a line in a terminal, with the margin.
    var columns: Int { width + 2 * Self.margin }

    /// For a terminal: two modules in one character, dark on light whatever the terminal's colours are, because readers
    /// expect it so.
    var lines: [String] {
        let range = -Self.margin..<(width + Self.margin)
        return stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
            // Black on white, and back again at the line's end.
            "\u{1B}[30;107m"
                + range.map { column in
                    switch (isDark(column: column, row: row), isDark(column: column, row: row + 1)) {
                    case (true, true): "█"
                    case (true, false): "▀"
                    case (false, true): "▄"
                    case (false, false): " "
                    }
                }.joined() + "\u{1B}[0m"
        }
    }
}
