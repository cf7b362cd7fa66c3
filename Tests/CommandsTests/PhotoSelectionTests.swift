import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Choosing photos: ranges, standard input, filters")
struct PhotoSelectionTests {
    private func stage(says: String? = nil, input: String = "", terminalColumns: Int? = nil) throws -> Stage {
        let stage = Stage(terminalColumns: terminalColumns, personSays: says, input: Array(input.utf8))
        try stage.answer("category.list", Sample.categories)
        try stage.answer("photo.favorite", PhotosChanged(count: 3))
        try stage.answer("photo.move", PhotosChanged(count: 3))
        try stage.answer("photo.delete", PhotosChanged(count: 3))
        return stage
    }

    // MARK: Named

    @Test("A range means the photos that there are between its ends; what is named twice is meant once")
    func ranges() async throws {
        let stage = try stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [12, 14], next: 14))
        try stage.answer("photo.select", SelectedPhotos(ids: [15], next: nil))
        #expect(await stage.run("photos", "favorite", "3", "12-40", "14", "3") == .done)
        #expect(
            stage.allParams("photo.select") == [
                ["firstId": 12, "lastId": 40], ["firstId": 12, "lastId": 40, "after": 14],
            ])
        // One was named by itself: it must be there.
        #expect(stage.params("photo.favorite") == ["ids": [3, 12, 14, 15], "isFavorite": true])
        #expect(stage.questions.isEmpty)
    }

    @Test("Of a range alone, what has gone since is passed over")
    func goneSince() async throws {
        let stage = try stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [12], next: nil))
        #expect(await stage.run("photos", "move", "12-40", "--to", "Cars") == .done)
        #expect(stage.params("photo.move") == ["ids": [12], "categoryId": 2, "ignoreMissing": true])
    }

    @Test("A range without photos is an error, and one that is turned round is wrong use")
    func wrongRanges() async throws {
        let stage = try stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [], next: nil))
        #expect(await stage.run("photos", "delete", "90-99") == .failed)
        #expect(stage.messages.contains("There are no photos from 90 to 99."))
        #expect(await stage.run("photos", "delete", "40-12") == .usage)
        #expect(await stage.run("photos", "delete", "1-99999999999999999999") == .failed)
        #expect(await stage.run("photos", "delete", "1-9999999999999999999") == .usage)
        #expect(!stage.methods.contains("photo.delete"))
    }

    @Test("'-' reads numbers, ranges and uuids from standard input, between any spaces")
    func input() async throws {
        let stage = try stage(input: "7\n  9\t11-12\r\n7\n")
        try stage.answer("photo.select", SelectedPhotos(ids: [11, 12], next: nil))
        #expect(await stage.run("photos", "delete", "-") == .done)
        #expect(stage.params("photo.delete") == ["ids": [7, 9, 11, 12]])
        #expect(stage.messages.contains("Undo it with: smilepile trash restore 7 9 11-12\n"))
        #expect(await stage.run("photos", "delete", "-", "-") == .usage)
        #expect(await stage.run("photos", "delete", "-", "--pin-file", "-") == .usage)
    }

    @Test("Standard input that is closed or empty names nothing; what is no text, or too much, is refused")
    func badInput() async throws {
        let empty = try stage()
        #expect(await empty.run("photos", "delete", "-") == .done)
        #expect(empty.messages.contains("No photos.") && !empty.methods.contains("photo.delete"))
        let bytes = Stage(input: [0xFF, 0xFE, 0x31])
        #expect(await bytes.run("photos", "delete", "-") == .failed)
        #expect(bytes.messages.contains("no text") && bytes.methods.isEmpty)
        let flood = Stage(input: [UInt8](repeating: 0x20, count: 16 << 20) + [0x31])
        #expect(await flood.run("photos", "delete", "-") == .failed)
        #expect(flood.messages.contains("too much") && flood.methods.isEmpty)
    }

    @Test("Many photos go in several requests; where one fails, it is said how far it came")
    func batches() async throws {
        let all = (1...1200).map(String.init).joined(separator: " ")
        let stage = try stage(input: all)
        #expect(await stage.run("photos", "unfavorite", "-") == .done)
        let sent = stage.allParams("photo.favorite").compactMap { $0["ids"]?.arrayValue }
        // How many one has depends on how long the one before took.
        #expect(sent.first?.count == 40 && sent.allSatisfy { (1...500).contains($0.count) })
        #expect(sent.flatMap { $0 } == (1...1200).map { JSONValue.integer($0) })
        #expect(stage.results == "\(3 * sent.count) photos changed.\n")
        let broken = Stage(input: Array(all.utf8))
        try broken.answer("photo.delete", PhotosChanged(count: 40))
        broken.fail("photo.delete", .refused(MeshError(.notFound, "There is no photo 41.")))
        #expect(await broken.run("photos", "delete", "-", "--json") == .failed)
        #expect(broken.messages.contains("Of 1200 photos the first 40 were done; the others were not."))
        #expect(!broken.results.contains("count"))
    }

    // MARK: Described

    @Test(
        "How many --where means is asked first: a no, a yes, --yes, and nobody there",
        arguments: [("n" as String?, ExitCode.failed), ("", .failed), ("y", .done), (nil, .usage)])
    func asked(said: String?, code: ExitCode) async throws {
        let stage = try stage(says: said)
        try stage.answer("photo.select", SelectedPhotos(ids: [2, 5, 9], next: nil))
        let wheres = [
            "--where", "category=cars", "--where", "to=2024", "--where", "not-reviewed", "--where", "text=a b",
        ]
        #expect(await stage.program.run(["photos", "delete"] + wheres) == code)
        #expect(
            stage.params("photo.select") == [
                "words": ["a b"], "categoryId": 2, "to": "2024-12-31T23:59:59.999", "reviewed": false,
            ])
        #expect(stage.questions == ["Put 3 photos into the trash? [y/N] "])
        #expect(stage.methods.contains("photo.delete") == (code == .done))
        if said == nil { #expect(stage.messages.contains("Repeat it with --yes if you are sure.")) }
        let sure = try self.stage()
        try sure.answer("photo.select", SelectedPhotos(ids: [2, 5, 9], next: nil))
        #expect(await sure.program.run(["photos", "delete", "--yes"] + wheres) == .done)
        #expect(sure.questions.isEmpty)
        #expect(sure.params("photo.delete") == ["ids": [2, 5, 9], "ignoreMissing": true])
    }

    @Test("A filter that nothing meets asks nothing and changes nothing")
    func nothing() async throws {
        let stage = try stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [], next: nil))
        #expect(await stage.run("photos", "move", "--to", "Cars", "--where", "favorites", "--json") == .done)
        #expect(try stage.json() == ["count": 0])
        #expect(stage.questions.isEmpty && !stage.methods.contains("photo.move"))
    }

    @Test(
        "A filter that is none is wrong use, before anything is asked",
        arguments: [
            ["photos", "delete"], ["photos", "delete", "3", "--where", "favorites"],
            ["photos", "delete", "--where", "colour=red"], ["photos", "delete", "--where", "favorites=yes"],
            ["photos", "delete", "--where", "category"], ["photos", "delete", "--where", "category="],
            ["photos", "delete", "--where", "from=soon"], ["photos", "delete", "--where", "decision=maybe"],
            ["photos", "delete", "--where", "to=2024", "--where", "to=2025"],
            ["photos", "delete", "--where", "reviewed", "--where", "not-reviewed"],
            ["photos", "export", "--all", "--where", "favorites"], ["photos", "erase", "--where", "favorites"],
        ])
    func wrongFilters(arguments: [String]) async throws {
        let stage = try stage(says: "y")
        #expect(await stage.program.run(arguments) == .usage)
        #expect(stage.methods.isEmpty && stage.questions.isEmpty)
    }

    @Test("A misspelt filter is told what it may have been")
    func misspelt() async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "delete", "--where", "categry=Cars") == .usage)
        #expect(stage.messages.contains("Did you mean 'category'?"))
    }

    @Test("One caption for many: of a range, and by a filter, where the only word is the text")
    func captions() async throws {
        let stage = try stage(says: "yes")
        try stage.answer("photo.select", SelectedPhotos(ids: [2, 5], next: nil))
        try stage.answer("photo.editAll", EditedPhotos(photos: [Sample.photo(2, caption: "Sea")]))
        #expect(await stage.run("photos", "caption", "2-5", "Sea") == .done)
        #expect(await stage.run("photos", "caption", "--where", "from=2025", "Sea") == .done)
        #expect(stage.questions == ["Write this caption to 2 photos? [y/N] "])
        #expect(
            stage.allParams("photo.editAll")
                == [JSONValue](repeating: ["ids": [2, 5], "caption": "Sea", "ignoreMissing": true], count: 2))
        #expect(await stage.run("photos", "caption", "--where", "from=2025", "2", "Sea") == .usage)
    }

    @Test("Numbers in the trash: ranges are those that are there")
    func trash() async throws {
        let stage = try stage()
        func entry(_ id: Int64) -> TrashedPhoto {
            TrashedPhoto(
                photo: Sample.photo(id), categoryName: "Cars", deletedAt: Timestamp(milliseconds: 0),
                purgeAfter: Timestamp(milliseconds: 1))
        }
        try stage.answer("trash.list", TrashPage(photos: [entry(12), entry(44)], next: "n"))
        try stage.answer("trash.list", TrashPage(photos: [entry(14)], next: nil))
        try stage.answer("trash.restore", RestoredPhotos(count: 2, staying: [StayingPhoto(id: 12, sameAs: 50)]))
        #expect(await stage.run("trash", "restore", "3", "12-40") == .doneWithProblems)
        #expect(stage.messages.contains("The photo 12 stays in the trash: it was imported again, as 50.\n"))
        #expect(stage.params("trash.restore") == ["ids": [3, 12, 14]])
        #expect(await stage.run("trash", "purge", "70-80") == .failed)
        #expect(await stage.run("trash", "restore", "x") == .usage)
        #expect(!stage.methods.contains("trash.purge"))
    }

    @Test("Numbers with neighbours as ranges, and none where that would be a long line")
    func numbers() {
        #expect(NumberRanges.text([9, 1, 3, 2, 2]) == "1-3 9")
        #expect(NumberRanges.text([5]) == "5")
        #expect(NumberRanges.text((0..<41).map { $0 * 2 }) == nil)
    }
}
