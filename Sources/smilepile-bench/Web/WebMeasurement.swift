import BenchSupport
import Browser
import Foundation
import LibraryModel
import ServiceMesh

/// The page with a million photos, a hundred thousand of them on one day, in a real browser: the table of WEB.md. The daemon
/// and the web program are those beside this one; what is measured in the browser is measured by the page itself, on its own
/// clock. And thumbnails a second, beside nginx with the same files.
struct WebMeasurement: Measurement {
    static let name = "web"
    static let summary = "the page with a million photos in Chromium; thumbnails a second vs nginx"
    static let options = [
        Arguments.Option("photos", "N", "rows in the catalogue (1000000)"),
        Arguments.Option("day", "N", "of them on one day (100000)"),
        Arguments.Option("minutes", "N", "of scrolling before memory is looked at (1; the table says ten)"),
        Arguments.Option("jumps", "N", "to months all over the library (12)"),
        Arguments.Option("changes", "N", "on the command line (7)"),
        Arguments.Option("parts", "LIST", "\(Part.allCases.map(\.rawValue).joined(separator: ",")) (all)"),
        Arguments.Option("library", "FOLDER", "where it is made, kept, and found again (made anew, and removed)"),
    ]
    static let quick = ["--photos", "20000", "--day", "2000", "--jumps", "5", "--changes", "3"]

    /// What is measured, in this order.
    enum Part: String, CaseIterable {
        case opening, jumping, scrolling, changing, memory, thumbnails
    }

    let photos: Int
    let day: Int
    let minutes: Int
    let jumps: Int
    let changes: Int
    let parts: Set<Part>
    let folder: String?

    init(_ arguments: Arguments) throws {
        photos = try arguments.number("photos", in: 2000...10_000_000) ?? 1_000_000
        day = try arguments.number("day", in: 0...1_000_000) ?? 100_000
        minutes = try arguments.number("minutes", in: 1...600) ?? 1
        jumps = try arguments.number("jumps", in: 1...1000) ?? 12
        changes = try arguments.number("changes", in: 1...1000) ?? 7
        folder = arguments.text("library")
        guard day <= photos / 2 else {
            throw Arguments.Mistake(description: "--day is at most half of --photos.")
        }
        let names = arguments.text("parts")?.split(separator: ",").map(String.init)
        parts = Set(try (names ?? Part.allCases.map(\.rawValue)).map(Self.part))
    }

    private static func part(_ name: String) throws -> Part {
        guard let part = Part(rawValue: name) else {
            throw Arguments.Mistake(description: "--parts has no '\(name)'. See smilepile-bench web --help.")
        }
        return part
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let library = try await WebLibrary.make(photos, onOneDay: day, at: folder, in: work)
        let programs = try await WebPrograms.start(library, in: work)
        defer { programs.end() }
        guard Browser.program != nil else {
            note("web: there is no Chromium. Install it: apt-get install chromium.")
            return try await ThumbnailRate.figures(programs, try await programs.pair(), in: work)
        }
        note("web: starting Chromium")
        let browser = try await Browser.start()
        do {
            let figures = try await figures(browser, programs, library, in: work)
            try await browser.close()
            return figures
        } catch {
            try? await browser.close()
            throw error
        }
    }

    private func figures(
        _ browser: Browser, _ programs: WebPrograms, _ library: WebLibrary, in work: WorkFolder
    ) async throws -> [Figure] {
        let view = try await TimelineView.open(in: browser, at: programs, photos: photos)
        var figures: [Figure] = []
        if parts.contains(.opening) { figures += try await OpeningFigures.measure(view, programs) }
        if parts.contains(.jumping) { figures += try await JumpFigures(jumps: jumps).measure(view) }
        if parts.contains(.scrolling) { figures += try await ScrollFigures(library: library).measure(view) }
        if parts.contains(.changing) {
            figures += try await ChangeFigures(changes: changes).measure(view, programs, in: work)
        }
        if parts.contains(.memory) { figures += try await MemoryFigures(minutes: minutes).measure(view, browser) }
        for complaint in view.page.complaints.prefix(5) { note("web: the page complains: \(complaint)") }
        if parts.contains(.thumbnails) {
            figures += try await ThumbnailRate.figures(programs, try await view.cookie(), in: work)
        }
        return figures
    }
}

/// What WEB.md asks of a figure.
struct WebGoal: Sendable {
    let must: Double
    let aim: Double
    let show: @Sendable (Double) -> String

    static func seconds(_ must: Double, aim: Double) -> WebGoal {
        WebGoal(must: must, aim: aim, show: { Format.seconds($0) })
    }

    /// Less is better.
    func figure(_ what: String, _ value: Double, worst: Double? = nil) -> Figure {
        let ours = show(value) + (worst.map { ", at worst \(show($0))" } ?? "")
        return Figure(
            what, ours: ours, must: "< \(show(must)), aim \(show(aim))", holds: (worst ?? value) < must)
    }
}
