import Foundation
import ServiceMesh
import Synchronization

/// A result as it came, and the open files that came with it.
public struct ControlReply: Sendable {
    public let json: Data
    public let files: [OwnedFile]

    public init(json: Data, files: [OwnedFile] = []) {
        self.json = json
        self.files = files
    }
}

/// The place where one request's updates and its reply arrive, for the one task that waits for them.
final class PendingReply: Sendable {
    enum Event: Sendable {
        case update(ControlUpdate<Data>)
        case reply(Result<ControlReply, any Error>)
    }

    /// Updates that wait to be taken; past it the oldest are dropped and the next one says so.
    static let mostUpdates = 64

    private struct State {
        var updates: [ControlUpdate<Data>] = []
        var reply: Result<ControlReply, any Error>?
        var waiter: CheckedContinuation<Event, Never>?

        mutating func take() -> Event? {
            if !updates.isEmpty { return .update(updates.removeFirst()) }
            return reply.map { .reply($0) }
        }
    }

    private let state = Mutex(State())

    func update(_ update: ControlUpdate<Data>) {
        let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
            guard state.reply == nil else { return nil }
            if let waiter = state.waiter {
                state.waiter = nil
                return waiter
            }
            state.updates.append(update)
            if state.updates.count > Self.mostUpdates {
                state.updates.removeFirst()
                let first = state.updates[0]
                state.updates[0] = ControlUpdate(sequence: first.sequence, value: first.value, overflowed: true)
            }
            return nil
        }
        waiter?.resume(returning: .update(update))
    }

    /// The first reply counts; updates that came before it are still handed out first.
    func finish(_ reply: Result<ControlReply, any Error>) {
        let waiter = state.withLock { state -> CheckedContinuation<Event, Never>? in
            guard state.reply == nil else { return nil }
            state.reply = reply
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: .reply(reply))
    }

    /// The next update, or the reply once they are all taken; the reply again after that.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let ready = state.withLock { state -> Event? in
                if let event = state.take() { return event }
                precondition(state.waiter == nil, "one task waits for a reply")
                state.waiter = continuation
                return nil
            }
            if let ready { continuation.resume(returning: ready) }
        }
    }
}
