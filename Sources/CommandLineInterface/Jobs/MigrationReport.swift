import LibraryModel

/// The receipt of a migration in words: what was taken over, merged, defaulted, renamed and left.
enum MigrationReport {
    private static let withoutLog =
        "No file of that name that ends in -wal was beside it. If the phone has one, it has the latest changes: copy it too, and do this again."

    static func lines(_ receipt: MigrationReceipt, style: Style) -> [String] {
        let categories = receipt.categories
        let photos = receipt.photos
        func of(_ counts: [String: Int], _ outcomes: MigrationOutcome...) -> Int {
            outcomes.reduce(0) { $0 + (counts[$1.rawValue] ?? 0) }
        }
        let allPhotos = photos.values.reduce(0, +)
        let allCategories = categories.values.reduce(0, +)
        let imported = of(photos, .imported)
        let added = of(categories, .added)
        var sheet = FactSheet()
        sheet.add("Categories", "\(added) of \(allCategories) new, \(of(categories, .merged)) here already")
        sheet.add("Photos", "\(imported) of \(allPhotos) new, \(of(photos, .duplicate, .completed)) here already")
        func add(_ name: String, _ count: Int, _ explanation: String) {
            if count > 0 { sheet.add(name, "\(count), \(explanation)") }
        }
        add("Missing", of(photos, .missing), "their files were not found; nothing was taken over of them")
        add("Kept", of(photos, .kept), "without their files, which were not found")
        add("Kept unseen", of(photos, .keptUnseen), "too large for the memory there is; their originals are here")
        add(
            "Not taken",
            of(photos, .unsupported, .damaged, .tooLarge, .timedOut, .unreadable, .noSpace, .changed, .workerLost),
            "for the reasons below")
        add("Left", of(categories, .left) + of(photos, .left), "categories, and photos in them, past the limit")
        add("Defaulted", receipt.defaulted, "values that could not stay as they were")
        add("Renamed", receipt.renamed, "categories")
        add("In several", receipt.furtherCategories, "photos were in further categories too")
        add(
            "Encrypted", receipt.encryptedValues.values.reduce(0, +),
            "values that only the phone itself can read; they were left")
        add("Not done", of(photos, .cancelled), "the same command completes it")
        let end = receipt.ending == .cancelled ? "Cancelled. " : ""
        let what = "\(Figures.count(imported, "photo")) and \(Figures.count(added, "category", "categories"))"
        let source = "\(PlainText.neutralized(receipt.database)) (version \(receipt.version))"
        return [
            end
                + (receipt.isDryRun
                    ? "Would take over \(what) from \(source). Nothing was changed."
                    : "Took over \(what) from \(source), which is as it was.")
        ] + sheet.lines(style: style) + (receipt.isWithoutLog == true ? [withoutLog] : [])
    }
}
