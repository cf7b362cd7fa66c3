import BenchSupport
import Browser
import Foundation
import ServiceMesh

/// The page in the browser, paired, and what it measures of itself.
struct TimelineView {
    let page: Page
    let address: String
    let photos: Int

    /// Runs before the page's own scripts. Tiles and their positions are the page's elements as they are.
    private static let script = """
        globalThis.bench = {
          tasks: [], first: undefined,
          get timeline() { return document.querySelector('photo-timeline'); },
          get scrubber() { return document.querySelector('time-scrubber'); },
          tiles() {
            const box = this.timeline?.getBoundingClientRect();
            if (!box) return [];
            return [...this.timeline.querySelectorAll('.tile')].filter((tile) => {
              const { top, bottom } = tile.getBoundingClientRect();
              return bottom > box.top && top < Math.min(box.bottom, innerHeight);
            });
          },
          /** When every tile in the window has its picture, decoded; with a position, only once all are near that. */
          whenPictured(position, limit = 20000) {
            const end = performance.now() + limit;
            return new Promise((done) => {
              const look = async () => {
                const tiles = this.tiles();
                const isThere = position === undefined || tiles.every((tile) => Math.abs(tile.position - position) < 1000);
                if (tiles.length > 0 && isThere && tiles.every((tile) => tile.classList.contains('loaded'))) {
                  await Promise.all(tiles.map((tile) => tile.querySelector('img').decode().catch(() => {})));
                  done(performance.now());
                } else if (performance.now() > end) done(-1);
                else requestAnimationFrame(look);
              };
              look();
            });
          },
          longest() { return Math.max(0, ...this.tasks); },
        };
        if (globalThis === globalThis.top) {
          new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) bench.tasks.push(duration); })
            .observe({ type: 'longtask' });
          document.addEventListener('DOMContentLoaded', async () => { bench.first = await bench.whenPictured(); });
          addEventListener('pointerup', ({ timeStamp }) => { bench.released = timeStamp; }, true);
        }
        """

    static func open(in browser: Browser, at programs: WebPrograms, photos: Int) async throws -> TimelineView {
        let page = try await browser.newPage(logsRequests: false)
        let view = TimelineView(page: page, address: programs.address, photos: photos)
        try await page.send("Network.enable", ["maxTotalBufferSize": 0])
        try await page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
        try await page.emulate(width: 1440, height: 900, reducesMotion: false)
        try await page.navigate(programs.address + "/#pair=" + (try await programs.invitation()))
        try await page.wait(until: "document.querySelector('pairing-screen form')")
        try await page.click("pairing-screen .primary")
        try await page.wait(until: "bench.tiles().length > 0", within: .seconds(60))
        try await view.pictured()
        return view
    }

    /// The cookie with which the page is paired, `NAME=TOKEN`.
    func cookie() async throws -> String {
        let cookies = try await page.send("Network.getCookies", ["urls": [.string(address)]])["cookies"]?.arrayValue
        guard let cookie = cookies?.first(where: { $0["name"]?.stringValue?.hasPrefix("smilepile") == true }),
            let name = cookie["name"]?.stringValue, let value = cookie["value"]?.stringValue
        else { throw BenchLibrary.Failed(description: "The page has no cookie.") }
        return name + "=" + value
    }

    /// Opens it as if for the first time: nothing of it is in the browser's cache, and no service worker answers.
    /// - Returns: seconds until the first window's pictures are there.
    func openFresh() async throws -> Double {
        try await page.send("Network.clearBrowserCache")
        try await page.send("Network.setBypassServiceWorker", ["bypass": true])
        try await page.navigate("about:blank")
        try await page.navigate(address + "/")
        return try await pictured()
    }

    /// Waits for the first window's pictures; seconds from the navigation.
    @discardableResult
    private func pictured() async throws -> Double {
        try await page.wait(until: "bench.first !== undefined", within: .seconds(60))
        let first = try await page.evaluate("bench.first", as: Double.self)
        guard first > 0 else { throw BenchLibrary.Failed(description: "The page shows no pictures.") }
        return first / 1000
    }

    /// Waits for so many milliseconds on the page's clock.
    func pause(_ milliseconds: Int) async throws {
        try await page.run("await new Promise((done) => setTimeout(done, \(milliseconds)))")
    }

    /// Where in the scrubber a position of the list is.
    func scrubberPoint(of position: Int) async throws -> Page.Point {
        try await page.evaluate(
            """
            (() => {
              const { x, y, width, height } = bench.scrubber.getBoundingClientRect();
              return { x: x + width / 2, y: y + height * \(Double(position) / Double(max(1, photos - 1))) };
            })()
            """)
    }
}
