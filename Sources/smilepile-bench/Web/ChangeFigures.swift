import BenchSupport
import Browser
import Foundation

/// Photos that become favourites on the command line, and stop being ones, while the page shows them: from the start of the
/// command until the heart is drawn.
struct ChangeFigures {
    let changes: Int

    private struct Shown: Decodable {
        let id: Int64
        let isFavorite: Bool
    }

    func measure(_ view: TimelineView, _ programs: WebPrograms, in work: WorkFolder) async throws -> [Figure] {
        note("web: \(changes) changes on the command line")
        let program = try Programs.beside("smilepile")
        try await view.page.navigate("about:blank")
        try await view.page.navigate(view.address + "/#/photos")
        try await view.page.wait(until: "bench.first > 0", within: .seconds(60))
        var times: [Double] = []
        for number in 0..<changes {
            // Longer than the page waits between two readings.
            try await view.pause(1000)
            let photo: Shown = try await view.page.evaluate(
                "(({ photo }) => ({ id: photo.id, isFavorite: photo.isFavorite }))(bench.tiles()[\(number % 8)])")
            try await view.page.run(
                """
                bench.change = new Promise((done) => {
                  const look = () => {
                    const tile = bench.tiles().find(({ photo }) => photo?.id === \(photo.id));
                    if (tile?.classList.contains('favourite') === \(!photo.isFavorite)) done(Date.now());
                    else requestAnimationFrame(look);
                  };
                  look();
                });
                """)
            let began = Date().timeIntervalSince1970
            try Command(
                [
                    program, "photos", photo.isFavorite ? "unfavorite" : "favorite", "\(photo.id)", "--socket",
                    programs.socket,
                ]
            ).run(in: work)
            times.append(try await view.page.evaluate("bench.change", as: Double.self) / 1000 - began)
        }
        return [
            WebGoal.seconds(0.5, aim: 0.1)
                .figure(
                    "a change made on the command line until it is visible", Measuring.median(times), worst: times.max()
                )
        ]
    }
}
