import Browser
import LibraryModel
import Testing

extension BrowserTests {
    /// Turning photos on the page, one and several, and taking it back.
    @Suite struct TurningTests {
        private static let tiles = "document.querySelectorAll('.tile.loaded').length"
        private static let shape = """
            (() => {
              const { naturalWidth, naturalHeight } = document.querySelector('zoom-surface img');
              return naturalWidth > naturalHeight ? 'wide' : 'high';
            })()
            """

        @Test func onePhotoIsTurnedByKeysAndButtonsAndBack() async throws {
            let house = House.here
            let photo = try #require(try await house.photos().first { $0.width > $0.height && $0.kind == nil })
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                try await page.clickWhereSeen("document.querySelector('.tile.loaded a[href*=\"\(photo.uuid)\"]')")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                #expect(try await page.evaluate(Self.shape) == "wide")
                try await page.press("r")
                try await page.wait(until: "\(Self.shape) === 'high'")
                try await page.waits(for: "Photo turned", in: "toast-list")
                await page.picture("a photo that was turned")
                #expect(try await house.call(GetPhoto(id: photo.id)).rotation == .quarter)
                // Another quarter by the button, then both back.
                try await page.click(on: "Turn right")
                try await page.wait(until: "document.querySelector('photo-view').photo.rotation === 180")
                try await page.wait(until: "\(Self.shape) === 'wide'")
                try await page.press("R")
                try await page.wait(until: "document.querySelector('photo-view').photo.rotation === 90")
                try await page.press("z", .control, until: "tests.has('toast-list', 'Undone')", atMost: 1)
                try await page.wait(until: "document.querySelector('photo-view').photo.rotation === 180")
                try await page.press("i")
                try await page.click(on: "Turn left")
                try await page.wait(until: "document.querySelector('photo-view').photo.rotation === 90")
                await page.picture("turning among the facts")
                // The timeline has heard of it: the row is another one.
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('photo-view')")
                let tile =
                    "[...document.querySelectorAll('.tile.loaded')].find(({ photo }) => photo.id === \(photo.id))"
                try await page.wait(until: "\(tile)?.photo.rotation === 90")
                try await page.wait(until: "\(tile).image.naturalWidth < \(tile).image.naturalHeight")
                try await page.wait(until: "\(tile).clientWidth < \(tile).clientHeight")
                await page.picture("a timeline with a photo that was turned")
            }
            _ = try await house.call(RotatePhotos(turns: [PhotoTurn(id: photo.id, to: 0)]))
            #expect(try await house.call(GetPhoto(id: photo.id)) == photo)
        }

        /// What is selected stays so, and turns from where it is.
        @Test func whatIsSelectedIsTurnedTogether() async throws {
            let house = House.here
            let photos = try await house.photos().filter { $0.kind == nil }.prefix(2)
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                for photo in photos {
                    try await page.run(
                        "[...document.querySelectorAll('.tile.loaded')].find(({ photo }) => photo.id === \(photo.id)).check.click()"
                    )
                }
                try await page.wait(until: "document.querySelector('selection-bar')")
                try await page.click(on: "Turn right")
                try await page.waits(for: "2 photos turned", in: "toast-list")
                let tiles = "[...document.querySelectorAll('.tile.loaded.selected')]"
                try await page.wait(
                    until:
                        "\(tiles).filter((one) => one.photo.rotation === 90 && one.image.naturalWidth < one.image.naturalHeight).length === 2"
                )
                await page.picture("two selected photos that were turned")
                try await page.click(on: "Turn right")
                let selected = "document.querySelector('selection-bar').selection.photos"
                try await page.wait(until: "\(selected).every(({ rotation }) => rotation === 180)")
                #expect(try await house.photos().filter { $0.rotation == .half }.count == 2)
                try await page.press("z", .control, until: "tests.has('toast-list', 'Undone')", atMost: 1)
                #expect(try await house.photos().filter { $0.rotation == .quarter }.count == 2)
            }
            _ = try await house.call(RotatePhotos(turns: photos.map { PhotoTurn(id: $0.id, to: 0) }))
        }
    }
}
