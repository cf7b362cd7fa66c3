import LibraryModel
import Synchronization

/// Lets photos of one second enter the catalogue in the order of their files, while the files are prepared several at once
/// and end in any order. Lists are sorted by date and then by id, and most cameras date to the second: without this, a
/// burst would stand in the order in which its pictures happened to be decoded.
///
/// A file waits only for earlier ones whose date is not known yet and for those of its own second, so that photos of other
/// seconds still share their transactions. While it waits the next one is worked at.
final class EntryOrder: Sendable {
    /// Files that may wait for an earlier one. A picture that takes as long as so many others together keeps no worker idle;
    /// one that takes longer does, until its processor time is over.
    static let lookahead = 64

    private enum Phase {
        case waitingToBegin(CheckedContinuation<Void, Never>?)
        case working
        /// Nil for a photo without a date.
        case waitingToEnter(LocalDateTime?, CheckedContinuation<Void, Never>)
        case entering(LocalDateTime?)
    }

    private struct State {
        /// Of the files that are under way, by their place in the list.
        var phases: [Int: Phase] = [:]
        var working = 0
    }

    private let width: Int
    private let state = Mutex(State())

    /// - Parameter width: files that are worked at together.
    init(width: Int) { self.width = width }

    /// Files are added in the order of the list.
    func add(_ number: Int) { state.withLock { $0.phases[number] = .waitingToBegin(nil) } }

    /// Returns when fewer than `width` others are worked at.
    func begin(_ number: Int) async {
        await withCheckedContinuation { continuation in
            change { $0.phases[number] = .waitingToBegin(continuation) }
        }
    }

    /// Returns when all photos of this second that stand before this one have entered, or have ended without one; of one whose turn
    /// has come before, at once.
    func enter(_ number: Int, dated date: LocalDateTime?) async {
        let hasTurn = state.withLock { state in
            if case .entering = state.phases[number] { true } else { false }
        }
        guard !hasTurn else { return }
        await withCheckedContinuation { continuation in
            change {
                $0.phases[number] = .waitingToEnter(date, continuation)
                $0.working -= 1
            }
        }
    }

    func end(_ number: Int) {
        change {
            if case .working? = $0.phases.removeValue(forKey: number) { $0.working -= 1 }
        }
    }

    /// Makes a change, and lets those go on whose turn has come by it.
    private func change(_ body: (inout State) -> Void) {
        let due = state.withLock { state in
            body(&state)
            return Self.advance(&state, width: width)
        }
        due.forEach { $0.resume() }
    }

    private static func advance(_ state: inout State, width: Int) -> [CheckedContinuation<Void, Never>] {
        var due: [CheckedContinuation<Void, Never>] = []
        var isEarlierUndated = false
        var earlier: Set<LocalDateTime?> = []
        for number in state.phases.keys.sorted() {
            switch state.phases[number] {
            case .waitingToBegin(let continuation):
                if let continuation, state.working < width {
                    state.phases[number] = .working
                    state.working += 1
                    due.append(continuation)
                }
                isEarlierUndated = true
            case .working: isEarlierUndated = true
            case .waitingToEnter(let date, let continuation):
                if earlier.insert(date).inserted, !isEarlierUndated {
                    state.phases[number] = .entering(date)
                    due.append(continuation)
                }
            case .entering(let date): earlier.insert(date)
            case nil: break
            }
        }
        return due
    }
}
