import Foundation
import LibraryModel
import ServiceMesh
import Sidecars
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

/// What an export writes beside photos, their times, and a folder that is brought up to date.
@Suite struct ExportedSidecarTests {
    private let folder: TemporaryFolder
    private let stage: Stage
    private static let known = String(
        decoding: XMPDocument(entry: LibraryEntry(category: "Family")).bytes, as: UTF8.self)

    init() throws {
        folder = try TemporaryFolder("export")
        stage = try PhotoExportTests.library(folder, photo: Sample.photo(1))
        try write("photos/IMG_1.jpg", "hello")
    }

    private func write(_ path: String, _ text: String) throws {
        let file = URL(fileURLWithPath: folder.file(path))
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: file)
    }

    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: folder.file(path), encoding: .utf8)
    }

    private func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.file(path)).sorted()
    }

    private func inode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: folder.file(path))[.systemFileNumber] as? Int
    }

    private func modified(_ path: String) throws -> Int64 {
        var status = stat()
        try #require(lstat(folder.file(path), &status) == 0)
        return Int64(status.st_mtim.tv_sec) * 1000 + Int64(status.st_mtim.tv_nsec) / 1_000_000
    }

    private func sidecar(_ text: String = known, saysMore: Bool = true, unreadable: [SealedField] = []) throws {
        try stage.replace(
            "photo.sidecar", PhotoSidecar(photoId: 1, text: text, saysMore: saysMore, unreadable: unreadable))
    }

    @Test func whatTheLibraryKnowsStandsBesideThePhoto() async throws {
        // Of two that are called alike, one cannot be called so.
        #expect(await stage.run("photos", "export", "1", "2", "--to", "a") == .done)
        #expect(stage.params("photo.sidecar")?["asShown"] == nil)
        #expect(try names("a") == ["beach (2).jpg", "beach (2).jpg.xmp", "beach.jpg"])
        try sidecar("more < than & bytes")
        #expect(await stage.run("photos", "export", "1", "2", "--shown", "--to", "b") == .done)
        #expect(stage.params("photo.sidecar")?["asShown"] == true)
        #expect(try names("b") == ["beach (2).jpg", "beach (2).jpg.xmp", "beach.jpg", "beach.jpg.xmp"])
        #expect(try text("b/beach.jpg.xmp") == "more < than & bytes")
        #expect(stage.results.contains(folder.file("b/beach.jpg.xmp") + "\n"))
        #expect(await stage.run("photos", "export", "1", "--sidecars", "never", "--to", "c") == .done)
        #expect(try names("c") == ["beach.jpg"])
        try sidecar(saysMore: false)
        #expect(await stage.run("photos", "export", "1", "--sidecars", "always", "--to", "d") == .done)
        #expect(try names("d") == ["beach.jpg", "beach.jpg.xmp"])
    }

    @Test func keptSidecarsStandAsideAndOurOwnOfBeforeAreLeftOut() async throws {
        var photo = Sample.photo(1)
        (photo.originalPath, photo.sidecars) = (
            photo.path,
            ["foreign", "own"].map {
                KeptSidecar(name: "x.jpg.xmp", path: "originals/\($0).xmp", fileSize: 0, contentDigest: "")
            }
        )
        photo.sidecars = try photo.sidecars.map { kept in
            let content = kept.path.contains("own") ? Self.known : "foreign"
            try write(kept.path, content)
            return KeptSidecar(
                name: kept.name, path: kept.path, fileSize: Int64(content.utf8.count), contentDigest: "")
        }
        try stage.replace("photo.get", photo)
        #expect(await stage.run("photos", "export", "1", "--to", "a") == .done)
        #expect(try names("a") == ["beach.jpg", "beach.jpg.xmp"] && text("a/beach.jpg.xmp") == "foreign")
        try sidecar("new")
        #expect(await stage.run("photos", "export", "1", "--to", "b") == .done)
        #expect(try names("b") == ["beach.jpg", "beach.jpg.2.xmp", "beach.jpg.xmp"])
        #expect(try text("b/beach.jpg.xmp") == "new" && text("b/beach.jpg.2.xmp") == "foreign")
        #expect(await stage.run("photos", "export", "1", "--sidecars", "never", "--to", "c") == .done)
        #expect(try names("c") == ["beach.jpg"])
    }

    @Test func sealedFieldsAreAskedForWhereTheyAreWanted() async throws {
        try sidecar(unreadable: [.notes])
        #expect(await stage.run("photos", "export", "1", "--with-details", "--to", "a") == .doneWithProblems)
        #expect(stage.params("photo.sidecar")?["withDetails"] == true)
        #expect(stage.messages.contains("lacks what does not open: notes"))
        #expect(try names("a") == ["beach.jpg", "beach.jpg.xmp"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file("a/beach.jpg.xmp"))[.posixPermissions]
        #expect(mode as? Int == 0o600)
        #expect(
            await stage.run("photos", "export", "1", "--with-details", "--sidecars", "never", "--to", "b") == .usage)
        // Who may not is told so, and nothing is copied.
        let stage = try PhotoExportTests.library(folder, photo: Sample.photo(1), sidecar: nil)
        stage.fail("photo.sidecar", .refused(MeshError(.permissionDenied, "This needs a parent.")))
        #expect(await stage.run("photos", "export", "1", "--with-details", "--to", "c") == .failed)
        #expect(stage.messages.contains("This needs a parent."))
        #expect(try names("c").isEmpty)
    }

    @Test(
        arguments: [
            (1_560_348_333_250, 120, 1_560_341_133_250), (1_560_348_333_000, 0, 1_560_348_333_000),
            (-86_399_750, 0, -86_399_750),
        ] as [(Int64, Int, Int64)]) func filesHaveTheTimesOfTheirPhotos(clock: Int64, offset: Int, time: Int64)
        async throws
    {
        var photo = Sample.photo(1)
        (photo.takenAt, photo.takenOffset) = (LocalDateTime(milliseconds: clock), offset)
        try stage.replace("photo.get", photo)
        #expect(await stage.run("photos", "export", "1", "--to", "a") == .done)
        #expect(try modified("a/beach.jpg") == time)
    }

    @Test func aPhotoWithoutADateKeepsTheTimeOfItsFile() async throws {
        let date = Date(timeIntervalSince1970: 1_000_000_000)
        try FileManager.default.setAttributes(
            [.modificationDate: date], ofItemAtPath: folder.file("photos/IMG_1.jpg"))
        #expect(await stage.run("photos", "export", "1", "--to", "a") == .done)
        #expect(try modified("a/beach.jpg") == 1_000_000_000_000)
    }

    @Test func anUpdateWritesWhatIsNotThereOrDiffers() async throws {
        try sidecar("first")
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        #expect(stage.messages.contains("2 files written, 0 left as they were."))
        let (before, told) = (try inode("a/beach.jpg"), stage.results)
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        #expect(stage.messages.contains("0 files written, 2 left as they were.") && stage.results == told)
        #expect(try inode("a/beach.jpg") == before)

        // What a person has corrected since: the picture is the same, its time and its sidecar are others.
        var photo = Sample.photo(1)
        (photo.takenAt, photo.takenOffset) = (LocalDateTime(milliseconds: 1_000_000_000_000), 0)
        try stage.replace("photo.get", photo)
        try sidecar("second")
        #expect(await stage.run("photos", "export", "1", "--update", "--json", "--to", "a") == .done)
        let json = Data(stage.results.dropFirst(told.count).utf8)
        let unchanged = try JSONDecoder().decode(JSONValue.self, from: json)["photos"]?.arrayValue?.first?["unchanged"]
        #expect(unchanged == [.string(folder.file("a/beach.jpg"))])
        #expect(try inode("a/beach.jpg") == before && modified("a/beach.jpg") == 1_000_000_000_000)
        #expect(try text("a/beach.jpg.xmp") == "second")

        // The same size and time, and other bytes.
        try write("a/beach.jpg", "HELLO")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: folder.file("a/beach.jpg"))
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        #expect(stage.messages.contains("1 file written, 1 left as they were."))
        #expect(try text("a/beach.jpg") == "hello" && modified("a/beach.jpg") == 1_000_000_000_000)
        #expect(try names("a") == ["beach.jpg", "beach.jpg.xmp"])
    }

    @Test func anUpdateTakesBackWhatTheLibraryNoLongerSays() async throws {
        try sidecar(Self.known)
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        let fresh = Self.known.replacing("Family", with: "Cars")
        try sidecar(fresh, saysMore: false)
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        #expect(try text("a/beach.jpg.xmp") == fresh)
        // Another program's is none of ours.
        try write("a/beach.jpg.xmp", "foreign")
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        #expect(try text("a/beach.jpg.xmp") == "foreign")
    }

    @Test(arguments: ["folder", "link"]) func anUpdateReplacesFilesOnly(_ kind: String) async throws {
        try write("a/other", "mine")
        if kind == "folder" {
            #expect(mkdir(folder.file("a/beach.jpg"), 0o700) == 0)
        } else {
            #expect(symlink(folder.file("a/other"), folder.file("a/beach.jpg")) == 0)
        }
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .doneWithProblems)
        #expect(stage.messages.contains("is there already"))
        #expect(try text("a/other") == "mine" && names("a") == ["beach.jpg", "other"])
    }

    @Test func anUpdateOfADamagedPhotoLeavesTheGoodCopy() async throws {
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .done)
        try write("photos/IMG_1.jpg", "hell")
        #expect(await stage.run("photos", "export", "1", "--update", "--to", "a") == .failed)
        #expect(stage.messages.contains("4 bytes instead of 5"))
        #expect(try text("a/beach.jpg") == "hello" && names("a") == ["beach.jpg"])
    }
}
