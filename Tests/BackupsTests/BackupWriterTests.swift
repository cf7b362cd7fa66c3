import Database
import Executors
import Files
import Foundation
import LibraryModel
import Scratch
@testable import BackupFormats
@testable import Backups
import LibraryStorage
import LibraryTestSupport
import PhotoFolder
@testable import SQLiteCatalogue
import SampleAlbum
@testable import ServiceMesh
import ServiceMeshTesting
import SmilePile
import Synchronization
import TestSupport
import Testing
import ZipArchive

/// What only the parts themselves show, because a whole library looks before it copies.
@Suite struct BackupWriterTests {
    private func photo(_ name: String, _ bytes: Data, in folder: LibraryFolder) throws -> SourcedPhoto {
        try bytes.write(to: URL(fileURLWithPath: folder.photos + "/" + name))
        let digest = ContentDigest(of: bytes).sha256.hex
        return SourcedPhoto(
            photo: Photo(
                id: 1, uuid: UUID().uuidString.lowercased(), path: "photos/" + name, categoryId: 1, name: name,
                caption: nil, isFromAssets: false, createdAt: .now(), fileSize: Int64(bytes.count), width: 1, height: 1,
                isFavorite: false, takenAt: nil, contentDigest: digest, mediaType: "image/jpeg"),
            sourceDigest: digest, sourceSize: Int64(bytes.count))
    }

