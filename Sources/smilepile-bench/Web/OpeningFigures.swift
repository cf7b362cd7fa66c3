import BenchSupport
import Browser
import Foundation

/// The first view: what of it comes over the wire, and when its pictures are there.
enum OpeningFigures {
    private static let runs = 5

    static func measure(_ view: TimelineView, _ programs: WebPrograms) async throws -> [Figure] {
        note("web: opening")
        try programs.restartDaemon()
        let cold = try await view.openFresh()
        let size = try await firstViewSize(view)
        var times: [Double] = []
        for _ in 0..<runs { times.append(try await view.openFresh()) }
        let goal = WebGoal.seconds(0.5, aim: 0.2)
        return [
            WebGoal(must: 80_000, aim: 40_000, show: { String(format: "%.1f kB", $0 / 1000) })
                .figure("HTML, CSS and scripts of the first view, compressed", Double(size)),
            goal.figure(
                "first pictures after opening, \(view.photos) photos", Measuring.median(times), worst: times.max()),
            goal.figure("the same, by a daemon that has just started", cold),
        ]
    }

    /// Bytes of the bodies as they came.
    private static func firstViewSize(_ view: TimelineView) async throws -> Int {
        try await view.page.evaluate(
            """
            [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
              .filter(({ name, entryType }) => entryType === 'navigation' || /\\.(js|css)$/.test(new URL(name).pathname))
              .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
            """)
    }
}
