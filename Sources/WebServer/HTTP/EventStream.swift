import Foundation
import Synchronization

/// Server-sent events on their way to one browser.
///
/// An event has a key; where one of the same key still waits, the newer takes its place and says that something was left
/// out. So there are never more in memory than there are keys, however slowly a browser reads.
final class EventStream: Sendable {
    struct Event: Sendable {
        /// `change`, `failed`, `ended`, `away`, `back`.
        let name: String
        /// JSON on one line, for an event that does or does not follow one that was left out.
        let data: @Sendable (_ overflowed: Bool) -> [UInt8]
    }

    enum Reading: Equatable {
        case bytes(Int)
        case nothing
        case end
    }

    private struct State {
        var waiting: [(key: String, event: Event, overflowed: Bool)] = []
        /// What is being sent; `sent` bytes of it are.
        var current: [UInt8] = []
        var sent = 0
        var lastID: UInt64
        var hasEnded = false
        var hasLeft = false
        var lastActivity: UInt64
        /// Ends the work that sends here.
        var onLeave: (@Sendable () -> Void)?
        /// Wakes the reader, which found nothing and sleeps; nil where it does not.
        var wake: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>

    /// - Parameter lastID: of the last event that the browser had; the events of this stream come after it.
    init(after lastID: UInt64, now: UInt64) {
        state = Mutex(State(lastID: lastID, lastActivity: now))
        // Something at once, so that the browser knows that it is connected, and when to come again.
        state.withLock { $0.current = Array("retry: 1000\n\n".utf8) }
    }

    func send(_ event: Event, key: String) {
        wake { state in
            guard !state.hasEnded else { return }
            let before = state.waiting.firstIndex { $0.key == key }
            if let before { state.waiting.remove(at: before) }
            state.waiting.append((key, event, before != nil))
        }
    }

    /// A comment where nothing has been sent for so long, so that both sides notice when the other is gone.
    func keepAlive(now: UInt64, after nanoseconds: UInt64) {
        wake { state in
            guard state.current.isEmpty, state.waiting.isEmpty, !state.hasEnded,
                now &- state.lastActivity >= nanoseconds
            else { return }
            state.current = Array(": still here\n\n".utf8)
            state.lastActivity = now
        }
    }

    /// Nothing is sent after the events that wait.
    func end() { wake { $0.hasEnded = true } }

    /// Has `work` called when the browser has gone, at once where it has.
    func onLeave(_ work: @escaping @Sendable () -> Void) {
        let hasLeft = state.withLock { state in
            if !state.hasLeft { state.onLeave = work }
            return state.hasLeft
        }
        if hasLeft { work() }
    }

    /// The browser has gone.
    func leave() {
        let work = state.withLock { state in
            (state.hasEnded, state.hasLeft) = (true, true)
            defer { state.onLeave = nil }
            return state.onLeave
        }
        work?()
    }

    private func wake(after change: (inout State) -> Void) {
        state.withLock { state in
            change(&state)
            guard state.hasEnded || !state.waiting.isEmpty || !state.current.isEmpty, let wake = state.wake else {
                return
            }
            state.wake = nil
            // Under the lock, so that it cannot overtake the call that lets the reader sleep.
            wake()
        }
    }

    /// For the server's thread: fills `room`.
    /// - Parameter sleep: called where there is nothing, before anybody can find that there is something; what it returns
    ///   wakes the reader; nil where it must not sleep, because the server stops.
    func read(into room: UnsafeMutableRawBufferPointer, now: UInt64, sleep: () -> (@Sendable () -> Void)?) -> Reading {
        state.withLock { state in
            if state.current.isEmpty, !state.waiting.isEmpty {
                let (_, event, overflowed) = state.waiting.removeFirst()
                state.lastID += 1
                state.current = Self.encode(event, id: state.lastID, overflowed)
                state.sent = 0
            }
            guard !state.current.isEmpty else {
                if state.hasEnded { return .end }
                state.wake = sleep()
                return state.wake == nil ? .end : .nothing
            }
            let count = min(room.count, state.current.count - state.sent)
            state.current[state.sent..<(state.sent + count)].withUnsafeBytes { room.copyMemory(from: $0) }
            state.sent += count
            state.lastActivity = now
            if state.sent == state.current.count { (state.current, state.sent) = ([], 0) }
            return .bytes(count)
        }
    }

    private static func encode(_ event: Event, id: UInt64, _ overflowed: Bool) -> [UInt8] {
        var bytes = Array("id: \(id)\nevent: \(event.name)\ndata: ".utf8)
        let data = event.data(overflowed)
        // A line end inside JSON can only be space between its parts, and would end the data.
        for byte in data { bytes.append(byte == 0x0A || byte == 0x0D ? 0x20 : byte) }
        bytes += [0x0A, 0x0A]
        return bytes
    }
}
