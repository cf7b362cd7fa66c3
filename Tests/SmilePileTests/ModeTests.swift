import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Kids mode, and sessions of a program that embeds the library.
@Suite(.timeLimit(.minutes(3))) struct ModeTests {
    private static let pin = PIN("2580")

    @Test func kidsModeNeedsAPINAndAPINItsPlace() async throws {
        let test = try await TestLibrary("mode")
        let mesh = test.mesh
        #expect(try await mesh.send(GetMode()) == ModeStatus(mode: .parent))
        #expect(await status { _ = try await mesh.send(SetMode(mode: .kids)) } == .failedPrecondition)
        #expect(try await mesh.send(GetMode()).mode == .parent && test.library.roleOfNewcomers == .parent)
        _ = try await mesh.send(SetPIN(pin: Self.pin))
        #expect(try await mesh.send(SetMode(mode: .kids)).mode == .kids)
        #expect(await status { _ = try await mesh.send(ClearPIN(pin: Self.pin)) } == .failedPrecondition)
        #expect(try await mesh.send(GetPINStatus()) == PINStatus(isSet: true))
        #expect(try await mesh.send(GetSettings()).currentAppMode == .kids)
        #expect(try await mesh.send(SetMode(mode: .parent)).mode == .parent)
        _ = try await mesh.send(ClearPIN(pin: Self.pin))
        #expect(try await mesh.send(GetSettings()).parentalLockEnabled == false)
        await test.library.close()
    }

    @Test func kidsModeStaysOverARestart() async throws {
        let folder = try TemporaryFolder("mode")
        let first = try await PhotoLibrary.open(at: folder.path)
        _ = try await first.mesh.send(SetPIN(pin: Self.pin))
        _ = try await first.mesh.send(SetMode(mode: .kids))
        await first.close()
        let second = try await PhotoLibrary.open(at: folder.path)
        #expect(second.roleOfNewcomers == .kid && second.session().role == .kid)
        #expect(try await second.mesh.send(GetMode()).mode == .kids)
        await second.close()
    }

    /// Neither the mode nor the PIN is a backup's to bring: they are about who uses this machine.
    /// A library with a PIN, in kids mode, and its backup, with a passphrase or without.
    private func locked(_ passphrase: String?) async throws -> (test: TestLibrary, backup: String) {
        let test = try await TestLibrary("mode")
        _ = try await test.importSamples(2, album: SampleAlbum(width: 64, height: 48))
        _ = try await test.mesh.send(SetPIN(pin: Self.pin))
        _ = try await test.mesh.send(SetMode(mode: .kids))
        let path = test.folder.file("kids.zip")
        var key: BackupKey?
        if let passphrase { key = try await test.mesh.send(MakeBackupKey(passphrase: passphrase)) }
        #expect(try await test.run(CreateBackup(path: path, key: key)).state == .finished)
        return (test, path)
    }

    @Test(arguments: [RestoreMode.merge, .replace])
    func theLockComesBackWithThePassphrase(_ mode: RestoreMode) async throws {
        let (old, backup) = try await locked("correct horse")
        let new = try await TestLibrary("mode")
        let session = new.library.session()
        let key = try await new.mesh.send(OpenBackupKey(path: backup, passphrase: "correct horse"))
        let job = try await new.run(RestoreBackup(path: backup, mode: mode, key: key))
        #expect(job.state == .finished && job.outcomes["unlocked"] == nil, "\(job)")
        #expect(try await new.mesh.send(GetMode()).mode == .kids && new.library.roleOfNewcomers == .kid)
        // Whoever is inside already is a kid from then on.
        #expect(session.role == .kid)
        _ = try await new.mesh.send(Unlock(pin: Self.pin))
        await #expect(throws: MeshError.self) { try await new.mesh.send(Unlock(pin: PIN("9999"))) }
        await old.library.close()
        await new.library.close()
    }

    @Test func aLockThatDoesNotComeBackHasALine() async throws {
        for (passphrase, words) in [(nil, "made without"), ("correct horse", "--passphrase")] as [(String?, String)] {
            let (old, backup) = try await locked(passphrase)
            let new = try await TestLibrary("mode")
            let job = try await new.run(RestoreBackup(path: backup, mode: .replace))
            let line = try await new.details(job, "unlocked")["settings"]
            #expect(line?.contains("is open") == true && line?.contains(words) == true, "\(job)")
            #expect(job.needsAttention && new.library.roleOfNewcomers == .parent)
            // Into a library of its own nobody expects another's lock; it is told all the same.
            let other = try await TestLibrary("mode")
            _ = try await other.importSamples(1, album: SampleAlbum(width: 32, height: 32, seed: 8))
            let merged = try await other.run(RestoreBackup(path: backup))
            #expect(try await other.details(merged, "left")["settings"]?.contains("a merge takes over neither") == true)
            for library in [old, new, other] { await library.library.close() }
        }
    }

    @Test func noBackupWithoutAPassphraseHasThePIN() async throws {
        let (test, backup) = try await locked(nil)
        let hash = try await test.library.catalogue.database.read { connection in
            try connection.value("SELECT value FROM settings WHERE key = 'pinHash'") as String?
        }
        let bytes = try Data(contentsOf: URL(fileURLWithPath: backup))
        #expect(bytes.range(of: Data(try #require(hash).suffix(20).utf8)) == nil)
        await test.library.close()
    }

    @Test func aRestoreLeavesModeAndPIN() async throws {
        let test = try await TestLibrary("mode")
        let path = test.folder.file("before.zip")
        #expect(try await test.run(CreateBackup(path: path)).state == .finished)
        _ = try await test.mesh.send(SetPIN(pin: Self.pin))
        _ = try await test.mesh.send(SetMode(mode: .kids))
        #expect(try await test.run(RestoreBackup(path: path, mode: .replace)).state == .finished)
        #expect(try await test.mesh.send(GetMode()).mode == .kids && test.library.roleOfNewcomers == .kid)
        _ = try await test.mesh.send(Unlock(pin: Self.pin))
        let other = try await TestLibrary("mode")
        let kids = test.folder.file("kids.zip")
        #expect(try await test.run(CreateBackup(path: kids)).state == .finished)
        #expect(try await other.run(RestoreBackup(path: kids, mode: .replace)).state == .finished)
        let settings = try await other.mesh.send(GetSettings())
        #expect(settings.currentAppMode == .parent && !settings.parentalLockEnabled)
        await test.library.close()
        await other.library.close()
    }

    @Test func aSessionIsAKidsInKidsModeUntilItIsUnlocked() async throws {
        let test = try await TestLibrary("mode")
        let owner = test.mesh
        let before = test.library.session()
        #expect(before.role == .parent)
        _ = try await before.send(SetPIN(pin: Self.pin))
        _ = try await before.send(SetMode(mode: .kids))
        // Also the one that began it.
        let after = test.library.session()
        for session in [before, after] {
            #expect(session.role == .kid)
            #expect(await status { _ = try await session.send(ListTrash()) } == .permissionDenied)
            #expect(try await session.send(ListCategories()).categories.count == 4)
        }
        #expect(await status { try await before.unlock(PIN("1111")) } == .unauthenticated)
        #expect(before.role == .kid)
        let unlocked = try await before.unlock(Self.pin)
        #expect(unlocked.idleSeconds == 300 && unlocked.totalSeconds == 3600)
        #expect(unlocked.guesses?.map(\.count) == [1])
        #expect(before.role == .parent && after.role == .kid)
        _ = try await before.send(ListTrash())
        before.lock()
        #expect(await status { _ = try await before.send(ListTrash()) } == .permissionDenied)
        try await before.unlock(Self.pin)
        try await after.unlock(Self.pin)
        _ = try await owner.send(Lock(everywhere: true))
        #expect(before.role == .kid && after.role == .kid)
        // The owner's own program goes on in any mode.
        _ = try await owner.send(SetMode(mode: .parent))
        #expect(before.role == .kid && test.library.session().role == .parent)
        await test.library.close()
    }

    @Test func lockingEverywhereLeavesThoseWhoNeedNoPIN() async throws {
        let test = try await TestLibrary("mode")
        let session = test.library.session()
        _ = try await session.send(Lock(everywhere: true))
        #expect(session.role == .parent)
        await test.library.close()
    }

    /// An observation with nothing to say ends as well.
    @Test func whatAParentObservesEndsWhenTheRoleFalls() async throws {
        let test = try await TestLibrary("mode")
        let session = test.library.session()
        _ = try await session.send(SetPIN(pin: Self.pin))
        let began = Gate()
        let observing = Task {
            try await session.observe(ObserveTrash()) { _ in began.open() }
        }
        let looking = Task {
            try await session.observe(ObserveCategories()) { _ in }
        }
        await began.pass()
        _ = try await test.mesh.send(SetMode(mode: .kids))
        #expect(await status { _ = try await observing.value } == .permissionDenied)
        #expect(await status { _ = try await session.observe(ObserveTrash()) { _ in } } == .permissionDenied)
        looking.cancel()
        #expect(await status { _ = try await looking.value } == .cancelled)
        await test.library.close()
    }
}
