import LibraryModel
import LibraryStorage
import ServiceMesh
import Synchronization

/// How often each kind of thing has changed since the library was opened. Counted on the thread that commits.
final class Revisions: Sendable {
    private static let kinds: [CataloguePart: EventKind] = [
        .backups: .backups, .categories: .categories, .photos: .photos, .settings: .settings, .swipeActions: .swipe,
        .swipeSessions: .swipe, .trash: .trash,
    ]

    static let parts = Set(kinds.keys)

    private let state = Mutex<[EventKind: UInt64]>([:])

    var counts: [EventKind: UInt64] { state.withLock { $0 } }

    func count(_ parts: Set<CataloguePart>) {
        let changed = Set(parts.compactMap { Self.kinds[$0] })
        state.withLock { counts in for kind in changed { counts[kind, default: 0] &+= 1 } }
    }
}

/// A library as events compare it.
struct LibraryState: Sendable, Equatable {
    let revisions: [EventKind: UInt64]
    let totals: LibraryTotals
}

/// Events as one subscriber gets them: what has changed is found by comparing with the state that it got before, so
/// that leaving out states for a slow one leaves out no change.
public struct EventSequence: AsyncSequence, Sendable {
    public typealias Element = Change<LibraryEvent>

    let states: QueryObservation<LibraryState>

    public func makeAsyncIterator() -> Iterator { Iterator(states: states.makeAsyncIterator()) }

    public struct Iterator: AsyncIteratorProtocol {
        var states: QueryObservation<LibraryState>.Iterator
        var last: LibraryState?

        public mutating func next() async throws -> Change<LibraryEvent>? {
            guard let change = try await states.next() else { return nil }
            let before = last ?? change.value
            last = change.value
            let changed = EventKind.allCases.filter { change.value.revisions[$0] != before.revisions[$0] }
            return change.map { LibraryEvent(changed: changed, totals: $0.totals) }
        }
    }
}
