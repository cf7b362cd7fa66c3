import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import TestSupport
import Testing

extension BrowserTests {
    /// Links: a parent makes one on the page, and somebody without a device looks at the photos with it.
    @Suite struct LinksTests {
        private static let grid = "document.querySelectorAll('#grid img')"
        private static let allShown = "[...\(grid)].every((image) => image.complete && image.naturalWidth > 0)"
        private static let largeShown = "document.querySelector('#viewer .picture img')?.naturalWidth > 300"

        @Test func aVisitorSeesWhatTheLinkShowsUntilItIsEnded() async throws {
            let house = House.here
            let phone = try await house.stranger(Look(width: 360, isTouched: true))
            let garden = try await house.category("Garden")
            try await house.inTab(at: "#/categories") { page in
                try await page.click(on: "Edit Garden")
                try await page.click(on: "Link")
                try await page.waits(for: "A link to", in: "dialog h2")
                try await page.write("Our garden", into: "Title that they read (optional)")
                try await page.write("sesame", into: "Password that they need (optional)")
                await page.picture("making a link")
                try await page.click(on: "Make the link")
                try await page.waits(for: "/s/", in: "dialog pre")
                await page.picture("a link")
                let address: String = try await page.evaluate("document.querySelector('dialog pre').textContent")
                try await page.press("Escape")

                try await phone.navigate(address)
                try await phone.waits(for: "password", in: "#page form ~ *, #page p")
                await phone.picture("link with a password")
                try await phone.write("wrong", into: "Password")
                try await phone.press("Enter")
                try await phone.waits(for: "not the password", in: "#page .fault")
                try await phone.write("sesame", into: "Password")
                try await phone.press("Enter")
                try await phone.waits(for: "Our garden", in: "h1")
                try await phone.wait(until: "\(Self.grid).length === \(garden.photoCount) && \(Self.allShown)")
                await phone.picture("gallery of a link")
                try await phone.click(on: "Photo 1 of \(garden.photoCount)")
                try await phone.wait(until: Self.largeShown)
                await phone.picture("photo of a link")
                try await phone.press("ArrowRight")
                try await phone.wait(until: "location.hash === '#2' && \(Self.largeShown)")
                // Nothing but the link was asked for, and nothing of the house's page.
                let asked = phone.requests.map(\.url)
                #expect(
                    asked.allSatisfy {
                        $0.contains("/s/") || $0.contains("/assets/link/") || $0.hasSuffix("/assets/icon.svg")
                    }, "\(asked)")

                try await page.run("location.hash = '#/devices'")
                try await page.waits(for: "opened once", in: "made-links li")
                await page.picture("links among the devices")
                try await page.click(on: "End the link “Our garden”")
                try await page.click(on: "End it")
                try await page.waits(for: "has ended", in: "toast-list")
                try await phone.press("ArrowRight")
                try await phone.waits(for: "has ended this link", in: "#page [role=alert]")
                // What was on the screen is gone with it.
                #expect(try await phone.evaluate("!document.querySelector('img, #viewer')"))
                await phone.picture("ended link")
            }
            #expect(phone.faults.filter { !$0.contains("410") && !$0.contains("401") } == [])
            try await phone.close()
        }

        @Test func chosenPhotosAndOneOfThemAreShared() async throws {
            let house = House.here
            let photo = try #require(try await house.photos().first)
            try await house.inTab(at: "#/photo/\(photo.uuid)") { page in
                try await page.click(on: "About this photo")
                try await page.click(on: "Link")
                try await page.waits(for: "A link to this photo", in: "dialog h2")
                try await page.click(on: "Make the link")
                try await page.waits(for: "/s/", in: "dialog pre")
                let address: String = try await page.evaluate("document.querySelector('dialog pre').textContent")
                try await page.press("Escape")
                let visitor = try await house.stranger(Look(width: 1280))
                try await visitor.speak("de")
                try await visitor.navigate(address)
                try await visitor.waits(for: "1 Foto", in: "#page p")
                try await visitor.wait(until: "\(Self.grid).length === 1 && \(Self.allShown)")
                await visitor.picture("gallery in German")
                #expect(visitor.faults == [])
                try await visitor.close()
            }
        }

        /// The film is as the camera held it, and lies as the picture does that was turned.
        @Test(.enabled(if: Tool.ffmpeg.isPresent)) func theFilmOfATurnedPhotoPlaysTurned() async throws {
            try await House.withoutPhotos(beside: .here) { place, page, address in
                let folder = place.folder.file("pair")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                let picture = SamplePair().picture(try SampleAlbum(width: 640, height: 480).photo(0))
                try picture.write(to: URL(fileURLWithPath: folder + "/IMG_1.JPG"))
                try SamplePair().writeFilm(to: folder + "/IMG_1.MOV")
                _ = try await place.smilepile("import", folder)
                let client = try place.client()
                defer { client.close() }
                let id = try #require(try await place.allPhotos(client).first).id
                let link = try await client.call(CreateLink(photoIds: [id], details: true))
                for degrees in [90, 180, 270, 0] {
                    _ = try await client.call(RotatePhotos(turns: [PhotoTurn(id: id, to: degrees)]))
                    // Another page each time, and not a place on this one.
                    try await page.navigate("\(address)/s/\(link.token)?\(degrees)")
                    try await page.wait(until: "\(Self.grid).length === 1 && \(Self.allShown)")
                    try await page.click(on: "Photo 1 of 1")
                    try await page.wait(until: "document.querySelector('#viewer video')?.readyState >= 1")
                    await page.picture("film of a link at \(degrees) degrees")
                    let found: String = try await page.evaluate(
                        """
                        (() => {
                          const film = document.querySelector('#viewer video');
                          const [stage, lies] = [film.parentElement, film].map((one) => one.getBoundingClientRect());
                          const fits = ['left', 'top', 'right', 'bottom'].every((side) => Math.abs(stage[side] - lies[side]) < 1.5);
                          return [getComputedStyle(film).transform.split(',').slice(0, 2).join(), film.hasAttribute('poster'), fits].join(' ');
                        })()
                        """)
                    let transform = [90: "matrix(0, 1", 180: "matrix(-1, 0", 270: "matrix(0, -1", 0: "none"][degrees]
                    #expect(found == "\(transform ?? "") \(degrees == 0) true")
                }
            }
        }
    }
}
