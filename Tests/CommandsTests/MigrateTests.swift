import Foundation
import LibraryModel
import ServiceMesh
import Testing

@Suite("Migrating")
struct MigrateTests {
    private func stage(
        _ receipt: MigrationReceipt, state: JobState = .finished, outcomes: [String: Int], lines: [ReceiptLine] = []
    ) throws -> Stage {
        let stage = Stage()
        stage.answer("library.migrate", #"{"job":"migrate-3f9a2c"}"#)
        stage.answer(
            "job.watch",
            try Sample.job(
                "library.migrate", state: state, needsAttention: receipt.ending == .completeWithProblems,
                outcomes: outcomes, receipt: receipt))
        stage.answer("job.receipt", try String(decoding: JSONEncoder().encode(["lines": lines]), as: UTF8.self))
        return stage
    }

    private func receipt(
        dryRun: Bool = false, photos: [String: Int] = ["imported": 1], ending: JobEnding = .complete
    ) -> MigrationReceipt {
        MigrationReceipt(
            database: "/home/ada/old\u{1B}[2J", version: 6, isDryRun: dryRun, categories: ["added": 1, "merged": 2],
            photos: photos, defaulted: 3, renamed: 0, furtherCategories: 0, encryptedValues: ["encrypted_notes": 7],
            ending: ending)
    }

    @Test("Paths are made absolute, switches are sent only where they are given")
    func message() async throws {
        let stage = try stage(receipt(), outcomes: ["imported": 1, "added": 1])
        #expect(await stage.run("migrate", "old", "--photos", "../DCIM", "--keep-missing") == .done)
        let params = try #require(stage.params("library.migrate"))
        #expect(params["database"] == "/home/ada/old" && params["photos"] == "/home/DCIM")
        #expect(params["keepMissing"] == true && params["dryRun"] == nil)
        let plain = try self.stage(receipt(dryRun: true), outcomes: ["imported": 1])
        #expect(await plain.run("migrate", "/x/old", "--dry-run") == .done)
        #expect(plain.params("library.migrate") == ["database": "/x/old", "dryRun": true])
        #expect(
            plain.results.hasPrefix(
                "Would take over 1 photo and 1 category from /home/ada/old␛[2J (version 6). Nothing"))
    }

    @Test("The receipt: what was taken over, here already, defaulted and left, then every line that matters")
    func report() async throws {
        let photos = ["imported": 4, "duplicate": 2, "missing": 1, "cancelled": 5]
        let stage = try stage(
            receipt(photos: photos, ending: .completeWithProblems), outcomes: photos,
            lines: [
                ReceiptLine(item: "/sdcard/a.jpg", outcome: "imported"),
                ReceiptLine(item: "/sdcard/\u{1B}b.jpg", outcome: "missing", detail: "no file\nof that name"),
                ReceiptLine(item: "Family", outcome: "merged", detail: "it is here"),
            ])
        #expect(await stage.run("migrate", "old") == .doneWithProblems)
        for text in [
            "Took over 4 photos and 1 category from", "1 of 3 new, 2 here already", "4 of 12 new, 2 here already",
            "1, their files were not found", "3, values that could not stay", "7, values that only the phone",
            "5, the same command completes it", "\nmissing    /sdcard/␛b.jpg: no file␊of that name\n",
            "\nmerged     Family: it is here\n", "OUTCOME    LINES",
        ] { #expect(stage.results.contains(text), "\(text) in \(stage.results)") }
        #expect(!stage.results.contains("a.jpg") && !stage.results.contains("\u{1B}"))
        #expect(!stage.results.contains("Renamed") && !stage.results.contains("In several"))
    }

    @Test("A database that is refused is told with its reason; one is required")
    func refusals() async throws {
        let stage = Stage()
        stage.answer("library.migrate", #"{"job":"migrate-3f9a2c"}"#)
        stage.answer(
            "job.watch",
            try Sample.job(
                "library.migrate", state: .failed,
                error: MeshError(.failedPrecondition, "It has version 3. Update the app on the phone.")))
        #expect(await stage.run("migrate", "old") == .failed)
        #expect(stage.messages.contains("It has version 3."))
        #expect(await Stage().run("migrate") == .usage)
    }
}
