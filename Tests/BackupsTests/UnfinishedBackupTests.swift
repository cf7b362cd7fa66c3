import Database
import Executors
import Foundation
import LibraryModel
@testable import Backups
@testable import LibraryServices
import LibraryStorage
import PhotoFolder
import LibraryStorage
import LibraryTestSupport
@testable import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing

/// Files that backups are written to belong to the library that made them, and to no copy of it.
@Suite struct UnfinishedBackupTests {
    /// A closed library with a paused backup, whose unfinished file has a checkpoint.
    private struct Paused {
        let test: TestLibrary
        let job: JobID
        let target: String

        var partial: String { target + ".partial" }

        /// - Parameter folder: for the backup; beside the library unless told.
        init(in folder: (TestLibrary) -> String = { $0.folder.path }) async throws {
            test = try await TestLibrary("original")
            _ = try await test.importSamples(60, album: SampleAlbum(width: 320, height: 240))
            try FileManager.default.createDirectory(atPath: folder(test), withIntermediateDirectories: true)
            await test.library.close()
            var begun: (job: JobID, target: String)?
            // Whether it is closed while it copies is a matter of luck; that this comes once in twenty times is not.
            for round in 0..<20 where begun == nil {
                let target = folder(test) + "/b\(round).zip"
                let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
                let job = try await library.mesh.send(CreateBackup(path: target)).job
                try await library.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.phase == "copying" }
                await library.close()
                if try await Self.pause(job, in: test.path) { begun = (job, target) }
            }
            (job, target) = try #require(begun)
        }

        /// So that it does not go on by itself.
        private static func pause(_ job: JobID, in library: String) async throws -> Bool {
            try await edit(library) { connection in
                try connection.execute(
                    """
                    UPDATE jobs SET request = 'pause', state = 'paused'
                    WHERE id = ? AND ended_at IS NULL AND checkpoint IS NOT NULL
                    """, job) == 1
            }
        }

