import Executors
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing

@testable import LibraryServices
@testable import LibraryStorage
@testable import Sealing

/// The PIN: what it may be, what is kept of it, and how long the next try has to wait.
@Suite(.timeLimit(.minutes(4))) struct PINTests {
    private static let right = PIN("2580")

    /// A library with a PIN, in a folder that outlives it.
    private struct Locked {
        let folder: TemporaryFolder
        let time: SetBootClock
        var library: PhotoLibrary

        init(_ pin: PIN? = PINTests.right) async throws {
            folder = try TemporaryFolder("pin")
            time = SetBootClock()
            library = try await Self.open(folder, time)
            if let pin { _ = try await library.mesh.send(SetPIN(pin: pin)) }
        }

        private static func open(_ folder: TemporaryFolder, _ time: SetBootClock) async throws -> PhotoLibrary {
            var options = PhotoLibrary.Options.repeating(workers: 1)
            options.bootClock = time.clock
            return try await PhotoLibrary.open(at: folder.path, options: options)
        }

        mutating func reopen() async throws {
            await library.close()
            library = try await Self.open(folder, time)
        }

        func error(of pin: PIN) async -> MeshError? {
            do {
                _ = try await library.mesh.send(Unlock(pin: pin))
                return nil
            } catch {
                return MeshError(describing: error)
            }
        }

        func status() async throws -> PINStatus { try await library.mesh.send(GetPINStatus()) }

        /// So many wrong ones in a row.
        func fail(_ count: Int) async {
            for _ in 0..<count { #expect(await error(of: PIN("1111"))?.status == .unauthenticated) }
        }
    }

    private static let unusable: [String] = [
        "", "1", "123", String(repeating: "7", count: 65), String(repeating: "7", count: 1 << 20), "12\u{0}34",
        "12\n34",
        " 1234", "1234 ", "    ", "12\u{7F}34", "12\u{2028}34", "\u{1B}[31m",
    ]

    @Test func itIsSetAskedForChangedAndCleared() async throws {
        let test = try await Locked(nil)
        let mesh = test.library.mesh
        #expect(try await test.status() == PINStatus(isSet: false))
        #expect(await test.error(of: Self.right)?.status == .failedPrecondition)
        #expect(try await mesh.send(SetPIN(pin: Self.right)) == PINStatus(isSet: true))
        #expect(await status { _ = try await mesh.send(SetPIN(pin: PIN("9999"))) } == .alreadyExists)
        #expect(await test.error(of: Self.right) == nil)
        #expect(
            await status { _ = try await mesh.send(ChangePIN(pin: PIN("9999"), newPIN: PIN("4321"))) }
                == .unauthenticated)
        #expect(
            await status { _ = try await mesh.send(ChangePIN(pin: Self.right, newPIN: PIN("1"))) } == .invalidArgument)
        #expect(await test.error(of: Self.right) == nil)
        _ = try await mesh.send(ChangePIN(pin: Self.right, newPIN: PIN("4321")))
        #expect(await test.error(of: Self.right)?.status == .unauthenticated)
        #expect(await test.error(of: PIN("4321")) == nil)
        #expect(await status { _ = try await mesh.send(ClearPIN(pin: Self.right)) } == .unauthenticated)
        #expect(try await test.status().isSet)
        #expect(try await mesh.send(ClearPIN(pin: PIN("4321"))) == PINStatus(isSet: false))
        #expect(try await test.status() == PINStatus(isSet: false))
        await test.library.close()
    }

    @Test(arguments: ["0000", "12 34", "ピンコード", "👨‍👩‍👧‍👦🐘🦒🐧", "Passwort mit Wörtern", String(repeating: "é", count: 64)])
    func allSortsOfPINs(_ text: String) async throws {
        let test = try await Locked(PIN(text))
        #expect(await test.error(of: PIN(text)) == nil)
        #expect(await test.error(of: PIN(text + "x"))?.status == .unauthenticated)
        await test.library.close()
    }

    @Test(arguments: unusable)
    func whatCannotBeAPINIsNotSet(_ text: String) async throws {
        let test = try await Locked(nil)
        #expect(await status { _ = try await test.library.mesh.send(SetPIN(pin: PIN(text))) } == .invalidArgument)
        #expect(try await !test.status().isSet)
        await test.library.close()
    }

    /// A keyboard that composes accents and one that does not.
    @Test func oneCharacterIsTheSameHoweverItIsTyped() async throws {
        let test = try await Locked(PIN("caf\u{E9}s"))
        #expect(await test.error(of: PIN("cafe\u{301}s")) == nil)
        #expect(await test.error(of: PIN("cafes"))?.status == .unauthenticated)
        await test.library.close()
    }

    /// What cannot be a PIN, the empty one and one of a megabyte among it, has the answer of any wrong one, is counted like
    /// one, and is hashed like one.
    @Test(arguments: unusable)
    func everyWrongOneHasTheSameAnswer(_ text: String) async throws {
        let test = try await Locked()
        let usual = await test.error(of: PIN("1111"))
        #expect(usual?.status == .unauthenticated)
        #expect(await test.error(of: PIN(text)) == usual)
        #expect(try await test.status().failures == 2)
        await test.fail(2)
        let fifth = await test.error(of: PIN(text))
        #expect(fifth?.details["retryAfterMs"] == 30_000)
        // From now on nobody looks: right and wrong have one answer.
        let refused = await test.error(of: Self.right)
        #expect(refused?.status == .resourceExhausted && refused?.details["retryAfterMs"] == 30_000)
        #expect(await test.error(of: PIN(text)) == refused)
        #expect(await test.error(of: PIN("1111")) == refused)
        let status = try await test.status()
        #expect(status.failures == 5 && status.retryAfterMs == 30_000)
        await test.library.close()
    }

    /// Whoever sets a PIN of nothing by way of the catalogue would open the library with what cannot be one.
    @Test func theHashOfNothingOpensNothing() async throws {
        let test = try await Locked()
        let nothing = try PasswordHash(of: []).text
        try await test.library.catalogue.write { try $0.access.store(PINRecord(hash: nothing)) }
        #expect(await test.error(of: PIN(""))?.status == .unauthenticated)
        await test.library.close()
    }

    @Test func theWaitGrowsAndHasAnEnd() {
        let seconds = (0...14).map { PINDelay.after(failures: $0) / 1000 }
        #expect(seconds == [0, 0, 0, 0, 0, 30, 60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(PINDelay.after(failures: .max) == 3_600_000)
    }

    @Test func theNextTryWaitsAndIsThenTaken() async throws {
        let test = try await Locked()
        await test.fail(5)
        test.time.pass(milliseconds: 29_999)
        #expect(await test.error(of: Self.right)?.details["retryAfterMs"] == 1)
        test.time.pass(milliseconds: 1)
        #expect(await test.error(of: PIN("1111"))?.details["retryAfterMs"] == 60_000)
        test.time.pass(milliseconds: 59_999)
        #expect(await test.error(of: Self.right)?.status == .resourceExhausted)
        test.time.pass(milliseconds: 1)
        #expect(await test.error(of: Self.right) == nil)
        // A right one takes all back.
        #expect(try await test.status() == PINStatus(isSet: true))
        await test.fail(4)
        #expect(await test.error(of: Self.right) == nil)
        await test.library.close()
    }

    /// What is refused unseen is no try: whoever knocks all the time would else keep the owner out for ever.
    @Test func knockingDoesNotMakeItLonger() async throws {
        let test = try await Locked()
        await test.fail(5)
        for _ in 0..<20 { #expect(await test.error(of: PIN("1111"))?.status == .resourceExhausted) }
        test.time.pass(milliseconds: 30_000)
        #expect(await test.error(of: Self.right) == nil)
        await test.library.close()
    }

    @Test func theWaitSurvivesRestartsOfTheDaemonAndOfTheMachine() async throws {
        var test = try await Locked()
        await test.fail(5)
        try await test.reopen()
        #expect(await test.error(of: Self.right)?.details["retryAfterMs"] == 30_000)
        // Started again: however long it was off, and whatever its date is, only what this start knows counts.
        test.time.restart(as: "second", milliseconds: 10_000)
        try await test.reopen()
        #expect(await test.error(of: Self.right)?.details["retryAfterMs"] == 20_000)
        test.time.pass(milliseconds: 20_000)
        #expect(await test.error(of: Self.right) == nil)
        await test.library.close()
    }

    /// No clock of a machine's start runs backwards; a program that fakes one has all of the wait before it.
    @Test func aClockThatRunsBackwardsDoesNotMakeItShorter() async throws {
        let test = try await Locked()
        await test.fail(5)
        test.time.pass(milliseconds: -500_000)
        #expect(await test.error(of: Self.right)?.details["retryAfterMs"] == 30_000)
        await test.library.close()
    }

    /// Two, or twenty, that guess at once have as many tries as one.
    @Test func guessingAtOnceGivesNoMoreTries() async throws {
        let test = try await Locked()
        let mesh = test.library.mesh
        let statuses = await withTaskGroup(of: MeshStatus?.self) { group in
            for guess in 0..<20 {
                group.addTask {
                    await status { _ = try await mesh.send(Unlock(pin: PIN("77\(guess + 10)"))) }
                }
            }
            return await group.reduce(into: [MeshStatus?]()) { $0.append($1) }
        }
        #expect(statuses.count { $0 == .unauthenticated } == 5)
        #expect(statuses.count { $0 == .resourceExhausted } == 15)
        await test.library.close()
    }

    /// As after a kill between the two: the check never comes to its end, and the try counts, also one with the right PIN.
    @Test func aTryCountsBeforeItIsLookedAt() async throws {
        let test = try await Locked()
        let stopped = BlockingPool(name: "stopped", threads: 1)
        await stopped.shutDown()
        let store = AccessStore(
            catalogue: test.library.catalogue, deriver: KeyDeriver(on: stopped), clock: test.time.clock)
        let mesh = try Mesh(services: [store], journal: MemoryJobJournal())
        try await mesh.start()
        for tries in 1...5 {
            #expect(await status { _ = try await mesh.send(Unlock(pin: Self.right)) } != nil)
            #expect(try await test.status().failures == tries)
        }
        #expect(await status { _ = try await mesh.send(Unlock(pin: Self.right)) } == .resourceExhausted)
        await mesh.stop()
        await test.library.close()
    }

    // MARK: By device

    private static func pair(_ name: String, _ mesh: Mesh) async throws -> String {
        try await mesh.send(PairDevice(code: try await mesh.send(InviteDevice()).code, name: name)).device.id
    }

    private static func unlock(_ pin: PIN, from device: String, _ mesh: Mesh) async throws -> Unlocked {
        try await mesh.send(
            Unlock(pin: pin), in: .root(mesh: mesh, role: .kid, isFromAfar: true, caller: device))
    }

    private static func told(for role: Role, from device: String, _ mesh: Mesh) async throws -> PINStatus {
        try await mesh.send(
            GetPINStatus(), in: .root(mesh: mesh, role: role, isFromAfar: true, caller: device))
    }

    @Test func whoGuessesOnOneDeviceKeepsNobodyFromAnother() async throws {
        var test = try await Locked()
        let mesh = test.library.mesh
        let (tablet, phone) = (try await Self.pair("tablet", mesh), try await Self.pair("phone", mesh))
        for _ in 0..<5 {
            #expect(
                await status { _ = try await Self.unlock(PIN("1111"), from: tablet, mesh) } == .unauthenticated)
        }
        #expect(
            await status { _ = try await Self.unlock(Self.right, from: tablet, mesh) } == .resourceExhausted)
        #expect(try await Self.told(for: .kid, from: tablet, mesh).retryAfterMs == 30_000)
        #expect(try await Self.told(for: .kid, from: tablet, mesh).guesses == nil)
        #expect(try await Self.told(for: .parent, from: phone, mesh).guesses?.first?.name == "tablet")
        #expect(await test.error(of: Self.right) == nil)

        // Told at once, and once: it was at this machine that somebody had it right.
        #expect(
            await status { _ = try await Self.unlock(PIN("1111"), from: phone, mesh) } == .unauthenticated)
        let guesses = try #require(try await Self.unlock(Self.right, from: phone, mesh).guesses)
        #expect(guesses.map(\.device) == [phone] && guesses.map(\.count) == [1])
        #expect(try await Self.unlock(Self.right, from: phone, mesh).guesses == nil)
        // What was right elsewhere gives no more tries here, whatever is restarted.
        try await test.reopen()
        #expect(
            await status { _ = try await Self.unlock(Self.right, from: tablet, test.library.mesh) }
                == .resourceExhausted)
        await test.library.close()
    }

    @Test func manyDevicesTogetherHaveFewTriesAndOneIsKept() async throws {
        let test = try await Locked()
        let mesh = test.library.mesh
        let phone = try await Self.pair("phone", mesh)
        _ = try await Self.unlock(Self.right, from: phone, mesh)
        for number in 1...13 {
            let other = try await Self.pair("device \(number)", mesh)
            for _ in 0..<(number == 13 ? 2 : 4) {
                #expect(
                    await status { _ = try await Self.unlock(PIN("1111"), from: other, mesh) } == .unauthenticated)
            }
            // Whoever guessed there counts still for all together.
            if number == 1 { _ = try await mesh.send(ForgetDevice(id: other)) }
        }
        #expect(await test.error(of: Self.right)?.details["retryAfterMs"] == 30_000)
        #expect(await status { _ = try await Self.unlock(PIN("1111"), from: phone, mesh) } == .unauthenticated)
        let refused = await refusal { _ = try await Self.unlock(Self.right, from: phone, mesh) }
        #expect(refused?.details["retryAfterMs"] == 60_000)
        test.time.pass(milliseconds: 60_000)
        let guesses = try #require(try await Self.unlock(Self.right, from: phone, mesh).guesses)
        #expect(guesses.map(\.count) == Array(repeating: 4, count: 11) + [2, 1], "\(guesses)")
        #expect(await test.error(of: Self.right) == nil)
        await test.library.close()
    }

    // MARK: On devices that get no more by it

    @Test func onALookersAndAChildsDeviceNoPINIsLookedAt() async throws {
        let test = try await Locked()
        let mesh = test.library.mesh
        let family = try #require(try await mesh.send(ListCategories()).categories.first)
        for rights in [DeviceRights(.looker), DeviceRights(.child, categoryIds: [family.id])] {
            let invitation = InviteDevice(role: rights.role, categoryIds: rights.categoryIds)
            let code = try await mesh.send(invitation).code
            let device = try await mesh.send(PairDevice(code: code, name: "device")).device
            let context = CallContext.root(
                mesh: mesh, role: rights.role.ceiling, isFromAfar: true, caller: device.id)
            // More than would have to wait, and the right one among them: nothing is told of any.
            for pin in Array(repeating: PIN("1111"), count: 6) + [Self.right] {
                let refused = await refusal { _ = try await mesh.send(Unlock(pin: pin), in: context) }
                #expect(refused?.status == .failedPrecondition && refused?.details["retryAfterMs"] == nil)
                #expect(refused?.details["deviceRole"] == .string(rights.role.rawValue))
            }
            let failures = try await mesh.send(GetPINStatus(), in: context).failures
            #expect(failures == 0)
        }
        #expect(try await test.status().failures == 0)
        // In kids mode a looker gets back what is a looker's.
        let looker = try #require(try await mesh.send(ListDevices()).devices.first { $0.role == .looker })
        _ = try await Self.unlock(Self.right, from: looker.id, mesh)
        await test.library.close()
    }

    /// What is kept is believed only as far as it makes sense.
    @Test func damagedRowsOpenNothing() async throws {
        let test = try await Locked()
        let record = try await test.library.catalogue.read { try #require(try $0.access.pin()) }
        for hash in ["", "$argon2id$", record.hash + "A", record.hash.replacing("m=65536", with: "m=4194304")] {
            try await test.library.catalogue.write { try $0.access.store(PINRecord(hash: hash)) }
            #expect(await test.error(of: Self.right)?.status == .dataLoss)
        }
        let far = BootTime(boot: "first", milliseconds: .max)
        let before = BootTime(boot: "first", milliseconds: .min)
        for last in [far, before, nil] {
            let broken = PINRecord(hash: record.hash, failures: 1_000_000, lastFailure: last)
            try await test.library.catalogue.write { try $0.access.store(broken) }
            #expect(await test.error(of: Self.right)?.status == .resourceExhausted)
        }
        for text in ["many", "-1", "99999999999999999999"] {
            try await test.library.catalogue.database.write { connection in
                try connection.execute("UPDATE settings SET value = ? WHERE key = 'pinFailures'", text)
            }
            #expect(await test.error(of: Self.right)?.status == .resourceExhausted)
        }
        try await test.library.catalogue.write { try $0.access.store(PINRecord(hash: record.hash)) }
        try await test.library.catalogue.database.write { connection in
            try connection.execute("INSERT INTO settings (key, value) VALUES ('pinTries', '{')")
        }
        #expect(await test.error(of: Self.right)?.status == .resourceExhausted)
        await test.library.close()
    }

    @Test func itIsInNoSettingNoBackupAndNoText() async throws {
        let secret = "Ein-Geheimnis-7"
        let test = try await Locked(PIN(secret))
        let mesh = test.library.mesh
        #expect("\(PIN(secret)) \(SetPIN(pin: PIN(secret)))".contains(secret) == false)
        #expect(String(reflecting: PIN(secret)) == "PIN")
        let settings = try await mesh.send(GetSettings())
        #expect(settings.parentalLockEnabled)
        let hash = try await test.library.catalogue.read { try #require(try $0.access.pin()).hash }
        let path = test.folder.file("backups/pin.zip")
        let started = try await mesh.send(CreateBackup(path: path))
        #expect(try await mesh.send(WaitForJob(job: started.job)).state == .finished)
        let backup = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(backup.range(of: Data("\"hasPIN\":true".utf8)) != nil)
        await test.library.close()
        for file in try FileManager.default.subpathsOfDirectory(atPath: test.folder.path) {
            guard let bytes = FileManager.default.contents(atPath: test.folder.file(file)) else { continue }
            #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(file)")
            if !file.hasPrefix("catalogue") { #expect(bytes.range(of: Data(hash.utf8)) == nil, "\(file)") }
        }
    }
}
