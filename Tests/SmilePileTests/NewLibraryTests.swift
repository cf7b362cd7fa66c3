import Foundation
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Where a library is made, and where not.
@Suite struct NewLibraryTests {
    private func open(_ path: String, _ options: PhotoLibrary.Options = .init()) async throws {
        await (try await PhotoLibrary.open(at: path, options: options)).close()
    }

    private func refusal(_ path: String, _ options: PhotoLibrary.Options = .init()) async -> MeshError? {
        do {
            try await open(path, options)
            return nil
        } catch {
            return MeshError(describing: error)
        }
    }

    @Test func aFolderWithOtherFilesIsRefused() async throws {
        let folder = try TemporaryFolder()
        try SampleAlbum(width: 32, height: 24).write(count: 1, to: folder.file("album"))
        let refused = await refusal(folder.file("album"))
        #expect(refused?.status == .failedPrecondition)
        #expect(refused?.message.hasSuffix("smilepile import \(folder.file("album"))") == true)
        // Nothing was made in it.
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("album")) == ["sample-0000.jpg"])
    }

    @Test func photosWithoutACatalogueAreNotTakenForANewLibrary() async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("library")
        try await open(path)
        try FileManager.default.removeItem(atPath: path + "/catalogue.sqlite")
        // As an opening that ended early left it.
        try await open(path)
        try Data([1]).write(to: URL(fileURLWithPath: path + "/photos/IMG_1.jpg"))
        try FileManager.default.removeItem(atPath: path + "/catalogue.sqlite")
        #expect(await refusal(path)?.details["reason"] == "no_catalogue")
    }

    @Test func aDiskOfItsOwnIsFree() async throws {
        let folder = try TemporaryFolder()
        for name in ["lost+found", ".Trash-1000", "System Volume Information"] {
            try FileManager.default.createDirectory(
                atPath: folder.file("disk/" + name), withIntermediateDirectories: true)
        }
        try await open(folder.file("disk"))
        try await open(folder.file("missing/inner"))
    }

    /// As a mount point is whose disk is not there.
    @Test func noLibraryIsMadeWhereOneWasOpened() async throws {
        let folder = try TemporaryFolder()
        let (path, noted) = (folder.file("disk \n \"é"), folder.file("state/opened"))
        var options = PhotoLibrary.Options()
        options.openedLibraries = noted
        try await open(path, options)
        try await open(folder.file("other"), options)
        // A line that a full disk cut off is in nobody's way.
        try (Data(contentsOf: URL(fileURLWithPath: noted)) + Data("\n\"/half".utf8))
            .write(to: URL(fileURLWithPath: noted))
        try await open(folder.file("third"), options)
        #expect(
            try String(contentsOfFile: noted, encoding: .utf8).split(separator: "\n").count == 4, "each is noted once")
        for path in [path, folder.file("third")] {
            for makes in [true, false] {
                try? FileManager.default.removeItem(atPath: path)
                if makes { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }
                let refused = await refusal(path, options)
                #expect(refused?.status == .failedPrecondition && refused?.details["reason"] == "not_there")
                // Nothing is made where the disk belongs.
                let there = try? FileManager.default.contentsOfDirectory(atPath: path)
                #expect(there == (makes ? [] : nil))
            }
        }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        // Files that were put there meanwhile do not change what is missing.
        try Data([1]).write(to: URL(fileURLWithPath: path + "/note.txt"))
        #expect(await refusal(path, options)?.details["reason"] == "not_there")
        try FileManager.default.removeItem(atPath: path + "/note.txt")
        options.makesNew = true
        try await open(path, options)
        options.makesNew = false
        try await open(path, options)
    }
}
