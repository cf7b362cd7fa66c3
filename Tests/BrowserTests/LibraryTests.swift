import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import Testing

extension BrowserTests {
    /// Bringing photos in, the trash, the storage and the settings.
    @Suite struct LibraryTests {
        /// Photos that the album has not.
        private static func files(_ house: House, _ count: Int, seed: UInt64) throws -> [String] {
            let folder = house.place.folder.file("more \(seed)")
            try SampleAlbum(width: 200, height: 150, seed: seed).write(count: count, to: folder)
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
        }

        static func purge(_ house: House, _ photos: [Photo]) async throws {
            _ = try await house.call(DeletePhotos(ids: photos.map(\.id)))
            _ = try await house.call(PurgeTrash(all: true))
        }

        private static func new(_ house: House, _ before: [Photo]) async throws -> [Photo] {
            let known = Set(before.map(\.id))
            return try await house.photos().filter { !known.contains($0.id) }
        }

        private static let finished = "tests.has('job-card [role=status]', 'Finished')"

        @Test func filesThatAreChosenAreImportedWithOneReceipt() async throws {
            let house = House.here
            let before = try await house.photos()
            let note = house.place.folder.file("note.jpg")
            try Data("no picture".utf8).write(to: URL(fileURLWithPath: note))
            let files = try Self.files(house, 2, seed: 77)
            try await house.inTab(at: "#/import") { page in
                try await page.choose(option: "Garden", in: "Into the category")
                try await page.choose(files + [note], in: "input[type=file]:not([webkitdirectory])")
                try await page.wait(until: Self.finished)
                try await page.waits(for: "2 imported", in: ".outcomes")
                try await page.click(on: "Receipt")
                // What is not there comes first, with its reason.
                try await page.waits(for: "note.jpg", in: "dialog .receipt .attention")
                await page.picture("receipt")
            }
            let new = try await Self.new(house, before)
            let garden = try await house.category("Garden").id
            #expect(new.map(\.categoryId) == [garden, garden])
            try await Self.purge(house, new)
        }

