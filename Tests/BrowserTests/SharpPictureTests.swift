import Browser
import EndToEndSupport
import Foundation
import SampleAlbum
import Testing

extension BrowserTests {
    /// Which of its sizes a photo is shown in, by how large it is on the screen.
    @Suite struct SharpPictureTests {
        /// A library of three photos and a panorama, opened.
        private static func withPhotos(_ body: (_ place: Installation, _ page: Page) async throws -> Void) async throws
        {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                for (number, (width, height)) in [(2000, 1500), (1500, 2000), (1200, 900), (2048, 512)].enumerated() {
                    try SampleAlbum(width: width, height: height, seed: UInt64(number + 1))
                        .write(count: 1, to: place.folder.file("large/\(number)"))
                }
                _ = try await place.smilepile("import", place.folder.file("large"))
                try await page.run(helpers)
                // The page follows the import, in its own time.
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 4")
                try await body(place, page)
                #expect(page.faults == [])
            }
        }

        /// `tests.shown()` is what each tile shows, by its photo's width: the kind, and how many device pixels it is stretched to one of
        /// its own.
        private static let helpers = """
            tests.kind = (image) => new URL(image.currentSrc).pathname.split('/').at(-1);
            tests.shown = () => Object.fromEntries([...document.querySelectorAll('.tile.loaded')].map((tile) => {
              const { width, height } = tile.getBoundingClientRect();
              const { naturalWidth, naturalHeight } = tile.image;
              const stretch = Math.max(width / naturalWidth, height / naturalHeight) * devicePixelRatio;
              return [tile.photo.width, { kind: tests.kind(tile.image), stretch }];
            }));
            tests.isSharp = () => Object.keys(tests.shown()).length === 4 && Object.values(tests.shown()).every(({ stretch }) => stretch <= 1.21);
            """

        private func kinds(_ page: Page) async throws -> [String: String] {
            try await page.evaluate(
                "Object.fromEntries(Object.entries(tests.shown()).map(([width, { kind }]) => [width, kind]))")
        }

        /// The largest tiles on a phone, and the smallest on a screen.
        @Test func tilesHaveThePixelsThatTheyShow() async throws {
            try await Self.withPhotos { _, page in
                try await page.emulate(width: 390, height: 844, scale: 3)
                try await page.run("document.querySelector('photo-timeline').tileSize = 3")
                try await page.wait(until: "tests.isSharp()")
                let phone = try await kinds(page)
                #expect(phone["2000"] == "preview" && phone["1500"] == "preview", "\(phone)")
                // No preview of these: one is hardly larger, the other is as high as a preview.
                #expect(phone["1200"] == "photo" && phone["2048"] == "photo", "\(phone)")

                try await page.emulate(width: 1440, height: 900, scale: 1)
                try await page.run("localStorage.clear()")
                try await page.reload()
                try await page.run(Self.helpers)
                try await page.wait(until: "document.querySelectorAll('.tile.loaded').length === 4")
                try await page.run("document.querySelector('photo-timeline').tileSize = 0")
                try await page.wait(until: "tests.isSharp()")
                let screen = try await kinds(page)
                #expect(screen["2000"] == "thumbnail" && screen["1500"] == "thumbnail", "\(screen)")
            }
        }

        /// The preview until one looks closer.
        @Test func aPhotoIsSeenByItsPreviewAndItsOriginalOnlyWhereItIsEnlarged() async throws {
            try await Self.withPhotos { _, page in
                try await page.emulate(width: 1000, height: 700, scale: 1)
                page.forgetLog()
                try await page.run(
                    "[...document.querySelectorAll('.tile')].find(({ photo }) => photo?.width === 2000).link.click()")
                let image = "document.querySelector('zoom-surface img')"
                try await page.wait(until: "\(image)?.naturalWidth === 1024 && tests.kind(\(image)) === 'preview'")
                for _ in 0..<3 { try await page.press("+") }
                try await page.wait(until: "\(image).naturalWidth === 2000 && tests.kind(\(image)) === 'photo'")
                try await page.press("0")
                // What is there stays.
                #expect(try await page.evaluate("tests.kind(\(image))") == "photo")
            }
        }
    }
}
