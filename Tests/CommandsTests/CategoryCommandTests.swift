import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Categories: lists, colours, what is asked before one goes")
struct CategoryCommandTests {
    private func stage(
        says: String? = nil, terminalColumns: Int? = nil, environment: [String: String] = [:]
    ) throws -> Stage {
        let stage = Stage(terminalColumns: terminalColumns, environment: environment, personSays: says)
        try stage.answer("category.list", Sample.categories)
        try stage.answer("category.delete", CategoryDeletion(photosTrashed: 0, photosMoved: 0))
        return stage
    }

    @Test("A list by a part of the name, and in another order")
    func list() async throws {
        let stage = try stage()
        #expect(await stage.run("categories", "--text", "ca", "--sort", "name") == .done)
        #expect(stage.params("category.list") == ["text": "ca", "order": "displayName"])
        #expect(await stage.run("categories", "list", "--sort", "created") == .done)
        #expect(stage.params("category.list") == ["order": "createdAt"])
        #expect(await stage.run("categories", "list", "--sort", "size") == .usage)
        let none = Stage()
        try none.answer("category.list", CategoryList(categories: []))
        #expect(await none.run("categories", "--text", "x") == .done)
        #expect(none.results.isEmpty && none.messages == "No category has that text in its name.\n")
    }

    @Test(
        "Colours are colours on a terminal, in as many as it says it has, and text everywhere else",
        arguments: [
            (["TERM": "xterm-256color", "COLORTERM": "truecolor"], 80, "\u{1B}[48;2;76;175;80m  \u{1B}[0m #4CAF50"),
            (["TERM": "xterm-256color"], 80, "\u{1B}[48;5;71m  \u{1B}[0m #4CAF50"),
            (["TERM": "xterm-256color", "NO_COLOR": "1", "COLORTERM": "24bit"], 80, "Family  #4CAF50"),
            (["TERM": "xterm-256color", "COLORTERM": "truecolor"], nil, "Family  #4CAF50"),
        ] as [([String: String], Int?, String)])
    func colours(environment: [String: String], columns: Int?, expected: String) async throws {
        let stage = try stage(terminalColumns: columns, environment: environment)
        #expect(await stage.run("categories") == .done)
        #expect(stage.results.contains(expected))
        if !expected.contains("48;") { #expect(!stage.results.contains("\u{1B}[48")) }
        let palette = try self.stage(terminalColumns: columns, environment: environment)
        #expect(await palette.run("categories", "palette") == .done)
        #expect(palette.results.contains("\u{1B}[48") == expected.contains("48;"))
    }

    @Test("A colour from elsewhere that is none gets no patch, and what it says is harmless")
    func noColour() async throws {
        let stage = Stage(terminalColumns: 80, environment: ["TERM": "xterm", "COLORTERM": "truecolor"])
        let odd = Category(
            id: 1, displayName: "Odd", position: 0, iconResource: nil, colorHex: "\u{1B}[2J", isDefault: false,
            createdAt: Timestamp(milliseconds: 0), photoCount: 0)
        try stage.answer("category.list", CategoryList(categories: [odd]))
        #expect(await stage.run("categories") == .done)
        #expect(stage.results.contains("Odd      ␛[2J") && !stage.results.contains("\u{1B}[2J"))
    }

    @Test("Columns stand under their headings with patches as without", arguments: [20, 80])
    func aligned(columns: Int) async throws {
        let stage = try stage(terminalColumns: columns, environment: ["TERM": "xterm"])
        #expect(await stage.run("categories") == .done)
        let lines = stage.results.split(separator: "\n").map { line in
            line.replacing(/\u{1B}\[[0-9;]*m/, with: "")
        }
        #expect(lines.count == 4 && Set(lines.map { TextWidth.of(String($0)) }).count == 1)
        #expect(lines[0].hasSuffix("PHOTOS") && lines[1].hasSuffix("     3"))
    }

    @Test("Of 256 colours the nearest, in the cube or among the greys")
    func nearest() {
        #expect(Style.index(of: [255, 0, 0]) == 196)
        #expect(Style.index(of: [0, 0, 0]) == 16)
        #expect(Style.index(of: [255, 255, 255]) == 231)
        #expect(Style.index(of: [128, 128, 128]) == 244)
        #expect(Style.index(of: [96, 125, 139]) == 66)
    }

    @Test("The palette says who has which colour, and which comes next")
    func palette() async throws {
        let stage = try stage()
        #expect(await stage.run("categories", "palette") == .done)
        let lines = stage.results.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(lines.count == 14 && lines[0] == "COLOUR   NEXT  CATEGORIES")
        #expect(lines[1] == "#4CAF50        Family, Cars, Été" && lines[2] == "#2196F3  ←")
        let json = try self.stage()
        #expect(await json.run("categories", "palette", "--json") == .done)
        let colours = try #require(try json.json()["colors"]?.arrayValue)
        #expect(colours.count == 12 && colours[1] == ["colorHex": "#2196F3", "isNext": true, "categories": []])
    }

    @Test(
        "Before an empty category goes, a person is asked",
        arguments: [("n" as String?, ExitCode.failed), ("y", .done), (nil, .usage)])
    func deletion(said: String?, code: ExitCode) async throws {
        let stage = try stage(says: said)
        #expect(await stage.run("categories", "delete", "Cars") == code)
        #expect(stage.questions == ["Delete the empty category Cars? [y/N] "])
        #expect(stage.methods.contains("category.delete") == (code == .done))
        let sure = try self.stage()
        #expect(await sure.run("categories", "delete", "#2", "--yes") == .done)
        #expect(sure.questions.isEmpty && sure.params("category.delete") == ["id": 2])
        // One with photos: the daemon says what is missing.
        let full = try self.stage()
        #expect(await full.run("categories", "delete", "Family") == .done)
        #expect(full.questions.isEmpty && full.params("category.delete") == ["id": 1])
    }
}
