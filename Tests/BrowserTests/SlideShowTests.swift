import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import TestSupport
import Testing

extension BrowserTests {
    /// Photos that go by by themselves; and the two other ways in which one leaves the view of a photo: by the share sheet, by
    /// a finger that draws it down.
    @Suite struct SlideShowTests {
        private static let seen = "document.querySelector('slide-show img.seen')?.naturalWidth > 0"
        private static let shown = "decodeURIComponent(location.hash.match(/photo\\/([^?]+)/)?.[1] ?? '')"

        private static func begin(_ page: Page, at photo: Photo, seconds: Int = 300) async throws {
            try await page.run("localStorage.setItem('slides.seconds', '\(seconds)')")
            try await page.run("location.hash = '#/photo/\(photo.uuid)'")
            try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
            try await page.click(on: "Slideshow")
            try await page.wait(until: seen)
        }

        @Test func photosGoByAndBackEndsWithTheOneThatIsSeen() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                try await Self.begin(page, at: photos[3], seconds: 5)
                await page.picture("slideshow")
                #expect(try await page.evaluate("location.hash") == "#/photo/\(photos[3].uuid)?slides=1")
                // By itself, and by hand.
                try await page.wait(until: "\(Self.shown) === '\(photos[4].uuid)'")
                try await page.press("ArrowRight")
                try await page.wait(until: "\(Self.shown) === '\(photos[5].uuid)'")
                try await page.press("ArrowLeft")
                try await page.wait(until: "\(Self.shown) === '\(photos[4].uuid)'")
                try await page.click(on: "Pause")
                try await page.waits(for: "2024", in: "slide-show .caption")
                try await page.run("history.back()")
                try await page.wait(until: "!document.querySelector('slide-show')")
                #expect(try await page.evaluate("location.hash") == "#/photo/\(photos[4].uuid)")
                // What was put away is there again, for hands too.
                try await page.click(on: "Back")
                try await page.wait(until: "!document.querySelector('photo-view')")
                #expect(try await page.evaluate("location.hash") == "#/photos")
            }
        }

        /// A tablet on the wall that is started again, and a list that has an end.
        @Test func itGoesOnAfterAReloadAndOverTheEnd() async throws {
            let house = House.here
            let photos = try await house.photos()
            let last = try #require(photos.last)
            try await house.inTab(at: "#/photo/\(last.uuid)?slides=1") { page in
                try await page.wait(until: Self.seen)
                try await page.press("ArrowRight")
                try await page.wait(until: "\(Self.shown) === '\(photos[0].uuid)'")
                try await page.reload()
                try await page.wait(until: Self.seen)
                #expect(try await page.evaluate(Self.shown) == photos[0].uuid)
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('slide-show')")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
            }
        }

        /// A photo that somebody throws away meanwhile, or that only a newer version shows, is passed over.
        @Test func whatHasGoneIsPassedOver() async throws {
            let house = House.here
            let photos = try await house.photos()
            try await house.inTab { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                try await Self.begin(page, at: photos[6])
                try await house.smilepile("photos", "delete", String(photos[7].id))
                try await page.wait(
                    until: "document.querySelector('timeline-screen').list.total === \(photos.count - 1)")
                try await page.press("ArrowRight")
                try await page.wait(until: "\(Self.shown) === '\(photos[8].uuid)'")
            }
            try await house.smilepile("trash", "restore", String(photos[7].id))
        }

        @Test(.enabled(if: Tool.ffmpeg.isPresent)) func aFilmPlaysToItsEnd() async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let folder = place.folder.file("films")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                try SampleFilm { $0.duration = 1 }.write(to: folder + "/a.mp4")
                try SampleAlbum(width: 640, height: 480).write(count: 1, to: place.folder.file("photos"))
                _ = try await place.smilepile("import", folder, place.folder.file("photos"))
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 2")
                try await page.run(
                    "[...document.querySelectorAll('.tile')].find(({ photo }) => photo?.name === 'a').link.click()")
                try await page.wait(until: "document.querySelector('film-player video')?.readyState >= 1")
                try await page.click(on: "Slideshow")
                try await page.wait(until: "document.querySelector('slide-show video:not([hidden])')?.currentTime > 0")
                #expect(try await page.evaluate("document.querySelector('slide-show video').muted === true"))
                // The next one comes when it has ended, and not ten seconds after it began.
                try await page.wait(until: Self.seen)
                #expect(page.faults == [])
            }
        }

        /// What the system gets is a file under the photo's name, of the kind that its ending says.
        @Test func aPhotoGoesToTheShareSheet() async throws {
            let house = House.here
            let photo = try await house.photos()[2]
            try await house.inTab { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 8")
                // Chromium on Linux has no sheet: what a phone's browser offers stands in for it.
                try await page.run(
                    """
                    navigator.canShare = ({ files }) => files.every((file) => file instanceof File);
                    navigator.share = async ({ files }) => { window.shared = files.map(({ name, type, size }) => `${name} ${type} ${size > 1000}`); };
                    location.hash = '#/photo/\(photo.uuid)'
                    """)
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                try await page.click(on: "Share")
                try await page.wait(until: "window.shared?.length === 1")
                let shared: String = try await page.evaluate("window.shared[0]")
                #expect(shared == "\(photo.name).jpg image/jpeg true")
                // Where more than a press allows has passed, it is asked for once more.
                try await page.run(
                    """
                    window.tries = 0;
                    navigator.share = async () => { window.tries += 1; if (window.tries === 1) throw new DOMException('', 'NotAllowedError'); };
                    """)
                try await page.click(on: "Share")
                try await page.wait(until: "document.querySelector('dialog[open]')")
                try await page.click(on: "Share")
                try await page.wait(until: "window.tries === 2 && !document.querySelector('dialog[open]')")
            }
        }

        /// One more button must leave the date its place.
        @Test(arguments: [320, 360]) func aPhoneHasRoomForIt(_ width: Int) async throws {
            let house = House.here
            let photo = try await house.photos()[2]
            try await house.inTab(Look(width: width, isTouched: true)) { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 2")
                try await page.run("navigator.canShare = () => true; location.hash = '#/photo/\(photo.uuid)'")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                await page.picture("share \(width)")
                #expect(try await page.evaluate("document.querySelector('photo-view h1').clientWidth >= 60"))
                #expect(
                    try await page.evaluate(
                        "document.querySelector('photo-view > header').scrollWidth <= \(width)"))
            }
        }

        @Test func aFingerPutsAPhotoAway() async throws {
            let house = House.here
            let photo = try await house.photos()[2]
            try await house.inTab(Look(width: 360, isTouched: true)) { page in
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length > 2")
                try await page.run("location.hash = '#/photo/\(photo.uuid)'")
                try await page.wait(until: "document.querySelector('zoom-surface img')?.naturalWidth > 0")
                let middle = Page.Point(x: 180, y: 300)
                // A little is a hand that trembles.
                try await page.swipe((0...3).map { Page.Point(x: middle.x, y: middle.y + 20 * Double($0)) })
                #expect(try await page.evaluate("Boolean(document.querySelector('photo-view'))"))
                try await page.swipe((0...5).map { Page.Point(x: middle.x, y: middle.y + 40 * Double($0)) })
                try await page.wait(until: "!document.querySelector('photo-view')")
            }
        }
    }
}
