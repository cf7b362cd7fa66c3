import Foundation
import LibraryModel
import ServiceMesh
import Synchronization
import Testing

@testable import CommandLineInterface
@testable import Commands

/// A terminal whose keys a test presses, and whose pages it waits for.
private final class ScriptedTerminal: ReviewTerminal {
    private struct State {
        var pages: [String] = []
        var waiting: [(text: String, other: String?, continuation: CheckedContinuation<Void, Never>)] = []
        var isEntered = false
        var entered = 0
        var stopped = 0
        var size = TerminalSize(columns: 60, rows: 20)
    }

    private let state = Mutex(State())
    let events: AsyncStream<TerminalEvent>
    private let continuation: AsyncStream<TerminalEvent>.Continuation

    init() { (events, continuation) = AsyncStream.makeStream(of: TerminalEvent.self) }

    func size() -> TerminalSize { state.withLock { $0.size } }

    func enter() {
        state.withLock { state in
            state.isEntered = true
            state.entered += 1
        }
    }

    func leave() { state.withLock { $0.isEntered = false } }

    func stop() { state.withLock { $0.stopped += 1 } }

    func write(_ text: String) {
        let ready = state.withLock { state in
            state.pages.append(text)
            let ready = state.waiting.filter { Self.has(text, $0.text, $0.other) }
            state.waiting.removeAll { Self.has(text, $0.text, $0.other) }
            return ready
        }
        for waiter in ready { waiter.continuation.resume() }
    }

    var isEntered: Bool { state.withLock { $0.isEntered } }
    var entered: Int { state.withLock { $0.entered } }
    var stopped: Int { state.withLock { $0.stopped } }
    var pages: [String] { state.withLock { $0.pages } }

