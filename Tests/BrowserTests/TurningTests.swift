import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
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

        /// What is selected may be turned elsewhere meanwhile: it stays as it was left there, and undo turns back the rest alone.
        @Test func whatAnotherDeviceHasTurnedIsLeftToIt() async throws {
            let house = House.here
            let photos = Array(try await house.photos().filter { $0.kind == nil }.prefix(3))
            func turned() async throws -> [Int] {
                var turned: [Int] = []
                for photo in photos { turned.append(try await house.call(GetPhoto(id: photo.id)).turned) }
                return turned
            }
            try await house.inTab { page in
                try await page.wait(until: "\(Self.tiles) > 8")
                for photo in photos {
                    try await page.run(
                        "[...document.querySelectorAll('.tile.loaded')].find(({ photo }) => photo.id === \(photo.id)).check.click()"
                    )
                }
                try await page.wait(until: "document.querySelector('selection-bar')")
                // The first to the same end, and the second elsewhere.
                let others = [PhotoTurn(id: photos[0].id, to: 90), PhotoTurn(id: photos[1].id, to: 180)]
                _ = try await house.call(RotatePhotos(turns: others))
                try await page.click(on: "Turn right")
                try await page.waits(for: "2 photos turned", in: "toast-list")
                #expect(try await turned() == [90, 180, 90])
                // The next turn begins where each of them is.
                let selected: [Int] = try await page.evaluate(
                    "document.querySelector('selection-bar').selection.photos.map(({ rotation }) => rotation ?? 0)")
                #expect(selected == [90, 180, 90])
                try await page.press("z", .control, until: "tests.has('toast-list', 'Undone')", atMost: 1)
                #expect(try await turned() == [90, 180, 0])
            }
            _ = try await house.call(RotatePhotos(turns: photos.map { PhotoTurn(id: $0.id, to: 0) }))
        }

        /// Its file goes with a sidecar that says the turn. Where there is no original, what is shown goes, which is turned already.
        @Test func aTurnIsSaidInTheZIPBesideOriginalsAlone() async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let folder = place.folder.file("album")
                try SampleAlbum(width: 2_400, height: 1_800).write(count: 2, to: folder)
                _ = try await place.smilepile("import", folder)
                _ = try await place.smilepile("photos", "rotate", "1-2", "--right")
                let client = try place.client()
                defer { client.close() }
                let photos = try await place.allPhotos(client)
                #expect(photos.map(\.turned) == [90, 90])
                let original = try #require(photos.first?.originalPath)
                #expect(original != photos[0].path)
                try FileManager.default.removeItem(atPath: place.library + "/" + original)
                try await page.wait(until: "\(Self.tiles) === 2")
                try await page.run(
                    """
                    URL.createObjectURL = (zip) => { zip.text().then((text) => { window.zip = text; }); return 'about:blank'; };
                    HTMLAnchorElement.prototype.click = function () {};
                    document.querySelectorAll('.tile.loaded').forEach((tile) => tile.check.click());
                    """)
                try await page.waits(for: "2 selected", in: "selection-bar")
                try await page.click(on: "Download as ZIP")
                try await page.wait(until: "window.zip !== undefined")
                // Each in its place and in the directory.
                let names: Int = try await page.evaluate("window.zip.split('.jpg').length - 1")
                #expect(names >= 4)
                #expect(try await page.evaluate("window.zip.split('<smilepile:Rotation>').length") == 2)
            }
        }
    }
}
