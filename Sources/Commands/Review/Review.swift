import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

/// A review at a terminal: one photo after the other, one key for each.
///
/// A key is a decision only where its photo was shown: the decision names the digest of the pixels that came, and is on
/// disk before the next photo stands there. So whatever ends the program, what was decided is kept, and nothing is applied
/// before somebody says so.
final class Review {
    /// How it ended.
    enum Ending: Equatable {
        case nothingDecided
        case applied(ProcessedSwipes)
        /// Decided, and not applied: the sessions.
        case kept([String])
        case interrupted([String])
        /// By a signal, or because the terminal has gone.
        case ended(signal: Int32, [String])
    }

    private enum Event: Sendable {
        case terminal(TerminalEvent)
        case picture(PictureKey, Result<ShownPicture, CommandFailure>)
    }

    /// Which picture was asked for, and how large.
    private struct PictureKey: Hashable, Sendable {
        let id: Int64
        let width: Int
        let height: Int
    }

    private enum Phase { case deciding, asking }

    private let library: any LibraryConnection
    private let terminal: any ReviewTerminal
    private let style: Style
    private let search: SearchPhotos
    private let categories: [Int64: String]
    private let appliesWhenFinished: Bool
    private var abilities: TerminalAbilities
    private var keys = KeyReader()
    private var size: TerminalSize
    private var phase = Phase.deciding
    private var session: String?
    private var pictures: [PictureKey: Result<ShownPicture, CommandFailure>] = [:]
    private var loading: [PictureKey: Task<Void, Never>] = [:]
    private let inbox: AsyncStream<Event>
    private let post: AsyncStream<Event>.Continuation
    private(set) var state: ReviewState

