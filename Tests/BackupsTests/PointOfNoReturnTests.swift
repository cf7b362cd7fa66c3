import Database
import Files
import Foundation
import LibraryModel
@testable import BackupFormats
@testable import Backups
import LibraryStorage
import LibraryTestSupport
@testable import SQLiteCatalogue
import SampleAlbum
@testable import ServiceMesh
import SmilePile
import Synchronization
import TestSupport
import Testing

/// What fails after a backup has its name, or a restore is made, does not make it a failure.
@Suite struct PointOfNoReturnTests {
    /// A library of 12 photos.
    private func library(damagedBy script: String? = nil) async throws -> SteppedLibrary {
        let test = try await TestLibrary("return")
        _ = try await test.importSamples(12, album: SampleAlbum(width: 64, height: 48))
        await test.library.close()
        if let script {
            let catalogue = try OpenRoomDatabase(test.path + "/catalogue.sqlite")
            try catalogue.run(script)
            catalogue.close()
        }
        return try await SteppedLibrary(test)
    }

    @Test func aBackupWhoseFolderCannotBeSyncedIsThere() async throws {
        let library = try await library()
        let folder = library.test.folder
        let (stick, away) = (folder.file("stick"), folder.file("away"))
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        // The stick is pulled when the file has its name and the folder is not synced.
        library.steps.hold {
            if FileManager.default.fileExists(atPath: stick + "/b.zip") { rename(stick, away) }
            return false
        }
        let made = try await library.run(CreateBackup(path: stick + "/b.zip"))
        #expect(made.state == .finished && made.needsAttention && made.outcomes == ["unsynced": 1], "\(made)")
        #expect(made.receipt?["photos"] == 12 && made.receipt?["path"] == .string(stick + "/b.zip"))
        library.steps.letGo()
        #expect(try await library.run(VerifyBackup(path: away + "/b.zip")).state == .finished)
        await library.close()
    }

    /// Whoever tidies a stick up may take the file away at any moment: then there is no backup, and nobody says so.
    @Test func aBackupWhoseFileIsRemovedIsNone() async throws {
        let library = try await library()
        for step in 0... {
            let target = library.test.folder.file("\(step).zip")
            let left = Mutex(step)
            library.steps.hold {
                guard FileManager.default.fileExists(atPath: target + ".partial") else { return false }
                let isNow = left.withLock { left in
                    left -= 1
                    return left == -1
                }
                if isNow { unlink(target + ".partial") }
                return false
            }
            let made = try await library.run(CreateBackup(path: target))
            library.steps.letGo()
            #expect(
                (made.state == .finished) == FileManager.default.fileExists(atPath: target), "step \(step): \(made)")
            if made.state == .finished {
                #expect(step > 4)
                break
            }
        }
        #expect(try await library.run(VerifyBackup(path: library.test.folder.file("0.zip"))).state == .failed)
        await library.close()
    }

    /// - Parameter trigger: what makes the catalogue refuse.
    @Test(arguments: [
        ("INSERT ON settings", ["unnoted": 1]),
        // The first says where it goes, and the last that it is proven.
        ("UPDATE OF checkpoint ON jobs WHEN old.checkpoint IS NOT NULL AND new.checkpoint IS NOT NULL", [:]),
    ])
    func aBackupThatCannotBeNotedIsThere(_ trigger: String, _ outcomes: [String: Int]) async throws {
        let library = try await library()
        try await library.database.write { connection in
            try connection.executeScript(
                "CREATE TRIGGER refusal BEFORE \(trigger) BEGIN SELECT raise(ABORT, 'no more'); END;")
        }
        let target = library.test.folder.file("b.zip")
        let made = try await library.run(CreateBackup(path: target))
        #expect(made.state == .finished && made.outcomes == outcomes, "\(made)")
        #expect(try await library.run(VerifyBackup(path: target)).state == .finished)
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        await library.close()
    }

    /// The name was given, and neither that nor the proof was written down.
    @Test func aBackupThatHasItsNameIsFoundByTheNextStart() async throws {
        let library = try await library()
        let target = library.test.folder.file("b.zip")
        #expect(try await library.run(CreateBackup(path: target)).state == .finished)
        let time = try BackupFile(path: target, library.folder.namedFiles).summary.timestamp
        var snapshot = JobSnapshot(id: "create-1", method: CreateBackup.method)
        snapshot.state = .interrupted
        let record = JobRecord(snapshot: snapshot, params: try JSON.encode(CreateBackup(path: target)))
        var checkpoint = BackupCheckpoint(target: target, time: time, holdsPart: false, missing: ["photos/gone.jpg"])
        checkpoint.unreadable = ["photos/bad.jpg": "no medium"]
        let kept = try checkpoint.encoded()
        try await library.database.write { connection in
            try JobTable.insert(record, in: connection)
            try JobTable.setCheckpoint(kept, of: "create-1", in: connection)
            try UnfinishedBackupTable(connection: connection).put(
                .init(path: target + ".partial", job: "create-1", library: nil, file: nil))
        }
        await library.close()
        let next = try await PhotoLibrary.open(at: library.folder.path, options: .init(workers: 1))
        let made = try await next.mesh.send(WaitForJob(job: "create-1"))
        #expect(made.state == .finished && made.outcomes == ["missing": 1, "unreadable": 1], "\(made)")
        #expect(made.receipt?["photos"] == 12 && made.receipt?["damaged"] == 2)
        await next.close()
    }

    @Test func aRenamingThatFailsAfterItWasDoneIsDone() throws {
        let folder = try TemporaryFolder("rename")
        let (partial, target) = (folder.file("b.zip.partial"), folder.file("b.zip"))
        try Data("whole".utf8).write(to: URL(fileURLWithPath: partial))
        try FileSystem.renameNew(partial, to: target) { from, to in
            #expect(rename(from, to) == 0)
            errno = EIO
            return -1
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data("whole".utf8))
        try Data("other".utf8).write(to: URL(fileURLWithPath: partial))
        #expect(throws: FileSystem.Failure.self) { try FileSystem.renameNew(partial, to: target) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
    }

    @Test func aRestoreIsMadeThoughItsCatalogueIsFoundDamagedAfterwards() async throws {
        // A row that is not what its table says, as a breaking disk leaves it.
        let library = try await library(
            damagedBy: """
                CREATE TABLE broken (a TEXT) STRICT; INSERT INTO broken VALUES (NULL);
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = 'CREATE TABLE broken (a TEXT NOT NULL) STRICT' WHERE name = 'broken';
                """)
        let target = library.test.folder.file("b.zip")
        #expect(try await library.run(CreateBackup(path: target)).state == .finished)
        try await library.purge(try await library.photos().prefix(3))
        let restored = try await library.run(RestoreBackup(path: target))
        #expect(restored.state == .finished && restored.needsAttention, "\(restored)")
        #expect(restored.receipt?["photosAdded"] == 3 && restored.outcomes == ["damaged": 1])
        #expect(try await library.photos().count == 12)
        await library.close()
    }
}
