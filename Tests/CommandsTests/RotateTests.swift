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
            try stage.answer("photo.rotate", RotatedPhotos(photos: [photo(12, Rotation(degrees: to))], turned: [12]))
            #expect(await stage.run("photos", "rotate", "12", option) == .done, "\(stage.messages)")
            #expect(stage.params("photo.rotate") == ["turns": [["id": 12, "to": .integer(Int64(to)), "from": 90]]])
            #expect(stage.results == "1 photo turned \(words).\n")
            #expect(stage.messages == "Undo it with: smilepile photos rotate 12 \(back)\n")
        }
    }

    @Test("As its file has it, from wherever it is")
    func reset() async throws {
        let stage = Stage()
        try stage.answer("photo.rotate", RotatedPhotos(photos: [photo(12, nil), photo(13, nil)], turned: [13]))
        #expect(await stage.run("photos", "rotate", "12", "13", "--reset") == .done)
        #expect(stage.params("photo.rotate") == ["turns": [["id": 12, "to": 0], ["id": 13, "to": 0]]])
        #expect(!stage.methods.contains("photo.get") && stage.messages.isEmpty)
        #expect(stage.results == "1 photo turned as their files have them.\n")
    }

    /// Of five, a film, one that another device has turned so before, and one that it has turned elsewhere.
    @Test("In a range, what cannot be turned is passed over and counted, and undo is for what was turned")
    func range() async throws {
        let stage = Stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [12, 13, 14, 15, 16], next: nil))
        for id in [Int64](12...16) { try stage.answer("photo.get", photo(id, nil)) }
        let reply = RotatedPhotos(
            photos: [photo(12, .quarter), photo(14, .quarter), photo(15, .quarter), photo(16, .half)], turned: [12, 14])
        try stage.answer("photo.rotate", reply)
        #expect(await stage.run("photos", "rotate", "12-16", "--right") == .done)
        #expect(stage.params("photo.rotate")?["ignoreOthers"] == true)
        #expect(stage.results == "2 photos turned to the right.\n")
        #expect(
            stage.messages.hasPrefix("2 photos passed over: films, gone, or turned elsewhere since.\nUndo it with: "))
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
        try stage.answer("photo.rotate", RotatedPhotos(photos: [photo(12, .quarter)], turned: [12]))
        #expect(await stage.run("photos", "rotate", "12", "--right", "--json") == .done)
        let said = try stage.json()
        #expect(said["count"] == 1 && said["photos"]?.arrayValue?[0]["rotation"] == 90)
    }
}
