import BenchSupport
import Browser
import Foundation
import Randomness

/// Jumps to months all over the library, as a hand makes them on the scrubber: from the release until the pictures are there.
struct JumpFigures {
    let jumps: Int

    func measure(_ view: TimelineView) async throws -> [Figure] {
        note("web: \(jumps) jumps")
        var random = SplitMix64(seed: 13)
        var times: [Double] = []
        for _ in 0..<jumps {
            let position = Int(random.next() % UInt64(view.photos))
            times.append(try await Self.jump(to: position, in: view))
        }
        return [
            WebGoal.seconds(0.5, aim: 0.2)
                .figure("a jump to any month until its pictures are there", Measuring.median(times), worst: times.max())
        ]
    }

    /// Presses and releases the mouse on the scrubber. Seconds until the pictures are there.
    static func jump(to position: Int, in view: TimelineView) async throws -> Double {
        let point = try await view.scrubberPoint(of: position)
        try await view.page.run("bench.released = undefined")
        try await view.page.drag([point, point])
        try await view.page.wait(until: "bench.released !== undefined")
        // Where the page stands is near where it has jumped to: a pixel of the scrubber is a thousand photos.
        let time = try await view.page.evaluate(
            "(async () => await bench.whenPictured(bench.timeline.topPosition) - bench.released)()", as: Double.self,
            within: .seconds(60))
        guard time > 0 else {
            throw BenchLibrary.Failed(description: "The page shows no pictures at position \(position).")
        }
        return time / 1000
    }
}
