import Foundation
import LibraryModel
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Keys") struct KeyReaderTests {
    private func read(_ pieces: [[UInt8]]) -> [TerminalInput] {
        var reader = KeyReader()
        return pieces.flatMap { reader.read($0) }
    }

    @Test("Keys and answers are the same wherever what the terminal sends is cut")
    func cutAnywhere() {
        let sent =
            "q\u{1B}[D\u{1B}[1;5C\u{1B}OAé\u{1B}[B u\r\u{1B}[?62;4;22c\u{1B}]11;rgb:00/00\u{07}\u{1B}_Gi=31;OK\u{1B}\\\u{3}🏖\u{1A}"
        let expected: [TerminalInput] = [
            .key(.character("q")), .key(.left), .key(.right), .key(.up), .key(.character("é")), .key(.down),
            .key(.character(" ")), .key(.character("u")), .key(.enter), .answer(.attributes([62, 4, 22])),
            .key(.interrupt), .key(.character("🏖")), .key(.suspend),
        ]
        let bytes = Array(sent.utf8)
        #expect(read([bytes]) == expected)
        #expect(read(bytes.map { [$0] }) == expected)
        for first in 0...bytes.count {
            #expect(read([Array(bytes[..<first]), Array(bytes[first...])]) == expected)
        }
    }

    @Test("An escape before a key, and a sequence that was cut short, cost no key")
    func brokenSequences() {
        #expect(read([Array("\u{1B}u".utf8)]) == [.key(.character("u"))])
        #expect(read([Array("\u{1B}\u{1B}[A".utf8)]) == [.key(.up)])
        #expect(read([Array("\u{1B}[1\u{3}".utf8)]) == [.key(.interrupt)])
        #expect(read([[0xC3, 0x28, 0xFF, 0xF0, 0x9F]]) == [.key(.character("("))])
    }

    @Test("What never ends is given up, and does not grow")
    func endless() {
        for beginning in ["\u{1B}[", "\u{1B}]", "\u{1B}P"] {
            var reader = KeyReader()
            _ = reader.read(Array(beginning.utf8))
            for _ in 0..<KeyReader.longest * 3 { _ = reader.read([UInt8(ascii: "1")]) }
            #expect(reader.read(Array("\u{1B}[D\u{3}".utf8)).contains(.key(.interrupt)))
        }
    }

    @Test("Any bytes are read without a crash, and a Ctrl-C after a string's end is one")
    func anyBytes() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            var reader = KeyReader()
            _ = reader.read((0..<300).map { _ in UInt8.random(in: 0...255, using: &generator) })
            #expect(reader.read([7, 3, 3]).contains(.key(.interrupt)))
        }
    }
}

@Suite("The layout of a review") struct ReviewLayoutTests {
    private static let page: ReviewLayout.Page = {
        var page = ReviewLayout.Page()
        page.name = "Grandmother's birthday with everybody 🎂 海辺で ♥"
        page.facts = "~2025-06-15 14:05 · Großeltern und Cousinen"
        page.progress = "123 of 4567: 12 favourites, 3 to the trash, 107 kept"
        page.message = "Favourite: the one before"
        page.keys = ReviewLayout.reviewKeys(isASCII: false)
        return page
    }()

    @Test("On every terminal no line is too long, nothing covers anything, and the keys stand in the last row")
    func everySize() {
        for columns in 1...130 {
            for rows in 1...45 {
                let layout = ReviewLayout(Self.page, TerminalSize(columns: columns, rows: rows), Style(isOn: false))
                #expect(layout.lines.count <= rows && layout.firstLine + layout.lines.count == rows)
                #expect(
                    layout.lines.allSatisfy { TextWidth.of($0) <= columns }, "\(columns) x \(rows): \(layout.lines)")
                if let picture = layout.picture {
                    #expect(picture.top + picture.rows < layout.firstLine && picture.columns <= columns)
                }
            }
        }
    }

    @Test("Twenty columns have a picture and all keys")
    func twentyColumns() {
        let layout = ReviewLayout(Self.page, TerminalSize(columns: 20, rows: 12), Style(isOn: false))
        #expect(layout.picture == TerminalRectangle(columns: 20, rows: 6))
        #expect(layout.lines.last == "←bin ↑keep →fav u q")
        #expect(ReviewLayout(Self.page, TerminalSize(columns: 20, rows: 3), Style(isOn: false)).picture == nil)
    }

    @Test("A picture keeps its proportions within its room")
    func proportions() throws {
        let size = TerminalSize(columns: 80, rows: 24, width: 800, height: 480)
        let room = TerminalRectangle(columns: 80, rows: 18)
        #expect(size.cellWidth == 10 && size.cellHeight == 20)
        let wide = try #require(room.fitting(width: 400, height: 100, size))
        #expect(wide == TerminalRectangle(left: 0, top: 4, columns: 80, rows: 10))
        let tall = try #require(room.fitting(width: 100, height: 400, size))
        #expect(tall == TerminalRectangle(left: 35, top: 0, columns: 9, rows: 18))
        for (width, height) in [(1, 2048), (2048, 1), (1, 1)] {
            let place = try #require(room.fitting(width: width, height: height, size))
            #expect(place.columns >= 1 && place.rows >= 1 && place.left >= 0 && place.left + place.columns <= 80)
        }
    }
}

