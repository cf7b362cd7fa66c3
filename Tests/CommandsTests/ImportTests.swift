import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Importing")
struct ImportTests {
    private func stage(
        _ job: String, lines: [ReceiptLine] = [], terminalColumns: Int? = nil, input: [UInt8] = []
    ) throws -> Stage {
        let stage = Stage(terminalColumns: terminalColumns, input: input)
        stage.answer("library.import", #"{"job":"import-3f9a2c"}"#)
        stage.answer("job.watch", job)
        let page = try String(decoding: JSONEncoder().encode(["lines": lines]), as: UTF8.self)
        stage.answer("job.receipt", page)
        try stage.answer("category.list", Sample.categories)
        try stage.answer("library.status", Sample.status)
        return stage
    }

    @Test("Paths are made absolute, the category is found by name, and all goes into one message")
    func message() async throws {
        let stage = try stage(Sample.importJob())
        #expect(
            await stage.run("import", "a/../b.jpg", "/x/./y", ".", "--category", "ÉTÉ", "--no-originals") == .done)
        let params = try #require(stage.params("library.import"))
        #expect(params["paths"] == ["/home/ada/b.jpg", "/x/y", "/home/ada"])
        #expect(params["categoryId"] == 3)
        #expect(params["originals"] == false)
        #expect(params["dryRun"] == nil)
        #expect(stage.params("job.watch") == ["job": "import-3f9a2c"])
    }

