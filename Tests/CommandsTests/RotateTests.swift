import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Turning photos")
struct RotateTests {
    private func photo(_ id: Int64, _ rotation: Rotation?) -> Photo {
        var photo = Sample.photo(id)
        photo.rotation = rotation
        return photo
    }

    @Test("A turn is from where the photo is now, and says how it is undone")
    func relative() async throws {
        for (option, to, words, back) in [
            ("--right", 180, "to the right", "--left"), ("--left", 0, "to the left", "--right"),
            ("--half", 270, "by half a turn", "--half"), ("--by=90", 180, "to the right", "--left"),
        ] {
            let stage = Stage()
            try stage.answer("photo.get", photo(12, .quarter))
            try stage.answer("photo.rotate", RotatedPhotos(count: 1, photos: [photo(12, Rotation(degrees: to))]))
            #expect(await stage.run("photos", "rotate", "12", option) == .done, "\(stage.messages)")
            #expect(stage.params("photo.rotate") == ["turns": [["id": 12, "to": .integer(Int64(to)), "from": 90]]])
            #expect(stage.results == "1 photo turned \(words).\n")
            #expect(stage.messages == "Undo it with: smilepile photos rotate 12 \(back)\n")
        }
    }

    @Test("As its file has it, from wherever it is")
    func reset() async throws {
        let stage = Stage()
        try stage.answer("photo.rotate", RotatedPhotos(count: 1, photos: [photo(12, nil), photo(13, nil)]))
        #expect(await stage.run("photos", "rotate", "12", "13", "--reset") == .done)
        #expect(stage.params("photo.rotate") == ["turns": [["id": 12, "to": 0], ["id": 13, "to": 0]]])
        #expect(!stage.methods.contains("photo.get") && stage.messages.isEmpty)
        #expect(stage.results == "1 photo turned as their files have them.\n")
    }

    @Test("In a range, films and what has gone are passed over and counted")
    func range() async throws {
        let stage = Stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [12, 13, 14], next: nil))
        for id in [Int64](12...14) { try stage.answer("photo.get", photo(id, nil)) }
        try stage.answer("photo.rotate", RotatedPhotos(count: 2, photos: [photo(12, .quarter), photo(14, .quarter)]))
        #expect(await stage.run("photos", "rotate", "12-14", "--right") == .done)
        #expect(stage.params("photo.rotate")?["ignoreOthers"] == true)
        #expect(stage.messages.hasPrefix("1 photo passed over: films, or gone since.\nUndo it with: "))
        #expect(stage.messages.hasSuffix("photos rotate 12 14 --left\n"))
    }

    @Test("One way is said, once")
    func usage() async throws {
        for options in [[], ["--left", "--right"], ["--by", "45"], ["--by=-90"], ["--reset", "--by", "90"]] {
            let stage = Stage()
            #expect(await stage.program.run(["photos", "rotate", "12"] + options) == .usage, "\(options)")
            #expect(stage.methods.isEmpty)
        }
    }

    @Test("JSON is one document")
    func json() async throws {
        let stage = Stage()
        try stage.answer("photo.get", photo(12, nil))
        try stage.answer("photo.rotate", RotatedPhotos(count: 1, photos: [photo(12, .quarter)]))
        #expect(await stage.run("photos", "rotate", "12", "--right", "--json") == .done)
        let said = try stage.json()
        #expect(said["count"] == 1 && said["photos"]?.arrayValue?[0]["rotation"] == 90)
    }
}
