import Synchronization

/// A body that is made page by page while it is sent, so that one page of it is in memory, however long it gets.
final class PagedBody: Sendable {
    enum Reading: Equatable {
        case bytes(Int)
        case nothing
        case end
        /// The rest cannot be made.
        case broken
    }

    private struct State {
        var page: [UInt8]
        var sent = 0
        var hasEnded = false
        var isBroken = false
    }

    private let state: Mutex<State>
    /// The next page; nil at the end.
    private let next: @Sendable () async throws -> [UInt8]?

    /// - Parameter next: called once at a time, and not after it has ended or thrown.
    init(first: [UInt8], next: @escaping @Sendable () async throws -> [UInt8]?) {
        state = Mutex(State(page: first))
        self.next = next
    }

    /// For the server's thread: fills `room`.
    /// - Parameter sleep: called where the next page has to be made; what it returns wakes the reader; nil where it must not sleep,
    ///   because the server stops.
    func read(into room: UnsafeMutableRawBufferPointer, sleep: () -> (@Sendable () -> Void)?) -> Reading {
        let reading = state.withLock { state -> Reading in
            let left = state.page.count - state.sent
            guard left > 0 else { return state.isBroken ? .broken : state.hasEnded ? .end : .nothing }
            let count = min(room.count, left)
            state.page[state.sent..<(state.sent + count)].withUnsafeBytes { room.copyMemory(from: $0) }
            state.sent += count
            return .bytes(count)
        }
        guard reading == .nothing else { return reading }
        guard let wake = sleep() else { return .broken }
        Task {
            await makeNext()
            wake()
        }
        return .nothing
    }

    private func makeNext() async {
        do {
            let page = try await next()
            state.withLock { state in
                (state.page, state.sent) = (page ?? [], 0)
                state.hasEnded = page == nil
            }
        } catch {
            state.withLock { $0.isBroken = true }
        }
    }
}
