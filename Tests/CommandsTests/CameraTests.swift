import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface

@Suite("Cameras: the filter, the list, and the line of a photo")
struct CameraTests {
    private func stage(terminalColumns: Int? = nil) throws -> Stage {
        let stage = Stage(terminalColumns: terminalColumns)
        try stage.answer("category.list", Sample.categories)
        try stage.answer("photo.search", PhotoPage(photos: [Sample.photo(120)], next: nil))
        return stage
    }

    @Test(
        "Words are sent as they are; none is no camera, and =none the word",
        arguments: [
            (["photos", "--camera", "iPhone 12"], ["camera": "iPhone 12"]),
            (["photos", "list", "--camera=canon"], ["camera": "canon"]),
            (["photos", "--camera", "None"], ["hasCamera": false]),
            (["photos", "--camera", "=none"], ["camera": "none"]),
            (["photos", "--camera", "==none"], ["camera": "=none"]),
            (["photos", "search", "beach", "--camera", "canon"], ["words": ["beach"], "camera": "canon"]),
        ] as [([String], JSONValue)])
    func filter(_ words: [String], _ parameters: JSONValue) async throws {
        let stage = try stage()
        #expect(await stage.program.run(words) == .done)
        #expect(stage.params("photo.search") == parameters)
    }

    @Test("Nothing is no camera's name", arguments: ["", " ", "=", "= "])
    func nothing(_ text: String) async throws {
        let stage = try stage()
        #expect(await stage.run("photos", "--camera", text) == .usage)
        #expect(stage.messages.contains("smilepile photos cameras"), "\(stage.messages)")
        #expect(!stage.methods.contains("photo.search"))
    }

    @Test("--where takes it, and what reads dates again")
    func elsewhere() async throws {
        let stage = try stage()
        try stage.answer("photo.select", SelectedPhotos(ids: [12], next: nil))
        try stage.answer("photo.favorite", PhotosChanged(count: 1))
        #expect(await stage.run("photos", "favorite", "--where", "camera=iphone 12", "--yes") == .done)
        #expect(stage.params("photo.select") == ["camera": "iphone 12"])
        #expect(await stage.run("photos", "favorite", "--where", "camera=", "--yes") == .usage)
        #expect(await stage.run("photos", "favorite", "--where", "camera=none", "--yes") == .done)
        #expect(stage.allParams("photo.select").last == ["hasCamera": false])
        stage.answer("photo.redate", #"{"job":"redate-1"}"#)
        #expect(await stage.run("photos", "redate", "--camera", "none", "--detach") == .done)
        #expect(stage.params("photo.redate") == ["hasCamera": false])
        #expect(await stage.run("photos", "redate", "--camera", "canon", "--detach") == .done)
        #expect(stage.params("photo.redate") == ["camera": "canon"])
        #expect(await stage.run("watch", "photos", "--camera", "canon") != .usage)
        #expect(stage.params("photo.observe") == ["camera": "canon"])
    }

    @Test("The list has the camera of most photos first, and says what is not in it")
    func list() async throws {
        let stage = try stage(terminalColumns: 40)
        try stage.answer(
            "photo.cameras",
            CameraList(
                cameras: [
                    CameraCount(name: "Apple iPhone 12", photoCount: 1204),
                    CameraCount(name: String(repeating: "x", count: 128), photoCount: 3),
                ], count: 7, withoutCamera: 1))
        #expect(await stage.run("photos", "cameras", "--limit", "2") == .done)
        #expect(stage.params("photo.cameras") == ["limit": 2])
        let lines = stage.results.split(separator: "\n")
        #expect(lines.count == 3 && lines[1].hasPrefix("Apple iPhone 12 ") && lines[1].hasSuffix("1204"))
        #expect(lines.allSatisfy { TextWidth.of(String($0)) <= 40 + 8 })
        #expect(
            stage.messages == """
                There are 5 more: --limit 1000
                1 photo without: smilepile photos list --camera none

                """)
        let empty = try self.stage()
        try empty.answer("photo.cameras", CameraList(cameras: [], count: 0, withoutCamera: 9))
        #expect(await empty.run("photos", "cameras") == .done)
        #expect(empty.results.isEmpty && empty.messages == "No photo says its camera.\n")
    }

    @Test("A photo's camera is a line of photos show")
    func show() async throws {
        let stage = try stage()
        var photo = Sample.photo(12)
        photo.camera = "Apple iPhone 12"
        try stage.answer("photo.get", photo)
        stage.answer("rpc.hello", Sample.hello)
        #expect(await stage.run("photos", "show", "12") == .done)
        let line = try #require(stage.results.split(separator: "\n").first { $0.hasPrefix("Camera") })
        #expect(line.hasSuffix(" Apple iPhone 12"))
    }
}
