import Browser
import EndToEndSupport
import Foundation
import SampleAlbum
import TestSupport
import Testing

extension BrowserTests {
    /// Films on the page: told from photos, played, sought in, gone on from; also by kids.
    @Suite struct FilmsTests {
        /// A library with a film of each kind that browsers play, and one that none does.
        private static func withFilms(_ body: (_ place: Installation, _ page: Page) async throws -> Void) async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let folder = place.folder.file("films")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                for name in ["a.mp4", "b.mov", "c.webm"] {
                    try SampleFilm {
                        $0.duration = 6
                        $0.codec = name == "c.webm" ? "libvpx-vp9" : "libx264"
                        // A phone's: its index stands at the end, and it can be begun at each second.
                        $0.arguments = ["-g", "25"]
                    }.write(to: folder + "/" + name)
                }
                try SampleFilm { $0.codec = "mpeg2video" }.write(to: folder + "/d.mpg")
                _ = try await place.smilepile("import", folder)
                try await page.run(helpers)
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 4")
                try await body(place, page)
                #expect(page.faults == [])
            }
        }

        private static let helpers = """
            tests.open = (name) => [...document.querySelectorAll('.tile')].find(({ photo }) => photo?.name === name).link.click();
            tests.video = () => document.querySelector('film-player video');
            """

        @Test(.enabled(if: Tool.ffmpeg.isPresent)) func eachKindIsPlayedAndSoughtIn() async throws {
            try await Self.withFilms { _, page in
                await page.picture("films")
                let badges: [String] = try await page.evaluate(
                    "[...document.querySelectorAll('.running-time')].map(({ textContent }) => textContent)")
                #expect(badges.filter { $0 == "▶ 0:06" }.count == 3, "\(badges)")
                for name in ["a", "b", "c"] {
                    try await page.run("tests.open('\(name)')")
                    try await page.wait(
                        until: "tests.video()?.readyState >= 1 && Math.round(tests.video().duration) === 6")
                    try await page.press(" ")
                    try await page.wait(until: "tests.video().currentTime > 0.3 && !tests.video().paused")
                    if name == "a" { await page.picture("film") }
                    try await page.run("tests.video().currentTime = 4")
                    try await page.wait(until: "!tests.video().seeking && tests.video().currentTime >= 4")
                    try await page.press(" ")
                    try await page.wait(until: "tests.video().paused")
                    // Going on ends it.
                    try await page.press("Escape")
                    try await page.wait(until: "!document.querySelector('photo-view')")
                }
            }
        }

        @Test(.enabled(if: Tool.ffmpeg.isPresent)) func whatTheBrowserCannotPlayIsSaid() async throws {
            try await Self.withFilms { _, page in
                try await page.run("tests.open('d')")
                try await page.wait(until: "document.querySelector('film-player .photo-notice')?.hidden === false")
                #expect(
                    try await page.evaluate("document.querySelector('film-player .photo-notice').textContent")
                        == "This browser cannot play this film. Download it to watch it.")
                page.forgetLog()
            }
        }

        /// A picture and a film of a phone's: one tile, which says that it moves, and moves.
        @Test(.enabled(if: Tool.ffmpeg.isPresent)) func aPictureWithAFilmOfItsOwnMoves() async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let folder = place.folder.file("pair")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                let picture = SamplePair().picture(try SampleAlbum(width: 640, height: 480).photo(0))
                try picture.write(to: URL(fileURLWithPath: folder + "/IMG_1.JPG"))
                try SamplePair().writeFilm(to: folder + "/IMG_1.MOV")
                _ = try await place.smilepile("import", folder)
                try await page.run(Self.helpers)
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 1")
                try await page.run("tests.open('IMG_1')")
                try await page.wait(until: "document.querySelector('photo-view')")
                try await page.press(" ")
                try await page.wait(until: "tests.video()?.currentTime > 0.3")
                await page.picture("pair")
                #expect(try await page.evaluate("Math.round(tests.video().duration)") == 2)
                // Turned, it moves as it lies now.
                try await page.press("r")
                try await page.wait(until: "document.querySelector('photo-view').photo.rotation === 90")
                try await page.wait(until: "document.querySelector('film-player').hidden")
                try await page.press(" ")
                try await page.wait(until: "tests.video()?.currentTime > 0.3")
                await page.picture("pair that was turned")
                let lies: Bool = try await page.evaluate(
                    """
                    (() => {
                      const [stage, film] = [document.querySelector('film-player'), tests.video()].map((one) => one.getBoundingClientRect());
                      return getComputedStyle(tests.video()).transform.startsWith('matrix(0, 1, -1, 0') && !tests.video().poster
                        && ['left', 'top', 'right', 'bottom'].every((side) => Math.abs(stage[side] - film[side]) < 1.5);
                    })()
                    """)
                #expect(lies)
                #expect(page.faults == [])
            }
        }

        /// A shot in two files: both are saved, from the photo itself too.
        @Test func aRawFileIsDownloadedWithItsPicture() async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let folder = place.folder.file("shot")
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
                let (picture, seen) = try (
                    SampleAlbum(width: 640, height: 480).photo(0), SampleAlbum(width: 1_600, height: 1_200).photo(1)
                )
                try SampleShot().jpeg(picture).write(to: URL(fileURLWithPath: folder + "/DSCF1.JPG"))
                try SampleShot().raw(seen).write(to: URL(fileURLWithPath: folder + "/DSCF1.RAF"))
                _ = try await place.smilepile("import", folder)
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 1")
                try await page.run(
                    """
                    URL.createObjectURL = (zip) => { zip.text().then((text) => { window.zip = text; }); return 'about:blank'; };
                    """)
                try await page.run(Self.helpers)
                try await page.run("tests.open('DSCF1')")
                try await page.wait(until: "document.querySelector('photo-view')")
                try await page.run("HTMLAnchorElement.prototype.click = function () {};")
                try await page.click(on: "Download original")
                try await page.wait(until: "window.zip !== undefined")
                for name in ["DSCF1.jpg", "DSCF1.raf"] {
                    #expect(
                        try await page.evaluate("window.zip.split('\(name)').length") == 3, "here and in the directory")
                }
                #expect(try await page.evaluate("window.zip.includes('FUJIFILMCCD-RAW')"))
                #expect(page.faults == [])
            }
        }

        @Test(.enabled(if: Tool.ffmpeg.isPresent)) func filmsAreAFilter() async throws {
            try await Self.withFilms { place, page in
                try SampleAlbum(width: 320, height: 240).write(count: 2, to: place.folder.file("photos"))
                _ = try await place.smilepile("import", place.folder.file("photos"))
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 6")
                try await page.run("location.hash = '#/photos?kind=film'")
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 4")
                #expect(
                    try await page.evaluate("document.querySelector('filter-bar .chip[title=Films]').ariaPressed")
                        == "true")
            }
        }
    }
}
