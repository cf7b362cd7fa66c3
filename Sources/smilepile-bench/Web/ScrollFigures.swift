import BenchSupport
import Browser
import Foundation

/// The longest task of the browser's main thread while one scrolls and scrubs, through all photos and through the day that has
/// very many, at one and two device pixels a CSS pixel.
struct ScrollFigures {
    let library: WebLibrary
    /// The API tells of tasks from here on.
    private static let told = 0.05

    func measure(_ view: TimelineView) async throws -> [Figure] {
        var figures: [Figure] = []
        for scale in [1.0, 2.0] {
            note("web: scrolling and scrubbing at \(Int(scale)) device pixels")
            try await view.page.emulate(width: 1440, height: 900, scale: scale, reducesMotion: false)
            figures.append(try await all(view, scale))
            figures.append(try await oneDay(view, scale))
            figures.append(try await end(view, scale))
        }
        try await view.page.emulate(width: 1440, height: 900, reducesMotion: false)
        return figures
    }

    private func all(_ view: TimelineView, _ scale: Double) async throws -> Figure {
        try await visit("/#/photos", view)
        try await scroll(view, pixels: 24_000, speed: 3_000)
        try await scroll(view, pixels: 120_000, speed: 30_000)
        try await scroll(view, pixels: -24_000, speed: 6_000)
        try await scrub(view)
        return try await figure("scrolling and scrubbing through \(view.photos) photos", view, scale)
    }

    private func oneDay(_ view: TimelineView, _ scale: Double) async throws -> Figure {
        try await visit("/#/photos?from=\(WebLibrary.dayName)&to=\(WebLibrary.dayName)", view)
        let found = try await view.page.evaluate("document.querySelector('timeline-screen').list.total", as: Int.self)
        try await scroll(view, pixels: 24_000, speed: 3_000)
        try await scroll(view, pixels: 120_000, speed: 30_000)
        try await scrub(view)
        return try await figure("the same through a day of \(found)", view, scale)
    }

    /// The oldest photo is reached, however long the list is.
    private func end(_ view: TimelineView, _ scale: Double) async throws -> Figure {
        try await visit("/#/photos", view)
        try await view.page.run("bench.timeline.focus()")
        try await view.page.press("End")
        let isReached = try await view.page.evaluate(
            "bench.whenPictured(\(view.photos - 1), 10000).then((time) => time > 0)", as: Bool.self)
        return Figure(
            "the oldest of all is reached, at \(Int(scale))x", ours: isReached ? "yes" : "no", must: "yes",
            holds: isReached)
    }

    private func visit(_ path: String, _ view: TimelineView) async throws {
        try await view.page.navigate("about:blank")
        try await view.page.navigate(view.address + path)
        try await view.page.wait(until: "bench.first > 0", within: .seconds(60))
        try await view.page.run("bench.tasks.length = 0")
    }

    /// Turns a wheel in the middle of the list.
    /// - Parameters:
    ///   - pixels: CSS pixels, down is positive.
    ///   - speed: pixels a second.
    private func scroll(_ view: TimelineView, pixels: Int, speed: Int) async throws {
        try await view.page.send(
            "Input.synthesizeScrollGesture",
            [
                "x": 600, "y": 500, "yDistance": .integer(Int64(-pixels)), "speed": .integer(Int64(speed)),
                "gestureSourceType": "mouse", "preventFling": true,
            ], within: .seconds(120))
    }

    /// Draws the scrubber's thumb down to the end and half of the way back.
    private func scrub(_ view: TimelineView) async throws {
        let (top, bottom) = (
            try await view.scrubberPoint(of: 0), try await view.scrubberPoint(of: view.photos - 1)
        )
        let down = (0...120).map { Double($0) / 120 }
        let up = (0...60).map { 1 - Double($0) / 120 }
        try await view.page.drag((down + up).map { Page.Point(x: top.x, y: top.y + (bottom.y - top.y - 2) * $0 + 1) })
        _ = try await view.page.evaluate("bench.whenPictured()", as: Double.self, within: .seconds(60))
    }

    private func figure(_ what: String, _ view: TimelineView, _ scale: Double) async throws -> Figure {
        let longest = try await view.page.evaluate("bench.longest()", as: Double.self) / 1000
        let name = "\(what), at \(Int(scale))x: longest task"
        let goal = WebGoal.seconds(0.1, aim: Self.told)
        guard longest > 0 else {
            return Figure(name, ours: "< 50 ms", must: "< 100.0 ms, aim 50.0 ms", holds: true)
        }
        return goal.figure(name, longest)
    }
}