    /// - Parameters:
    ///   - search: which photos; its limit is that of a page.
    ///   - categories: names by ids.
    ///   - appliesWhenFinished: the setting `autoProcessActions`.
    init(
        _ state: ReviewState, _ search: SearchPhotos, library: any LibraryConnection, terminal: any ReviewTerminal,
        abilities: TerminalAbilities, style: Style, categories: [Int64: String], appliesWhenFinished: Bool
    ) {
        self.state = state
        self.search = search
        self.library = library
        self.terminal = terminal
        self.abilities = abilities
        self.style = style
        self.categories = categories
        self.appliesWhenFinished = appliesWhenFinished
        size = terminal.size()
        (inbox, post) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingNewest(512))
    }

    /// - Throws: `CommandFailure`, with the terminal given back.
    func run() async throws -> Ending {
        let (events, post) = (terminal.events, post)
        let forwarding = Task { for await event in events { post.yield(.terminal(event)) } }
        defer {
            forwarding.cancel()
            for task in loading.values { task.cancel() }
            terminal.leave()
        }
        try terminal.enter()
        // What it can do beyond what the surroundings say; the answer comes among the keys, or never.
        if abilities.mayAsk { terminal.write("\u{1B}[c") }
        size = terminal.size()
        show()
        for await event in inbox {
            if let ending = try await handle(event) { return ending }
        }
        return .ended(signal: 0, state.sessions)
    }

    // MARK: What happens

    private func handle(_ event: Event) async throws -> Ending? {
        switch event {
        case .picture(let key, let result):
            loading[key] = nil
            pictures[key] = result
            if key == currentKey { show() } else { load() }
        case .terminal(.bytes(let bytes)):
            for input in keys.read(bytes) {
                switch input {
                case .key(let key): if let ending = try await press(key) { return ending }
                case .answer(let answer):
                    let more = abilities.adding(answer)
                    if more != abilities {
                        abilities = more
                        show()
                    }
                }
            }
        case .terminal(.resized):
            size = terminal.size()
            show()
        case .terminal(.stopRequested): try stop()
        case .terminal(.resumed):
            try terminal.enter()
            size = terminal.size()
            show()
        case .terminal(.terminated(let signal)): return .ended(signal: signal, state.sessions)
        case .terminal(.closed): return .ended(signal: SIGHUP, state.sessions)
        }
        return nil
    }

    private func press(_ key: Key) async throws -> Ending? {
        switch (phase, key) {
        case (_, .interrupt): return state.decisions.isEmpty ? .interrupted([]) : .interrupted(state.sessions)
        case (_, .suspend): try stop()
        case (.deciding, .left): try await decide(.trash)
        case (.deciding, .right): try await decide(.favorite)
        case (.deciding, .up), (.deciding, .character(" ")): try await decide(.keep)
        case (.deciding, .character("u")), (.asking, .character("u")): try await undo()
        case (.deciding, .character("q")):
            if state.decisions.isEmpty { return .nothingDecided }
            ask()
        case (.asking, .character("y")): return .applied(try await apply())
        case (.asking, .character("n")):
            let sessions = state.sessions
            // Finishing would apply them.
            if !appliesWhenFinished {
                for session in sessions { _ = try await library.send(FinishSwipeSession(sessionID: session)) }
            }
            return .kept(sessions)
        case (.asking, .character("b")) where state.current != nil:
            phase = .deciding
            show()
        default: return nil
        }
        // The last one was decided about, or has gone.
        if phase == .deciding, state.current == nil {
            if state.decisions.isEmpty { return .nothingDecided }
            ask()
        }
        return nil
    }

    private func ask() {
        phase = .asking
        state.message = ""
        show()
    }

    private func stop() throws {
        try terminal.stop()
        size = terminal.size()
        show()
    }

    // MARK: Deciding

    private func decide(_ action: SwipeAction) async throws {
        guard let photo = state.current else { return }
        var digest = photo.contentDigest
        if let key = currentKey {
            switch pictures[key] {
            case .success(let picture): digest = picture.contentDigest
            case .failure: break
            case nil: return say("One moment: the picture is still on its way.")
            }
        }
        do {
            let session = try await record(photo, digest, action)
            state.decided(action, session: session)
            state.message = "\(Self.word(action)): \(PlainText.neutralized(photo.displayName))"
        } catch CommandFailure.refused(let error) where error.status == .notFound || error.status == .failedPrecondition
        {
            try await lookAgain(photo, digest, error)
        }
        try await loadMore()
        show()
    }

    private func record(_ photo: Photo, _ digest: String, _ action: SwipeAction) async throws -> String {
        for isFirst in [true, false] {
            let id: String
            if let session { id = session } else { id = try await library.send(StartSwipeSession()).value.sessionID }
            session = id
            do {
                let request = RecordSwipe(
                    sessionID: id, photoIdentifier: photo.uuid, contentDigest: digest, action: action)
                _ = try await library.send(request)
                return id
            } catch CommandFailure.refused(let error) where error.status == .failedPrecondition && isFirst {
                // Somebody may have finished the session from elsewhere; another one refuses what is about the photo as well.
                guard error.details["contentDigest"] == nil else { throw CommandFailure.refused(error) }
                session = nil
            }
        }
        throw CommandFailure.local("The decision was refused twice. Please report it.")
    }

    /// Somebody else has changed the library meanwhile.
    private func lookAgain(_ photo: Photo, _ digest: String, _ error: MeshError) async throws {
        do {
            let now = try await library.send(GetPhoto(uuid: photo.uuid)).value
            guard now.contentDigest != digest else { throw CommandFailure.refused(error) }
            state.replaceCurrent(with: now)
            pictures = pictures.filter { $0.key.id != photo.id }
            state.message = "It has changed since it was shown. This is how it is now."
        } catch CommandFailure.refused(let missing) where missing.status == .notFound {
            state.skip()
            state.message = "\(PlainText.neutralized(photo.displayName)) is no longer in the library."
        }
    }

    private func undo() async throws {
        guard let last = state.decisions.last else { return say("There is nothing to undo.") }
        let undone = try await library.send(UndoSwipes(sessionID: last.session)).value
        guard undone.actions.first?.photoIdentifier == state.photos[last.index].uuid else {
            return say("It was applied already and cannot be undone here.")
        }
        phase = .deciding
        state.undone()
        state.message = "Undone."
        show()
    }

    private func apply() async throws -> ProcessedSwipes {
        var sums = [0, 0, 0, 0]
        for session in state.sessions {
            let finished = try await library.send(FinishSwipeSession(sessionID: session)).value
            let applied: ProcessedSwipes
            if let processed = finished.processed {
                applied = processed
            } else {
                applied = try await library.send(ProcessSwipes(sessionID: session)).value
            }
            let part = [applied.favorited, applied.trashed, applied.kept, applied.outdated]
            sums = zip(sums, part).map { $0 + $1 }
        }
        return ProcessedSwipes(favorited: sums[0], trashed: sums[1], kept: sums[2], outdated: sums[3])
    }

    private static func word(_ action: SwipeAction) -> String {
        switch action {
        case .favorite: "Favourite"
        case .trash: "Trash"
        case .keep: "Keep"
        }
    }

    // MARK: Photos and pictures

    private func loadMore() async throws {
        guard let next = state.next, state.following == nil else { return }
        let page = try await library.send(
            SearchPhotos(search.filter, limit: search.limit, after: next)
        ).value
        state.photos += page.photos
        state.next = page.next
    }

    /// Nil where there is no photo, or no room for its picture.
    private var currentKey: PictureKey? { state.current.flatMap(key) }

    private func key(_ photo: Photo) -> PictureKey? {
        guard let room = layout.picture else { return nil }
        let (width, height) = abilities.pixels(of: room, size)
        return PictureKey(id: photo.id, width: width, height: height)
    }

    /// Asks for the picture that is to be seen, and then for the next one.
    private func load() {
        let wanted = [state.current, state.following].compactMap { $0 }.compactMap(key)
        // Of those that have been seen, the last few stay for an undo.
        if pictures.count > 8 { pictures = pictures.filter { wanted.contains($0.key) } }
        guard let key = wanted.first(where: { pictures[$0] == nil }), loading[key] == nil else { return }
        let (library, post) = (library, post)
        loading[key] = Task {
            let result: Result<ShownPicture, CommandFailure>
            do {
                let pixels = try await library.send(
                    GetPhotoPixels(id: key.id, width: key.width, height: key.height)
                ).value
                result =
                    ShownPicture(pixels).map { .success($0) }
                    ?? .failure(
                        .local("The daemon's answer is no picture. Are the daemon and this program of one version?"))
            } catch {
                result = .failure(CommandFailure(describing: error))
            }
            post.yield(.picture(key, result))
        }
    }

    // MARK: Showing

    private func say(_ message: String) {
        state.message = message
        show()
    }

    private var page: ReviewLayout.Page {
        var page = ReviewLayout.Page()
        page.message = state.message
        switch phase {
        case .asking:
            page.name = state.current == nil ? "All photos of this review are done." : "Finish this review?"
            page.facts = state.sum + "."
            page.progress = "Apply this now?"
            page.keys = ReviewLayout.questionKeys
        case .deciding:
            guard let photo = state.current else { break }
            let mark = photo.isFavorite ? (abilities.isASCII ? " (favourite)" : " ♥") : ""
            page.name = PlainText.neutralized(photo.displayName) + mark
            let category = categories[photo.categoryId] ?? String(photo.categoryId)
            page.facts = [LocalDate.text(of: photo), PlainText.neutralized(category)].joined(
                separator: abilities.isASCII ? " - " : " · ")
            page.progress = state.progress + (state.decisions.isEmpty ? "" : ": " + state.sum)
            page.keys = ReviewLayout.reviewKeys(isASCII: abilities.isASCII)
        }
        return page
    }

    private var layout: ReviewLayout { ReviewLayout(page, size, style) }

    /// All of the page anew. Terminals that can hold back what they show until it is whole are asked to.
    private func show() {
        let layout = layout
        var text = "\u{1B}[?2026h\u{1B}[0m\u{1B}[H\u{1B}[2J"
        if abilities.way == .kitty { text += "\u{1B}_Ga=d\u{1B}\\" }
        if phase == .deciding, let room = layout.picture, let key = currentKey {
            switch pictures[key] {
            case .success(let picture):
                if let place = room.fitting(width: picture.width, height: picture.height, size) {
                    text += picture.drawn(in: place, size, abilities)
                }
            case .failure(let failure):
                text +=
                    ShownPicture.move(to: 0, room.rows / 2)
                    + TextWidth.cut("It cannot be shown: " + PlainText.neutralized(failure.message), to: size.columns)
            case nil: text += ShownPicture.move(to: max(0, size.columns / 2 - 1), room.rows / 2) + style.dim("...")
            }
        }
        for (row, line) in layout.lines.enumerated() {
            text += ShownPicture.move(to: 0, layout.firstLine + row) + line
        }
        terminal.write(text + "\u{1B}[?2026l")
        load()
    }
}
