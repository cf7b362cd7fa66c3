import Foundation
import LibraryModel
import TestSupport
import Testing

@testable import Commands

@Suite("Exporting photos")
struct PhotoExportTests {
    private func library(_ folder: TemporaryFolder, photo: Photo) throws -> Stage {
        try FileManager.default.createDirectory(atPath: folder.file("photos"), withIntermediateDirectories: true)
        let stage = Stage(currentFolder: folder.path)
        try stage.answer(
            "library.status",
            LibraryStatus(
                version: "0", pid: 1, path: folder.path, photos: 1, favorites: 0, categories: 1, trashed: 0,
                photoBytes: 5, freeBytes: 5, lastBackupDate: nil,
                imageWorkers: ImageWorkerStatus(started: 0, crashed: 0, timedOut: 0, pids: [], peakMemoryBytes: 0),
                peakMemoryBytes: 0))
        try stage.answer("photo.get", photo)
        return stage
    }

    @Test("A photo is copied byte for byte into a folder that is made for it")
    func copied() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try library(folder, photo: Sample.photo(1))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        #expect(await stage.run("photos", "export", "1", "--to", "out/deep") == .done)
        #expect(stage.results == folder.file("out/deep/IMG_1.jpg") + "\n")
        #expect(try String(contentsOfFile: folder.file("out/deep/IMG_1.jpg"), encoding: .utf8) == "hello")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out/deep")) == ["IMG_1.jpg"])
    }

    @Test("A file that is there is never overwritten, and nothing half done stays")
    func existing() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try library(folder, photo: Sample.photo(1))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("out/IMG_1.jpg")))
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .failed)
        #expect(stage.messages.contains("is there already"))
        #expect(try String(contentsOfFile: folder.file("out/IMG_1.jpg"), encoding: .utf8) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")) == ["IMG_1.jpg"])
    }

    @Test("A file of another size than the catalogue says is not handed out")
    func truncated() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try library(folder, photo: Sample.photo(1, size: 6))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        #expect(await stage.run("photos", "export", "1", "--json", "--to", "out") == .failed)
        #expect(
            try stage.json()["photos"]?.arrayValue?.first?["error"]?.stringValue?.contains("5 bytes instead of 6")
                == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).isEmpty)
    }

    @Test(
        "A path that leads out of the library is refused",
        arguments: ["/etc/passwd", "../secret.jpg", "photos/../../secret.jpg", "photos//x.jpg", "photos/a\0.jpg"])
    func climbing(path: String) async throws {
        let folder = try TemporaryFolder("export")
        let stage = try library(folder, photo: Sample.photo(1, path: path))
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .failed)
        #expect(stage.messages.contains("does not lie in the library"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).isEmpty)
    }

    @Test("A link in the library's place of a photo is not followed")
    func link() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try library(folder, photo: Sample.photo(1))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("photos/IMG_1.jpg"), withDestinationPath: "/etc/hostname")
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .failed)
        #expect(stage.messages.contains("cannot be opened"))
    }
}
