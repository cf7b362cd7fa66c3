import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

extension BrowserTests {
    /// Photos of a phone that arrive one by one, whatever happens meanwhile.
    @Suite struct UploadsTests {
        private static let picker = "import-screen input[type=file]:not([webkitdirectory])"
        private static let finished = "tests.has('job-card [role=status]', 'Finished')"
        private static let isReady = "tests.control('Into the category')?.options.length > 0"

        private static func files(_ house: House, _ count: Int, seed: UInt64) throws -> [String] {
            let folder = house.place.folder.file("phone \(seed)")
            try SampleAlbum(width: 96, height: 72, seed: seed).write(count: count, to: folder)
            return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().map { folder + "/" + $0 }
        }

        /// Lines of a receipt, by outcome.
        private static func receipt(_ house: House, _ job: JobID) async throws -> [String: [String]] {
            let lines = try await house.call(GetJobReceipt(job: job)).lines
            return Dictionary(grouping: lines, by: \.outcome).mapValues { $0.map(\.item).sorted() }
        }

        private static func jobs(_ house: House) async throws -> [JobSnapshot] {
            try await house.call(ListJobs()).jobs.filter { $0.method == ImportUploads.method }
        }

        /// The requests that begin a file.
        private static func countsBeginnings(_ page: Page) async throws {
            try await page.run(
                """
                const real = window.fetch;
                window.begun = 0;
                window.fetch = (path, options) => {
                  if (path === '/upload') window.begun += 1;
                  return real(path, options);
                };
                """)
        }

        /// The page's program is killed at most tenths, and the daemon ends at one: what has arrived by then is in the library, and
        /// in the end each photo is there once, in one receipt.
        @Test func aLinkThatIsCutAtEachTenthBringsTwoHundredPhotosAndOneReceipt() async throws {
            let house = House.here
            let before = try await house.photos().count
            let earlier = Set(try await Self.jobs(house).map(\.id))
            let files = try Self.files(house, 200, seed: 400)
            try await house.inTab(Look(width: 390, isTouched: true), at: "#/import") { page in
                try await page.wait(until: Self.isReady)
                try await page.choose(files, in: "import-screen input[type=file]")
                for tenth in 1...9 {
                    // Of what was sent, all but the last few are photos: nobody waits for the end.
                    try await page.wait(
                        until: "document.querySelector('import-screen progress').value >= \(Double(tenth) / 10)",
                        within: .seconds(60))
                    let there = try await house.photos().count - before
                    #expect(there > 0 && there >= (tenth - 1) * 20 - 66, "\(there) at tenth \(tenth)")
                    if tenth == 5 {
                        try await house.smilepile("down")
                        try await page.wait(until: "tests.point(document.querySelector('.away'))")
                        try await house.place.up()
                    } else {
                        kill(try await house.startPage().pid, SIGKILL)
                        // Not before it is gone: a start finds that it runs already.
                        try await page.wait(until: "tests.point(document.querySelector('.away'))")
                        try await house.startPage()
                    }
                }
                try await page.wait(until: Self.finished, within: .seconds(60))
                try await page.waits(for: "200 imported", in: ".outcomes")
            }
            #expect(try await house.photos().count == before + 200)
            let jobs = try await Self.jobs(house).filter { !earlier.contains($0.id) }
            let job = try #require(jobs.count == 1 ? jobs[0] : nil, "\(jobs.count) jobs")
            let receipt = try await Self.receipt(house, job.id)
            #expect(receipt.mapValues(\.count) == ["imported": 200])
            #expect(Set(receipt["imported"] ?? []).count == 200)
        }

