import Browser
import LibraryModel
import Testing

extension BrowserTests {
    /// Bringing a backup back from the page: a look first, and a way back from what was overwritten.
    @Suite struct RestoreTests {
        @Test func aBackupIsWrittenCheckedLookedIntoAndRestored() async throws {
            let house = House.here
            let before = try await house.photos()
            try await house.inTab(at: "#/backup") { page in
                try await page.wait(until: "document.querySelector('made-backups:not([hidden])')")
                let path = "document.querySelector('backup-screen select[name=path]').value"
                let others: String = try await page.evaluate(path)
                try await page.click(on: "Make a backup")
                try await page.wait(until: "\(path) && \(path) !== \(Page.literal(others))")
                try await page.waits(
                    for: "The newest verified backup has everything", in: "backup-screen [role=status]")
                try await page.click(on: "Check every byte")
                try await page.waits(for: "every byte is as it should be", in: "job-card .sum")
                try await page.click(on: "Look inside")
                try await page.waits(for: "the whole library", in: "dialog")
                await page.picture("backup inside")
                try await page.click(on: "Close")
                try await LibraryTests.purge(house, [before[0]])
                try await page.click(on: "Restore…")
                try await page.click(on: "Preview")
                try await page.waits(for: "Nothing has been changed yet", in: ".preview-restore")
                #expect(try await house.photos().count == before.count - 1)
                try await page.click(on: "Restore now")
                try await page.click(on: "Restore…")
                let restores =
                    "[...document.querySelectorAll('job-card')].filter((one) => tests.plain(one.innerText).startsWith('Restore'))"
                try await page.wait(until: "\(restores).length === 2")
                try await page.wait(
                    until:
                        "\(restores).every((one) => one.querySelector('[role=status]').textContent.startsWith('Finished'))"
                )
                await page.picture("backup restored")
                // A page that says another path than those that it was offered.
                try await page.run(
                    """
                    const select = document.querySelector('backup-screen select[name=path]');
                    select.append(new Option('other', '/etc/passwd'));
                    select.value = '/etc/passwd';
                    """)
                try await page.click(on: "Look inside")
                try await page.waits(for: "backup.places", in: ".toast.fault")
            }
            #expect(try await house.photos().map(\.uuid) == before.map(\.uuid))
        }

        @Test func whatTheBackupOverwroteIsPutBackFromThePage() async throws {
            let house = House.here
            let photo = try await house.photos()[2]
            _ = try await house.call(SetCaption(id: photo.id, caption: "as it was"))
            func caption() async throws -> String? { try await house.call(GetPhoto(id: photo.id)).caption }
            try await house.inTab(at: "#/backup") { page in
                try await page.wait(until: "document.querySelector('made-backups:not([hidden])')")
                let path = "document.querySelector('backup-screen select[name=path]').value"
                let others: String = try await page.evaluate(path)
                try await page.click(on: "Make a backup")
                try await page.wait(until: "\(path) && \(path) !== \(Page.literal(others))")
                _ = try await house.call(SetCaption(id: photo.id, caption: "as it is now"))
                try await page.click(on: "Restore…")
                try await page.clickWhereSeen("document.querySelectorAll('dialog[open] input[type=radio]')[1]")
                try await page.click(on: "Preview")
                try await page.waits(for: "One value would change to the one in the backup", in: ".preview-restore")
                // What was asked for is seen without scrolling.
                let isSeen =
                    "(({ top, bottom }) => top >= 0 && bottom <= innerHeight)(document.querySelector('.preview-restore button').getBoundingClientRect())"
                try await page.wait(until: isSeen)
                await page.picture("restore looked at first")
                #expect(try await caption() == "as it is now")
                try await page.click(on: "Restore now")
                try await page.click(on: "Restore…")
                try await page.wait(until: "document.querySelector('.undo-restore button')")
                #expect(try await caption() == "as it was")
                try await page.click(on: "Restore the one value that was overwritten")
                let undone =
                    "[...document.querySelectorAll('job-card')].some((one) => one.innerText.startsWith('Undoing') && one.querySelector('[role=status]').textContent.startsWith('Finished'))"
                try await page.wait(until: undone)
                #expect(try await caption() == "as it is now")
                await page.picture("restore undone")
            }
            _ = try await house.call(SetCaption(id: photo.id, caption: photo.caption))
        }
    }
}
