import Browser
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

extension BrowserTests {
    /// Where the timeline's pictures stand, and ways through it.
    @Suite struct TimelineTests {
        private static let tiles = "document.querySelectorAll('.tile.loaded').length"

        // MARK: Rows

        /// A library of pictures of five shapes, several pages long, on two days; opened at its beginning.
        private static func withShapes(
            _ count: Int = 56, _ body: (_ place: Installation, _ page: Page) async throws -> Void
        ) async throws {
            try await House.withoutPhotos(beside: .here) { place, page, _ in
                let shapes = [(160, 120), (120, 160), (160, 90), (120, 120), (320, 100)]
                for (number, (width, height)) in shapes.enumerated() {
                    try SampleAlbum(width: width, height: height, seed: UInt64(number + 1))
                        .write(count: count, to: place.folder.file("shapes/\(number)"))
                }
                _ = try await place.smilepile("import", place.folder.file("shapes"))
                try await page.wait(until: "\(tiles) > 8 && tests.has('.count', '\(count * shapes.count) photos')")
                try await page.run(helpers)
                try await body(place, page)
                #expect(page.faults == [])
            }
        }

        /// `tests.tiles()` are the tiles with photos as they stand, from the first to the last; `tests.rows()` the same by rows.
        private static let helpers = """
            tests.tiles = () => [...document.querySelectorAll('.tile')].filter(({ photo }) => photo).map((tile) => {
              const { left, right, top, width, height } = tile.getBoundingClientRect();
              return { position: tile.position, left, right, top, width, height, wanted: tile.photo.width / tile.photo.height, day: tile.photo.shownAt.slice(0, 10) };
            }).sort((one, other) => one.position - other.position);
            tests.rows = () => {
              const rows = [];
              for (const tile of tests.tiles()) {
                if (rows.at(-1)?.[0].top === tile.top && rows.at(-1)[0].day === tile.day) rows.at(-1).push(tile);
                else rows.push([tile]);
              }
              return rows;
            };
            """

        @Test func rowsFillTheWidthInTheOrderOfTheListAndSquaresSurviveAReload() async throws {
            try await Self.withShapes { _, page in
                let faults: [String] = try await page.evaluate(
                    """
                    (() => {
                      const found = [];
                      const { left, right } = document.querySelector('.canvas').getBoundingClientRect();
                      const rows = tests.rows().slice(0, -1);
                      if (rows.length < 4) found.push(`${rows.length} rows`);
                      for (const [index, row] of rows.entries()) {
                        const at = `row ${index}`;
                        // The last row of a day may be short.
                        const isLast = rows[index + 1]?.[0].day !== row[0].day;
                        if (Math.abs(row[0].left - left) > 1) found.push(`${at} begins at ${row[0].left}`);
                        if (!isLast && Math.abs(row.at(-1).right - right) > 1) found.push(`${at} ends at ${row.at(-1).right}, not ${right}`);
                        row.forEach((tile, number) => {
                          const wanted = Math.min(4, Math.max(0.4, tile.wanted));
                          if (Math.abs(tile.width / tile.height - wanted) > 0.03 * wanted) found.push(`${at}: ${tile.width} by ${tile.height}, not ${wanted}`);
                          if (tile.height !== row[0].height) found.push(`${at} has heights`);
                          if (number > 0 && tile.left - row[number - 1].right !== 4) found.push(`${at} has a gap of ${tile.left - row[number - 1].right}`);
                          if (number > 0 && tile.position !== row[number - 1].position + 1) found.push(`${at} is in another order`);
                        });
                      }
                      return found;
                    })()
                    """)
                for fault in faults { Issue.record("\(fault)") }

                let areSquare = "tests.tiles().every(({ width, height }) => Math.abs(width - height) < 2)"
                #expect(try await !page.evaluate(areSquare))
                try await page.click(on: "View")
                try await page.clickWhereSeen("document.querySelectorAll('dialog[open] input[name=shape]')[1]")
                try await page.wait(until: areSquare)
                try await page.press("Escape")
                try await page.wait(until: "!document.querySelector('dialog[open]') && !history.state?.above")
                try await page.reload()
                try await page.run(Self.helpers)
                try await page.wait(until: "\(Self.tiles) > 8 && \(areSquare)")
                try await page.click(on: "View")
                try await page.clickWhereSeen("document.querySelector('dialog[open] input[name=shape]')")
                try await page.wait(until: "!(\(areSquare))")
            }
        }

        /// What is read above and in the window changes how high it is; what one looks at stays where it stands.
        @Test func nothingMovesWhenPhotosAreRead() async throws {
            try await Self.withShapes { _, page in
                try await page.holdReplies(to: "photo.search")
                try await page.run("await document.querySelector('photo-timeline').jump(250)")
                try await page.wait(until: "window.held > 0")
                let top = "document.querySelector('photo-timeline').topPosition"
                let position: Int = try await page.evaluate(top)
                let place =
                    "[...document.querySelectorAll('.tile')].find((tile) => tile.position === \(position)).getBoundingClientRect().top"
                let before: Double = try await page.evaluate(place)
                let guessed: Double = try await page.evaluate(
                    "document.querySelector('photo-timeline').layout.height")
                try await page.run("window.release()")
                try await page.wait(
                    until:
                        "[...document.querySelectorAll('.tile')].every((tile) => tile.classList.contains('loaded'))")
                #expect(
                    try await page.evaluate("document.querySelector('photo-timeline').layout.height") != guessed,
                    "heights were guessed, else this shows nothing")
                let after: Double = try await page.evaluate(place)
                #expect(abs(after - before) <= 1)
            }
        }

