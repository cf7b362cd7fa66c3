@testable import Database
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// A disk that fails while a photo's row is being made durable: the row may be there at the next start, so its files have
/// to be.
@Suite struct FailedCommitTests {
    /// Lets the catalogue fail after `syncs` more commits, does `work`, which may fail, and opens the library again.
    private func reopened(
        _ test: TestLibrary, afterSyncs syncs: Int, _ work: (Mesh) async throws -> Void
    ) async throws -> PhotoLibrary {
        try await test.library.catalogue.database.write { FailingLog.install(on: $0.handle, afterSyncs: syncs) }
        try? await work(test.mesh)
        #expect(test.library.catalogue.database.writingStopped != nil, "\(syncs) syncs were not enough to fail")
        await test.library.close()
        return try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
    }

    /// Lets jobs that go on end, and holds the files against the rows.
    private func check(_ library: PhotoLibrary, _ test: TestLibrary, photos: Int?, _ note: Comment) async throws {
        for job in try await library.mesh.send(ListJobs()).jobs where !job.state.hasEnded {
            _ = try await library.mesh.send(WaitForJob(job: job.id))
        }
        let rows = try await library.mesh.send(SearchPhotos(limit: 1000)).photos.map(\.fileName).sorted()
        #expect(try test.files("photos") == rows, note)
        #expect(try test.files("thumbnails") == rows.map { "thumb_" + $0 }, note)
        #expect(try test.files("staging").isEmpty, note)
        if let photos { #expect(rows.count == photos, note) }
    }

    @Test func anImportKeepsTheFilesOfARowThatMayBeThere() async throws {
        for syncs in 0..<6 {
            let test = try await TestLibrary()
            let album = test.folder.file("album")
            try SampleAlbum(width: 32, height: 24).write(count: 6, to: album)
            let library = try await reopened(test, afterSyncs: syncs) { mesh in
                let job = try await mesh.send(ImportPhotos(paths: [album])).job
                _ = try await mesh.send(WaitForJob(job: job))
                // Rows that are committed together take one sync: where the import got through, another change fails.
                while true { _ = try await mesh.send(AddCategory(displayName: UUID().uuidString)) }
            }
            try await check(library, test, photos: nil, "after \(syncs) syncs")
            let job = try await library.mesh.send(ImportPhotos(paths: [album])).job
            _ = try await library.mesh.send(WaitForJob(job: job))
            try await check(library, test, photos: 6, "imported again after \(syncs) syncs")
            await library.close()
        }
    }

    @Test(arguments: [RestoreMode.merge, .replace])
    func aRestoreKeepsTheFilesOfRowsThatMayBeThere(_ mode: RestoreMode) async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(6, album: SampleAlbum(width: 32, height: 24))
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        await old.library.close()
        for syncs in 0..<4 {
            let test = try await TestLibrary("new")
            let library = try await reopened(test, afterSyncs: syncs) { mesh in
                let job = try await mesh.send(RestoreBackup(path: backup, mode: mode)).job
                _ = try await mesh.send(WaitForJob(job: job))
                // Where the restore got through, some other change fails.
                while true { _ = try await mesh.send(AddCategory(displayName: UUID().uuidString)) }
            }
            try await check(library, test, photos: nil, "after \(syncs) syncs")
            let job = try await library.mesh.send(RestoreBackup(path: backup, mode: mode)).job
            _ = try await library.mesh.send(WaitForJob(job: job))
            try await check(library, test, photos: 6, "restored again after \(syncs) syncs")
            await library.close()
        }
    }
}