    @Test func moreThanOneBackupHoldsIsRefusedWithTheWayOut() throws {
        try BackupCreation.requireHeld(BackupFormat.maximumPhotos)
        let refusal = #expect(throws: MeshError.self) {
            try BackupCreation.requireHeld(BackupFormat.maximumPhotos + 1)
        }
        #expect(refusal?.status == .failedPrecondition && refusal?.message.contains("--since") == true)
        let gibibyte: UInt64 = 1 << 30
        #expect(BackupFormat.maximumPhotos(ofMachine: gibibyte) == 100_000)
        #expect(BackupFormat.maximumPhotos(ofMachine: 8 * gibibyte) == 699_050)
        #expect(BackupFormat.maximumPhotos(ofMachine: 1024 * gibibyte) == 5_000_000)
    }

    @Test func aPhotoThatCannotBeReadIsLeftOutAndTheOthersAreSaved() async throws {
        let temporary = try TemporaryFolder("writer")
        let folder = LibraryFolder(path: temporary.path)
        try folder.make()
        let photos = try (0..<5).map { try photo("IMG_\($0).jpg", Data("photo \($0)".utf8), in: folder) }
        // A link is refused when it is opened: it stands for the bad sector, which no test can make.
        try FileManager.default.removeItem(atPath: folder.photos + "/IMG_2.jpg")
        symlink("/etc/passwd", folder.photos + "/IMG_2.jpg")
        let contents = BackupContents(photos: SpooledList(photos), isPartial: false)
        let pool = BlockingPool(name: "test", threads: 2)
        let path = temporary.file("b.zip")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let writer = BackupWriter(photoFiles: folder, pool: pool, width: 2, isCancelled: CancellationFlag())
        let job = Job(JobSnapshot(id: "test", method: "test"), journal: MemoryJobJournal())
        let progress = BackupProgress(
            BackupCheckpoint(target: path, time: .now(), holdsPart: false, missing: []),
            descriptor: file.fileDescriptor, pool: pool, job: job)
        let written = try await writer.write(contents, to: file.fileDescriptor, progress: progress, job: job)
        #expect(Array(written.unreadable.keys) == ["photos/IMG_2.jpg"] && written.damaged.isEmpty)
        let names = try ZipReader(descriptor: file.fileDescriptor).entries.map(\.name)
        #expect(names.filter { $0.hasPrefix("photos/") } == [0, 1, 3, 4].map { "photos/IMG_\($0).jpg" })
        await pool.shutDown()
    }

    /// Another program at work in the library: one photo is other bytes each time, and each round finds one more gone.
    @Test func photosThatKeepChangingAreLeftOutAndTheOthersAreSaved() async throws {
        let temporary = try TemporaryFolder("writer")
        let folder = LibraryFolder(path: temporary.path)
        try folder.make()
        let photos = try (0..<10).map { try photo("IMG_\($0).jpg", Data("photo \($0)".utf8), in: folder) }
        let contents = BackupContents(photos: SpooledList(photos), isPartial: false)
        let path = temporary.file("b.zip")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let steps = HeldSteps()
        let pool = BlockingPool(steps: steps)
        let writer = BackupWriter(photoFiles: folder, pool: pool, width: 1, isCancelled: CancellationFlag())
        let job = Job(JobSnapshot(id: "test", method: "test"), journal: MemoryJobJournal())
        let progress = BackupProgress(
            BackupCheckpoint(target: path, time: .now(), holdsPart: false, missing: []),
            descriptor: file.fileDescriptor, pool: pool, job: job)
        let turn = Mutex(0)
        steps.hold {
            let number = turn.withLock { turn in
                turn += 1
                return turn
            }
            try? Data("photo \(number)".utf8).write(to: URL(fileURLWithPath: folder.photos + "/IMG_9.jpg"))
            // Documents, photos, cutting off: three pieces of work a round.
            if number % 3 == 2, number / 3 < 6 { unlink(folder.photos + "/IMG_\(number / 3).jpg") }
            return false
        }
        let written = try await writer.write(contents, to: file.fileDescriptor, progress: progress, job: job)
        #expect(written.unreadable.keys.sorted() == [0, 1, 2, 3, 4, 5, 9].map { "photos/IMG_\($0).jpg" })
        #expect(written.unreadable["photos/IMG_9.jpg"] == "its bytes change while they are read")
        let names = try ZipReader(descriptor: file.fileDescriptor).entries.map(\.name)
        #expect(names.filter { $0.hasPrefix("photos/") } == (6...8).map { "photos/IMG_\($0).jpg" })
        await pool.shutDown()
    }

    @Test func whatTheCheckpointNamesIsNotCopiedAgain() async throws {
        let temporary = try TemporaryFolder("writer")
        let folder = LibraryFolder(path: temporary.path)
        try folder.make()
        let photos = try (0..<100).map { try photo("IMG_\($0).jpg", Data("photo \($0)".utf8), in: folder) }
        let contents = BackupContents(photos: SpooledList(photos), isPartial: false)
        let pool = BlockingPool(name: "test", threads: 2)
        let path = temporary.file("b.zip")
        try Data().write(to: URL(fileURLWithPath: path))
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let job = Job(JobSnapshot(id: "test", method: "test"), journal: MemoryJobJournal())
        let first = BackupProgress(
            BackupCheckpoint(target: path, time: .now(), holdsPart: false, missing: []),
            descriptor: file.fileDescriptor, pool: pool, job: job)
        let writer = BackupWriter(photoFiles: folder, pool: pool, width: 2, isCancelled: CancellationFlag())
        _ = try await writer.write(contents, to: file.fileDescriptor, progress: first, job: job)
        try await first.keep()

        let kept = try #require(job.checkpoint.flatMap(BackupCheckpoint.init))
        #expect(kept.finishedEntries.count == 100)
        // All but two are there already: only those are read again, and one of them has gone since.
        var partly = kept
        partly.finished = BackupCheckpoint.pack(kept.finishedEntries.filter { $0.key != 7 && $0.key != 8 })
        for number in 0..<100 where number != 7 {
            try FileManager.default.removeItem(atPath: folder.photos + "/IMG_\(number).jpg")
        }
        let again = BackupProgress(partly, descriptor: file.fileDescriptor, pool: pool, job: job)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        do {
            let written = try await writer.write(contents, to: file.fileDescriptor, progress: again, job: job)
            // Without the one, everything else moves, and has no source any more.
            #expect(written.unreadable.keys.contains("photos/IMG_8.jpg"))
        }
        try before.write(to: URL(fileURLWithPath: path))
        let whole = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        let last = BackupProgress(kept, descriptor: whole.fileDescriptor, pool: pool, job: job)
        let written = try await writer.write(contents, to: whole.fileDescriptor, progress: last, job: job)
        #expect(written.unreadable.isEmpty && written.damaged.isEmpty)
        let verification = try ZipVerification(try ZipReader(descriptor: whole.fileDescriptor))
        try verification.work()
        #expect(try verification.failures.isEmpty && verification.digests.count == 103)
        await pool.shutDown()
    }

    @Test func renamingNeverReplaces() throws {
        let folder = try TemporaryFolder("rename")
        try Data("new".utf8).write(to: URL(fileURLWithPath: folder.file("a")))
        try FileSystem.renameNew(folder.file("a"), to: folder.file("b"))
        try Data("newer".utf8).write(to: URL(fileURLWithPath: folder.file("a")))
        #expect(throws: FileSystem.Failure.self) { try FileSystem.renameNew(folder.file("a"), to: folder.file("b")) }
        #expect(try String(contentsOfFile: folder.file("a"), encoding: .utf8) == "newer")
        #expect(try String(contentsOfFile: folder.file("b"), encoding: .utf8) == "new")
    }

    /// A program that is just being started has a copy of every descriptor until it runs.
    @Test func theLockIsGivenUpThoughSomebodyHasACopyOfIt() throws {
        let folder = try TemporaryFolder("lock")
        let first = try LibraryLock(path: folder.file("library.lock"))
        let copies = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap(Int32.init)
            .filter { descriptor in
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
                return target == folder.file("library.lock")
            }.map { dup($0) }
        #expect(copies.count == 1)
        first.release()
        #expect(throws: Never.self) { try LibraryLock(path: folder.file("library.lock")).release() }
        for copy in copies { close(copy) }
    }

    @Test func whatIsStagedGoesWhateverItsNameIs() throws {
        let temporary = try TemporaryFolder("staged")
        let folder = LibraryFolder(path: temporary.path)
        try folder.make()
        for name in ["x.photo", "x.thumbnail"] {
            try Data(name.utf8).write(to: URL(fileURLWithPath: folder.staging + "/" + name))
        }
        let theirs = URL(fileURLWithPath: folder.photos + "/IMG_1.jpg")
        try Data("theirs".utf8).write(to: theirs)
        let photo = try #require(StoredName(.photos, "IMG_1.jpg"))
        let files = [StagedFile("x.photo", as: photo), StagedFile("x.thumbnail", as: photo.thumbnail)]
        #expect(throws: NameTaken.self) { try folder.publish(files) }
        folder.abandon(files)
        #expect(try folder.leftovers().isEmpty)
        #expect(try Data(contentsOf: theirs) == Data("theirs".utf8))
    }
}

@Suite struct CatalogueSchemaTests {
    @Test func laterDecisionsAreFoundWithoutLookingAtAllThatWait() async throws {
        let folder = try TemporaryFolder("schema")
        let database = try await DatabasePool.open(at: folder.file("c.sqlite"), schema: CatalogueSchema.schema)
        let plan = try await database.read { connection in
            try connection.query("EXPLAIN QUERY PLAN " + SwipeTable.laterDecision, "a", "b", 1, "c", "keep") {
                try $0["detail"] as String
            }
        }
        #expect(plan.contains { $0.contains("swipe_actions_by_photo (photo_uuid=?") }, "\(plan)")
        #expect(!plan.contains { $0.hasPrefix("SCAN swipe_") }, "\(plan)")
        await database.close()
    }
}