    /// Returns when there is a page that has one text and not another: of those that were written after `action`, or of all
    /// where nothing is done.
    func shows(_ text: String, without other: String? = nil, after action: (() -> Void)? = nil) async {
        let from = action == nil ? 0 : state.withLock { $0.pages.count }
        action?()
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.pages[from...].contains(where: { Self.has($0, text, other) }) { return true }
                state.waiting.append((text, other, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }

    private static func has(_ page: String, _ text: String, _ other: String?) -> Bool {
        page.contains(text) && other.map { !page.contains($0) } ?? true
    }

    func press(_ keys: String) { continuation.yield(.bytes(Array(keys.utf8))) }

    func happens(_ event: TerminalEvent) { continuation.yield(event) }

    func resize(_ size: TerminalSize) {
        state.withLock { $0.size = size }
        continuation.yield(.resized)
    }
}

@Suite("A review at a terminal", .timeLimit(.minutes(1))) struct ReviewTests {
    private static let left = "\u{1B}[D"
    private static let right = "\u{1B}[C"
    private static let up = "\u{1B}[A"

    private static func photo(_ id: Int64, digest: String = "d") -> Photo {
        Photo(
            id: id, uuid: "uuid-\(id)", path: "photos/\(id).jpg", categoryId: 1, name: "Picture \(id)", caption: nil,
            isFromAssets: false, createdAt: Timestamp(milliseconds: id), fileSize: 1, width: 4, height: 4,
            isFavorite: false, takenAt: nil, contentDigest: digest, mediaType: "image/jpeg")
    }

    private static func action(_ photo: Photo, session: String = "5e551011") -> PhotoAction {
        PhotoAction(
            id: 1, sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: .keep,
            timestamp: Timestamp(milliseconds: 1), isProcessed: false)
    }

    private static func pixels(_ digest: String = "d") -> PhotoPixels {
        PhotoPixels(
            width: 4, height: 4, rgb: Data(repeating: 77, count: 48).base64EncodedString(), contentDigest: digest)
    }

    private func stage(_ photos: [Photo]) throws -> Stage {
        let stage = Stage(terminalColumns: 60, environment: ["TERM": "xterm", "LANG": "C.UTF-8"])
        try stage.answer("photo.pixels", Self.pixels())
        try stage.answer(
            "swipe.start",
            SwipeSession(
                sessionID: "5e551011", startTime: Timestamp(milliseconds: 1), endTime: nil, photosProcessed: 0))
        try stage.answer("swipe.record", Self.action(photos[0]))
        try stage.answer(
            "swipe.finish",
            FinishedSwipeSession(
                session: SwipeSession(
                    sessionID: "5e551011", startTime: Timestamp(milliseconds: 1), endTime: nil, photosProcessed: 0),
                processed: nil))
        try stage.answer("swipe.process", ProcessedSwipes(favorited: 1, trashed: 1, kept: 1, outdated: 0))
        return stage
    }

    private func review(
        _ photos: [Photo], next: String? = nil, total: Int? = nil, _ stage: Stage, _ terminal: ScriptedTerminal,
        applies: Bool = false
    ) -> Task<Result<Review.Ending, CommandFailure>, Never> {
        let connection = stage.connection
        return Task {
            let review = Review(
                ReviewState(photos: photos, next: next, total: total ?? photos.count),
                SearchPhotos(PhotoFilter(reviewed: false), limit: 50), library: connection, terminal: terminal,
                abilities: TerminalAbilities(environment: ["TERM": "xterm", "LANG": "C.UTF-8"]),
                style: Style(isOn: false),
                categories: [1: "Family"], appliesWhenFinished: applies)
            do { return .success(try await review.run()) } catch { return .failure(CommandFailure(describing: error)) }
        }
    }

    /// The page with the picture of a photo, not the one before it has come.
    private func sees(_ photo: String, _ terminal: ScriptedTerminal, after action: (() -> Void)? = nil) async {
        await terminal.shows(photo, without: "...", after: action)
    }

    @Test("Each key is a decision about the photo and the digest that were shown, and y applies them")
    func keys() async throws {
        let photos = (1...3).map { Self.photo(Int64($0)) }
        let (stage, terminal) = (try stage(photos), ScriptedTerminal())
        try stage.answer("photo.pixels", Self.pixels("of the pixels"))
        let review = review(photos, stage, terminal)
        await sees("Picture 1", terminal)
        await sees("Picture 2", terminal) { terminal.press(Self.left) }
        await sees("Picture 3", terminal) { terminal.press(Self.right) }
        await terminal.shows("All photos of this review are done.") { terminal.press(" ") }
        #expect(terminal.pages.last?.contains("1 favourite, 1 to the trash, 1 kept.") == true)
        #expect(!stage.methods.contains("swipe.process") && !stage.methods.contains("swipe.finish"))
        terminal.press("y")
        let applied = ProcessedSwipes(favorited: 1, trashed: 1, kept: 1, outdated: 0)
        #expect(await review.value == .success(.applied(applied)))
        let recorded = stage.allParams("swipe.record")
        #expect(recorded.map { $0["action"] } == ["trash", "favorite", "keep"])
        #expect(recorded.map { $0["photoIdentifier"] } == ["uuid-1", "uuid-2", "uuid-3"])
        #expect(recorded.allSatisfy { $0["sessionID"] == "5e551011" })
        #expect(stage.methods.filter { $0 == "swipe.start" }.count == 1 && !terminal.isEntered)
    }

    @Test("A key for a photo that was not shown yet decides nothing")
    func neverShown() async throws {
        let photos = [Self.photo(1)]
        let terminal = ScriptedTerminal()
        let stage = try stage(photos)
        let gate = AsyncStream.makeStream(of: Void.self)
        let connection = GatedPictures(inner: stage.connection, gate: gate.stream)
        let review = Task {
            let review = Review(
                ReviewState(photos: photos, next: nil, total: 1), SearchPhotos(), library: connection,
                terminal: terminal,
                abilities: TerminalAbilities(environment: ["TERM": "xterm"]), style: Style(isOn: false),
                categories: [:],
                appliesWhenFinished: false)
            return try await review.run()
        }
        await terminal.shows("...")
        await terminal.shows("One moment") { terminal.press(Self.left) }
        #expect(!stage.methods.contains("swipe.record"))
        gate.continuation.finish()
        await sees("Picture 1", terminal)
        await terminal.shows("All photos") { terminal.press(Self.left) }
        terminal.press("\u{3}")
        #expect(try await review.value == .interrupted(["5e551011"]))
    }

    @Test("u takes the latest back, also from the last page")
    func undo() async throws {
        let photos = (1...2).map { Self.photo(Int64($0)) }
        let (stage, terminal) = (try stage(photos), ScriptedTerminal())
        try stage.answer("swipe.undo", UndoneSwipes(actions: [Self.action(photos[1])], count: 1))
        try stage.answer("swipe.undo", UndoneSwipes(actions: [Self.action(photos[0])], count: 1))
        let review = review(photos, stage, terminal)
        await terminal.shows("There is nothing to undo.") { terminal.press("u") }
        await sees("Picture 1", terminal) { terminal.happens(.resized) }
        await sees("Picture 2", terminal) { terminal.press(Self.left) }
        await terminal.shows("All photos") { terminal.press(Self.right) }
        await terminal.shows("Undone.") { terminal.press("u") }
        #expect(terminal.pages.last?.contains("Picture 2") == true)
        await terminal.shows("Picture 1") { terminal.press("u") }
        terminal.press("q")
        #expect(await review.value == .success(.nothingDecided))
        #expect(stage.allParams("swipe.undo").count == 2)
    }

    @Test("A photo that has gone is passed, and one that has changed is shown again")
    func meanwhile() async throws {
        let photos = (1...3).map { Self.photo(Int64($0)) }
        let terminal = ScriptedTerminal()
        let stage = Stage(terminalColumns: 60)
        try stage.answer("photo.pixels", Self.pixels())
        try stage.answer(
            "swipe.start",
            SwipeSession(sessionID: "5e551011", startTime: Timestamp(milliseconds: 1), endTime: nil, photosProcessed: 0)
        )
        stage.fail("swipe.record", .refused(MeshError(.notFound, "It is no longer in the library.")))
        stage.fail("photo.get", .refused(MeshError(.notFound, "There is none.")))
        stage.fail(
            "swipe.record",
            .refused(MeshError(.failedPrecondition, "It has changed.", details: ["contentDigest": "other"])))
        try stage.answer("photo.get", Self.photo(2, digest: "other"))
        try stage.answer("swipe.record", Self.action(photos[1]))
        try stage.answer(
            "swipe.finish",
            FinishedSwipeSession(
                session: SwipeSession(
                    sessionID: "5e551011", startTime: Timestamp(milliseconds: 1), endTime: nil, photosProcessed: 1),
                processed: nil))
        let review = review(photos, stage, terminal)
        await sees("Picture 1", terminal)
        await terminal.shows("Picture 1 is no longer in the library.") { terminal.press(Self.left) }
        await sees("Picture 2", terminal) { terminal.happens(.resized) }
        await terminal.shows("It has changed since it was shown.") { terminal.press(Self.left) }
        await sees("Picture 2", terminal) { terminal.happens(.resized) }
        await sees("Picture 3", terminal) { terminal.press(Self.left) }
        await terminal.shows("Finish this review?") { terminal.press("q") }
        terminal.press("n")
        #expect(await review.value == .success(.kept(["5e551011"])))
        #expect(stage.methods.contains("swipe.finish") && !stage.methods.contains("swipe.process"))
    }

    @Test("A session that somebody else has finished gives way to a new one")
    func finishedElsewhere() async throws {
        let photos = [Self.photo(1)]
        let terminal = ScriptedTerminal()
        let stage = Stage(terminalColumns: 60)
        try stage.answer("photo.pixels", Self.pixels())
        for id in ["aaaa", "bbbb"] {
            try stage.answer(
                "swipe.start",
                SwipeSession(sessionID: id, startTime: Timestamp(milliseconds: 1), endTime: nil, photosProcessed: 0))
        }
        stage.fail("swipe.record", .refused(MeshError(.failedPrecondition, "This swipe session is finished.")))
        try stage.answer("swipe.record", Self.action(photos[0], session: "bbbb"))
        let review = review(photos, stage, terminal, applies: true)
        await sees("Picture 1", terminal)
        await terminal.shows("All photos") { terminal.press(Self.up) }
        terminal.press("n")
        #expect(await review.value == .success(.kept(["bbbb"])))
        // Finishing would apply what somebody did not want applied.
        #expect(!stage.methods.contains("swipe.finish"))
    }

    @Test("Ctrl-C, signals, a terminal that has gone and a lost connection leave the terminal as it was")
    func endings() async throws {
        for (event, ending) in [
            (.bytes([3]), .interrupted([])), (.terminated(SIGTERM), .ended(signal: SIGTERM, [])),
            (.closed, .ended(signal: SIGHUP, [])),
        ] as [(TerminalEvent, Review.Ending)] {
            let (stage, terminal) = (try stage([Self.photo(1)]), ScriptedTerminal())
            let review = review([Self.photo(1)], stage, terminal)
            await sees("Picture 1", terminal)
            terminal.happens(event)
            #expect(await review.value == .success(ending))
            #expect(!terminal.isEntered)
        }
        let terminal = ScriptedTerminal()
        let stage = Stage(terminalColumns: 60)
        try stage.answer("photo.pixels", Self.pixels())
        stage.fail("swipe.start", .connectionLost("it ended."))
        let review = review([Self.photo(1)], stage, terminal)
        await sees("Picture 1", terminal)
        terminal.press(Self.left)
        #expect(await review.value == .failure(.connectionLost("it ended.")))
        #expect(!terminal.isEntered)
    }

    @Test("After a stop the terminal is taken over again, and more photos come when these are done")
    func stopsAndPages() async throws {
        let photos = (1...2).map { Self.photo(Int64($0)) }
        let (stage, terminal) = (try stage(photos), ScriptedTerminal())
        try stage.answer("photo.search", PhotoPage(photos: [photos[1]], next: nil))
        let review = review([photos[0]], next: "5.1", total: 2, stage, terminal)
        await sees("1 of 2", terminal)
        await terminal.shows("Picture 1") { terminal.press("\u{1A}") }
        #expect(terminal.stopped == 1)
        await terminal.shows("Picture 1") { terminal.happens(.resumed) }
        #expect(terminal.entered == 2)
        await terminal.shows("Picture 1") { terminal.resize(TerminalSize(columns: 20, rows: 3)) }
        #expect(terminal.pages.last?.contains("\u{1B}[3;1H") == true)
        await terminal.shows("Picture 2") { terminal.press(Self.up) }
        #expect(stage.params("photo.search")?["after"] == "5.1" && stage.params("photo.search")?["reviewed"] == false)
        terminal.press("\u{3}")
        #expect(await review.value == .success(.interrupted(["5e551011"])))
    }

    @Test("Without a terminal it says what scripts do")
    func noTerminal() async throws {
        let stage = Stage()
        #expect(await stage.run("swipe") == .usage)
        #expect(stage.messages.contains("smilepile swipe start") && stage.methods.isEmpty)
    }
}

/// Holds back pictures until the gate is open.
private struct GatedPictures: LibraryConnection {
    let inner: any LibraryConnection
    let gate: AsyncStream<Void>

    func call(_ method: String, params: Data) async throws -> Data {
        if method == "photo.pixels" { for await _ in gate {} }
        return try await inner.call(method, params: params)
    }

    func watch(
        _ method: String, params: Data, onUpdate: @escaping @Sendable (ObservedUpdate) async throws -> Void
    ) async throws -> Data {
        try await inner.watch(method, params: params, onUpdate: onUpdate)
    }

    func close() async { await inner.close() }
}