@Suite("What terminals can") struct TerminalAbilitiesTests {
    @Test("Surroundings say it, and the terminal itself may say more")
    func surroundings() {
        func abilities(_ environment: [String: String]) -> TerminalAbilities {
            TerminalAbilities(environment: environment)
        }
        let plain = abilities(["TERM": "xterm-256color", "LANG": "de_DE.UTF-8"])
        #expect(plain.way == .symbols && plain.colours == .indexed && !plain.isASCII && plain.mayAsk)
        #expect(plain.adding(.attributes([62, 4])).way == .sixels)
        #expect(plain.adding(.attributes([62, 22])).way == .symbols)
        let kitty = abilities(["TERM": "xterm-kitty", "LC_ALL": "C.UTF-8"])
        #expect(kitty.way == .kitty && kitty.adding(.attributes([62, 4])).way == .kitty)
        #expect(
            abilities(["TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app", "LC_TERMINAL": "iTerm2"]).colours
                == .indexed)
        #expect(abilities(["TERM": "xterm", "COLORTERM": "truecolor"]).colours == .all)
        #expect(abilities(["TERM": "xterm", "LANG": "C"]).isASCII)
        let console = abilities(["TERM": "linux", "LANG": "C.UTF-8"])
        #expect(console.colours == .few && !console.mayAsk)
        // In a terminal within a terminal, the variables are those of the outer one.
        #expect(abilities(["TERM": "tmux-256color", "KITTY_PID": "1"]).way == .symbols)
        let mono = abilities(["TERM": "xterm-kitty", "NO_COLOR": "1", "LANG": "C.UTF-8"])
        #expect(mono.way == .symbols && mono.colours == .none && !mono.mayAsk)
    }

    private var picture: ShownPicture? {
        let rgb = (0..<16 * 8).flatMap { (number: Int) -> [UInt8] in [UInt8(number), UInt8(255 - number), 128] }
        return ShownPicture(
            PhotoPixels(width: 16, height: 8, rgb: Data(rgb).base64EncodedString(), contentDigest: "d"))
    }

    @Test("A picture is drawn in each way, and without colours no colour is written")
    func drawn() throws {
        let picture = try #require(picture)
        let size = TerminalSize(columns: 40, rows: 12)
        let place = TerminalRectangle(left: 3, top: 1, columns: 16, rows: 4)
        var abilities = TerminalAbilities(environment: ["TERM": "xterm-256color", "LANG": "C.UTF-8"])
        let symbols = picture.drawn(in: place, size, abilities)
        for row in 1...4 { #expect(symbols.contains("\u{1B}[\(row + 1);4H")) }
        #expect(symbols.contains("\u{1B}[38;5;") || symbols.contains("\u{1B}[48;5;"))
        abilities.way = .kitty
        #expect(picture.drawn(in: place, size, abilities).hasPrefix("\u{1B}[2;4H\u{1B}_Ga=T"))
        abilities.way = .sixels
        #expect(picture.drawn(in: place, size, abilities).hasPrefix("\u{1B}[2;4H\u{1B}P"))
        abilities.way = .iterm
        #expect(picture.drawn(in: place, size, abilities).hasPrefix("\u{1B}[2;4H\u{1B}]1337;File="))
        let mono = TerminalAbilities(environment: ["TERM": "xterm", "NO_COLOR": "1"])
        let drawn = picture.drawn(in: place, size, mono)
        #expect(
            drawn.utf8.allSatisfy { $0 < 0x80 }
                && drawn.matches(of: /\u{1B}\[[0-9;]*m/).allSatisfy { $0.0 == "\u{1B}[0m" })
        let lines = picture.lines(place, size, mono).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 4 && !lines.joined().contains("H"))
    }

    @Test("What the daemon sends is checked before anything is drawn of it")
    func checked() {
        let rgb = Data(repeating: 0, count: 12).base64EncodedString()
        func picture(_ width: Int, _ height: Int, _ rgb: String) -> ShownPicture? {
            ShownPicture(PhotoPixels(width: width, height: height, rgb: rgb, contentDigest: "d"))
        }
        #expect(picture(2, 2, rgb) != nil)
        #expect(picture(2, 3, rgb) == nil && picture(-2, -2, rgb) == nil && picture(4, 1, "?") == nil)
        #expect(picture(Int.max, Int.max, rgb) == nil && picture(0, 0, "") == nil)
    }
}