        static func edit<T: Sendable>(
            _ library: String, _ change: @escaping @Sendable (Connection) throws -> T
        ) async throws -> T {
            let database = try await DatabasePool.open(
                at: library + "/catalogue.sqlite", schema: CatalogueSchema.schema)
            let result = try await database.write { try change($0) }
            await database.close()
            return result
        }
    }

    private func copy(_ library: String, to path: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-a", library, path]
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    private func open(_ path: String) async throws -> PhotoLibrary {
        try await PhotoLibrary.open(at: path, options: .init(workers: 1))
    }

    @Test func aCopyOfALibraryLeavesTheUnfinishedBackupOfItsOriginal() async throws {
        let paused = try await Paused()
        let before = try Data(contentsOf: URL(fileURLWithPath: paused.partial))
        let copy = paused.test.folder.file("copy")
        try self.copy(paused.test.path, to: copy)

        let library = try await open(copy)
        _ = try await library.mesh.send(ResumeJob(job: paused.job))
        let ended = try await library.mesh.send(WaitForJob(job: paused.job))
        #expect(ended.state == .failed && ended.error?.status == .alreadyExists, "\(ended)")
        await library.close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: paused.partial)) == before)

        let original = try await open(paused.test.path)
        _ = try await original.mesh.send(ResumeJob(job: paused.job))
        let made = try await original.mesh.send(WaitForJob(job: paused.job))
        #expect(made.state == .finished && made.receipt?["photos"] == 60, "\(made)")
        await original.close()
    }

    @Test func aCopyDoesNotRemoveWhatItsOriginalGaveUpOn() async throws {
        let paused = try await Paused()
        // As a job leaves it whose file could not be removed.
        let job = paused.job
        try await Paused.edit(paused.test.path) { connection in
            try connection.execute("DELETE FROM jobs WHERE id = ?", job)
            try connection.execute("UPDATE unfinished_backups SET job = NULL WHERE path <> ''")
        }
        let copy = paused.test.folder.file("copy")
        try self.copy(paused.test.path, to: copy)
        try await open(copy).close()
        #expect(FileManager.default.fileExists(atPath: paused.partial))
        try await open(paused.test.path).close()
        #expect(!FileManager.default.fileExists(atPath: paused.partial))
    }

    /// The catalogue, and what it names, may have come from anywhere.
    @Test func aFileThatOnlyHasTheNameIsAnothers() async throws {
        let paused = try await Paused()
        try FileManager.default.removeItem(atPath: paused.partial)
        let theirs = Data("a download of this name".utf8)
        try theirs.write(to: URL(fileURLWithPath: paused.partial))
        let library = try await open(paused.test.path)
        _ = try await library.mesh.send(CancelJob(job: paused.job))
        #expect(try await library.mesh.send(WaitForJob(job: paused.job)).state == .cancelled)
        await library.close()
        try await open(paused.test.path).close()
        #expect(try Data(contentsOf: URL(fileURLWithPath: paused.partial)) == theirs)
    }

    @Test(arguments: ["/catalogue.sqlite", "/photos/x.partial", "/../victim.partial", "/victim"])
    func aRecordFromElsewhereRemovesNothing(_ name: String) async throws {
        let test = try await TestLibrary()
        await test.library.close()
        let victim = test.path + name
        if name != "/catalogue.sqlite" { try Data("theirs".utf8).write(to: URL(fileURLWithPath: victim)) }
        let database = try await DatabasePool.open(
            at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        try await database.write { connection in
            for path in [victim, String(name.dropFirst()), "backups/.." + name] {
                try UnfinishedBackupTable(connection: connection).put(
                    .init(path: path, job: nil, library: nil, file: nil))
            }
        }
        await database.close()
        try await open(test.path).close()
        #expect(FileManager.default.fileExists(atPath: victim))
    }

    @Test func aRenamedLibraryGoesOnWithItsBackup() async throws {
        let paused = try await Paused()
        let renamed = paused.test.folder.file("renamed")
        try FileManager.default.moveItem(atPath: paused.test.path, toPath: renamed)
        let library = try await open(renamed)
        _ = try await library.mesh.send(ResumeJob(job: paused.job))
        let made = try await library.mesh.send(WaitForJob(job: paused.job))
        #expect(made.state == .finished && made.receipt?["photos"] == 60, "\(made)")
        await library.close()
    }

    @Test func aCopyGoesOnWithItsOwnCopyInItsOwnFolder() async throws {
        let paused = try await Paused { $0.path + "/backups" }
        let copy = paused.test.folder.file("copy")
        try self.copy(paused.test.path, to: copy)
        let name = URL(fileURLWithPath: paused.target).lastPathComponent
        for path in [copy, paused.test.path] {
            let library = try await open(path)
            _ = try await library.mesh.send(ResumeJob(job: paused.job))
            let made = try await library.mesh.send(WaitForJob(job: paused.job))
            #expect(made.state == .finished, "\(made)")
            #expect(made.receipt?["path"] == .string(path + "/backups/\(name)"))
            await library.close()
            let left = try FileManager.default.contentsOfDirectory(atPath: path + "/backups")
            #expect(left.contains(name) && !left.contains { $0.hasSuffix(".partial") }, "\(left)")
        }
    }

    /// As version 5 of the catalogue had it.
    @Test func aBackupFromBeforeTheUpgradeGoesOn() async throws {
        let paused = try await Paused()
        let partial = paused.partial
        try await Paused.edit(paused.test.path) { connection in
            try connection.execute("DELETE FROM unfinished_backups WHERE path <> ''")
            try UnfinishedBackupTable(connection: connection).put(
                .init(path: partial, job: nil, library: nil, file: nil))
        }
        let library = try await open(paused.test.path)
        _ = try await library.mesh.send(ResumeJob(job: paused.job))
        let made = try await library.mesh.send(WaitForJob(job: paused.job))
        #expect(made.state == .finished && made.receipt?["photos"] == 60, "\(made)")
        await library.close()
    }

    @Test func anotherBackupDoesNotTakeThePlaceOfAPausedOne() async throws {
        let paused = try await Paused()
        let library = try await open(paused.test.path)
        #expect(await status { _ = try await library.mesh.send(CreateBackup(path: paused.target)) } == .alreadyExists)
        _ = try await library.mesh.send(ResumeJob(job: paused.job))
        #expect(try await library.mesh.send(WaitForJob(job: paused.job)).state == .finished)
        await library.close()
    }

    @Test func aFileThatCouldNotBeReachedIsRemovedLater() async throws {
        let paused = try await Paused { $0.folder.file("stick") }
        let (stick, away) = (paused.test.folder.file("stick"), paused.test.folder.file("away"))
        try FileManager.default.moveItem(atPath: stick, toPath: away)
        let library = try await open(paused.test.path)
        _ = try await library.mesh.send(CancelJob(job: paused.job))
        #expect(try await library.mesh.send(WaitForJob(job: paused.job)).state == .cancelled)
        await library.close()
        let partials = { (folder: String) in
            try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".partial") }
        }
        #expect(try partials(away).count == 1)
        try FileManager.default.moveItem(atPath: away, toPath: stick)
        try await open(paused.test.path).close()
        #expect(try partials(stick).isEmpty)
    }

    @Test func aBackupThatIsGivenUpWhileItWaitsForAnotherLeavesNothing() async throws {
        let paused = try await Paused()
        let library = try await SteppedLibrary(paused.test)
        let other = paused.test.folder.file("other.zip")
        library.steps.hold { FileManager.default.fileExists(atPath: other + ".partial") }
        let running = try await library.mesh.send(CreateBackup(path: other)).job
        await library.steps.arrived()
        #expect(try await library.mesh.send(ResumeJob(job: paused.job)).state == .waiting)
        let purged = try await library.photos().prefix(5)
        try await library.purge(purged)
        _ = try await library.mesh.send(CancelJob(job: paused.job))
        // Before the other one goes on, and its turn comes.
        let (looks, again) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        library.database.onCommit { _ in again.yield() }
        again.yield()
        for await _ in looks {
            let owner = try await library.database.read { connection in
                try UnfinishedBackupTable(connection: connection).find(paused.partial)?.job
            }
            let hasEnded = try await library.mesh.send(GetJob(job: paused.job)).state.hasEnded
            if owner == nil || hasEnded { break }
        }
        library.steps.letGo()
        let ended = try await library.mesh.send(WaitForJob(job: paused.job))
        #expect(ended.state == .cancelled && ended.error == nil, "\(ended)")
        #expect(!FileManager.default.fileExists(atPath: paused.partial))
        let made = try await library.mesh.send(WaitForJob(job: running))
        #expect(made.state == .finished && made.receipt?["photos"] == 60, "\(made)")
        #expect(purged.allSatisfy { !library.isThere($0.path) })
        await library.close()
    }

    /// It may be on a mount whose server is gone.
    @Test func whatIsLeftElsewhereIsLookedAtOnceTheLibraryIsOpen() async throws {
        let paused = try await Paused()
        let job = paused.job
        _ = try await Paused.edit(paused.test.path) { try $0.execute("DELETE FROM jobs WHERE id = ?", job) }
        let folder = LibraryFolder(path: paused.test.path, catalogueFiles: SQLiteCatalogue.files(at:))
        let catalogue = try await SQLiteCatalogue(at: folder.catalogue)
        let pool = BlockingPool(name: "test", threads: 1)
        _ = try await Reconciliation.run(
            catalogue: catalogue, photoFiles: folder,
            discards: DiscardedFiles(catalogue: catalogue, photoFiles: folder, pool: pool), pool: pool,
            settleBackups: UnfinishedBackups(
                catalogue: catalogue, places: BackupPlaces(library: folder.path), namedFiles: folder.namedFiles,
                pool: pool
            ).settle)
        #expect(FileManager.default.fileExists(atPath: paused.partial))
        await catalogue.close()
        await pool.shutDown()
        try await open(paused.test.path).close()
        #expect(!FileManager.default.fileExists(atPath: paused.partial))
    }

    @Test func aNameThatAnotherBackupHasTakenOverIsNotGivenUp() async throws {
        let paused = try await Paused()
        let folder = LibraryFolder(path: paused.test.path, catalogueFiles: SQLiteCatalogue.files(at:))
        let catalogue = try await SQLiteCatalogue(at: folder.catalogue)
        let pool = BlockingPool(name: "test", threads: 1)
        let unfinished = UnfinishedBackups(
            catalogue: catalogue, places: BackupPlaces(library: folder.path), namedFiles: folder.namedFiles, pool: pool)
        await unfinished.giveUp(paused.partial, isOld: true)
        #expect(FileManager.default.fileExists(atPath: paused.partial))
        #expect(
            try await catalogue.read { try $0.unfinishedBackups.find(paused.partial)?.job } == paused.job)
        await catalogue.close()
        await pool.shutDown()
    }

    // MARK: Broken off at its ends

    /// A kill before the first checkpoint: the file is there and says nothing, and it is the job's own.
    /// - Parameter name: what it is called; a backup whose target is a folder has the time of its run in its name.
    @Test(arguments: ["", "earlier-"])
    func aBackupWithoutACheckpointBeginsAnewAndLeavesNoOtherFile(_ prefix: String) async throws {
        let paused = try await Paused()
        let name = URL(fileURLWithPath: paused.partial).lastPathComponent
        let begun = paused.test.folder.file(prefix + name)
        if begun != paused.partial { try FileManager.default.moveItem(atPath: paused.partial, toPath: begun) }
        let job = paused.job
        try await Paused.edit(paused.test.path) { connection in
            try connection.execute("UPDATE jobs SET request = 'run', checkpoint = NULL WHERE id = ?", job)
            try connection.execute("UPDATE unfinished_backups SET path = ? WHERE job = ?", begun, job)
        }
        let library = try await open(paused.test.path)
        let made = try await library.mesh.send(WaitForJob(job: job))
        #expect(made.state == .finished && made.receipt?["photos"] == 60, "\(made)")
        await library.close()
        #expect(FileManager.default.fileExists(atPath: paused.target))
        #expect(!FileManager.default.fileExists(atPath: begun))
    }

    /// A kill after the file has its name and before the job has its end.
    @Test func aBackupThatIsThereIsNotReportedFailed() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3)
        let target = test.folder.file("made.zip")
        let made = try await test.run(CreateBackup(path: target))
        let receipt = try #require(made.receipt)
        let time = try await test.mesh.send(InspectBackup(path: target)).timestamp
        await test.library.close()

        var checkpoint = BackupCheckpoint(target: target, time: time, holdsPart: false, missing: [])
        checkpoint.proven = .init(
            receipt: try JSONDecoder().decode(BackupReceipt.self, from: JSONEncoder().encode(receipt)), lines: [])
        let kept = try checkpoint.encoded()
        let params = String(decoding: try JSONEncoder().encode(CreateBackup(path: target)), as: UTF8.self)
        _ = try await Paused.edit(test.path) { connection in
            try connection.execute(
                """
                UPDATE jobs SET state = 'running', request = 'run', params = ?, checkpoint = ?, ended_at = NULL,
                    receipt = NULL
                WHERE id = ?
                """, params, kept, made.id)
        }
        let library = try await open(test.path)
        let ended = try await library.mesh.send(WaitForJob(job: made.id))
        #expect(ended.state == .finished && ended.receipt == receipt, "\(ended)")
        await library.close()
    }
}
