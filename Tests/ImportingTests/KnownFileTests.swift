import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// Files that are imported again.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(
        if: FileSystem.tellsFilesApart(NSTemporaryDirectory()),
        "temporary files are on a file system on which no file is known"))
struct KnownFileTests {
    /// A library whose clock is an hour ahead of the file system's, so that no file seems to be written to just now, and a
    /// folder of two photos and a larger one, imported.
    private func imported() async throws -> (TestLibrary, String) {
        let test = try await TestLibrary(
            sourceClock: WallClock { Timestamp(milliseconds: Timestamp.now().milliseconds + 3_600_000) })
        let folder = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 2, to: folder)
        try SampleAlbum(width: 2100, height: 40).photo(7).write(to: URL(fileURLWithPath: folder + "/wide.jpg"))
        #expect(try await test.importing(folder).outcomes == ["imported": 3])
        return (test, folder)
    }

    private func receipt(_ job: JobSnapshot) throws -> ImportReceipt {
        try JSONDecoder().decode(ImportReceipt.self, from: JSONEncoder().encode(#require(job.receipt)))
    }

    @Test func whatWasImportedAndNotWrittenToSinceIsKnown() async throws {
        let (test, folder) = try await imported()
        let again = try await test.importing(folder)
        #expect(again.outcomes == ["known": 3] && !again.needsAttention)
        #expect(again.progress.itemsDone == 3 && again.progress.itemsTotal == 3)
        #expect(again.progress.bytesDone == again.progress.bytesTotal)
        #expect(try receipt(again).known == 3 && receipt(again).files == 3 && receipt(again).ending == .complete)
        let photos = try await test.allPhotos().map { "the library has it as photo \($0.id)" }
        #expect(Set(try await test.lines(again.id).compactMap(\.detail)) == Set(photos))
        #expect(try await test.importing(folder, dryRun: true).outcomes == ["known": 3])
        #expect(try await test.run(ImportPhotos(paths: [folder], verifyKnown: true)).outcomes == ["duplicate": 3])
        await test.library.close()
    }

    /// With the same size, and the time of writing set back: only the status tells, which nobody can set back.
    @Test func whatWasWrittenToIsReadAgain() async throws {
        let (test, folder) = try await imported()
        let path = folder + "/wide.jpg"
        let time = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        // The density that JFIF tells: another file, and a picture still.
        bytes[15] ^= 1
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try file.write(contentsOf: bytes)
        try file.close()
        try FileManager.default.setAttributes([.modificationDate: try #require(time)], ofItemAtPath: path)
        let again = try await test.importing(folder)
        #expect(again.outcomes == ["known": 2, "imported": 1])
        await test.library.close()
    }

    @Test func aPhotoThatLacksSomethingIsCompleted() async throws {
        let (test, folder) = try await imported()
        let original = try #require(try test.files("originals").first)
        try FileManager.default.removeItem(atPath: test.path + "/originals/" + original)
        #expect(try await test.importing(folder, originals: false).outcomes == ["known": 3])
        #expect(try await test.importing(folder).outcomes == ["known": 2, "completed": 1])
        #expect(try await test.importing(folder).outcomes == ["known": 3])
        // A sidecar that came later.
        let sidecar = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"/></rdf:RDF></x:xmpmeta>
            """
        try Data(sidecar.utf8).write(to: URL(fileURLWithPath: folder + "/wide.jpg.xmp"))
        #expect(try await test.importing(folder).outcomes == ["known": 2, "completed": 1])
        #expect(try await test.importing(folder).outcomes == ["known": 3])
        await test.library.close()
    }

    @Test func whatIsInTheTrashIsImportedOnceMore() async throws {
        let (test, folder) = try await imported()
        let photo = try #require(try await test.allPhotos().first)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        #expect(try await test.importing(folder).outcomes == ["known": 2, "imported": 1])
        await test.library.close()
    }

    @Test func aCopyIsComparedOnce() async throws {
        let (test, folder) = try await imported()
        let copies = test.folder.file("copies")
        try FileManager.default.copyItem(atPath: folder, toPath: copies)
        #expect(try await test.importing(copies, dryRun: true).outcomes == ["duplicate": 3])
        #expect(try await test.importing(copies).outcomes == ["duplicate": 3])
        #expect(try await test.importing(copies).outcomes == ["known": 3])
        // A folder that is called otherwise is the same folder.
        try FileManager.default.moveItem(atPath: copies, toPath: copies + " of May")
        #expect(try await test.importing(copies + " of May").outcomes == ["known": 3])
        await test.library.close()
    }

    /// A folder that is renamed while its import runs puts others under the paths of files that were found.
    @Test func whatAnotherFileHasTakenThePlaceOfIsNotKept() throws {
        let folder = try TemporaryFolder()
        let (day, path) = (folder.file("day"), folder.file("day/IMG_1.jpg"))
        func write(_ text: String) throws {
            try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        }
        try write("of Monday")
        let found = try SourceFiles(
            paths: [FilePath(text: day)], selection: .all,
            namedFiles: NamedFiles(library: folder.file("library"), files: [], folders: []),
            now: Timestamp(milliseconds: .max), isCancelled: { false })
        let file = try #require(try found.files.files(0..<1).first)
        #expect(try file.stamp != nil && file.unchangedStamp() == file.stamp)
        try FileManager.default.moveItem(atPath: day, toPath: day + " of Monday")
        #expect(try file.unchangedStamp() == nil)
        try write("of Friday")
        #expect(try file.unchangedStamp() == nil)
    }

    /// Of very many lines the last are not listed, and these tell nothing new.
    @Test func whatIsNewStandsBeforeWhatIsKnown() async throws {
        let (test, folder) = try await imported()
        try SampleAlbum(width: 64, height: 48).photo(9).write(to: URL(fileURLWithPath: folder + "/zebra.jpg"))
        let again = try await test.importing(folder)
        #expect(try await test.lines(again.id).map(\.outcome) == ["imported", "known", "known", "known"])
        #expect(again.progress.itemsDone == 4 && again.progress.bytesDone == again.progress.bytesTotal)
        await test.library.close()
    }

    /// The status of a file that was written to a moment ago may stay the same when it is once more.
    @Test func whatIsStillWrittenToIsNotKnown() async throws {
        let start = Timestamp.now()
        let test = try await TestLibrary(sourceClock: WallClock { start })
        #expect(try await test.importSamples(2).outcomes == ["imported": 2])
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        await test.library.close()
    }
}
