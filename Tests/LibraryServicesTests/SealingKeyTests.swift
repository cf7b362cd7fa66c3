import CatalogueTestSupport
import Executors
import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
@testable import Backups
@testable import LibraryServices
import PhotoFolder
@testable import SQLiteCatalogue
import Sealing
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Keys that are missing, wrong, exported, imported and changed.
@Suite(.timeLimit(.minutes(2))) struct SealingKeyTests {
    private let sample = SampleCatalogue()
    private let passphrase = "seven words for a family"

    /// Photos 1…`count`, each with notes that are its number.
    private func library(_ count: Int = 3) async throws -> TestLibrary {
        let test = try await TestLibrary("keys")
        _ = try await test.add((1...count).map { sample.photo($0, takenAt: Int64($0) * 1000) })
        for id in 1...count { _ = try await test.mesh.send(SetPhotoDetail(id: Int64(id), notes: "\(id)")) }
        return test
    }

    private func error(_ body: () async throws -> Void) async -> MeshError? {
        do {
            try await body()
            return nil
        } catch {
            return MeshError(describing: error)
        }
    }

    private func notes(_ mesh: Mesh, _ count: Int = 3) async throws -> [String?] {
        var notes: [String?] = []
        for id in 1...count { notes.append(try await mesh.send(GetPhotoDetail(id: Int64(id))).notes) }
        return notes
    }

    // MARK: Without the key file

    @Test func withoutTheKeyFileNothingSealedIsReadOrChanged() async throws {
        let test = try await library()
        #expect(try await test.mesh.send(GetKeyStatus()).state == .ready)
        await test.library.close()
        let aside = test.folder.file("aside.key")
        try FileManager.default.moveItem(atPath: test.keyFile, toPath: aside)

        let library = try await test.reopened()
        for request in [SetPhotoDetail(id: 1, notes: "new"), SetPhotoDetail(id: 1, clear: [.notes])] {
            let refused = await error { _ = try await library.mesh.send(request) }
            #expect(refused?.status == .failedPrecondition)
            #expect(refused?.message.contains("\(test.keyFile) is missing") == true)
        }
        for refused in [
            await error { _ = try await library.mesh.send(GetPhotoDetail(id: 1)) },
            await error { _ = try await library.mesh.send(SearchPhotoDetails(text: "1")) },
            await error { _ = try await library.mesh.send(ExportKeys(passphrase: self.passphrase)) },
            await error { _ = try await library.mesh.send(RotateKeys()) },
        ] { #expect(refused?.status == .failedPrecondition && refused?.message.contains("keys import") == true) }
        // All else works, and no new key is made.
        let status = try await library.mesh.send(GetKeyStatus())
        #expect(status.state == .locked && status.values == 3 && status.problem?.contains(test.keyFile) == true)
        #expect(try await library.mesh.send(ListSealedPhotos()).total == 3)
        _ = try await library.mesh.send(EditPhoto(id: 1, caption: "edited"))
        #expect(!FileManager.default.fileExists(atPath: test.keyFile))
        // It is looked for again each time: no restart is needed.
        try FileManager.default.moveItem(atPath: aside, toPath: test.keyFile)
        #expect(try await notes(library.mesh) == ["1", "2", "3"])
        await library.close()
    }

    @Test func anotherKeyFileOpensNothingAndOverwritesNothing() async throws {
        let (test, other) = (try await library(), try await library(1))
        await test.library.close()
        let library = try await test.reopened(keyFile: other.keyFile)
        let refused = await error { _ = try await library.mesh.send(SetPhotoDetail(id: 1, notes: "new")) }
        #expect(refused?.status == .failedPrecondition && refused?.message.contains("is not the one") == true)
        #expect(try await library.mesh.send(GetKeyStatus()).state == .locked)
        await library.close()
        let right = try await test.reopened()
        #expect(try await notes(right.mesh) == ["1", "2", "3"])
        await right.close()
        await other.library.close()
    }

    @Test func aKeyFileThatOthersReachIsRefusedWithWhatToDo() async throws {
        let test = try await library()
        await test.library.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: test.keyFile)
        let library = try await test.reopened()
        let refused = await error { _ = try await library.mesh.send(GetPhotoDetail(id: 1)) }
        #expect(refused?.message.contains("chmod 600 '\(test.keyFile)'") == true)
        await library.close()
    }

    @Test func aKeyFileInTheLibraryIsRefused() async throws {
        let test = try await TestLibrary("keys")
        _ = try await test.add([sample.photo(1, takenAt: 1000)])
        await test.library.close()
        let link = test.folder.file("way-in")
        symlink(test.path, link)
        for place in [test.path + "/sealing.key", test.path + "/new/sealing.key", link + "/new/sealing.key"] {
            let library = try await test.reopened(keyFile: place)
            let refused = await error { _ = try await library.mesh.send(SetPhotoDetail(id: 1, notes: "x")) }
            #expect(refused?.status == .failedPrecondition && refused?.message.contains("Move it out") == true)
            await library.close()
        }
        #expect(!FileManager.default.fileExists(atPath: test.path + "/new"))
    }

    // MARK: Export and import

    /// The folder alone, on another machine, with what was exported.
    @Test func anExportOpensACopyOfTheLibraryElsewhere() async throws {
        let test = try await library()
        let exported = try await test.mesh.send(ExportKeys(passphrase: passphrase))
        #expect(exported.keys == 1 && !exported.text.contains(passphrase))
        #expect(try await test.mesh.send(GetKeyStatus()).keys[0].exportedAt != nil)
        await test.library.close()

        let elsewhere = test.folder.file("elsewhere/sealing.key")
        let library = try await test.reopened(keyFile: elsewhere)
        #expect(await status { _ = try await self.notes(library.mesh) } == .failedPrecondition)
        let wrong = ImportKeys(text: exported.text, passphrase: passphrase + "!")
        #expect(await status { _ = try await library.mesh.send(wrong) } == .invalidArgument)
        #expect(!FileManager.default.fileExists(atPath: elsewhere))
        let right = ImportKeys(text: exported.text, passphrase: passphrase)
        #expect(try await library.mesh.send(right) == ImportedKeys(imported: 1, known: 0))
        #expect(try await notes(library.mesh) == ["1", "2", "3"])
        #expect(try await library.mesh.send(right) == ImportedKeys(imported: 0, known: 1))
        #expect(try await library.mesh.send(SetPhotoDetail(id: 1, notes: "new")).notes == "new")
        await library.close()
        // Under the new key file from now on.
        let old = try await test.reopened()
        #expect(await status { _ = try await self.notes(old.mesh) } == .failedPrecondition)
        await old.close()
    }

    @Test func thereIsNothingToExportBeforeTheFirstValue() async throws {
        let test = try await TestLibrary("keys")
        #expect(
            await status { _ = try await test.mesh.send(ExportKeys(passphrase: self.passphrase)) }
                == .failedPrecondition)
        #expect(await status { _ = try await test.mesh.send(RotateKeys()) } == .failedPrecondition)
        #expect(
            try await test.mesh.send(GetKeyStatus())
                == KeyStatus(
                    state: .unused, keyFile: test.keyFile, problem: nil, keys: [], values: 0, photos: 0,
                    foreignValues: 0))
        await test.library.close()
    }

    /// An old export brings its values back; the key that was made since is lost with its file.
    @Test func anExportFromBeforeARotationOpensWhatItCan() async throws {
        let test = try await library()
        let before = try await test.mesh.send(ExportKeys(passphrase: passphrase))
        let old = try #require(try await rows(test.library).first)
        #expect(try await test.run(RotateKeys()).state == .finished)
        // A value from before comes back, as from a backup.
        try await test.library.catalogue.write {
            _ = try $0.sealedFields.reseal([(row: $0.sealedFields.page(after: nil, limit: 1)[0], sealed: old.sealed)])
        }
        await test.library.close()
        let library = try await test.reopened(keyFile: test.folder.file("elsewhere/sealing.key"))
        let imported = try await library.mesh.send(ImportKeys(text: before.text, passphrase: passphrase))
        #expect(imported == ImportedKeys(imported: 1, known: 0))
        let read = try await notes(library.mesh)
        #expect(read.compactMap { $0 }.count == 1)
        let status = try await library.mesh.send(GetKeyStatus())
        #expect(status.state == .ready && status.keys.count == 2)
        await library.close()
    }

    // MARK: A new key

    private func rows(_ library: PhotoLibrary) async throws -> [SealedRow] {
        try await library.catalogue.read { try $0.sealedFields.page(after: nil, limit: 10_000) }
    }

    @Test func everythingIsSealedAnewAndTheOldKeyGoes() async throws {
        let count = SealedFieldStore.batch + 30
        let test = try await library(count)
        _ = try await test.mesh.send(DeletePhotos(ids: [7]))
        let before = try await rows(test.library)
        let old = try await test.mesh.send(GetKeyStatus()).keys[0].id
        let job = try await test.run(RotateKeys())
        #expect(job.state == .finished && job.receipt?["resealed"] == .integer(Int64(count)))
        #expect(job.receipt?["removedKeys"] == 1 && job.receipt?["unreadable"] == 0)
        let after = try await rows(test.library)
        #expect(after.map(\.name) == before.map(\.name))
        #expect(zip(before, after).allSatisfy { $0.sealed != $1.sealed })
        let status = try await test.mesh.send(GetKeyStatus())
        #expect(status.keys.count == 1 && status.keys[0].id != old && status.keys[0].values == count)
        #expect(status.keys[0].exportedAt == nil)
        _ = try await test.mesh.send(RestorePhotos(ids: [7]))
        #expect(try await notes(test.mesh, count) == (1...count).map { "\($0)" })
        await test.library.close()
        let library = try await test.reopened()
        #expect(try await notes(library.mesh) == ["1", "2", "3"])
        await library.close()
    }

    /// A backup without a passphrase opens with the keys of when it was made, and no others.
    @Test func theOldKeyStaysForTheBackupsThatNeedIt() async throws {
        let test = try await TestLibrary("keys")
        _ = try await test.importSamples(2, album: SampleAlbum(width: 48, height: 32))
        let photo = try await test.allPhotos()[0]
        _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, notes: "first steps"))
        let path = test.folder.file("b.zip")
        #expect(try await test.run(CreateBackup(path: path)).state == .finished)
        for _ in 1...2 { #expect(try await test.run(RotateKeys()).receipt?["removedKeys"] == 0) }
        _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, clear: [.notes]))
        let job = try await test.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["sealedValuesAdded"] == 1, "\(job)")
        #expect(try await test.mesh.send(GetPhotoDetail(id: photo.id)).notes == "first steps")
        // Once there is none, they go with the next rotation.
        try FileManager.default.removeItem(atPath: path)
        _ = try await test.mesh.send(PruneBackups(folder: test.folder.path, keep: 1))
        #expect(try await test.mesh.send(ListBackups()).backups.isEmpty)
        #expect(try await test.run(RotateKeys()).receipt?["removedKeys"] == 3)
        await test.library.close()
    }

    /// Their key lies under the library's, as sealed fields do.
    @Test func scheduledBackupsGoOnWithTheirPassphrase() async throws {
        let test = try await library()
        let key = try await test.mesh.send(MakeBackupKey(passphrase: passphrase))
        let folder = test.folder.file("stick")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        // In the catalogue alone, so that none is made before the keys are new.
        try await test.library.catalogue.write {
            try $0.madeBackups.setSchedule(
                StoredBackupSchedule(
                    folder: folder, mount: "/", everyHours: 24, keep: 2, isZip: true, key: key, scheduledAt: .now()))
        }
        #expect(try await test.run(RotateKeys()).receipt?["removedKeys"] == 1)
        let path = folder + "/after.zip"
        #expect(await status { _ = try await test.run(CreateBackup(path: path, key: key)) } == .invalidArgument)
        let schedule = try await test.library.catalogue.read { try $0.madeBackups.schedule() }
        #expect(schedule?.key?.export == key.export)
        let job = try await test.run(CreateBackup(path: path, key: schedule?.key))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        await test.library.close()
    }

    /// The schedule notes why it is late with what it has read before the keys were changed.
    @Test func aScheduleThatIsLateDoesNotTakeTheNewKeyBack() async throws {
        let test = try await library()
        let key = try await test.mesh.send(MakeBackupKey(passphrase: passphrase))
        try await test.library.catalogue.write {
            try $0.madeBackups.setSchedule(
                StoredBackupSchedule(
                    folder: test.folder.file("away"), mount: "/", everyHours: 24, keep: 2, isZip: true, key: key,
                    scheduledAt: .now()))
        }
        let mesh = test.mesh
        let catalogue = InterruptedCatalogue(test.library.catalogue) {
            _ = try await mesh.send(WaitForJob(job: mesh.send(RotateKeys()).job))
        }
        let folder = LibraryFolder(path: test.path, catalogueFiles: SQLiteCatalogue.files(at:))
        let pool = BlockingPool(name: "test", threads: 1)
        let fields = SealedFields(
            catalogue: catalogue, keyFile: KeyFile(path: test.keyFile), namedFiles: folder.namedFiles, pool: pool)
        let scheduler: any MeshService = BackupScheduler(
            catalogue: catalogue, places: BackupPlaces(library: test.path), namedFiles: folder.namedFiles,
            fields: fields,
            pool: pool)
        try await scheduler.start(on: mesh)
        var schedule: StoredBackupSchedule?
        while schedule?.problem == nil {
            schedule = try await test.library.catalogue.read { try $0.madeBackups.schedule() }
        }
        await scheduler.stop()
        #expect(schedule?.key?.export == key.export && schedule?.key != key)
        let path = test.folder.file("after.zip")
        #expect(try await test.run(CreateBackup(path: path, key: schedule?.key)).state == .finished)
        await test.library.close()
        await pool.shutDown()
    }

    @Test func valuesThatDoNotOpenStayWithTheirKey() async throws {
        let test = try await library()
        try await test.library.catalogue.database.write {
            _ = try $0.execute(
                """
                UPDATE sealed_fields SET sealed = CAST(substr(sealed, 1, length(sealed) - 1) || x'ff00' AS BLOB)
                WHERE photo_uuid = (SELECT uuid FROM photos WHERE id = 2)
                """)
        }
        let job = try await test.run(RotateKeys())
        #expect(job.state == .finished && job.needsAttention && job.receipt?["unreadable"] == 1)
        #expect(job.receipt?["resealed"] == 2 && job.receipt?["removedKeys"] == 0)
        let lines = try await test.lines(job.id)
        #expect(lines.map(\.item) == ["photo 2"] && !(lines[0].detail ?? "").contains("notes"))
        #expect(try await test.mesh.send(GetKeyStatus()).keys.map(\.values) == [2, 1])
        #expect(try await notes(test.mesh) == ["1", nil, "3"])
        await test.library.close()
    }

    /// Writers under way meet the new key at any moment.
    @Test func whatIsWrittenMeanwhileIsUnderTheNewKey() async throws {
        let count = SealedFieldStore.batch * 2
        let test = try await library(count)
        let job = try await test.mesh.send(RotateKeys()).job
        let second = try await test.mesh.send(RotateKeys()).job
        for id in 1...count {
            _ = try await test.mesh.send(SetPhotoDetail(id: Int64(id), milestone: "later \(id)"))
        }
        for job in [job, second] { #expect(try await test.mesh.send(WaitForJob(job: job)).state == .finished) }
        // Two that met may have left an older key; one more takes it away.
        #expect(try await test.run(RotateKeys()).state == .finished)
        #expect(try await test.mesh.send(GetKeyStatus()).keys.map(\.values) == [count * 2])
        #expect(try await notes(test.mesh, count) == (1...count).map { "\($0)" })
        await test.library.close()
    }

    /// Whoever had the old key in hand while a rotation came to its end does not seal with it: nothing would open it.
    @Test func whoHasTheOldKeyInHandTakesTheNewOne() async throws {
        let test = try await library()
        let folder = LibraryFolder(path: test.path, catalogueFiles: SQLiteCatalogue.files(at:))
        let (catalogue, pool) = (test.library.catalogue, BlockingPool(name: "test", threads: 1))
        let store = SealedFieldStore(
            catalogue: catalogue,
            fields: SealedFields(
                catalogue: catalogue, keyFile: KeyFile(path: test.keyFile), namedFiles: folder.namedFiles, pool: pool),
            discards: DiscardedFiles(catalogue: catalogue, photoFiles: folder, pool: pool), pool: pool,
            deriver: KeyDeriver(on: pool))
        #expect(try await store.set(SetPhotoDetail(id: 1, notes: "old")).notes == "old")
        let job = try await test.run(RotateKeys())
        #expect(job.receipt?["removedKeys"] == 1)
        #expect(try await store.set(SetPhotoDetail(id: 2, notes: "new")).notes == "new")
        #expect(try await notes(test.mesh) == ["old", "new", "3"])
        let status = try await test.mesh.send(GetKeyStatus())
        #expect(status.foreignValues == 0 && status.keys.map(\.values) == [3])
        await test.library.close()
        await pool.shutDown()
    }

    /// Whoever finds no key goes on with the one that somebody else makes and uses meanwhile, as in an import of many photos
    /// with a place.
    @Test func aKeyThatIsMadeMeanwhileIsTaken() async throws {
        let test = try await TestLibrary("keys")
        _ = try await test.add([sample.photo(1, takenAt: 1000)])
        let mesh = test.mesh
        let catalogue = InterruptedCatalogue(test.library.catalogue) {
            _ = try await mesh.send(SetPhotoDetail(id: 1, notes: "first"))
        }
        let folder = LibraryFolder(path: test.path, catalogueFiles: SQLiteCatalogue.files(at:))
        let pool = BlockingPool(name: "test", threads: 1)
        let fields = SealedFields(
            catalogue: catalogue, keyFile: KeyFile(path: test.keyFile), namedFiles: folder.namedFiles, pool: pool)
        let keyring = try await fields.keyringMakingOne()
        #expect(try await mesh.send(GetKeyStatus()).keys.map(\.id) == [keyring.active.description])
        await test.library.close()
        await pool.shutDown()
    }

    @Test func aRotationThatIsBrokenOffGoesOn() async throws {
        let count = SealedFieldStore.batch * 3
        let test = try await library(count)
        let job = try await test.mesh.send(RotateKeys()).job
        await test.library.close()
        let library = try await test.reopened()
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["ending"] == "complete")
        let status = try await library.mesh.send(GetKeyStatus())
        #expect(status.keys.map(\.values) == [count])
        #expect(try await notes(library.mesh, count) == (1...count).map { "\($0)" })
        await library.close()
    }
}
