import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import Testing

/// What goes out of one library comes into another as it was, with the real programs.
@Suite(.timeLimit(.minutes(3))) struct ExportStories {
    /// What a family does to a photo.
    private struct Entry: Equatable {
        let takenAt: LocalDateTime?
        let datePrecision: DatePrecision?
        let takenOffset: Int?
        let dateSource: DateSource?
        let caption: String?
        let isFavorite: Bool
        let category: String
    }

    private func entries(_ place: Installation) async throws -> [String: Entry] {
        let client = try place.client()
        let names = Dictionary(
            uniqueKeysWithValues: try await client.call(ListCategories()).categories
                .map { ($0.id, $0.displayName) })
        let photos = try await place.allPhotos(client)
        return Dictionary(
            uniqueKeysWithValues: try photos.map { photo in
                (
                    photo.name,
                    Entry(
                        takenAt: photo.takenAt, datePrecision: photo.datePrecision, takenOffset: photo.takenOffset,
                        dateSource: photo.dateSource, caption: photo.caption, isFavorite: photo.isFavorite,
                        category: try #require(names[photo.categoryId]))
                )
            })
    }

    @Test func aLibraryComesBackOutOfItsExport() async throws {
        let first = try Installation("export-from", timeZone: "Asia/Kolkata")
        try await first.up()
        let album = first.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 8, to: album)
        #expect(try await first.smilepile("import", album).status == 0)
        for change in [
            ["edit", "1", "--date", "1978-08"], ["edit", "2", "--date", "1985", "--offset", "+01:00"],
            ["edit", "3", "--offset", "-3:30"], ["edit", "4", "--shift", "1h30m"],
            ["caption", "1-2", "Am <Meer> & mehr"],
            ["favorite", "2", "5"], ["move", "3-5", "--to", "Grandma"],
        ] {
            if change[0] == "move" { _ = try await first.smilepile("categories", "add", "Grandma") }
            let outcome = try await first.run("smilepile", ["photos"] + change)
            #expect(outcome.status == 0, "\(change): \(outcome.errors)")
        }
        let out = first.folder.file("out")
        #expect(try await first.smilepile("photos", "export", "--all", "--to", out).status == 0)
        let again = try await first.smilepile("photos", "export", "--all", "--update", "--to", out)
        #expect(again.status == 0 && again.output.isEmpty && again.errors.hasPrefix("0 files written, "), "\(again)")

        let second = try Installation("export-to", timeZone: "Asia/Kolkata")
        try await second.up()
        let imported = try await second.smilepile("import", out)
        #expect(imported.status == 0 && imported.output.contains("3 photos of these went into"), "\(imported.output)")
        let (was, now) = (try await entries(first), try await entries(second))
        #expect(was.count == 8 && was == now)
        #expect(try await first.smilepile("down").status == 0)
        #expect(try await second.smilepile("down").status == 0)
    }
}