    @Test("What is left out goes into the message as it was typed")
    func leftOut() async throws {
        let stage = try stage(Sample.importJob())
        #expect(
            await stage.run(
                "import", "/p", "--exclude", "*.gif", "--exclude", "Drafts/", "--include-hidden", "--verify-known")
                == .done)
        let params = try #require(stage.params("library.import"))
        #expect(params["exclude"] == ["*.gif", "Drafts/"] && params["includeHidden"] == true)
        #expect(params["verifyKnown"] == true)
    }

    @Test("A list on standard input: a path a line, or with a zero behind each, of any bytes")
    func listed() async throws {
        let lines = Array("a b.jpg\n\n/x/y.jpg\n".utf8)
        let zeros = Array("a\nb.jpg\0/caf".utf8) + [0xE9] + Array(".jpg\0".utf8)
        for (input, paths) in [
            (lines, ["/home/ada/a b.jpg", "/x/y.jpg"]), (zeros, ["/home/ada/a\nb.jpg", #"/caf\xE9.jpg"#]),
        ] {
            let stage = try stage(Sample.importJob(), input: input)
            #expect(await stage.run("import", "/first", "-") == .done)
            let params = try #require(stage.params("library.import"))
            #expect(params["paths"] == .array((["/first"] + paths).map(JSONValue.string)))
        }
    }

    @Test("A list that is empty, or longer than one may be, imports nothing and says so")
    func unusableList() async throws {
        for (input, words) in [
            ([UInt8](), "is empty"), ([UInt8](repeating: 0x61, count: 33 << 20), "more than 32 MiB"),
        ] {
            let stage = try stage(Sample.importJob(), input: input)
            #expect(await stage.run("import", "-") == .failed)
            #expect(stage.messages.contains(words) && stage.methods.isEmpty)
        }
    }

    @Test("What was found besides has a line for each kind of thing")
    func sums() {
        func receipt(
            _ reduced: Int, _ passedOver: [String: Int], elsewhere: Int = 0, completed: Int = 0, joined: Int = 0,
            known: Int = 0, isDryRun: Bool = false
        ) -> ImportReceipt {
            ImportReceipt(
                categoryId: 1, files: 3, imported: 3, reduced: reduced, elsewhere: elsewhere, completed: completed,
                joined: joined, duplicates: 0, known: known,
                problems: 0, notDone: 0, passedOver: passedOver, isDryRun: isDryRun, ending: .complete)
        }
        #expect(ImportReport.sums(receipt(0, [:])).isEmpty)
        #expect(
            ImportReport.sums(receipt(2, ["video": 300, "archive": 1, "system": 2, "excluded": 1])) == [
                "2 photos are shown smaller than they came.", "300 videos, 1 archive left where they are.",
                "2 hidden or system files and folders not looked at; with them: --include-hidden",
                "1 file or folder excluded.",
            ])
        #expect(
            ImportReport.sums(receipt(0, [:], known: 64_000)) == [
                "64000 files imported before and not written to since, so not opened; to read them: --verify-known"
            ])
        #expect(
            ImportReport.sums(receipt(0, [:], elsewhere: 2)) == [
                "2 photos of these went into the categories of their sidecars."
            ])
        #expect(
            ImportReport.sums(receipt(0, [:], completed: 1, joined: 1)) == [
                "1 photo moves: its film came as a file of its own."
            ])
        #expect(
            ImportReport.sums(receipt(0, [:], completed: 3, joined: 2)) == [
                "2 photos move: their films came as files of their own.",
                "1 photo that the library had got what was missing: originals, raw files, sidecars, a picture to show, or a date "
                    + "and words of a second copy.",
            ])
        #expect(ImportReport.sums(receipt(1, [:], isDryRun: true)) == ["1 photo would be shown smaller than it came."])
    }

    @Test("The receipt: counts, then every file with a problem and its reason, made harmless")
    func receipt() async throws {
        let lines = [
            ReceiptLine(item: "/p/ok.jpg", outcome: "imported"),
            ReceiptLine(item: "/p/again.jpg", outcome: "duplicate"),
            ReceiptLine(item: "/p/\u{1B}[31mbad.jpg", outcome: "damaged", detail: "it ends\ntoo early"),
        ]
        let stage = try stage(
            Sample.importJob(
                needsAttention: true, outcomes: ["imported": 1, "duplicate": 1, "damaged": 1],
                ending: .completeWithProblems),
            lines: lines)
        #expect(await stage.run("import", "/p") == .doneWithProblems)
        #expect(stage.results.hasPrefix("Imported 1 of 3 photos into Family, in /srv/photos.\n"))
        #expect(stage.results.contains("\ndamaged    /p/␛[31mbad.jpg: it ends␊too early\n"))
        #expect(!stage.results.contains("ok.jpg") && !stage.results.contains("again.jpg"))
        #expect(!stage.results.contains("\u{1B}"))
    }

    @Test("With --verbose every file has its line")
    func verbose() async throws {
        let lines = [
            ReceiptLine(item: "/p/ok.jpg", outcome: "imported"), ReceiptLine(item: "/p/2.jpg", outcome: "duplicate"),
        ]
        let stage = try stage(Sample.importJob(outcomes: ["imported": 1, "duplicate": 1]), lines: lines)
        #expect(await stage.run("import", "/p", "--verbose") == .done)
        #expect(stage.results.contains("\nimported   /p/ok.jpg\nduplicate  /p/2.jpg\n"))
    }

    @Test("Files that a cancelled import did not reach are counted, and the first ten named")
    func notDone() async throws {
        let lines = (0..<25).map { ReceiptLine(item: "/p/\($0).jpg", outcome: "cancelled") }
        let stage = try stage(
            Sample.importJob(state: .cancelled, outcomes: ["imported": 2, "cancelled": 25], ending: .cancelled),
            lines: lines)
        #expect(await stage.run("import", "/p") == .cancelled)
        #expect(stage.results.hasPrefix("Cancelled. Imported 2 of 27 photos into Family"))
        #expect(stage.results.contains("/p/9.jpg") && !stage.results.contains("/p/10.jpg"))
        #expect(stage.results.contains("… and 15 more not done"))
    }

    @Test(
        "A daemon that stops ends the import, and what it did is told although the rest cannot be asked for",
        arguments: [
            CommandFailure.connectionLost("the daemon closed it."),
            .refused(MeshError(.unavailable, "The library is shutting down.")),
        ])
    func stopped(failure: CommandFailure) async throws {
        let stage = Stage()
        stage.answer("library.import", #"{"job":"import-3f9a2c"}"#)
        stage.answer(
            "job.watch",
            try Sample.importJob(state: .cancelled, outcomes: ["imported": 2, "cancelled": 25], ending: .cancelled))
        for method in ["job.receipt", "library.status", "category.list"] { stage.fail(method, failure) }
        #expect(await stage.run("import", "/p") == .cancelled)
        #expect(stage.results.hasPrefix("Cancelled. Imported 2 of 27 photos into category"))
        #expect(stage.messages.contains("smilepile up"))
    }

    @Test("--json prints the job's end with all of its lines, from every page, as one document")
    func json() async throws {
        let stage = Stage()
        stage.answer("library.import", #"{"job":"import-3f9a2c"}"#)
        stage.answer("job.watch", try Sample.importJob())
        stage.answer("job.receipt", #"{"lines":[{"item":"/a","outcome":"imported"}],"next":1}"#)
        stage.answer("job.receipt", #"{"lines":[{"item":"/b","outcome":"imported","detail":"why"}]}"#)
        #expect(await stage.run("import", "/p", "--json") == .done)
        let document = try stage.json()
        #expect(document["state"] == "finished")
        #expect(document["receipt"]?["imported"] == 2)
        #expect(
            document["lines"] == [
                ["item": "/a", "outcome": "imported"], ["item": "/b", "outcome": "imported", "detail": "why"],
            ])
        #expect(stage.params("job.receipt")?["after"] == 1)
        #expect(stage.results.split(separator: "\n").count == 1)
    }

    @Test("A page that does not go on ends the reading")
    func hostilePages() async throws {
        let stage = Stage()
        stage.answer("library.import", #"{"job":"import-3f9a2c"}"#)
        stage.answer("job.watch", try Sample.importJob())
        stage.answer("job.receipt", #"{"lines":[],"next":0}"#)
        #expect(await stage.run("import", "/p", "--json") == .done)
        #expect(stage.methods.count { $0 == "job.receipt" } == 1)
    }

    @Test("--detach prints the id and waits for nothing")
    func detach() async throws {
        let stage = try stage(Sample.importJob())
        #expect(await stage.run("import", "/p", "--detach") == .done)
        #expect(stage.results == "import-3f9a2c\n")
        #expect(stage.methods == ["library.import"])
    }

    @Test("--dry-run says that nothing was stored")
    func dryRun() async throws {
        let stage = try stage(Sample.importJob(isDryRun: true))
        #expect(await stage.run("import", "/p", "--dry-run") == .done)
        #expect(stage.params("library.import")?["dryRun"] == true)
        #expect(stage.results.hasPrefix("Would import 2 of 2 photos into Family. Nothing was stored.\n"))
    }

    @Test("A job that fails says why; a full disk is a failure, not somebody busy")
    func failed() async throws {
        let stage = Stage()
        stage.answer("library.import", #"{"job":"import-3f9a2c"}"#)
        stage.answer(
            "job.watch",
            try Sample.job(
                "library.import", state: .failed,
                error: MeshError(short: .space, "The disk is full. Make room and repeat it.")))
        #expect(await stage.run("import", "/p") == .failed)
        #expect(stage.messages.contains("The disk is full. Make room"))
    }

    @Test("A connection that breaks meanwhile is told, with the job and how to look")
    func connectionLost() async throws {
        let stage = Stage()
        stage.answer("library.import", #"{"job":"import-3f9a2c"}"#)
        stage.fail("job.watch", .connectionLost("the daemon closed it."))
        #expect(await stage.run("import", "/p") == .failed)
        #expect(stage.messages.contains("the daemon closed it. (job import-3f9a2c)"))
        #expect(stage.messages.contains("smilepile jobs"))
    }

    @Test("Progress goes to standard error: a bar on a terminal, lines elsewhere")
    func progress() async throws {
        let steps = try [0, 1, 2].map { try Sample.job("library.import", state: .running, done: $0, total: 2) }
        let pipe = try stage(Sample.importJob())
        pipe.updates("job.watch", steps)
        #expect(await pipe.run("import", "/p") == .done)
        #expect(pipe.messages == "importing: 0/2 (0 %)\nimporting: 1/2 (50 %)\nimporting: 2/2 (100 %)\n")
        let terminal = try stage(Sample.importJob(), terminalColumns: 80)
        terminal.updates("job.watch", steps)
        #expect(await terminal.run("import", "/p") == .done)
        #expect(terminal.messages.hasPrefix("\rimporting  [>"))
        #expect(terminal.messages.hasSuffix("\r\u{1B}[K"))
    }

    @Test("More names than a line can carry go on a list first, and make one job all the same")
    func manyNames() async throws {
        let stage = try stage(Sample.importJob())
        stage.answer("library.collectPaths", #"{"list":"a-list","count":1}"#)
        let names = (1...14_000).map {
            "/media/camera/DCIM/\($0)/a name that is as long as names of photos mostly are – \($0).jpg"
        }
        #expect(await stage.program.run(["import", "--no-originals"] + names) == .done)
        let pages = stage.allParams("library.collectPaths")
        #expect(pages.first?["list"] == nil && pages.dropFirst().allSatisfy { $0["list"] == "a-list" })
        let sent: [JSONValue] = pages.flatMap { page in page["paths"]?.arrayValue ?? [] }
        #expect(sent == names.map(JSONValue.string))
        for page in pages { #expect(try JSONText.encode(page).count < 1 << 20) }
        #expect(stage.allParams("library.import") == [["list": "a-list", "paths": [], "originals": false]])
    }

    @Test("A category that does not exist: the nearest is named, nothing is imported")
    func unknownCategory() async throws {
        let stage = try stage(Sample.importJob())
        #expect(await stage.run("import", "/p", "--category", "Famly") == .failed)
        #expect(stage.messages.contains("There is no category 'Famly'. Did you mean 'Family'?"))
        #expect(!stage.methods.contains("library.import"))
    }
}