        private static func date(_ photo: Photo, _ text: String, in place: Installation) async throws {
            let client = try place.client()
            defer { client.close() }
            _ = try await client.call(EditPhoto(id: photo.id, takenAt: LocalDateTime(text)))
        }

        private static func photos(in place: Installation) async throws -> [Photo] {
            let client = try place.client()
            defer { client.close() }
            return try await client.call(SearchPhotos(limit: 1000)).photos
        }

        @Test func monthsOfFewPhotosShareARow() async throws {
            try await Self.withShapes(3) { place, page in
                let photos = try await Self.photos(in: place)
                for (photo, day) in zip(photos, ["2013-01-05", "2012-05-04", "2012-03-31"]) {
                    try await Self.date(photo, day + "T12:00:00", in: place)
                }
                try await page.wait(until: "tests.has('.month', 'March 2012')")
                let months: [String] = try await page.evaluate(
                    """
                    (() => {
                      const headings = [...document.querySelectorAll('.month:not([hidden])')]
                        .map((one) => ({ text: tests.plain(one.textContent), ...one.getBoundingClientRect().toJSON() }))
                        .filter(({ text }) => /201[23]/.test(text)).sort((one, other) => one.left - other.left);
                      return headings.filter(({ top }) => top === headings[0].top).map(({ text }) => text);
                    })()
                    """)
                #expect(months == ["January 2013", "May 2012", "March 2012"])
                await page.picture("months of few photos")
            }
        }

        @Test func whatWasOnThisDayInOtherYearsIsOnTop() async throws {
            try await Self.withShapes(3) { place, page in
                #expect(try await page.evaluate("!document.querySelector('.on-this-day')"))
                let photo = try await Self.photos(in: place)[0]
                // By the browser's clock, and not on a day that only some years have.
                let day: String = try await page.evaluate(
                    """
                    (() => {
                      const [now, two] = [new Date(), (number) => String(number).padStart(2, '0')];
                      return `${now.getFullYear() - 4}-${two(now.getMonth() + 1)}-${two(now.getDate())}`;
                    })()
                    """)
                try await Self.date(photo, day + "T08:30:00", in: place)
                try await page.reload()
                try await page.wait(until: "document.querySelector('.on-this-day img')?.naturalWidth > 0")
                try await page.waits(for: "4 years ago", in: ".on-this-day a")
                let isAbove: Bool = try await page.evaluate(
                    """
                    document.querySelector('.on-this-day').getBoundingClientRect().bottom
                      <= document.querySelector('.month').getBoundingClientRect().top
                    """)
                #expect(isAbove)
                await page.picture("on this day")
                try await page.clickWhereSeen("document.querySelector('.on-this-day a')")
                try await page.wait(until: "tests.has('.count', '1 photo') && !document.querySelector('.on-this-day')")
                #expect(try await page.evaluate("location.hash") == "#/photos?from=\(day)&to=\(day)")
            }
        }

        // MARK: Ways through it

        @Test func aMonthIsChosenFromYearsAndMonths() async throws {
            try await Self.withShapes { place, page in
                try await Self.date(try await Self.photos(in: place)[279], "1998-07-04T12:00:00", in: place)
                try await page.wait(
                    until: "document.querySelector('timeline-screen').list.months.at(-1).month === '1998-07'")
                let shown = "document.querySelector('timeline-strip .date').innerText"
                let newest: String = try await page.evaluate(shown)
                try await page.clickWhereSeen("document.querySelector('timeline-strip .date')")
                try await page.wait(until: "document.activeElement.getAttribute('aria-current') === 'date'")
                try await page.click(on: "July 1998, 1 photo")
                try await page.wait(until: "!document.querySelector('dialog[open]') && \(shown) !== '\(newest)'")
                try await page.wait(
                    until:
                        "tests.point([...document.querySelectorAll('.month')].find((one) => one.textContent.includes('1998')))"
                )
            }
        }

        @Test func onAPhoneTheFiltersGiveWayAndComeBack() async throws {
            try await Self.withShapes { _, page in
                try await page.take(Look(width: 360, isTouched: true))
                let search = "tests.point(document.querySelector('filter-bar input'))"
                let box = "document.querySelector('photo-timeline')"
                try await page.wait(until: search)
                let middle = try await page.middle(of: "photo-timeline")
                func swipe(_ pixels: Double) async throws {
                    try await page.swipe(
                        (0...8).map { Page.Point(x: middle.x, y: middle.y - pixels / 2 + pixels * Double($0) / 8) })
                }
                try await swipe(-400)
                try await page.wait(until: "!(\(search)) && \(box).y > 200")
                #expect(try await page.evaluate("Boolean(tests.point(document.querySelector('timeline-strip .date')))"))
                await page.picture("filters have given way")
                try await swipe(-400)
                try await swipe(160)
                try await page.wait(until: search)
                #expect(try await page.evaluate("\(box).y > 200"), "not because it is back at the top")
            }
        }
    }
}
