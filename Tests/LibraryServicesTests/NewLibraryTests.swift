import Foundation
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Where a library is made, and where not.
@Suite struct NewLibraryTests {
    private func open(_ path: String) async throws { await (try await PhotoLibrary.open(at: path)).close() }

    private func refusal(_ path: String) async -> MeshError? {
        do {
            try await open(path)
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
}
