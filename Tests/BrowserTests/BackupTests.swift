import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import Testing

extension BrowserTests {
    /// Backups that are made by themselves, and those that were made.
    @Suite struct BackupTests {
        private static let isOff = """
            tests.has('backup-schedule', 'Automatic backups are off') && tests.isSeen(document.querySelector('backup-schedule .quiet'))
            """
        private static let made = "[...document.querySelectorAll('.made-backups li')]"

        /// From none to a schedule, changed on the command line, late, and off again.
        @Test func backupsAreMadeByThemselvesUntilOneSwitchesThemOff() async throws {
            let house = House.here
            let stick = house.place.folder.file("stick")
            try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
            // A folder is offered where one at the machine has chosen it before.
            try await house.smilepile("backup", "create", stick)
            try await house.inTab(at: "#/backup") { page in
                try await page.wait(until: Self.isOff)
                try await page.click(on: "Set up automatic backups…")
                try await page.wait(until: "tests.control('Folder')")
                await page.picture("places for backups")
                try await page.run("tests.control('Folder').value = \(Page.literal(stick))")
                try await page.choose(option: "2 days", in: "Interval")
                try await page.write("0", into: "How many to keep")
                try await page.click(on: "Save")
                try await page.waits(for: "1 to 1000", in: "dialog .fault")
                try await page.write("3", into: "How many to keep")
                try await page.click(on: "Save")
                try await page.waits(for: "the 3 newest verified ones", in: "backup-schedule dd")
                let schedule = try #require(try await house.call(ListBackups()).schedule)
                #expect(schedule.folder == stick && schedule.everyHours == 48 && schedule.keep == 3)
                #expect(!schedule.hasPassphrase)

                // With a passphrase, and with an interval that the page does not offer by itself.
                let key = try await house.call(MakeBackupKey(passphrase: "eight or more"))
                _ = try await house.call(ScheduleBackups(folder: stick, everyHours: 36, keep: 5, zip: true, key: key))
                try await page.waits(for: "36 hours", in: "backup-schedule dd")
                try await page.waits(for: "under a passphrase", in: "backup-schedule dd")
                try await page.click(on: "Change…")
                try await page.wait(until: "tests.control('Interval').selectedOptions[0].text === '36 hours'")
                try await page.waits(for: "Your backups have a passphrase", in: "dialog")
                try await page.write("one passphrase", into: "Passphrase, 8 characters at least")
                try await page.write("another one", into: "Passphrase, once more")
                try await page.click(on: "Save")
                try await page.waits(for: "The two passphrases differ", in: "dialog .fault")
                try await page.write("one passphrase", into: "Passphrase, once more")
                try await page.choose(option: "7 days", in: "Interval")
                try await page.click(on: "Save")
                try await page.waits(for: "7 days", in: "backup-schedule dd")
                #expect(try await house.call(ListBackups()).schedule?.hasPassphrase == true)
                await page.picture("automatic backups")

                // Late for a reason, as it is when a stick is not there; a real one is late after hours.
                try await page.run(
                    """
                    const real = window.fetch;
                    window.fetch = async (path, options) => {
                      const reply = await real(path, options);
                      if (!options?.body?.includes?.('"backup.list"')) return reply;
                      const told = await reply.json();
                      told.result.schedule.nextAt = '2026-01-01T00:00:00Z';
                      told.result.schedule.problem = '/media/stick is not there.';
                      return new Response(JSON.stringify(told), { status: reply.status, headers: reply.headers });
                    };
                    """)
                _ = try await house.call(ScheduleBackups(folder: stick, everyHours: 24, keep: 5, zip: true))
                try await page.waits(for: "It is late: /media/stick is not there.", in: "backup-schedule .attention")
                try await page.waits(for: "it was due", in: "backup-schedule dd")
                await page.picture("late backup")
                try await page.reload()
                try await page.click(on: "Switch off")
                try await page.waits(for: "Those that are there stay", in: "dialog")
                try await page.click(on: "Switch off")
                try await page.wait(until: Self.isOff)
                #expect(try await house.call(ListBackups()).schedule == nil)
            }
        }

        /// What was made says what has become of it, and the oldest go once one has seen which.
        @Test func madeBackupsAreCheckedAgainAndTheOldestGo() async throws {
            let house = House.here
            let shelf = house.place.folder.file("shelf")
            try FileManager.default.createDirectory(atPath: shelf, withIntermediateDirectories: true)
            let files = (1...4).map { "SmilePileBackup_2026-01-0\($0)_100000.zip" }
            for file in files { try await house.smilepile("backup", "create", shelf + "/" + file) }
            try await house.inTab(at: "#/backup") { page in
                try await page.wait(until: "\(Self.made).length >= 4")
                let state = { (file: String) in
                    "tests.plain(\(Self.made).find((one) => one.textContent.includes('\(file)'))?.querySelector('.badge').textContent ?? '')"
                }
                for file in files { try await page.wait(until: "\(state(file)) === 'verified'") }

                // A byte in its middle: the file looks as it did, and a check finds it.
                let damaged = URL(fileURLWithPath: shelf + "/" + files[0])
                var bytes = try Data(contentsOf: damaged)
                bytes[bytes.count / 2] ^= 1
                try bytes.write(to: damaged)
                try await page.click(on: "Check \(files[0]) again")
                try await page.wait(until: "\(state(files[0])) === 'damaged'")
                try FileManager.default.removeItem(atPath: shelf + "/" + files[1])
                try await page.click(on: "Check \(files[2]) again")
                try await page.wait(until: "\(state(files[1])) === 'gone'")
                await page.picture("made backups")
                try await page.click(on: "Use \(files[3])")
                try await page.wait(until: "document.activeElement.value?.endsWith('\(files[3])')")

                try await page.click(on: "Remove the oldest…")
                try await page.choose(option: shelf, in: "Folder")
                try await page.write("9", into: "How many to keep")
                try await page.click(on: "Preview")
                try await page.waits(for: "Nothing would be removed. There are 2 verified backups.", in: "dialog")
                try await page.click(on: "Close")
                try await page.click(on: "Remove the oldest…")
                try await page.choose(option: shelf, in: "Folder")
                try await page.write("1", into: "How many to keep")
                try await page.click(on: "Preview")
                try await page.waits(for: files[2], in: "dialog .going")
                #expect(try await page.evaluate("!tests.has('dialog .going', '\(files[3])')"))
                await page.picture("prune")
                // Enter does not do what cannot be taken back.
                try await page.press("Enter")
                try await page.wait(until: "!document.querySelector('dialog')")
                #expect(FileManager.default.fileExists(atPath: shelf + "/" + files[2]))
                try await page.click(on: "Remove the oldest…")
                try await page.choose(option: shelf, in: "Folder")
                try await page.write("1", into: "How many to keep")
                try await page.click(on: "Preview")
                try await page.click(on: "Remove for good")
                try await page.waits(for: "backups removed", in: "toast-list")
                try await page.wait(until: "!tests.has('.made-backups', '\(files[2])')")
            }
            #expect(try FileManager.default.contentsOfDirectory(atPath: shelf) == [files[3]])
            try FileManager.default.removeItem(atPath: shelf)
        }
    }
}