        @Test func aPageThatWasReloadedAsksForWhatIsMissingAndSendsThatAlone() async throws {
            let house = House.here
            let before = try await house.photos().count
            let files = try Self.files(house, 6, seed: 401)
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: Self.isReady)
                // From the fourth file on nothing is sent.
                try await page.run(
                    """
                    const real = window.fetch;
                    let begun = 0;
                    window.fetch = async (path, options) => {
                      if (path === '/upload' && (begun += 1) > 3) await new Promise(() => {});
                      return real(path, options);
                    };
                    """)
                try await page.choose(files, in: Self.picker)
                try await page.waits(for: "3 imported", in: ".outcomes")
                // The browser asks before such a page is left; this one is gone without a question.
                try await page.run(
                    "window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
                try await page.navigate(house.address + "/?again#/storage")
                try await page.wait(until: "document.querySelector('storage-screen .legend')")
                try await page.waits(for: "3 of 6 files are still missing", in: "upload-notice")
                await page.picture("missing in the frame")
                try await page.click(on: "Choose them again")
                try await page.waits(for: "3 of 6 files are still missing", in: "import-screen .missing")
                try await page.run("document.querySelector('.missing summary').click()")
                try await page.waits(for: "sample-0005.jpg", in: ".missing .receipt")
                await page.picture("missing")
                try await Self.countsBeginnings(page)
                try await page.choose(files, in: Self.picker)
                try await page.wait(until: Self.finished)
                try await page.waits(for: "6 imported", in: ".outcomes")
                #expect(try await page.evaluate("window.begun") == 3)
                #expect(try await page.evaluate("document.querySelectorAll('.missing').length") == 0)
            }
            #expect(try await house.photos().count == before + 6)
        }

