import LibraryModel
import ServiceMesh
import Testing

@Suite("Finding dates out again")
struct RedateTests {
    private func stage(
        photos: Int, redated: Int = 0, kept: Int = 0, unreadable: Int = 0, isDryRun: Bool = false,
        lines: String = "[]"
    ) throws -> Stage {
        let stage = Stage()
        try stage.answer("category.list", Sample.categories)
        stage.answer("photo.redate", #"{"job":"redate-1"}"#)
        let receipt = RedateReceipt(
            photos: photos, redated: redated, kept: kept, unreadable: unreadable, isDryRun: isDryRun,
            ending: unreadable > 0 ? .completeWithProblems : .complete)
        let outcomes = ["redated": redated, "kept": kept, "unreadable": unreadable].filter { $0.value > 0 }
        stage.answer(
            "job.watch",
            try Sample.job("photo.redate", needsAttention: unreadable > 0, outcomes: outcomes, receipt: receipt))
        stage.answer("job.receipt", #"{"lines":\#(lines)}"#)
        return stage
    }

    @Test("The filters are those of lists")
    func filters() async throws {
        let stage = try stage(photos: 3)
        #expect(await stage.run("photos", "redate") == .done)
        #expect(stage.params("photo.redate") == .object([:]))
        #expect(stage.results == "Looked at 3 photos: no date has changed.\n")
        let all = ["--category", "été", "--from", "2025-06-01", "--to", "2025-06-30", "--favorites", "--dry-run"]
        #expect(await stage.program.run(["photos", "redate"] + all) == .done)
        #expect(
            stage.params("photo.redate") == [
                "categoryId": 3, "from": "2025-06-01T00:00:00", "to": "2025-06-30T23:59:59.999",
                "favoritesOnly": true, "dryRun": true,
            ])
        #expect(await stage.run("photos", "redate", "12") == .usage)
    }

    @Test("Each photo that changes has its line, old date and new")
    func preview() async throws {
        let change = "2024-06-01 10:00:00 (its name) → 2024-06-01 12:00:00 +02:00 (EXIF)"
        let line = #"[{"item":"12 beach","outcome":"redated","detail":"\#(change)"}]"#
        let stage = try stage(photos: 120, redated: 1, isDryRun: true, lines: line)
        #expect(await stage.run("photos", "redate", "--dry-run") == .done)
        #expect(
            stage.results == """
                Would change the dates of 1 of 120 photos. Nothing was changed.
                OUTCOME  PHOTOS
                redated       1

                redated  12 beach: \(change)

                """, "\(stage.results)")
    }

    @Test("A file that cannot be read is named, and is a problem")
    func unreadable() async throws {
        let line = #"[{"item":"12 beach","outcome":"unreadable","detail":"damaged"}]"#
        let stage = try stage(photos: 2, redated: 1, unreadable: 1, lines: line)
        #expect(await stage.run("photos", "redate") == .doneWithProblems)
        #expect(stage.results.hasPrefix("Changed the dates of 1 of 2 photos.\n"))
        #expect(stage.results.contains("unreadable  12 beach: damaged\n"))
    }
}
