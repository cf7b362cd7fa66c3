import Browser
import LibraryModel
import Testing

extension BrowserTests {
    /// The screen of what runs and has run.
    @Suite struct JobsTests {
        @Test func theNewestIsOnTopAndATrialRunIsCalledOne() async throws {
            let house = House.here
            let file = try #require(try house.photoFile())
            try await house.inTab(at: "#/jobs") { page in
                let first = "document.querySelector('jobs-screen job-card h2').textContent"
                try await house.smilepile("storage", "check")
                try await page.wait(until: "tests.plain(\(first)) === 'Check of the library'")
                try await house.smilepile("import", file, "--dry-run")
                try await page.wait(until: "tests.plain(\(first)) === 'Import, trial run: nothing was changed'")
                try await house.smilepile("import", file)
                try await page.wait(until: "tests.plain(\(first)) === 'Import'")
                let inOrder: Bool = try await page.evaluate(
                    """
                    (() => {
                      const titles = [...document.querySelectorAll('jobs-screen job-card h2')].map((one) => tests.plain(one.textContent));
                      return titles[1].startsWith('Import, trial run') && titles[2] === 'Check of the library';
                    })()
                    """)
                #expect(inOrder)
            }
        }
    }
}
