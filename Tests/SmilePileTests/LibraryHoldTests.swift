import CLinux
import Files
import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import PhotoFolder
import SampleAlbum
import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

/// Other programs that clean up, move and exchange what a library is made of while it is served.
@Suite struct LibraryHoldTests {
    private static let files = FileManager.default

    private func rescued(_ path: String) throws -> [String] {
        try Self.files.contentsOfDirectory(atPath: path).filter {
            $0.hasPrefix("catalogue.rescued-") && $0.hasSuffix(".sqlite")
        }
    }

    private func addition(_ name: String, to test: TestLibrary) async -> MeshError? {
        await refusal { _ = try await test.mesh.send(AddCategory(displayName: name)) }
    }

    // MARK: Locks

    @Test func theLockStaysWithoutItsFile() async throws {
        let test = try await TestLibrary()
        try Self.files.removeItem(atPath: test.path + "/library.lock")
        let second = await refusal { _ = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1)) }
        #expect(second?.status == .failedPrecondition && second?.details["pid"] == nil, "\(String(describing: second))")
        // The next change makes the file again, for older programs, which know nothing else.
        #expect(await addition("Lake", to: test) == nil)
        #expect(throws: CatalogueIsOwned.self) { try LibraryLock(path: test.path + "/library.lock") }
        await test.library.close()
        try await test.reopened().close()
    }

    @Test func anOlderProgramThatHasTheLocksFileIsNotWrittenBeside() async throws {
        let test = try await TestLibrary()
        try Self.files.removeItem(atPath: test.path + "/library.lock")
        let older = try LibraryLock(path: test.path + "/library.lock")
        let refused = await addition("Lake", to: test)
        #expect(refused?.status == .failedPrecondition && refused?.message.contains("another process") == true)
        older.release()
        #expect(await addition("Lake", to: test) == nil)
        await test.library.close()
    }

    // MARK: Folders

    @Test func aFolderThatIsMovedTakesItsFilesAlong() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2)
        let elsewhere = test.folder.file("elsewhere")
        try Self.files.moveItem(atPath: test.path, toPath: elsewhere)
        let other = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(other.path == test.path)
        let source = test.folder.file("more")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: source)
        _ = await refusal { _ = try await test.importing(source) }
        for name in ["photos", "thumbnails", "originals", "staging"] {
            #expect(try Self.files.contentsOfDirectory(atPath: test.path + "/" + name).isEmpty)
        }
        #expect(try Self.files.contentsOfDirectory(atPath: elsewhere + "/photos").count == 2)
        // What is unknown to the old one may be all that the new one has.
        try Data("mine".utf8).write(to: URL(fileURLWithPath: test.path + "/photos/mine.jpg"))
        let cleaning = await refusal { _ = try await test.mesh.send(CleanStorage(unknownPhotos: true)) }
        #expect(cleaning?.status == .failedPrecondition)
        #expect(Self.files.fileExists(atPath: test.path + "/photos/mine.jpg"))
        await other.close()
        try Self.files.removeItem(atPath: test.path)
        try Self.files.moveItem(atPath: elsewhere, toPath: test.path)
        #expect(try await test.importing(source).outcomes["imported"] == 3)
        await test.library.close()
    }

    // MARK: The catalogue

    @Test(arguments: [["catalogue.sqlite"], ["catalogue.sqlite-wal"], ["catalogue.sqlite", "catalogue.sqlite-wal"]])
    func nothingIsAcknowledgedThatWouldBeGone(removed: [String]) async throws {
        let said = Mutex<[String]>([])
        let test = try await TestLibrary()
        await test.library.close()
        var options = PhotoLibrary.Options(workers: 1)
        options.faultLog = { line in said.withLock { $0.append(line) } }
        let library = try await PhotoLibrary.open(at: test.path, options: options)
        _ = try await library.mesh.send(AddCategory(displayName: "Lake"))
        for name in removed { try Self.files.removeItem(atPath: test.path + "/" + name) }
        let refused = await refusal { _ = try await library.mesh.send(AddCategory(displayName: "Sea")) }
        #expect(refused?.status == .failedPrecondition && refused?.message.contains(removed[0]) == true)
        await library.vigil.look()
        let copies = try rescued(test.path)
        try #require(copies.count == 1, "\(said.withLock { $0 })")
        #expect(try await library.mesh.send(GetLibraryStatus()).catalogueProblems?.first?.contains(copies[0]) == true)
        #expect(said.withLock { $0.count } == 1)
        await library.close()
        let again = try await test.reopened()
        let names = try await again.mesh.send(ListCategories()).categories.map(\.displayName)
        #expect(names.contains("Lake") && !names.contains("Sea"))
        await again.close()
    }

    /// As after a kill between the copy and the end.
    @Test func aLibraryWithoutCatalogueGetsItsCopyBack() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2)
        try Self.files.removeItem(atPath: test.path + "/catalogue.sqlite")
        await test.library.vigil.look()
        let killed = test.folder.file("killed")
        try Self.files.copyItem(atPath: test.path, toPath: killed)
        await test.library.close()
        let again = try await PhotoLibrary.open(at: killed, options: .init(workers: 1))
        #expect(try await again.mesh.send(SearchPhotos()).photos.count == 2)
        #expect(try rescued(killed).isEmpty)
        await again.close()
    }

    @Test func nothingIsRemovedWhileTwoCataloguesAreThere() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2)
        await test.library.close()
        let photo = try #require(try test.files("photos").first)
        // What was under way, and what the older catalogue does not know.
        link(test.path + "/photos/" + photo, test.path + "/staging/" + photo)
        try Self.files.copyItem(
            atPath: test.path + "/catalogue.sqlite", toPath: test.path + "/catalogue.rescued-1.sqlite")
        let bare = test.folder.file("bare")
        let empty = try await PhotoLibrary.open(at: bare, options: .init(workers: 1))
        await empty.close()
        try Self.files.removeItem(atPath: test.path + "/catalogue.sqlite")
        try Self.files.moveItem(atPath: bare + "/catalogue.sqlite", toPath: test.path + "/catalogue.sqlite")
        let library = try await test.reopened()
        #expect(try test.files("photos").count == 2)
        let cleaning = await refusal { _ = try await library.mesh.send(CleanStorage(unknownPhotos: true)) }
        #expect(cleaning?.message.contains("catalogue.rescued-1.sqlite") == true)
        let status = try await library.mesh.send(GetLibraryStatus())
        #expect(status.catalogueProblems?.contains { $0.contains("catalogue.rescued-1.sqlite") } == true)
        #expect(try test.files("photos").count == 2)
        await library.close()
    }

    // MARK: Staging

    @Test func whatAnotherProcessStillBringsInStays() async throws {
        let test = try await TestLibrary()
        await test.library.close()
        let boot = try String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
        let stat = try String(contentsOfFile: "/proc/1/stat", encoding: .utf8)
        let start = try #require(stat.split(separator: ")").last?.split(separator: " ").dropFirst(19).first)
        for (name, mark) in [("busy.jpg", "\(boot) 1 \(start)"), ("left.jpg", "\(boot) 1 0"), ("older.jpg", "")] {
            let path = test.path + "/staging/" + name
            try Data("begun".utf8).write(to: URL(fileURLWithPath: path))
            guard !mark.isEmpty else { continue }
            let noted = try FileSystem.withFile(path, O_RDWR) {
                clinux_note($0, "user.smilepile.staged", mark, mark.utf8.count) == 0
            }
            if !noted { try Test.cancel("the temporary folder keeps no extended attributes") }
        }
        let again = try await test.reopened()
        #expect(try test.files("staging") == ["busy.jpg"])
        await again.close()
    }
}
