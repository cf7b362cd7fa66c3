import Browser
import Foundation
import LibraryModel
import Testing

extension BrowserTests {
    /// What holds for every screen.
    @Suite struct ScreenTests {
        private static let away = "tests.point(document.querySelector('.away'))"

        /// Both ways: what was observed before a daemon went is observed again when it is back.
        @Test(arguments: Screen.all) func followsTheCommandLineAlsoAfterTheDaemonWasAway(_ screen: Screen) async throws
        {
            let house = House.here
            let place = try await screen.place(house)
            try await house.inTab(at: place) { page in
                try await page.wait(until: screen.isReady)
                #expect(try await !page.evaluate("Boolean(\(screen.hasChanged))"))
                try await house.smilepile("down")
                // Said where one sees it; and what was shown stays, for whoever looks at it.
                try await page.wait(until: Self.away)
                #expect(try await page.evaluate("Boolean(\(screen.isReady))"))
                try await house.place.up()
                try await page.wait(until: "!(\(Self.away))")
                try await screen.change(house)
                try await page.wait(until: screen.hasChanged)
            }
            try await screen.changeBack(house)
        }

        /// A page that is opened while nobody answers says so, and shows the photos as soon as there are some.
        @Test func aPageThatIsOpenedWhileTheDaemonIsAwayBeginsByItself() async throws {
            let house = House.here
            try await house.smilepile("down")
            try await house.inTab { page in
                try await page.waits(for: "The photos are out of reach", in: "main h1")
                try await house.place.up()
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
            }
        }

        /// Its program is killed and started again by whoever started it; the page needs nobody to load it anew.
        @Test func aProgramOfThePageThatIsKilledIsNothingToTheDaemonAndThePageGoesOn() async throws {
            let house = House.here
            let photo = try await house.photos()[0]
            let daemon = house.place.daemonPID
            try await house.inTab { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                try await page.run("window.neverReloaded = true")
                kill(try await house.startPage().pid, SIGKILL)
                try await page.wait(until: Self.away)
                #expect(house.place.daemonPID == daemon)
                try await house.smilepile("photos", "favorite", String(photo.id))
                try await house.startPage()
                try await page.wait(until: "!(\(Self.away))")
                try await page.wait(until: "document.querySelector('.tile.favourite a[href*=\"\(photo.uuid)\"]')")
                #expect(try await page.evaluate("window.neverReloaded === true"))
            }
            try await house.smilepile("photos", "unfavorite", String(photo.id))
        }

        /// One that has been opened before opens also where nobody answers at all, and says what to do.
        @Test func withoutItsProgramThePageOpensFromWhatTheBrowserKept() async throws {
            let house = House.here
            try await house.inTab { page in
                try await page.wait(until: "document.querySelector('.tile.loaded')")
                try await page.wait(until: "navigator.serviceWorker.controller")
                kill(try await house.startPage().pid, SIGKILL)
                try await page.reload()
                try await page.waits(for: "The photos are out of reach", in: "main h1")
                try await house.startPage()
                try await page.wait(until: "document.querySelector('.tile.loaded')")
            }
        }

