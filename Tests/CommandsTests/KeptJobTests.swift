import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Jobs that ended long ago")
struct KeptJobTests {
    private func ended(unlisted: Int? = nil) throws -> String {
        let receipt = ImportReceipt(
            categoryId: 1, files: 12_002, imported: 12_000, reduced: 0, completed: 0, duplicates: 0, problems: 2,
            notDone: 0, passedOver: [:], isDryRun: false, ending: .completeWithProblems)
        let job = try Sample.job(
            "library.import", needsAttention: true, outcomes: ["imported": 12_000, "damaged": 2], receipt: receipt)
        guard let unlisted else { return job }
        return #"{"endedAt":"2025-06-15T10:20:00Z","unlistedLines":\#(unlisted),"# + job.dropFirst()
    }

    @Test("All of them come in pages, the newest first, and the next one is told")
    func list() async throws {
        let stage = Stage()
        stage.answer("job.list", #"{"jobs":[\#(try ended())],"next":17}"#)
        #expect(await stage.run("jobs", "list", "--all", "--limit", "1") == .done)
        #expect(stage.params("job.list") == ["all": true, "limit": 1])
        #expect(stage.results.contains("import-3f9a2c  finished, with problems"))
        #expect(stage.results.contains("2 damaged, 12000 imported"))
        #expect(stage.messages == "There are more: repeat with --after 17\n")
        #expect(await stage.run("jobs", "list", "--all", "--after", "17") == .done)
        #expect(stage.params("job.list") == ["all": true, "after": 17])

        let json = Stage()
        json.answer("job.list", #"{"jobs":[],"next":17}"#)
        #expect(await json.run("jobs", "list", "--all", "--json") == .done)
        #expect(json.results == "{\"jobs\":[],\"next\":17}\n" && json.messages.isEmpty)
    }

    @Test("Without --all it is as ever, and says where the others are")
    func recent() async throws {
        let stage = Stage()
        stage.answer("job.list", #"{"jobs":[]}"#)
        #expect(await stage.run("jobs") == .done)
        #expect(stage.params("job.list") == [:])
        #expect(stage.messages == "No jobs within the last hour. Earlier ones: smilepile jobs list --all\n")
        for wrong in [["--limit", "5"], ["--after", "3"], ["--all", "--limit", "0"], ["--all", "--after", "x"]] {
            #expect(await stage.program.run(["jobs", "list"] + wrong) == .usage)
        }
    }

    @Test("A receipt that was cut says so, and is found by the beginning of its job's id")
    func show() async throws {
        let stage = Stage()
        stage.answer("job.get", try ended(unlisted: 2_002))
        try stage.answer("library.status", Sample.status)
        try stage.answer("category.list", Sample.categories)
        stage.answer(
            "job.receipt",
            #"{"lines":[{"item":"/a/1.jpg","outcome":"damaged","detail":"It ends too early."}],"next":500}"#)
        stage.answer("job.receipt", #"{"lines":[{"item":"/a/9.jpg","outcome":"damaged"}]}"#)
        #expect(await stage.run("jobs", "show", "import-3f") == .doneWithProblems)
        #expect(stage.params("job.get") == ["job": "import-3f"])
        let (first, last) = (Timestamp(rfc3339: "2025-06-15T10:00:00Z"), Timestamp(rfc3339: "2025-06-15T10:20:00Z"))
        let times = try [#require(first), #require(last)].map { LocalDate.text($0) }
        #expect(stage.messages == "Job import-3f9a2c: \(times[0]) to \(times[1]).\n")
        #expect(stage.allParams("job.receipt").map { $0["after"] } == [0, 500])
        #expect(stage.allParams("job.receipt").allSatisfy { $0["job"] == "import-3f9a2c" })
        #expect(stage.results.contains("2002 of these are only counted, and not listed one by one."))
        #expect(stage.results.contains("damaged   /a/1.jpg: It ends too early.\ndamaged   /a/9.jpg\n"))

        let json = Stage()
        json.answer("job.get", try ended(unlisted: 2_002))
        json.answer("job.receipt", #"{"lines":[]}"#)
        #expect(await json.run("jobs", "show", "import-3f", "--json") == .doneWithProblems)
        #expect(try json.json()["unlistedLines"] == 2_002)
    }
}
