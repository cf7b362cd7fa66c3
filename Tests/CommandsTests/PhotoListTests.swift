import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Lists of photos: words, all pages, numbers")
struct PhotoListTests {
    private func stage(terminalColumns: Int? = nil) throws -> Stage {
        let stage = Stage(terminalColumns: terminalColumns)
        try stage.answer("category.list", Sample.categories)
        try stage.answer("photo.search", PhotoPage(photos: [Sample.photo(120), Sample.photo(119)], next: "p2"))
        try stage.answer(
            "photo.search", PhotoPage(photos: [Sample.photo(7, name: "a much longer name than that")], next: nil))
        return stage
    }

    @Test("--all follows the pages to their end, under one heading")
    func all() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "--all", "--category", "Cars", "--from", "2025") == .done)
        #expect(
            stage.allParams("photo.search") == [
                ["categoryId": 2, "from": "2025-01-01T00:00:00", "limit": 1000],
                ["categoryId": 2, "from": "2025-01-01T00:00:00", "limit": 1000, "after": "p2"],
            ])
        let lines = stage.results.split(separator: "\n")
        #expect(lines.count == 4 && lines[0].hasPrefix(" ID  DATE"))
        #expect(lines[3].hasPrefix("  7  ") && lines[3].contains("a much longer name than that"))
        #expect(stage.messages.isEmpty)
    }

    @Test("On a terminal no line is wider than it, whatever a later page brings", arguments: [20, 60, 80, 200])
    func narrow(columns: Int) async throws {
        let stage = try stage(terminalColumns: columns)
        #expect(await stage.run("photos", "--all") == .done)
        let widths = stage.results.split(separator: "\n").map { line in
            TextWidth.of(String(line).replacing("\u{1B}[2m", with: "").replacing("\u{1B}[0m", with: ""))
        }
        #expect(widths.count == 4)
        // Below 60 columns what may not shrink takes more; then all lines are as wide as the heading allows.
        #expect(widths.allSatisfy { $0 <= max(columns, 72) })
    }

    @Test("--all --json is one document")
    func document() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "list", "--all", "--json") == .done)
        let photos = try #require(try stage.json()["photos"]?.arrayValue)
        #expect(photos.compactMap { $0["id"] } == [120, 119, 7])
        #expect(
            try photos[2]
                == JSONDecoder().decode(
                    JSONValue.self, from: JSONText.encode(Sample.photo(7, name: "a much longer name than that"))))
        let empty = Stage()
        try empty.answer("photo.search", PhotoPage(photos: [], next: nil))
        #expect(await empty.run("photos", "list", "--all", "--json") == .done)
        #expect(try empty.json() == ["photos": []])
    }

    @Test("--ids prints numbers alone, also of nothing")
    func numbers() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "search", "beach", "--ids", "--all") == .done)
        #expect(stage.results == "120\n119\n7\n" && stage.messages.isEmpty)
        #expect(!stage.methods.contains("category.list"))
        let page = try self.stage()
        #expect(await page.run("photos", "list", "--ids") == .done)
        #expect(page.results == "120\n119\n")
        #expect(page.messages == "There are more: repeat with --all, or with --after p2\n")
        let empty = Stage()
        try empty.answer("photo.search", PhotoPage(photos: [], next: nil))
        #expect(await empty.run("photos", "list", "--ids", "--all") == .done)
        #expect(empty.results.isEmpty && empty.messages.isEmpty)
    }

    @Test("Words of a search go as they were given, quoted ones together")
    func words() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "search", "first day", "100%", "--to", "2024-02") == .done)
        #expect(
            stage.params("photo.search") == ["words": ["first day", "100%"], "to": "2024-02-29T23:59:59.999"])
        #expect(await stage.run("photos", "search") == .usage)
    }

    @Test(
        "What cannot be together is wrong use",
        arguments: [["--all", "--limit", "5"], ["--all", "--after", "x"], ["--ids", "--json"]])
    func wrong(options: [String]) async throws {
        let stage = try stage()
        #expect(await stage.program.run(["photos", "list"] + options) == .usage)
        #expect(stage.methods.isEmpty)
    }
}