        @Test func eachSaysWhatToDoWhereThereIsNothing() async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let texts = [
                    ("photos", "No photos yet"), ("review", "Everything is reviewed"), ("trash", "The trash is empty"),
                    ("jobs", "Nothing is running"), ("backup", "There is no backup yet."), ("storage", "No photos yet"),
                    ("import", "Drop photos or folders anywhere"), ("categories", "0 photos"),
                    ("groups", "No groups yet"), ("groups/x", "This group is not here any more"),
                    ("photo/00000000-0000-0000-0000-000000000000", "no longer in the library"),
                ]
                for (name, text) in texts {
                    try await page.go(to: "#/" + name)
                    try await page.waits(for: text, in: name.hasPrefix("photo/") ? "photo-view" : "main")
                    await page.picture("nothing in \(name.prefix(10))")
                }
                // From nothing to the first photo.
                try await page.go(to: "#/photos")
                try await page.click(on: "Import")
                try await page.wait(until: "location.hash === '#/import'")
                // The last category stays.
                try await page.go(to: "#/categories")
                try await page.wait(until: "document.querySelectorAll('.categories li').length > 1")
                let categories: Int = try await page.evaluate("document.querySelectorAll('.categories li').length")
                for _ in 1..<categories {
                    let left: Int = try await page.evaluate("document.querySelectorAll('.categories li').length")
                    try await page.clickWhereSeen("document.querySelector('.categories [data-control=delete]')")
                    try await page.click(on: "Delete")
                    try await page.wait(until: "document.querySelectorAll('.categories li').length === \(left - 1)")
                }
                try await page.clickWhereSeen("document.querySelector('.categories [data-control=delete]')")
                try await page.waits(for: "A library needs a category", in: "dialog[open]")
                #expect(page.faults == [])
            }
        }

        /// Each has every sentence, with the same values in it.
        @Test func everyLanguageSaysEverything() async throws {
            try await House.here.inTab { page in
                let differences: [String] = try await page.evaluate(
                    #"""
                    (async () => {
                      const { languages } = await import('/assets/core/text.js');
                      const read = async (tag) => (await import(`/assets/text/${tag}.js`)).default;
                      const english = await read('en');
                      const values = (text) => [...new Set(JSON.stringify(text).match(/\{\w+\}/g))].sort().join();
                      const found = [];
                      for (const tag of Object.keys(languages)) {
                        const sentences = await read(tag);
                        for (const key of new Set([...Object.keys(english), ...Object.keys(sentences)])) {
                          if (!(key in english && key in sentences) || values(english[key]) !== values(sentences[key])) found.push(`${tag} ${key}`);
                        }
                      }
                      return found;
                    })()
                    """#)
                #expect(differences == [])
            }
        }

        /// Texts of people and files are texts: no markup, and no bidirectional mark that turns what stands around it.
        @Test func captionsAndNamesAreInert() async throws {
            let house = House.here
            let photo = try await house.photos()[0]
            let caption = "<img src=x onerror=\"document.title='owned'\">"
            let name = "\u{202E}gpj.\u{2067}<b>x"
            _ = try await house.call(SetCaption(id: photo.id, caption: caption))
            try await house.inTab(at: "#/categories") { page in
                try await page.click(on: "Add category")
                try await page.write(name, into: "Name")
                try await page.click(on: "Save")
                // The sentence goes on to the right of the name, as without it.
                try await page.waits(for: "added", in: ".toast span")
                let order: Bool = try await page.evaluate(
                    """
                    (() => {
                      const { firstChild: text } = document.querySelector('.toast span');
                      const box = (from, to) => {
                        const range = document.createRange();
                        range.setStart(text, from);
                        range.setEnd(text, to);
                        return range.getBoundingClientRect();
                      };
                      const after = text.data.lastIndexOf('added');
                      const letters = [...'added'].map((_, index) => box(after + index, after + index + 1).left);
                      return letters.every((left, index) => index === 0 || left > letters[index - 1])
                        && box(1, after - 1).left < letters[0];
                    })()
                    """)
                #expect(order)
                for place in ["#/photos", "#/photo/\(photo.uuid)", "#/review", "#/categories", "#/import"] {
                    try await page.go(to: place)
                    let text = place.contains("photo") ? "<img" : "gpj."
                    if place == "#/review" {
                        try await page.clickWhereSeen("document.querySelector('review-screen category-picker button')")
                    }
                    try await page.wait(
                        until: """
                            [...document.querySelectorAll('main *, photo-view *, dialog *')].some((one) => one.getClientRects().length
                              && ((one.getAttribute('aria-label') ?? '') + one.textContent).includes('\(text)'))
                            """)
                    #expect(
                        try await page.evaluate(
                            "!document.querySelector('[onerror], main b, dialog b') && !document.title.startsWith('owned')"
                        ))
                    guard place == "#/review" else { continue }
                    try await page.press("Escape")
                    // Its step in the history goes with it, in the browser's own time, and what is gone to before would go as well.
                    try await page.wait(until: "!history.state?.above")
                }
            }
            _ = try await house.call(SetCaption(id: photo.id, caption: nil))
            let category = try await house.category(name)
            _ = try await house.call(DeleteCategory(id: category.id))
        }

        @Test func twoTabsAndAPhotoThatIsDeletedUnderOneOfThem() async throws {
            let house = House.here
            let photos = try await house.photos()
            let gone = photos[1]
            try await house.inTab { selecting in
                try await selecting.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                for photo in photos[..<3] {
                    try await selecting.clickWhereSeen(
                        "document.querySelector('.tile:has(a[href*=\"\(photo.uuid)\"]) .check')")
                }
                try await selecting.waits(for: "3 selected", in: "selection-bar")
                try await Self.delete(gone, in: house)
                try await selecting.wait(until: "!document.querySelector('a[href*=\"\(gone.uuid)\"]')")
                // The others are as good as before.
                try await selecting.click(on: "Favourite")
                try await selecting.waits(for: "2 photos marked as favourites", in: "toast-list")
            }
            let favourites = try await house.photos(SearchPhotos(PhotoFilter(favoritesOnly: true)))
            #expect(Set(favourites.map(\.id)) == [photos[0].id, photos[2].id])
            _ = try await house.call(SetFavorite(ids: favourites.map(\.id), isFavorite: false))
            _ = try await house.call(RestorePhotos(ids: [gone.id]))
        }

        private static func delete(_ photo: Photo, in house: House) async throws {
            try await house.inTab(at: "#/photo/" + photo.uuid) { page in
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                try await house.inTab(at: "#/photo/" + photo.uuid) { other in
                    try await other.click(on: "Move to trash")
                    try await other.waits(for: "Moved to the trash", in: "toast-list")
                }
                try await page.waits(for: "no longer in the library", in: ".photo-notice")
            }
        }
    }
}
