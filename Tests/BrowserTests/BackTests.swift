import Browser
import LibraryModel
import Testing

extension BrowserTests {
    /// The browser's Back, and a phone's.
    @Suite struct BackTests {
        private static let dialog = "document.querySelector('dialog[open]')"

        /// It closes what is open first, and what was selected stays selected.
        @Test func closesADialogAndKeepsTheSelection() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                for photo in photos[..<2] {
                    try await page.clickWhereSeen(
                        "document.querySelector('.tile:has(a[href*=\"\(photo.uuid)\"]) .check')")
                }
                try await page.waits(for: "2 selected", in: "selection-bar")
                try await page.click(on: "Write caption")
                try await page.wait(until: Self.dialog)
                try await page.run("history.back()")
                try await page.wait(until: "!\(Self.dialog)")
                #expect(try await page.evaluate("location.hash") == "#/photos")
                #expect(try await page.evaluate("tests.has('selection-bar', '2 selected')"))
            }
        }

        /// However a dialog was closed, and whatever opened one after the other: one step back is one screen back.
        @Test func isNotHeldUpByDialogsThatWereClosed() async throws {
            try await House.here.inTab(at: "#/trash") { page in
                try await page.wait(until: "document.querySelector('trash-screen h1')")
                try await page.clickWhereSeen("document.querySelector('nav a[href=\"#/photos\"]')")
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                try await page.click(on: "View")
                try await page.wait(until: Self.dialog)
                try await page.press("Escape")
                try await page.wait(until: "!\(Self.dialog) && !history.state.above")
                try await page.click(on: "View")
                // This one opens as that one closes.
                try await page.click(on: "Keyboard shortcuts")
                try await page.wait(until: "document.querySelector('dialog.keys[open]')")
                try await page.press("Escape")
                try await page.wait(until: "!\(Self.dialog) && !history.state.above")
                try await page.run("history.back()")
                try await page.wait(until: "document.querySelector('trash-screen')")
                #expect(try await page.evaluate("location.hash") == "#/trash")
            }
        }

        /// As a hand that is quicker than the browser: what opens while the step of what has closed is still being taken away stays.
        @Test func whatOpensAtOnceAfterwardsStays() async throws {
            try await House.here.inTab { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                let isOpen: Bool = try await page.evaluate(
                    """
                    (async () => {
                      const view = document.querySelector('timeline-strip > button:last-child');
                      const opened = async () => {
                        while (!document.querySelector('dialog[open]')) await new Promise((done) => setTimeout(done, 5));
                        return document.querySelector('dialog[open]');
                      };
                      view.click();
                      const first = await opened();
                      const closed = new Promise((done) => first.addEventListener('close', done));
                      first.close();
                      await closed;
                      view.click();
                      const second = await opened();
                      while (!history.state?.above) await new Promise((done) => setTimeout(done, 5));
                      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
                      return second !== first && second.open;
                    })()
                    """)
                #expect(isOpen)
                try await page.run("history.back()")
                try await page.wait(until: "!\(Self.dialog)")
                #expect(try await page.evaluate("location.hash") == "#/photos")
            }
        }

        /// A link in a dialog leads on, and from there Back leads to the screen that it was opened above.
        @Test func fromWhereADialogLedIsTheScreenBelowIt() async throws {
            try await House.here.inTab(Look(width: 360, isTouched: true)) { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 4")
                try await page.click(on: "More")
                try await page.click(on: "Jobs")
                try await page.wait(until: "document.querySelector('jobs-screen') && !\(Self.dialog)")
                try await page.run("history.back()")
                try await page.wait(until: "document.querySelector('timeline-screen') && !history.state?.above")
                #expect(try await page.evaluate("location.hash") == "#/photos")
            }
        }
    }
}
