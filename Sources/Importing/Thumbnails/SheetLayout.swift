import Foundation
import ImageWorkerProtocol
import LibraryModel

/// Where things stand on a page of a contact sheet: A4 upright, at 200 pixels an inch.
///
/// Each photo has a cell: the picture in a box, below it a bar in the colour of its category, its name, and its date beside the
/// category's name. Pictures keep their proportions; a box is about as wide as it is high, and somewhat more or less so that
/// the rows fill the page.
struct SheetLayout {
    static let resolution = 200
    static let width = 1654
    static let height = 2339

    private static let margin = 94
    private static let gap = 24
    private static let headingSize = 34
    private static let footerSize = 20
    /// From the page's upper edge to the first row, and from its lower edge to the last.
    private static let top = margin + 66
    private static let bottom = margin + 44
    private static let ink: UInt32 = 0x1E1E1E
    private static let paleInk: UInt32 = 0x5F5F5F
    private static let emptyBox: UInt32 = 0xECECEC

    let columns: Int
    let rows: Int
    private let cellWidth: Int
    private let cellHeight: Int
    private let nameSize: Int
    private let dateSize: Int
    private let barHeight: Int

    init(columns: Int) {
        self.columns = columns
        cellWidth = (Self.width - 2 * Self.margin - (columns - 1) * Self.gap) / columns
        nameSize = max(16, min(28, cellWidth / 14))
        dateSize = max(14, nameSize * 4 / 5)
        barHeight = max(5, cellWidth / 60)
        let room = Self.height - Self.top - Self.bottom
        let words = Self.wordsHeight(bar: barHeight, name: nameSize, date: dateSize)
        let wished = cellWidth * 9 / 10 + words + Self.gap
        rows = max(1, (room + Self.gap + wished / 2) / wished)
        cellHeight = (room + Self.gap) / rows
    }

    /// Photos on a page.
    var room: Int { columns * rows }

    /// The picture's box.
    var box: (width: Int, height: Int) {
        (cellWidth, cellHeight - Self.gap - Self.wordsHeight(bar: barHeight, name: nameSize, date: dateSize))
    }

    private static func wordsHeight(bar: Int, name: Int, date: Int) -> Int { 8 + bar + name * 3 / 2 + date * 3 / 2 }

    /// The upper left corner of the cell of the photo at `index`.
    private func corner(_ index: Int) -> (x: Int, y: Int) {
        (Self.margin + index % columns * (cellWidth + Self.gap), Self.top + index / columns * cellHeight)
    }

    /// Where a picture of that size stands: in the middle of its box, at its lower edge.
    func place(of index: Int, width: Int, height: Int) -> (x: Int, y: Int) {
        let (x, y) = corner(index)
        return (x + (box.width - width) / 2, y + box.height - height)
    }

    // MARK: Words

    /// What stands in one cell beside the picture.
    struct Words {
        var name: String
        var date: String
        var category: String
        /// 0xRRGGBB
        var colour: UInt32
        /// Why there is no picture; nil where there is one.
        var absence: String?
    }

    func page(
        _ cells: [Words], heading: String, footer: String, format: SheetPage.Format
    ) -> SheetPage {
        let whole = Self.width - 2 * Self.margin
        var page = SheetPage(width: Self.width, height: Self.height, resolution: Self.resolution, format: format)
        page.texts.append(
            .init(
                heading, x: Self.margin, baseline: Self.margin + Self.headingSize, width: whole, size: Self.headingSize,
                colour: Self.ink))
        page.texts.append(
            .init(
                footer, x: Self.margin, baseline: Self.height - Self.margin, width: whole, size: Self.footerSize,
                colour: Self.paleInk, alignment: .right))
        for (index, words) in cells.enumerated() { add(words, at: index, to: &page) }
        return page
    }

    private func add(_ words: Words, at index: Int, to page: inout SheetPage) {
        let (x, y) = corner(index)
        if let absence = words.absence {
            page.boxes.append(.init(x: x, y: y, width: box.width, height: box.height, colour: Self.emptyBox))
            page.texts.append(
                .init(
                    absence, x: x + 4, baseline: y + box.height / 2, width: box.width - 8, size: dateSize,
                    colour: Self.paleInk, alignment: .centre))
        }
        var line = y + box.height + 8
        page.boxes.append(.init(x: x, y: line, width: cellWidth, height: barHeight, colour: words.colour))
        line += barHeight + nameSize * 5 / 4
        page.texts.append(
            .init(words.name, x: x, baseline: line, width: cellWidth, size: nameSize, colour: Self.ink))
        line += nameSize / 4 + dateSize * 5 / 4
        // About as wide as its letters are: digits have half their height.
        let dateWidth = min(cellWidth, words.date.count * dateSize * 2 / 3)
        page.texts.append(
            .init(words.date, x: x, baseline: line, width: cellWidth, size: dateSize, colour: Self.paleInk))
        let rest = cellWidth - dateWidth - dateSize
        if rest > dateSize * 4 {
            page.texts.append(
                .init(
                    words.category, x: x + cellWidth - rest, baseline: line, width: rest, size: dateSize,
                    colour: Self.paleInk, alignment: .right))
        }
    }

    /// A text as one line of what can be seen: signs that steer are left out or shown, and only the beginning of what no cell
    /// has room for.
    static func line(_ text: String) -> String {
        var line = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(200) {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator:
                line.append(scalar.properties.isWhitespace ? " " : "\u{FFFD}")
            // Marks of direction, joiners and variants: nothing of them is seen, and letters are set one by one.
            case .format: continue
            case _ where scalar.properties.isVariationSelector: continue
            default: line.append(scalar)
            }
        }
        return String(line)
    }
}
