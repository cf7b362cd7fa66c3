import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands
@testable import Exporting

@Suite("Exporting photos")
struct PhotoExportTests {
    /// - Parameter sidecar: what the library says of each photo; nil where it is asked for nothing.
    static func library(
        _ folder: TemporaryFolder, photo: Photo,
        sidecar: PhotoSidecar? = PhotoSidecar(photoId: 1, text: "what is known", saysMore: false)
    ) throws -> Stage {
        try FileManager.default.createDirectory(atPath: folder.file("photos"), withIntermediateDirectories: true)
        let stage = Stage(currentFolder: folder.path)
        try stage.answer(
            "library.status",
            LibraryStatus(
                version: "0", pid: 1, path: folder.path, photos: 1, favorites: 0, categories: 1, trashed: 0,
                photoBytes: 5, photosWithoutOriginal: 0, freeBytes: 5, lastBackupDate: nil,
                imageWorkers: ImageWorkerStatus(started: 0, crashed: 0, timedOut: 0, pids: [], peakMemoryBytes: 0),
                peakMemoryBytes: 0))
        try stage.answer("photo.get", photo)
        if let sidecar { try stage.answer("photo.sidecar", sidecar) }
        return stage
    }

    @Test("A photo is copied byte for byte into a folder that is made for it")
    func copied() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try Self.library(folder, photo: Sample.photo(1))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        #expect(await stage.run("photos", "export", "1", "--to", "out/deep") == .done)
        #expect(stage.results == folder.file("out/deep/beach.jpg") + "\n")
        #expect(try String(contentsOfFile: folder.file("out/deep/beach.jpg"), encoding: .utf8) == "hello")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out/deep")) == ["beach.jpg"])
    }

    @Test("A file that is there is never overwritten, and nothing half done stays")
    func existing() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try Self.library(folder, photo: Sample.photo(1))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        try FileManager.default.createDirectory(atPath: folder.file("out"), withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: folder.file("out/beach.jpg")))
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .doneWithProblems)
        #expect(stage.messages.contains("is there already"))
        // Also where what it was copied from is gone since.
        try FileManager.default.removeItem(atPath: folder.file("photos/IMG_1.jpg"))
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .doneWithProblems)
        #expect(try String(contentsOfFile: folder.file("out/beach.jpg"), encoding: .utf8) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")) == ["beach.jpg"])
    }

    @Test(
        "A full disk is told once, and nothing more is tried",
        .enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
    func fullDisk() async throws {
        let folder = try TemporaryFolder("export")
        let disk = try SmallDisk(megabytes: 1)
        defer { disk.unmount() }
        var photo = Sample.photo(1)
        photo.fileSize = 700 << 10
        let stage = try Self.library(folder, photo: photo)
        try Data(count: 700 << 10).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        #expect(await stage.run("photos", "export", "1", "2", "3", "4", "--to", disk.folder.path) == .doneWithProblems)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == ["beach.jpg"])
        #expect(stage.messages.components(separatedBy: "No space left").count == 2, "\(stage.messages)")
        #expect(stage.messages.contains("The disk is full, so the export ends here."))
    }

    @Test("The original under the photo's own name, or the photo as it is shown; two of one name are numbered")
    func originals() async throws {
        let folder = try TemporaryFolder("export")
        var photo = Sample.photo(1)
        (photo.originalPath, photo.fileSize) = ("originals/IMG_1.heic", 5)
        let stage = try Self.library(folder, photo: photo)
        try FileManager.default.createDirectory(atPath: folder.file("originals"), withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        try Data("as it came".utf8).write(to: URL(fileURLWithPath: folder.file("originals/IMG_1.heic")))
        #expect(await stage.run("photos", "export", "1", "2", "--to", "out") == .done)
        for name in ["out/beach.heic", "out/beach (2).heic"] {
            #expect(try String(contentsOfFile: folder.file(name), encoding: .utf8) == "as it came")
        }
        #expect(await stage.run("photos", "export", "1", "--shown", "--to", "out") == .done)
        #expect(try String(contentsOfFile: folder.file("out/beach.jpg"), encoding: .utf8) == "hello")
        try stage.answer("photo.search", PhotoPage(photos: [photo], next: nil))
        #expect(await stage.run("photos", "export", "--all", "--to", "all") == .done)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("all")) == ["beach.heic"])
        #expect(await stage.run("photos", "export") == .usage && stage.messages.contains("--all"))
        #expect(await stage.run("photos", "export", "1", "--all") == .usage)
    }

    @Test("Sidecars stand beside the original, under its name; beside the photo as it is shown they do not")
    func sidecars() async throws {
        let folder = try TemporaryFolder("export")
        var photo = Sample.photo(1)
        (photo.originalPath, photo.fileSize) = ("originals/IMG_1.heic", 5)
        photo.sidecars = ["IMG_7.HEIC.xmp", "IMG_7.xmp", "IMG_7.HEIC.supplemental-meta.json"].enumerated().map {
            KeptSidecar(
                name: $1, path: "originals/IMG_1.jpg.\($0 + 1)\($1.hasSuffix("n") ? ".json" : ".xmp")", fileSize: 7,
                contentDigest: "")
        }
        let stage = try Self.library(folder, photo: photo)
        try FileManager.default.createDirectory(atPath: folder.file("originals"), withIntermediateDirectories: true)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        for (number, path) in ([photo.originalPath ?? ""] + photo.sidecars.map(\.path)).enumerated() {
            try Data("bytes \(number)".utf8).write(to: URL(fileURLWithPath: folder.file(path)))
        }
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .done)
        let names = ["beach.heic", "beach.heic.xmp", "beach.heic.2.xmp", "beach.heic.supplemental-metadata.json"]
        #expect(stage.results == names.map { folder.file("out/\($0)\n") }.joined())
        for (number, name) in names.enumerated() {
            #expect(try String(contentsOfFile: folder.file("out/" + name), encoding: .utf8) == "bytes \(number)")
        }
        #expect(await stage.run("photos", "export", "1", "--shown", "--to", "shown") == .done)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("shown")) == ["beach.jpg"])

        // One that is lost costs itself, and is told.
        try FileManager.default.removeItem(atPath: folder.file(photo.sidecars[0].path))
        #expect(await stage.run("photos", "export", "1", "--to", "lost") == .doneWithProblems)
        #expect(stage.messages.contains("IMG_1.jpg.1.xmp cannot be opened"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("lost")).count == 3)
    }

    @Test("Names that no file system takes, or that lead elsewhere, become harmless ones")
    func names() {
        var names = ExportNames()
        func name(_ text: String) -> String {
            var photo = Sample.photo(1)
            photo.name = text
            return names.name(for: photo, storedAt: "photos/IMG_1.jpg")
        }
        #expect(name("../../etc/passwd") == "_.._etc_passwd.jpg")
        #expect(name("BEACH") == "BEACH.jpg" && name("beach") == "beach (2).jpg")
        #expect(name(".hidden") == "hidden.jpg" && name("a\u{0}b\n") == "a_b_.jpg" && name("..") == "photo.jpg")
        // Names of Windows' devices.
        #expect(name("CON") == "CON_.jpg" && name("aux") == "aux_.jpg" && name("nul.tar") == "nul_.tar.jpg")
        #expect(name("com1 ") == "com1 _.jpg" && name("LPT³") == "LPT³_.jpg" && name("con_") == "con_ (2).jpg")
        #expect(name("console") == "console.jpg" && name("COM10") == "COM10.jpg" && name("COMx") == "COMx.jpg")
        #expect(name(String(repeating: "é", count: 300)).utf8.count == 204)
    }

    @Test("A photo that does not exist, among others: nothing is exported")
    func mistyped() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try Self.library(folder, photo: Sample.photo(1))
        stage.fail("photo.get", .refused(MeshError(.notFound, "There is no photo with the id 99.")))
        try Data("hello".utf8).write(to: URL(fileURLWithPath: folder.file("photos/IMG_1.jpg")))
        #expect(await stage.run("photos", "export", "1", "99", "--to", "out") == .failed)
        #expect(stage.messages.contains("no photo with the id 99"))
        #expect(!FileManager.default.fileExists(atPath: folder.file("out/beach.jpg")))
    }

    @Test("Where there are no links, a name that is in use is not taken either")
    func renaming() throws {
        let folder = try TemporaryFolder("export")
        let (partial, target) = (folder.file("a.jpg.partial"), folder.file("a.jpg"))
        for text in ["first", "second"] {
            try text.write(toFile: partial, atomically: false, encoding: .utf8)
            if text == "first" {
                try NewFile.rename(partial, to: target)
                #expect(!FileManager.default.fileExists(atPath: partial))
            } else {
                #expect(throws: CommandFailure.local("\(target) is there already.")) {
                    try NewFile.rename(partial, to: target)
                }
            }
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "first")
    }

    @Test("A renaming that fails after it was done is done")
    func lateFailure() throws {
        let folder = try TemporaryFolder("export")
        let (partial, target) = (folder.file("a.jpg.partial"), folder.file("a.jpg"))
        try "whole".write(toFile: partial, atomically: false, encoding: .utf8)
        try NewFile.rename(partial, to: target) { from, to in
            #expect(rename(from, to) == 0)
            errno = EIO
            return -1
        }
        #expect(try String(contentsOfFile: target, encoding: .utf8) == "whole")

        try "other".write(toFile: partial, atomically: false, encoding: .utf8)
        #expect(throws: CommandFailure.self) {
            try NewFile.rename(partial, to: folder.file("b.jpg")) { _, _ in
                errno = EIO
                return -1
            }
        }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.sorted() == ["a.jpg", "a.jpg.partial"])
    }

    @Test("A file that is not finished leaves nothing, and has no name while it is written")
    func unfinished() throws {
        let folder = try TemporaryFolder("export")
        do {
            let file = try NewFile(folder.file("a.jpg"))
            #expect(write(file.descriptor, "half", 4) == 4)
            #expect(!FileManager.default.fileExists(atPath: folder.file("a.jpg")))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test(
        "What stands in a photo's place and is no file is told, and waited for by nobody",
        arguments: ["pipe", "folder"])
    func noFile(_ kind: String) async throws {
        let folder = try TemporaryFolder("export")
        let stage = try Self.library(folder, photo: Sample.photo(1))
        #expect((kind == "pipe" ? mkfifo : mkdir)(folder.file("photos/IMG_1.jpg"), 0o700) == 0)
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .failed)
        #expect(stage.messages.contains("is no file that could be copied"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).isEmpty)
    }

    @Test("A disk that can only be read is called so")
    func readOnly() {
        #expect(NewFile.refusal("/media/stick/a.jpg", EROFS).message.contains("its disk can only be read"))
    }

    @Test("A file of another size than the catalogue says is not handed out")
    func truncated() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try Self.library(folder, photo: Sample.photo(1, size: 6))
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
        let stage = try Self.library(folder, photo: Sample.photo(1, path: path))
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .failed)
        #expect(stage.messages.contains("does not lie in the library"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("out")).isEmpty)
    }

    @Test("A link in the library's place of a photo is not followed")
    func link() async throws {
        let folder = try TemporaryFolder("export")
        let stage = try Self.library(folder, photo: Sample.photo(1))
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("photos/IMG_1.jpg"), withDestinationPath: "/etc/hostname")
        #expect(await stage.run("photos", "export", "1", "--to", "out") == .failed)
        #expect(stage.messages.contains("cannot be opened"))
    }
}