        @Test func whatIsNotChosenAgainIsLeftOutWithAWord() async throws {
            let house = House.here
            let files = try Self.files(house, 3, seed: 402)
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: Self.isReady)
                try await page.run(
                    """
                    const real = window.fetch;
                    let begun = 0;
                    window.fetch = async (path, options) => {
                      if (path === '/upload' && (begun += 1) > 1) await new Promise(() => {});
                      return real(path, options);
                    };
                    """)
                try await page.choose(files, in: Self.picker)
                try await page.waits(for: "1 imported", in: ".outcomes")
                try await page.run(
                    "window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
                try await page.navigate(house.address + "/?again#/import")
                try await page.waits(for: "2 of 3 files are still missing", in: "import-screen .missing")
                try await page.click(on: "Leave them out")
                try await page.wait(until: Self.finished)
                try await page.waits(for: "2 not sent", in: ".outcomes")
                try await page.click(on: "Receipt")
                try await page.waits(for: "sample-0002.jpg", in: "dialog .receipt .attention")
            }
        }

        /// It stands on every screen, with the way to the receipt.
        @Test func progressAndReceiptAreInTheFrameOfEveryScreen() async throws {
            let house = House.here
            let files = try Self.files(house, 4, seed: 403)
            let note = house.place.folder.file("note.jpg")
            try Data("no picture".utf8).write(to: URL(fileURLWithPath: note))
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: Self.isReady)
                try await page.run(
                    """
                    const real = window.fetch;
                    let begun = 0;
                    const released = new Promise((resolve) => (window.release = resolve));
                    window.fetch = async (path, options) => {
                      if (path === '/upload' && (begun += 1) > 2) await released;
                      return real(path, options);
                    };
                    window.locks = 0;
                    navigator.wakeLock.request = async () => ((window.locks += 1), { released: false, release: () => (window.locks -= 1) });
                    """)
                try await page.choose(files + [note], in: Self.picker)
                try await page.waits(for: "2 of 5 files", in: "import-screen")
                #expect(try await page.evaluate("document.querySelector('upload-notice').hidden") == true)
                for screen in ["photos", "storage", "trash"] {
                    try await page.go(to: "#/\(screen)")
                    try await page.waits(for: "2 of 5 files sent", in: "upload-notice:not([hidden])")
                }
                await page.picture("progress in the frame")
                #expect(try await page.evaluate("window.locks") == 1)
                try await page.run("window.release()")
                try await page.waits(for: "4 photos have arrived; not every file could be taken.", in: "upload-notice")
                #expect(try await page.evaluate("window.locks") == 0)
                await page.picture("receipt in the frame")
                try await page.click(on: "Receipt")
                try await page.wait(until: "location.hash === '#/import' && \(Self.finished)")
                try await page.wait(until: "document.querySelector('upload-notice').hidden")
            }
        }

        @Test(arguments: Looks.all) func isForEveryEyeInTheFrameAndOnTheScreen(_ look: Look) async throws {
            let house = House.here
            let files = try Self.files(house, 3, seed: 406)
            try await house.inTab(look, at: "#/import") { page in
                func check(_ name: String) async throws {
                    let view = View(name, at: "", isReady: "true")
                    try await Looks.check("uploads", Sight(view: view, look: look), in: page)
                }
                try await page.wait(until: "document.querySelector('import-screen option')")
                try await page.run(
                    """
                    const real = window.fetch;
                    let begun = 0;
                    window.fetch = async (path, options) => {
                      if (path === '/upload' && (begun += 1) > 1) await new Promise(() => {});
                      return real(path, options);
                    };
                    """)
                try await page.choose(files, in: "import-screen input[type=file]")
                try await page.wait(until: "document.querySelector('import-screen progress').value > 0")
                try await check("sending")
                try await page.go(to: "#/storage")
                try await page.wait(until: "document.querySelector('storage-screen .legend')")
                try await page.wait(until: "document.querySelector('upload-notice:not([hidden]) progress').value > 0")
                try await check("progress")
                try await page.run(
                    "window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true)")
                try await page.navigate(house.address + "/?again#/storage")
                try await page.wait(until: "document.querySelector('storage-screen .legend')")
                try await page.wait(until: "document.querySelector('upload-notice:not([hidden]) a')")
                try await check("missing")
                try await page.go(to: "#/import")
                try await page.wait(until: "document.querySelector('.missing')")
                try await check("choose again")
                // The next look begins with none.
                let sessions = try await house.call(ListUploadSessions()).sessions
                for session in sessions { _ = try await house.call(EndUploadSession(session: session.session)) }
                for session in sessions {
                    if let job = session.job { _ = try await house.call(WaitForJob(job: job)) }
                }
            }
        }

        /// A disk that is full is said, and waited for: nothing is begun anew.
        @Test func aFullDiskIsWaitedFor() async throws {
            let house = House.here
            let files = try Self.files(house, 2, seed: 404)
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: Self.isReady)
                try await page.run(
                    """
                    const real = window.fetch;
                    window.isFull = true;
                    window.fetch = (path, options) => {
                      if (path !== '/upload' || !window.isFull) return real(path, options);
                      const error = { message: 'There is not enough room on the library’s disk.', data: { status: 'resource_exhausted', reason: 'no_space' } };
                      return Promise.resolve(new Response(JSON.stringify({ error }), { status: 507 }));
                    };
                    """)
                try await page.choose(files, in: Self.picker)
                try await page.waits(for: "There is not enough room", in: "import-screen .attention")
                await page.picture("full disk")
                try await page.run("window.isFull = false")
                try await page.wait(until: Self.finished)
                try await page.waits(for: "2 imported", in: ".outcomes")
            }
        }

        /// A share sheet of a phone posts a form to the page's address: here a form of the page itself does.
        @Test func whatAnotherAppSharesIsKeptWhileTheDaemonIsAwayAndThenSent() async throws {
            let house = House.here
            let before = try await house.photos().count
            let files = try Self.files(house, 3, seed: 405)
            try await house.inTab(at: "#/import") { page in
                try await page.wait(until: Self.isReady)
                try await page.wait(until: "navigator.serviceWorker.controller")
                try await page.run(
                    """
                    const form = document.createElement('form');
                    Object.assign(form, { method: 'post', action: '/share', enctype: 'multipart/form-data', id: 'share' });
                    const field = document.createElement('input');
                    Object.assign(field, { type: 'file', name: 'files', multiple: true });
                    form.append(field);
                    document.body.append(form);
                    """)
                try await page.choose(files, in: "#share input")
                try await house.smilepile("down")
                try await page.run("document.querySelector('#share').submit()")
                try await page.wait(until: "location.hash === '#/import' && !document.querySelector('#share')")
                try await page.waits(for: "out of reach", in: "main")
                try await house.place.up()
                try await page.waits(for: "3 shared files are being sent", in: "toast-list")
                try await page.wait(until: Self.finished)
                try await page.waits(for: "3 imported", in: ".outcomes")
                // Nothing of it stays in the browser.
                #expect(
                    try await page.evaluate(
                        "(async () => (await import('/assets/import/shared-files.js'), (await self.sharedFiles.kept()).length))()"
                    )
                        == 0)
                let target: String = try await page.evaluate(
                    "(async () => (await (await fetch('/manifest.webmanifest')).json()).share_target.action)()")
                #expect(target == "/share")
            }
            #expect(try await house.photos().count == before + 3)
        }
    }
}
