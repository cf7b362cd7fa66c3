import CChafa
import Foundation
import LibraryModel

/// How a terminal can show a picture.
package struct TerminalAbilities: Equatable, Sendable {
    package enum Way: Sendable {
        case symbols, sixels, kitty, iterm
    }

    package enum Colours: Sendable {
        case all, indexed, few, none
    }

    package var way: Way
    package var colours: Colours
    package var isASCII: Bool
    /// Whether it can be asked for more. What passes questions on to nobody is not asked.
    package var mayAsk: Bool

    /// By the variables of a program's surroundings, which over ssh are all that there is to go by at first.
    package init(environment: [String: String]) {
        let term = environment["TERM"] ?? ""
        let hasColours = (environment["NO_COLOR"] ?? "").isEmpty
        if !hasColours || term.hasPrefix("vt") {
            colours = .none
        } else if ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "") || term.hasSuffix("-direct") {
            colours = .all
        } else if term.contains("256color") || term.contains("kitty") {
            colours = .indexed
        } else {
            colours = .few
        }
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { environment[$0] }.first { !$0.isEmpty } ?? ""
        let plain = locale.uppercased().replacing("-", with: "")
        isASCII = !plain.contains("UTF8")
        // Inside another terminal's terminal, what that one can says nothing.
        let isInside = ["tmux", "screen"].contains { term.hasPrefix($0) }
        way = hasColours && !isInside ? Self.known(environment) : .symbols
        mayAsk = hasColours && term != "linux" && !term.isEmpty
    }

    private static func known(_ environment: [String: String]) -> Way {
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for variable in variables { free(variable) } }
        switch Int(cchafa_known_way(&variables)) {
        case CCHAFA_KITTY: return .kitty
        case CCHAFA_ITERM: return .iterm
        case CCHAFA_SIXELS: return .sixels
        default: return .symbols
        }
    }

    /// With what the terminal itself has said.
    package func adding(_ answer: TerminalAnswer) -> TerminalAbilities {
        var more = self
        if case .attributes(let numbers) = answer, numbers.contains(4), way == .symbols { more.way = .sixels }
        return more
    }

    /// Pixels of the room of some characters that are worth asking for: of symbols, each tells eight by eight at most.
    package func pixels(of place: TerminalRectangle, _ size: TerminalSize) -> (width: Int, height: Int) {
        let cell = way == .symbols ? (width: 8, height: 16) : (width: size.cellWidth, height: size.cellHeight)
        let sides = GetPhotoPixels.sides
        return (
            min(sides.upperBound, max(1, place.columns * cell.width)),
            min(sides.upperBound, max(1, place.rows * cell.height))
        )
    }
}

/// A picture as pixels, as the daemon sends it: checked before anything is drawn of it.
package struct ShownPicture: Equatable, Sendable {
    package let width: Int
    package let height: Int
    package let rgb: [UInt8]
    package let contentDigest: String

    /// Nil for what cannot be right.
    package init?(_ pixels: PhotoPixels) {
        guard GetPhotoPixels.sides.contains(pixels.width), GetPhotoPixels.sides.contains(pixels.height),
            let data = Data(base64Encoded: pixels.rgb), data.count == pixels.width * pixels.height * 3
        else { return nil }
        width = pixels.width
        height = pixels.height
        rgb = Array(data)
        contentDigest = pixels.contentDigest
    }

    /// What to write so that it fills `place`, whose proportions are taken to be its own.
    package func drawn(in place: TerminalRectangle, _ size: TerminalSize, _ abilities: TerminalAbilities) -> String {
        var target = cchafa_place()
        (target.columns, target.rows) = (Int32(place.columns), Int32(place.rows))
        (target.cell_width, target.cell_height) = (Int32(size.cellWidth), Int32(size.cellHeight))
        target.way = abilities.way.number
        target.colours = abilities.colours.number
        target.is_ascii = abilities.isASCII ? 1 : 0
        var length = 0
        guard let drawn = cchafa_draw(rgb, Int32(width), Int32(height), &target, &length) else { return "" }
        defer { free(drawn) }
        let text = drawn.withMemoryRebound(to: UInt8.self, capacity: length) {
            String(decoding: UnsafeBufferPointer(start: $0, count: length), as: UTF8.self)
        }
        guard abilities.way == .symbols else { return Self.move(to: place.left, place.top) + text }
        // Each line where it belongs: without the terminal's own line breaks, which begin at its left edge.
        return text.split(separator: "\n", omittingEmptySubsequences: false).prefix(place.rows).enumerated().map {
            Self.move(to: place.left, place.top + $0.offset) + $0.element
        }.joined() + "\u{1B}[0m"
    }

    package static func move(to left: Int, _ top: Int) -> String { "\u{1B}[\(top + 1);\(left + 1)H" }

    /// The same lines without moving about, for who prints them where the cursor is.
    package func lines(_ place: TerminalRectangle, _ size: TerminalSize, _ abilities: TerminalAbilities) -> String {
        var plain = place
        (plain.left, plain.top) = (0, 0)
        let text = drawn(in: plain, size, abilities)
        guard abilities.way == .symbols else { return String(text.dropFirst(Self.move(to: 0, 0).count)) }
        var lines = text
        for row in 0..<plain.rows {
            lines = lines.replacing(Self.move(to: 0, row), with: row == 0 ? "" : "\n", maxReplacements: 1)
        }
        return lines
    }
}

extension TerminalAbilities.Way {
    fileprivate var number: Int32 {
        switch self {
        case .symbols: Int32(CCHAFA_SYMBOLS)
        case .sixels: Int32(CCHAFA_SIXELS)
        case .kitty: Int32(CCHAFA_KITTY)
        case .iterm: Int32(CCHAFA_ITERM)
        }
    }
}

extension TerminalAbilities.Colours {
    fileprivate var number: Int32 {
        switch self {
        case .all: Int32(CCHAFA_TRUE_COLOUR)
        case .indexed: Int32(CCHAFA_256_COLOURS)
        case .few: Int32(CCHAFA_16_COLOURS)
        case .none: Int32(CCHAFA_NO_COLOURS)
        }
    }
}
