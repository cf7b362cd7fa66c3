import CommandLineInterface
import LibraryModel

/// What a page of a review has on it, and where: lines at the bottom, and the picture in the room above.
struct ReviewLayout: Equatable {
    /// What is shown beside the picture.
    struct Page: Equatable {
        var name = ""
        /// Date and category.
        var facts = ""
        var progress = ""
        var message = ""
        /// What the keys do, the longest words first: what fits is shown.
        var keys: [String] = []
    }

    /// Room for the picture; nil where there is too little for one.
    let picture: TerminalRectangle?
    /// From the row behind the picture down to the last.
    let lines: [String]
    let firstLine: Int

    private static let leastPictureRows = 4
    private static let leastPictureColumns = 10

    init(_ page: Page, _ size: TerminalSize, _ style: Style) {
        func cut(_ text: String) -> String { TextWidth.cut(text, to: size.columns) }
        let keys = cut(page.keys.first { TextWidth.of($0) <= size.columns } ?? page.keys.last ?? "")
        // The less room there is, the fewer lines: what is decided about and the keys are the last to go.
        let together = [page.progress, page.facts].filter { !$0.isEmpty }.joined(separator: " · ")
        let all: [String] =
            switch size.rows {
            case ...2:
                [cut(page.message.isEmpty ? page.progress + " " + page.name : page.message), keys].suffix(size.rows)
            case 3...8:
                [style.bold(cut(page.name)), cut(page.message.isEmpty ? together : page.message), style.dim(keys)]
            default:
                [
                    style.bold(cut(page.name)), cut(page.facts), cut(page.progress), style.yellow(cut(page.message)),
                    style.dim(keys),
                ]
            }
        lines = all
        firstLine = max(0, size.rows - all.count)
        // A row stays empty between the two.
        let rows = firstLine - 1
        picture =
            rows >= Self.leastPictureRows && size.columns >= Self.leastPictureColumns
            ? TerminalRectangle(columns: size.columns, rows: rows) : nil
    }

    static func reviewKeys(isASCII: Bool) -> [String] {
        isASCII
            ? [
                "left: trash   up or space: keep   right: favourite   u: undo   q: finish",
                "left trash  up keep  right fav  u undo  q end", "< trash ^ keep > fav", "< ^ > u q",
            ]
            : [
                "← trash   ↑ or space keep   → favourite   u undo   q finish",
                "← trash  ↑ keep  → favourite  u undo  q end",
                "← trash ↑ keep → fav u q", "←bin ↑keep →fav u q", "← ↑ → u q",
            ]
    }

    static let questionKeys = ["y apply   n not now   b back", "y apply n later b", "y n b"]
}
