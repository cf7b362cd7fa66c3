import Browser
import LibraryModel
import Testing

extension BrowserTests {
    /// The deck. What was reviewed stays reviewed, so that each test has a category of its own.
    @Suite struct ReviewTests {
        private static let card = "document.querySelector('swipe-card img')?.naturalWidth > 0"

        private static func decided(_ count: Int, left: Int) -> String {
            "tests.has('review-screen [role=status]', '\(count) decided · \(left) left')"
        }

        @Test func withKeysAloneThroughAReloadToTheEnd() async throws {
            let house = House.here
            let category = try await house.category("Garden")
            let photos = try await house.photos(SearchPhotos(PhotoFilter(categoryId: category.id), limit: 100))
            try await house.inTab(at: "#/review?category=\(category.id)") { page in
                try await page.wait(until: Self.card)
                try await page.press("ArrowLeft")
                try await page.press("ArrowRight")
                try await page.press("ArrowUp")
                try await page.wait(until: Self.decided(3, left: 5))
                try await page.press("u")
                try await page.wait(until: Self.decided(2, left: 6))
                try await page.press("ArrowUp")
                try await page.wait(until: Self.decided(3, left: 5))
                try await page.wait(until: "localStorage.getItem('reviewSession')")
                // What is on the daemon's disk is there again, whatever becomes of the page.
                _ = try await house.call(ListPendingSwipes())
                try await page.reload()
                try await page.wait(until: Self.decided(3, left: 5))
                for _ in 0..<5 { try await page.press("ArrowUp") }
                try await page.waits(for: "8 decisions", in: ".summary h2")
                await page.picture("summary")
                // Not too late to think again: the summary is of what is decided now.
                try await page.click(on: "Undo the last decision")
                try await page.waits(for: "7 decisions", in: ".summary h2")
                try await page.click(on: "Continue reviewing")
                try await page.wait(until: Self.card)
                try await page.press("ArrowUp")
                try await page.waits(for: "8 decisions", in: ".summary h2")
                #expect(try await house.photos(SearchPhotos(PhotoFilter(favoritesOnly: true))) == [])
                try await page.press("Tab", until: "document.activeElement.textContent === 'Apply'")
                try await page.press("Enter")
                try await page.waits(for: "Applied: 1 to the favourites, 1 to the trash.", in: "toast-list")
                try await page.waits(for: "Everything is reviewed", in: "review-screen")
            }
            #expect(try await house.call(ListTrash()).photos.map(\.photo.id) == [photos[0].id])
            #expect(try await house.photos(SearchPhotos(PhotoFilter(favoritesOnly: true))).map(\.id) == [photos[1].id])
            _ = try await house.call(RestorePhotos(ids: [photos[0].id]))
            _ = try await house.call(SetFavorite(ids: [photos[1].id], isFavorite: false))
        }

        @Test func withAFingerAndOnASecondDevice() async throws {
            let house = House.here
            let category = try await house.category("Holidays")
            let place = "#/review?category=\(category.id)"
            try await house.inTab(Look(width: 360, isTouched: true), at: place) { phone in
                try await phone.wait(until: Self.card)
                let middle = try await phone.middle(of: "swipe-card")
                // Not far enough: nothing is decided.
                try await phone.swipe([middle, Page.Point(x: middle.x + 30, y: middle.y)])
                try await phone.wait(until: "document.querySelector('swipe-card').dataset.action === ''")
                try await phone.swipe(Self.stroke(from: middle, by: 150, 0))
                try await phone.wait(until: Self.decided(1, left: 7))
                try await phone.swipe(Self.stroke(from: middle, by: -150, 0))
                try await phone.wait(until: Self.decided(2, left: 6))
                try await phone.swipe(Self.stroke(from: middle, by: 0, -180))
                try await phone.wait(until: Self.decided(3, left: 5))
                // Another device sees that they are no longer open, and takes one; here there is one less.
                let other = try await house.stranger()
                try await House.pair(other, with: house.startPage().pairing, as: "Phone")
                try await other.go(to: place)
                try await other.wait(until: Self.decided(0, left: 5))
                try await other.click(on: "Keep")
                try await other.wait(until: Self.decided(1, left: 4))
                try await phone.wait(until: Self.decided(3, left: 4))
                try await other.close()
                for _ in 0..<3 { try await phone.click(on: "Undo the last decision") }
                try await phone.wait(until: Self.decided(0, left: 7))
            }
            try await house.smilepile("web", "forget", "Phone")
            let pending = try await house.call(ListPendingSwipes()).actions
            #expect(pending.count == 1)
            _ = try await house.call(ProcessSwipes())
        }

        private static func stroke(from start: Page.Point, by x: Double, _ y: Double) -> [Page.Point] {
            (0...5).map { Page.Point(x: start.x + x * Double($0) / 5, y: start.y + y * Double($0) / 5) }
        }

        /// As on a phone that slept: nothing has told it that the photo on top has gone, or that the review has ended.
        @Test func whatCannotBeDecidedAnyMoreMakesRoomForTheNext() async throws {
            let house = House.here
            let category = try await house.category("Family")
            let photos = try await house.photos(SearchPhotos(PhotoFilter(categoryId: category.id), limit: 100))
            try await house.inTab(at: "#/review?category=\(category.id)") { page in
                try await page.wait(until: Self.decided(0, left: photos.count))
                try await page.hearNothing()
                // What it was told before leads to one more look, soon.
                try await page.wait(until: "document.querySelector('review-screen').waiting === undefined")
                try await page.asksSomethingElse()
                let top: String = try await page.evaluate("document.querySelector('swipe-card').photo?.uuid ?? ''")
                let gone = try #require(photos.first { $0.uuid == top } ?? photos.first)
                _ = try await house.call(DeletePhotos(ids: [gone.id]))
                try await page.press("ArrowUp")
                try await page.wait(until: Self.decided(0, left: photos.count - 1))
                try await page.press("ArrowUp")
                try await page.wait(until: Self.decided(1, left: photos.count - 2))
                try await page.press("u")
                try await page.wait(until: Self.decided(0, left: photos.count - 1))
            }
        }

        @Test func aLateReplyDoesNotBringBackWhatIsDecided() async throws {
            let house = House.here
            let category = try await house.category("Family")
            let photos = try await house.photos(SearchPhotos(PhotoFilter(categoryId: category.id), limit: 100))
            try await house.inTab(at: "#/review?category=\(category.id)") { page in
                try await page.wait(until: Self.card)
                try await page.wait(until: Self.decided(0, left: photos.count))
                try await page.holdReplies(to: "photo.search")
                _ = try await house.call(SetCaption(id: photos[5].id, caption: "changed meanwhile"))
                try await page.wait(until: "window.held === 1")
                try await page.press("ArrowUp")
                try await page.wait(until: Self.decided(1, left: photos.count - 1))
                // What is recorded has what is left read once more.
                try await page.wait(until: "window.held === 2")
                try await page.run(
                    """
                    new MutationObserver(() => (window.cameBack ||= \(Self.decided(1, left: photos.count))))
                      .observe(document.body, { subtree: true, childList: true, characterData: true });
                    window.release();
                    """)
                try await page.asksSomethingElse()
                #expect(try await page.evaluate("Boolean(window.cameBack)") == false)
                try await page.press("u")
                try await page.wait(until: Self.decided(0, left: photos.count))
            }
        }
    }
}
