import CommandLineInterface
import Foundation
import LibraryModel
import ServiceMesh

extension CommandTable {
    static let reviewCommand = Command(
        words: ["swipe", "review"], summary: "Review photos at this terminal, one key for each.",
        details: """
            Left: to the trash. Right: a favourite. Up, or space: keep it. u takes the last one back; q ends the review,
            says what was decided and asks whether to apply it. Until then nothing happens to the photos.
            Each decision is kept at once: after a lost connection or Ctrl-C the next review goes on behind it.
            Photos that a review has decided about are left out, unless --reviewed or --decision asks for them.
            """,
        options: Option.filters,
        examples: [
            Example("smilepile swipe", "Go on where the last review ended."),
            Example("smilepile swipe review --category Family --from 2025-06-01", "Only some."),
            Example("smilepile swipe review --decision trash", "Have another look before they go."),
        ], isDefaultOfGroup: true
    ) { invocation, session in
        guard let terminal = try session.reviewTerminal() else {
            throw invocation.usageError(
                "A review needs a terminal to show photos and read keys. In scripts: smilepile swipe start, then record."
            )
        }
        guard !session.wantsJSON else {
            throw invocation.usageError("A review is for a person. In scripts: smilepile swipe start, then record.")
        }
        let filters = try PhotoFilters(invocation)
        return try await session.withLibrary { library in
            var filter = try await filters.filter(in: library)
            if filter.decision == nil { filter.reviewed = filter.reviewed ?? false }
            let search = SearchPhotos(filter, limit: 50)
            let first = try await library.send(search).value
            guard !first.photos.isEmpty else {
                session.console.message("There is nothing to review.")
                return .done
            }
            let count = try await library.send(CountPhotos(filter)).value.count
            let categories = try await library.send(ListCategories()).value.categories
            let settings = try await library.send(GetSettings()).value
            let review = Review(
                ReviewState(photos: first.photos, next: first.next, total: count), search, library: library,
                terminal: terminal, abilities: TerminalAbilities(environment: session.environment),
                style: session.console.style,
                categories: Dictionary(categories.map { ($0.id, $0.displayName) }, uniquingKeysWith: { one, _ in one }),
                appliesWhenFinished: settings.autoProcessActions)
            do {
                return tell(try await review.run(), session)
            } catch {
                tellKept(review.state.sessions, session)
                throw error
            }
        }
    }

    private static func tell(_ ending: Review.Ending, _ session: Session) -> ExitCode {
        switch ending {
        case .nothingDecided:
            session.console.message("Nothing was decided.")
            return .done
        case .applied(let processed):
            show(processed, session)
            return processed.outdated > 0 ? .doneWithProblems : .done
        case .kept(let sessions):
            tellKept(sessions, session)
            return .done
        case .interrupted(let sessions):
            tellKept(sessions, session)
            return .cancelled
        case .ended(_, let sessions):
            tellKept(sessions, session)
            return .cancelled
        }
    }

    private static func tellKept(_ sessions: [String], _ session: Session) {
        for id in sessions {
            let id = PlainText.neutralized(String(id.prefix(8)))
            session.console.message("What was decided is kept, and not applied.")
            session.console.message("Apply it:     smilepile swipe process --session \(id)")
            session.console.message("Take it back: smilepile swipe undo \(id) --all")
        }
    }
}