        /// Neither is passed over without a word.
        @Test func anEmptyFileAndAFolderOfNothingAreTold() async throws {
            let house = House.here
            let empty = house.place.folder.file("nothing.jpg")
            try Data().write(to: URL(fileURLWithPath: empty))
            let dot = house.place.folder.file(".hidden.jpg")
            try Data("x".utf8).write(to: URL(fileURLWithPath: dot))
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: "tests.control('Into the category')?.options.length > 0")
                try await page.choose([dot], in: "input[type=file]:not([webkitdirectory])")
                try await page.waits(for: "There are no photos in it", in: "toast-list")
                try await page.choose([empty], in: "input[type=file]:not([webkitdirectory])")
                try await page.wait(until: Self.finished)
                try await page.click(on: "Receipt")
                try await page.waits(for: "it is empty", in: "dialog .receipt .attention")
            }
        }

        /// What is dropped while something is being sent waits for its end.
        @Test func whatIsDroppedDuringAnImportIsImportedAfterIt() async throws {
            let house = House.here
            let files = try Self.files(house, 2, seed: 80)
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: "tests.control('Into the category')?.options.length > 0")
                try await page.holdReplies(to: "library.importUploads")
                try await page.choose([files[0]], in: "input[type=file]:not([webkitdirectory])")
                try await page.wait(until: "window.held === 1")
                try await page.drop(files[1])
                try await page.wait(until: "!document.querySelector('.drop-target')")
                try await page.run("window.release()")
                try await page.wait(
                    until:
                        "[...document.querySelectorAll('job-card [role=status]')].filter((one) => one.textContent.startsWith('Finished')).length === 2"
                )
            }
            #expect(try await house.photos().count == 26)
        }

        /// Cameras begin to count anew, and each folder has its `IMG_0001.jpg`.
        @Test func aFolderBringsItsFoldersAlong() async throws {
            let house = House.here
            let before = try await house.photos()
            let files = try Self.files(house, 4, seed: 81)
            for way in ["chosen", "dropped"] {
                let top = house.place.folder.file("\(way) trip")
                for day in 1...2 {
                    let folder = "\(top)/Day \(day)"
                    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
                    let picture = files[(way == "chosen" ? 0 : 2) + day - 1]
                    try FileManager.default.copyItem(atPath: picture, toPath: folder + "/IMG_0001.jpg")
                    try Data(
                        #"{"title":"IMG_0001.jpg","description":"\#(way) on day \#(day)","photoTakenTime":{"timestamp":"1560340800"}}"#
                            .utf8
                    )
                    .write(to: URL(fileURLWithPath: folder + "/IMG_0001.jpg.json"))
                }
                try await house.inTab(at: "#/import") { page in
                    try await page.wait(until: "tests.control('Into the category')?.options.length > 0")
                    if way == "chosen" {
                        try await page.choose([top], in: "input[webkitdirectory]")
                    } else {
                        try await page.drop(top)
                    }
                    try await page.waits(for: "2 imported", in: ".outcomes")
                    try await page.click(on: "Receipt")
                    try await page.waits(for: "\(way) trip/Day 2/IMG_0001.jpg", in: "dialog .receipt")
                }
                let new = try await Self.new(house, before)
                #expect(new.compactMap(\.caption).sorted() == ["\(way) on day 1", "\(way) on day 2"])
                try await Self.purge(house, new)
            }
        }

        /// However many there are; a session takes only so many.
        @Test func veryManyFilesAreSeveralSessions() async throws {
            try await House.here.inTab(at: "#/import") { page in
                let sizes: [Int] = try await page.evaluate(
                    #"""
                    (async () => {
                      const { sessionsOf } = await import('/assets/import/session-files.js');
                      const names = [];
                      // Sidecars after the photos that they belong to, as in a list by kind.
                      for (let n = 0; n < 1500; n += 1) names.push(`IMG_${n}.jpg`);
                      for (let n = 0; n < 1500; n += 1) names.push(`IMG_${n}.jpg.json`, `IMG_${n}-edited.jpg`);
                      for (let n = 0; n < 2500; n += 1) names.push(`2019.06.12 ${n}.jpg`);
                      const files = names.map((name) => ({ name, webkitRelativePath: `Trip/${name}` }));
                      const imports = [...sessionsOf(files, 1000)];
                      const all = imports.flat();
                      if (new Set(all).size !== files.length || all.length !== files.length) return [];
                      const split = imports.some((one) => one.some(({ name }) => name.startsWith('IMG_')
                        && !one.some((other) => other.name === name.replace(/(-edited)?\.jpg(\.json)?$/, '.jpg'))));
                      return split ? [] : imports.map((one) => one.length);
                    })()
                    """#)
                #expect(sizes.reduce(0, +) == 7000 && sizes.allSatisfy { $0 <= 2000 } && sizes.count < 10, "\(sizes)")
            }
        }

        /// Whichever comes first: which job it is, what it does, or that it has ended.
        @Test func aLateReplyDoesNotMakeAnImportRunAgain() async throws {
            let house = House.here
            let file = try Self.files(house, 1, seed: 79)[0]
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: "tests.control('Into the category')?.options.length > 0")
                try await page.holdReplies(to: "job.get", edit: "told.result.state = 'running'")
                try await page.choose([file], in: "input[type=file]:not([webkitdirectory])")
                try await page.wait(until: Self.finished)
                try await page.run("window.release()")
                try await page.asksSomethingElse()
                #expect(try await page.evaluate(Self.finished) == true)
            }
        }

        @Test func aFileThatIsDroppedOnAnyScreenIsImported() async throws {
            let house = House.here
            let before = try await house.photos()
            let file = try Self.files(house, 1, seed: 78)[0]
            try await house.inTab(at: "#/storage") { page in
                try await page.wait(until: "document.querySelector('storage-screen .legend')")
                try await page.drop(file)
                try await page.wait(until: "location.hash === '#/import'")
                try await page.wait(until: Self.finished)
            }
            let new = try await Self.new(house, before)
            #expect(new.count == 1)
            try await Self.purge(house, new)
        }

        /// What comes over the page and leaves it in one moment, or is dropped then, leaves nothing in front of it.
        @Test func whatIsDraggedAwayAgainLeavesThePageAsItWas() async throws {
            try await House.here.inTab(at: "#/storage") { page in
                try await page.wait(until: "document.querySelector('storage-screen .legend')")
                try await page.run(
                    """
                    window.drag = (type, target) => {
                      const dataTransfer = new DataTransfer();
                      dataTransfer.items.add(new File(['x'], 'x.jpg'));
                      target.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
                    };
                    drag('dragenter', document.body);
                    """)
                try await page.wait(until: "document.querySelector('.drop-target')")
                // The page loads the target for the second one while the third comes; whoever asks after it gets it after it.
                let isGone: Bool = try await page.evaluate(
                    """
                    (async () => {
                      const target = document.querySelector('.drop-target');
                      drag('dragenter', target);
                      drag('dragleave', target);
                      await import('/assets/import/drop-target.js');
                      await new Promise((resolve) => setTimeout(resolve));
                      return !document.querySelector('.drop-target');
                    })()
                    """)
                #expect(isGone)
                // And it comes the next time.
                try await page.run("drag('dragenter', document.body)")
                try await page.wait(until: "document.querySelector('.drop-target')")
            }
        }

        /// From a phone, twice cut off in the middle: the page's program is killed and started again.
        @Test func aConnectionThatIsCutTwiceCostsNothingButTime() async throws {
            let house = House.here
            let before = try await house.photos()
            // Behind its end a JPEG file may hold anything: here four pieces of random bytes, as cameras' videos are.
            let photo = try Data(contentsOf: URL(fileURLWithPath: Self.files(house, 1, seed: 79)[0]))
            let rest = Data((0..<(14 << 20)).map { _ in UInt8.random(in: 0...255) })
            let file = house.place.folder.file("long.jpg")
            try (photo + rest).write(to: URL(fileURLWithPath: file))
            try await house.inTab(Look(width: 360, isTouched: true), at: "#/import") { page in
                try await page.send(
                    "Network.emulateNetworkConditions",
                    [
                        "offline": false, "latency": 5, "downloadThroughput": -1, "uploadThroughput": 8_000_000,
                    ])
                try await page.wait(until: "document.querySelector('import-screen input[type=file]')")
                try await page.choose([file], in: "import-screen input[type=file]")
                for share in ["0", "0.5"] {
                    try await page.wait(
                        until:
                            "!document.querySelector('.card[hidden] progress') && document.querySelector('import-screen progress').value >= \(share) && tests.has('import-screen h2', 'Sending')"
                    )
                    kill(try await house.startPage().pid, SIGKILL)
                    try await page.wait(until: "tests.point(document.querySelector('.away'))")
                    try await house.startPage()
                }
                try await page.wait(until: Self.finished, within: .seconds(40))
                #expect(try await page.evaluate("document.querySelectorAll('import-screen job-card').length") == 1)
                try await page.waits(for: "1 imported", in: ".outcomes")
            }
            let new = try await Self.new(house, before)
            #expect(new.count == 1)
            #expect(Int(new.first?.fileSize ?? 0) > 0)
            try await Self.purge(house, new)
        }

        @Test func theTrashGivesBackAndTakesForGood() async throws {
            let house = House.here
            let files = try Self.files(house, 2, seed: 80)
            let before = try await house.photos()
            try await house.smilepile("import", files[0], files[1])
            let new = try await Self.new(house, before)
            _ = try await house.call(DeletePhotos(ids: new.map(\.id)))
            try await house.inTab(at: "#/trash") { page in
                try await page.wait(until: "document.querySelectorAll('.trash-grid li').length === 2")
                try await page.wait(
                    until:
                        "[...document.querySelectorAll('.trash-grid img')].filter((one) => one.naturalWidth > 0).length === 2"
                )
                try await page.clickWhereSeen("document.querySelector('.trash-grid input')")
                try await page.click(on: "Restore")
                try await page.waits(for: "Restored", in: "toast-list")
                try await page.wait(until: "document.querySelectorAll('.trash-grid li').length === 1")
                try await page.click(on: "Empty trash")
                try await page.waits(for: "This cannot be undone", in: "dialog")
                try await page.click(on: "Empty trash")
                try await page.waits(for: "The trash is empty", in: "main")
            }
            let left = try await Self.new(house, before)
            #expect(left.count == 1)
            try await Self.purge(house, left)
        }

        /// As the timeline has it: a pattern in its place, and its name and dates below.
        @Test func aPhotoInTheTrashWithoutAPictureHasAPlaceAllTheSame() async throws {
            let house = House.here
            let photo = try await house.photos()[7]
            _ = try await house.call(DeletePhotos(ids: [photo.id]))
            try await house.inTab(Look(width: 360, isTouched: true)) { page in
                try await page.wait(until: "document.querySelector('.tile.loaded')")
                let picture = "*/trash/\(photo.uuid)/thumbnail*"
                try await page.send("Network.setBlockedURLs", ["urls": .array([.string(picture)])])
                try await page.go(to: "#/trash")
                try await page.wait(until: "document.querySelector('.trash-grid .unseen-picture')")
                #expect(try await page.evaluate("!document.querySelector('.trash-grid img')"))
                #expect(
                    try await page.evaluate(
                        "getComputedStyle(document.querySelector('.trash-grid label'), '::before').backgroundImage.includes('gradient')"
                    ))
                try await page.waits(for: photo.name, in: ".trash-grid .facts")
                await page.picture("trash without a picture")
            }
            _ = try await house.call(RestorePhotos(ids: [photo.id]))
        }

        @Test func storageShowsWhatThereIsAndChecksIt() async throws {
            let house = House.here
            try await house.inTab(at: "#/storage") { page in
                try await page.waits(for: "24 files", in: "storage-screen .legend")
                try await page.click(on: "Check all files")
                try await page.wait(until: "location.hash === '#/jobs'")
                try await page.wait(until: "tests.has('job-card', 'Check of the library') && \(Self.finished)")
                try await page.click(on: "Show older jobs")
                try await page.wait(until: "document.querySelectorAll('job-card').length > 1")
                // A month's bar leads to its photos.
                try await page.go(to: "#/storage")
                try await page.clickWhereSeen("document.querySelector('.years-chart a')")
                try await page.wait(until: "location.hash.includes('from=') && document.querySelector('.tile.loaded')")
            }
        }

        /// A tab that nobody sees is told nothing: it may miss that a change was made, and that it was taken back.
        @Test func aSettingThatIsAsItWasIsShownAsItWas() async throws {
            let house = House.here
            try await house.inTab(at: "#/settings") { page in
                let buzzes = "tests.control('Vibrate when a swipe counts')"
                try await page.wait(until: "\(buzzes)?.checked")
                try await page.hearNothing()
                try await page.click(on: "Vibrate when a swipe counts")
                try await page.asksSomethingElse()
                #expect(try await house.call(GetSettings()).enableHapticFeedback == false)
                _ = try await house.call(ChangeSettings(enableHapticFeedback: true))
                try await page.hearAgain()
                try await page.wait(until: "\(buzzes).checked")
            }
        }

        @Test func settingsAreTheLibrarysAndTheBrowsers() async throws {
            let house = House.here
            try await house.inTab(at: "#/settings") { page in
                try await page.click(on: "Vibrate when a swipe counts")
                try await house.inTab(at: "#/settings") { other in
                    try await other.wait(
                        until: "tests.control('Vibrate when a swipe counts')?.checked === false")
                    try await other.click(on: "Vibrate when a swipe counts")
                    // A tab that is closed takes what it has not sent with it.
                    try await other.asksSomethingElse()
                }
                try await page.wait(until: "tests.control('Vibrate when a swipe counts').checked")
                try await page.choose(option: "Dark", in: "Appearance")
                #expect(
                    try await page.evaluate(
                        "getComputedStyle(document.body).colorScheme.includes('dark') || document.documentElement.dataset.theme === 'dark'"
                    ))
                try await page.choose(option: "Same as the system", in: "Appearance")
                try await page.choose(option: "Deutsch", in: "Language")
                try await page.wait(until: "document.documentElement.lang === 'de' && tests.has('h1', 'Einstellungen')")
                try await page.choose(option: "English", in: "Sprache")
                try await page.wait(until: "document.documentElement.lang === 'en' && tests.has('h1', 'Settings')")
                try await page.run("localStorage.removeItem('language')")
            }
        }
    }
}
