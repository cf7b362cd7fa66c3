import Foundation
import LibraryModel
import LibraryServices
import SampleAlbum
import ServiceMesh
import Synchronization
import Testing

/// What stays behind when something is called off, fails, or meets files of others: nothing of ours, all of theirs.
@Suite struct CleaningUpTests {
    @Test func theLibraryIsNotImportedThroughALinkToIt() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2, album: SampleAlbum(width: 32, height: 24))
        await test.library.close()
        let link = test.folder.file("link")
        symlink(test.path, link)
        let linked = try await PhotoLibrary.open(at: link, options: .init(workers: 1))
        let started = try await linked.mesh.send(ImportPhotos(paths: [test.folder.path]))
        let job = try await linked.mesh.send(WaitForJob(job: started.job))
        // The album again, and one line for the library itself; its thumbnails are no photos.
        #expect(job.outcomes["imported"] == nil && job.outcomes["duplicate"] == 2, "\(job.outcomes)")
        await linked.close()
    }

    @Test func anIconHasABound() async throws {
        let test = try await TestLibrary()
        let icon = String(repeating: "i", count: 1 << 20)
        #expect(
            await status { _ = try await test.mesh.send(AddCategory(displayName: "x", iconResource: icon)) }
                == .invalidArgument)
        let id = try await test.mesh.send(ListCategories()).categories[0].id
        #expect(
            await status { _ = try await test.mesh.send(EditCategory(id: id, iconResource: icon)) } == .invalidArgument)
        await test.library.close()
    }

    @Test func categoriesHaveABound() async throws {
        let test = try await TestLibrary()
        for number in 4..<1000 { _ = try await test.mesh.send(AddCategory(displayName: "n\(number)")) }
        #expect(
            await status { _ = try await test.mesh.send(AddCategory(displayName: "one more")) } == .resourceExhausted)
        await test.library.close()
    }
}
