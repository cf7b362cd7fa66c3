import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import Testing

/// Jobs that meet in one library: whatever their order turns out to be, rows and files agree at the end.
@Suite struct MeetingJobsTests {
    @Test func importsBackupsRestoresAndDeletionsMeet() async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(20, album: SampleAlbum(width: 64, height: 48, seed: 5))
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)

        let test = try await TestLibrary("meeting")
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 60, to: album)
        let doomed = try await test.mesh.send(AddCategory(displayName: "doomed"))
        let ended = try await withThrowingTaskGroup(of: JobSnapshot.self) { group in
            group.addTask { try await test.run(ImportPhotos(paths: [album], categoryId: doomed.id)) }
            group.addTask { try await test.run(ImportPhotos(paths: [album])) }
            group.addTask { try await test.run(RestoreBackup(path: backup)) }
            group.addTask {
                try await test.mesh.firstValue(of: ObservePhotos()) { $0.total >= 10 }
                _ = try await test.mesh.send(DeleteCategory(id: doomed.id, deletePhotos: true))
                _ = try await test.mesh.send(PurgeTrash(all: true))
                return try await test.run(VerifyBackup(path: backup))
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(ended.allSatisfy { $0.state == .finished }, "\(ended)")
        _ = try await test.mesh.send(PurgeTrash(all: true))
        let photos = try await test.allPhotos()
        #expect(try test.files("photos") == photos.map(\.fileName).sorted())
        #expect(try test.files("thumbnails") == photos.map { "thumb_" + $0.fileName }.sorted())
        #expect(try test.files("staging").isEmpty)
        let final = try await test.run(CreateBackup(path: test.folder.file("after.zip")))
        #expect(final.state == .finished && !final.needsAttention, "\(final)")
        await test.library.close()
        await old.library.close()
    }

    @Test func aBackupWhilePhotosComeAndGoIsWhole() async throws {
        let test = try await TestLibrary("busy")
        _ = try await test.importSamples(10, album: SampleAlbum(width: 64, height: 48))
        let more = test.folder.file("more")
        try SampleAlbum(width: 64, height: 48, seed: 3).write(count: 40, to: more)
        let importing = try await test.mesh.send(ImportPhotos(paths: [more]))
        for number in 0..<4 {
            let path = test.folder.file("\(number).zip")
            let made = try await test.run(CreateBackup(path: path))
            #expect(made.state == .finished && !made.needsAttention, "\(made)")
            #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
        }
        #expect(try await test.mesh.send(WaitForJob(job: importing.job)).outcomes == ["imported": 40])
        await test.library.close()
    }

    /// What is absent from the beginning will not come: only what was there once is waited for.
    @Test func aRestoreOfNothingDoesNotWaitForItBehindAnother() async throws {
        let test = try await TestLibrary("absent")
        let missing = test.folder.file("no-backup.zip")
        let mesh = test.mesh
        let started = try await withThrowingTaskGroup(of: JobID?.self) { group in
            // Some are refused, because one that is there runs already.
            for _ in 0..<32 { group.addTask { try? await mesh.send(RestoreBackup(path: missing)).job } }
            return try await group.reduce(into: []) { all, job in job.map { all.append($0) } }
        }
        #expect(!started.isEmpty)
        for job in started {
            try await mesh.firstValue(of: WatchJob(job: job)) { $0.state == .waiting }
            let last = try await mesh.send(GetJob(job: job))
            #expect(last.state == .failed && last.error?.status == .notFound, "\(last)")
        }
        await test.library.close()
    }
}
