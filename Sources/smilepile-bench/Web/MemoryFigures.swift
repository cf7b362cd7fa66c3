import BenchSupport
import Browser
import Foundation
import Randomness
import ServiceMesh

/// What the page holds in memory after some minutes of scrolling and jumping.
struct MemoryFigures {
    let minutes: Int

    func measure(_ view: TimelineView, _ browser: Browser) async throws -> [Figure] {
        note("web: scrolling for \(minutes) min")
        try await view.page.navigate("about:blank")
        try await view.page.navigate(view.address + "/#/photos")
        try await view.page.wait(until: "bench.first > 0", within: .seconds(60))
        var random = SplitMix64(seed: 1)
        let end = MonotonicClock.now() + UInt64(minutes) * 60_000_000_000
        while MonotonicClock.now() < end {
            for speed in [2_000, 8_000] {
                try await view.page.send(
                    "Input.synthesizeScrollGesture",
                    [
                        "x": 600, "y": 500, "yDistance": .integer(Int64(-4 * speed)), "speed": .integer(Int64(speed)),
                        "gestureSourceType": "mouse", "preventFling": true,
                    ], within: .seconds(120))
            }
            _ = try await JumpFigures.jump(to: Int(random.next() % UInt64(view.photos)), in: view)
        }
        let before = try await heap(view)
        try await view.page.send("HeapProfiler.collectGarbage")
        let after = try await heap(view)
        let goal = WebGoal(must: 150e6, aim: 80e6, show: { Format.megabytes(Int64($0)) })
        let renderers = try await browser.send("SystemInfo.getProcessInfo")["processInfo"]?.arrayValue ?? []
        let largest =
            renderers.filter { $0["type"]?.stringValue == "renderer" }
            .compactMap { $0["id"]?.integerValue }.map { ProcessFacts.memoryShare(Int32($0)) }.max() ?? 0
        return [
            goal.figure("heap of the page after \(minutes) min of scrolling", before),
            goal.figure("the same, after a garbage collection", after),
            Figure("memory of the browser's process that shows it", ours: Format.megabytes(largest)),
        ]
    }

    /// Bytes: objects, what of the document is kept with them, and buffers.
    private func heap(_ view: TimelineView) async throws -> Double {
        let usage = try await view.page.send("Runtime.getHeapUsage")
        return ["usedSize", "embedderHeapUsedSize", "backingStorageSize"].reduce(0) { sum, name in
            switch usage[name] {
            case .integer(let bytes): sum + Double(bytes)
            case .number(let bytes): sum + bytes
            default: sum
            }
        }
    }
}
