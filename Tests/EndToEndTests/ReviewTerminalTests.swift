import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import TestSupport
import Testing

/// A review at a terminal, with the real programs.
@Suite(.serialized, .timeLimit(.minutes(3))) struct ReviewTerminalTests {
    private static let left = "\u{1B}[D"
    private static let right = "\u{1B}[C"
    private static let up = "\u{1B}[A"
    /// The page is empty, and then its first line is the picture's.
    private static let pictureOfWidePage = "\u{1B}[2J\u{1B}[1;14H"
    private static let leavesPage = "\u{1B}[?1049l"

    private func place(_ photos: Int) async throws -> Installation {
        let place = try Installation()
        try await place.up()
        let album = place.folder.file("album")
        try SampleAlbum(width: 96, height: 64, seed: 5).write(count: photos, to: album)
        #expect(try await place.smilepile("import", album).status == 0)
        return place
    }

    private func terminal(_ place: Installation, _ arguments: [String] = ["swipe"], term: String = "xterm-256color")
        throws -> PseudoTerminal
    {
        var environment = place.environment
        environment["TERM"] = term
        return try PseudoTerminal(Installation.programs + "/smilepile", arguments, environment: environment)
    }

    private func photos(_ place: Installation) async throws -> [Photo] {
        try await place.allPhotos(place.client())
    }

    private static func exitCode(_ status: Int32) -> Int32? { status & 0x7F == 0 ? (status >> 8) & 0xFF : nil }

    /// The page of a photo with its picture: cells with a colour of their own.
    private func sees(_ progress: String, _ terminal: PseudoTerminal) async {
        #expect(await terminal.shows("48;5;"), "\(terminal.written.suffix(2000))")
        #expect(await terminal.shows(progress), "\(terminal.written.suffix(2000))")
    }

    /// A suite's time limit has to end a test that waits for what never comes; else the run stands still.
    @Test func whoIsCalledOffWaitsNoLonger() async throws {
        let terminal = try PseudoTerminal("/bin/cat", [], environment: [:])
        terminal.press("here\r")
        #expect(await terminal.shows("here"))
        let waiting = Task { await terminal.shows("too late") }
        waiting.cancel()
        // So that a wait which was not called off ends all the same, with true.
        terminal.press("too late\r")
        #expect(await waiting.value == false)
        let ending = Task { await terminal.change() == 0 }
        ending.cancel()
        #expect(await ending.value == false)
    }

    @Test func aReviewIsDecidedUndoneAndApplied() async throws {
        let place = try await place(5)
        let before = try await photos(place)
        let terminal = try terminal(place)
        await sees("1 of 5", terminal)
        terminal.press(Self.left)
        await sees("2 of 5", terminal)
        terminal.press(Self.right)
        await sees("3 of 5", terminal)
        terminal.press(Self.up)
        await sees("4 of 5", terminal)
        terminal.press(Self.left)
        await sees("5 of 5", terminal)
        terminal.press("u")
        await sees("4 of 5", terminal)
        terminal.resize(columns: 20, rows: 10)
        #expect(await terminal.shows("←bin ↑keep →fav u q"))
        terminal.resize(columns: 80, rows: 24)
        // Once the picture is there in its new size: no key decides before, and the narrow page may be drawn more than once.
        #expect(await terminal.shows(Self.pictureOfWidePage))
        await sees("4 of 5", terminal)
        terminal.press(" ")
        await sees("5 of 5", terminal)
        terminal.press("q")
        #expect(await terminal.shows("1 favourite, 1 to the trash, 2 kept."))
        // Nothing has happened to the photos yet.
        #expect(try await photos(place).count == 5)
        terminal.press("y")
        #expect(await terminal.shows(Self.leavesPage))
        #expect(await terminal.shows("1 favourite, 1 to the trash, 2 kept."))
        #expect(Self.exitCode(await terminal.change()) == 0 && terminal.isAsBefore)
        let after = try await photos(place)
        #expect(after.map(\.id) == before.dropFirst().map(\.id))
        #expect(after.map(\.isFavorite) == [true, false, false, false])
        #expect(after.map(\.lastDecision) == [.favorite, .keep, .keep, nil])
        // The next one begins where this one ended.
        let next = try self.terminal(place)
        await sees("1 of 1", next)
        next.press("\u{3}")
        #expect(Self.exitCode(await next.change()) == 130 && next.isAsBefore)
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func ctrlCKeepsWhatWasDecided() async throws {
        let place = try await place(3)
        let terminal = try terminal(place)
        await sees("1 of 3", terminal)
        terminal.press(Self.left)
        await sees("2 of 3", terminal)
        terminal.press("\u{3}")
        #expect(await terminal.shows("smilepile swipe process --session"))
        #expect(Self.exitCode(await terminal.change()) == 130 && terminal.isAsBefore)
        #expect(try await photos(place).map(\.lastDecision) == [.trash, nil, nil])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func aStopGivesTheTerminalBackForAsLong() async throws {
        let place = try await place(2)
        let terminal = try terminal(place)
        await sees("1 of 2", terminal)
        terminal.press("\u{1A}")
        let status = await terminal.change()
        #expect(status & 0xFF == 0x7F, "\(status)")
        #expect(terminal.isAsBefore)
        #expect(await terminal.shows(Self.leavesPage))
        kill(terminal.pid, SIGCONT)
        await sees("1 of 2", terminal)
        #expect(!terminal.isAsBefore)
        terminal.press("q")
        #expect(Self.exitCode(await terminal.change()) == 0 && terminal.isAsBefore)
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func aClosedTerminalEndsIt() async throws {
        let place = try await place(2)
        let terminal = try terminal(place)
        await sees("1 of 2", terminal)
        terminal.press(Self.right)
        await sees("2 of 2", terminal)
        terminal.hangUp()
        let status = await terminal.change()
        // It has heard of it in one way, and may then be ended by the other.
        #expect(Self.exitCode(status) == 130 || status & 0x7F == SIGHUP, "\(status)")
        #expect(try await photos(place).map(\.lastDecision) == [.favorite, nil])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func aLostDaemonLeavesTheTerminalAsItWas() async throws {
        let place = try await place(2)
        let terminal = try terminal(place)
        await sees("1 of 2", terminal)
        terminal.press(Self.left)
        await sees("2 of 2", terminal)
        try await place.killDaemon()
        terminal.press(Self.left)
        #expect(await terminal.shows(Self.leavesPage))
        #expect(await terminal.shows("What was decided is kept"))
        #expect(await terminal.shows("The connection to the daemon broke"))
        #expect(Self.exitCode(await terminal.change()) == 1 && terminal.isAsBefore)
        try await place.up()
        #expect(try await photos(place).map(\.lastDecision) == [.trash, nil])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func signalsAndTerminalsWithoutColoursFindTheirWayOut() async throws {
        let place = try await place(1)
        var environment = place.environment
        (environment["TERM"], environment["NO_COLOR"]) = ("vt100", "1")
        let program = Installation.programs + "/smilepile"
        let terminal = try PseudoTerminal(program, ["swipe"], environment: environment, columns: 20, rows: 12)
        #expect(await terminal.shows("1 of 1"))
        kill(terminal.pid, SIGTERM)
        #expect(Self.exitCode(await terminal.change()) == 130 && terminal.isAsBefore)
        #expect(terminal.written.matches(of: /\u{1B}\[[0-9;]*m/).allSatisfy { $0.0 == "\u{1B}[0m" })
        environment["TERM"] = "dumb"
        let dumb = try PseudoTerminal(program, ["swipe"], environment: environment)
        #expect(await dumb.shows("A review needs a terminal"))
        #expect(Self.exitCode(await dumb.change()) == 2)
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func aPhotoIsShownAmongItsFacts() async throws {
        let place = try await place(1)
        let id = String(try await photos(place)[0].id)
        let terminal = try terminal(place, ["photos", "show", id])
        #expect(await terminal.shows("48;5;"))
        #expect(await terminal.shows("SHA-256"))
        #expect(Self.exitCode(await terminal.change()) == 0)
        #expect(try await !place.smilepile("photos", "show", id).output.contains("\u{1B}"))
        let opened = try await place.smilepile("photos", "open", id)
        #expect(
            opened.status == 1 && opened.errors.contains("There is no desktop here")
                && opened.errors.contains("photos show"))
        #expect(try await place.smilepile("down").status == 0)
    }
}
