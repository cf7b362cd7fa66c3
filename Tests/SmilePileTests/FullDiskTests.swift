import CatalogueTestSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A library on a disk that is full: every change is refused with one status and a sentence, nothing that was there is
/// lost, and once there is room everything works without a restart.
@Suite(.enabled(if: SmallDisk.isPossible, "mounting a small tmpfs takes root"))
struct FullDiskTests {
    @Test func everyWriteIsRefusedAndNothingIsLost() async throws {
        // Too small for the reserve of what frees space.
        let disk = try SmallDisk(megabytes: 6)
        defer { disk.unmount() }
        let folder = try TemporaryFolder()
        var options = PhotoLibrary.Options(workers: 1)
        options.checkpointsWhenIdle = false
        let library = try await PhotoLibrary.open(at: disk.folder.file("library"), options: options)
        let mesh = library.mesh
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: folder.file("album"))
        let started = try await mesh.send(ImportPhotos(paths: [folder.file("album")]))
        #expect(try await mesh.send(WaitForJob(job: started.job)).outcomes == ["imported": 3])
        let photos = try await mesh.send(SearchPhotos()).photos
        let ids = photos.map(\.id)
        _ = try await mesh.send(DeletePhotos(ids: [ids[2]]))
        let session = try await mesh.send(StartSwipeSession()).sessionID
        let categories = try await mesh.send(ListCategories()).categories
        let before = try await mesh.send(SearchPhotos()).photos
        let trashed = try await mesh.send(ListTrash()).photos

        try disk.fill()
        let sample = SampleCatalogue()
        let writes: [(String, @Sendable () async throws -> Void)] = [
            ("add", { _ = try await mesh.send(AddCategory(displayName: "New")) }),
            ("edit", { _ = try await mesh.send(EditCategory(id: categories[0].id, displayName: "Other")) }),
            ("reorder", { _ = try await mesh.send(ReorderCategories(ids: categories.map(\.id).reversed())) }),
            ("delete a category", { _ = try await mesh.send(DeleteCategory(id: categories[3].id)) }),
            ("caption", { _ = try await mesh.send(SetCaption(id: ids[0], caption: "words to be indexed")) }),
            ("favourite", { _ = try await mesh.send(SetFavorite(ids: [ids[0]], isFavorite: true)) }),
            ("move", { _ = try await mesh.send(MovePhotos(ids: [ids[0]], categoryId: categories[1].id)) }),
            ("delete", { _ = try await mesh.send(DeletePhotos(ids: [ids[0]])) }),
            ("restore", { _ = try await mesh.send(RestorePhotos(ids: [ids[2]])) }),
            ("purge", { _ = try await mesh.send(PurgeTrash(ids: [ids[2]])) }),
            (
                "swipe",
                {
                    _ = try await mesh.send(
                        RecordSwipe(
                            sessionID: session, photoIdentifier: photos[0].uuid,
                            contentDigest: photos[0].contentDigest, action: .keep))
                }
            ),
            (
                "add many",
                {
                    _ = try await mesh.send(
                        AddPhotos(photos: (0..<50).map { sample.photo($0, takenAt: 5) }),
                        in: .root(mesh: mesh, role: .service))
                }
            ),
        ]
        // What was left of a page of the log may take one small change; it is undone by hand below.
        var refused: Set<String> = []
        for _ in 0..<3 {
            for (name, write) in writes {
                do { try await write() } catch {
                    let error = MeshError(describing: error)
                    guard error.status == .resourceExhausted else { continue }
                    #expect(error.message.contains("Free some space"))
                    #expect(error.shortage == .space && !error.isRetryable)
                    refused.insert(name)
                }
            }
        }
        #expect(refused == Set(writes.map(\.0)))
        #expect(try await mesh.send(SearchPhotos()).photos == before)
        #expect(try await mesh.send(ListCategories()).categories == categories)
        #expect(try await mesh.send(ListTrash()).photos == trashed)
        #expect(try await mesh.send(SearchPhotos(PhotoFilter(text: "words"))).photos.isEmpty)

        disk.relieve()
        _ = try await mesh.send(SetCaption(id: ids[0], caption: "words to be indexed"))
        #expect(try await mesh.send(SearchPhotos(PhotoFilter(text: "INDEXED"))).photos.map(\.id) == [ids[0]])
        _ = try await mesh.send(AddCategory(displayName: "New"))
        await library.close()
        #expect(try await catalogueProblems(at: disk.folder.file("library/catalogue.sqlite")).isEmpty)
    }

    @Test func whatMakesRoomAndTheEndsOfJobsHaveAReserve() async throws {
        let disk = try SmallDisk(megabytes: 24)
        defer { disk.unmount() }
        let folder = try TemporaryFolder()
        var options = PhotoLibrary.Options(workers: 1)
        options.checkpointsWhenIdle = false
        let library = try await PhotoLibrary.open(at: disk.folder.file("library"), options: options)
        let mesh = library.mesh
        try SampleAlbum(width: 64, height: 48).write(count: 4, to: folder.file("album"))
        let started = try await mesh.send(ImportPhotos(paths: [folder.file("album")]))
        #expect(try await mesh.send(WaitForJob(job: started.job)).outcomes == ["imported": 4])
        let ids = try await mesh.send(SearchPhotos()).photos.map(\.id)

        try disk.fill()
        // What others write uses up what is left of the log's last page.
        await #expect(throws: (any Error).self) {
            for number in 0..<200 { _ = try await mesh.send(AddCategory(displayName: "New \(number)")) }
        }
        let some = Array(ids.prefix(3))
        #expect(try await mesh.send(DeletePhotos(ids: some)).count == 3)
        #expect(try await mesh.send(PurgeTrash(ids: some)).count == 3)
        // With room again, it is taken back at the next change.
        disk.relieve()
        let before = try freeBytes(disk.folder.path)
        _ = try await mesh.send(SetFavorite(ids: [ids[3]], isFavorite: true))
        #expect(try before - freeBytes(disk.folder.path) > 3 << 20)
        #expect(try await mesh.send(SearchPhotos()).photos.count == 1)
        await library.close()
        #expect(try await catalogueProblems(at: disk.folder.file("library/catalogue.sqlite")).isEmpty)
    }

    private func freeBytes(_ path: String) throws -> Int {
        var found = statvfs()
        guard statvfs(path, &found) == 0 else { throw POSIXError(.EIO) }
        return Int(found.f_bavail * found.f_frsize)
    }
}
