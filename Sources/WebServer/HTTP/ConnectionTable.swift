import CLinux
import Foundation
import Synchronization

/// The connections of a server: how long each may take for what it is doing, and whether its client is still there.
///
/// libmicrohttpd closes a connection on which nothing moves. That is not enough: a byte a second is movement, and while a
/// request is being worked on nothing is read, so that nobody notices that its client has gone.
final class ConnectionTable: Sendable {
    private struct Entry {
        let socket: Int32
        /// When it is closed whatever it is doing; nil while it waits for us.
        var deadline: UInt64?
        /// Told once when its client has gone; only while libmicrohttpd does not look.
        var onHangUp: (@Sendable () -> Void)?
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var nextKey: UInt64 = 1
        var streams: [ObjectIdentifier: EventStream] = [:]
    }

    private let state = Mutex(State())

    /// - Returns: a key, which is never 0.
    func add(socket: Int32, deadline: UInt64) -> UInt64 {
        state.withLock { state in
            defer { state.nextKey += 1 }
            state.entries[state.nextKey] = Entry(socket: socket, deadline: deadline)
            return state.nextKey
        }
    }

    /// Before its socket is closed.
    func remove(_ key: UInt64) { state.withLock { _ = $0.entries.removeValue(forKey: key) } }

    func limit(_ key: UInt64, until deadline: UInt64?) {
        state.withLock { $0.entries[key]?.deadline = deadline }
    }

    func watch(_ key: UInt64, onHangUp: (@Sendable () -> Void)?) {
        state.withLock { $0.entries[key]?.onHangUp = onHangUp }
    }

    /// Tells everybody who waits that it is over.
    func giveUp() {
        let all = state.withLock { state in state.entries.values.compactMap(\.onHangUp) }
        for tell in all { tell() }
    }

    func add(_ stream: EventStream) { state.withLock { $0.streams[ObjectIdentifier(stream)] = stream } }

    func remove(_ stream: EventStream) {
        state.withLock { _ = $0.streams.removeValue(forKey: ObjectIdentifier(stream)) }
    }

    var count: Int { state.withLock { $0.entries.count } }

    var allStreams: [EventStream] { state.withLock { Array($0.streams.values) } }

    /// Closes what is past its time, and tells who waits for a client that has gone.
    func look(now: UInt64) {
        let gone = state.withLock { state -> [@Sendable () -> Void] in
            var gone: [@Sendable () -> Void] = []
            for (key, entry) in state.entries {
                if let deadline = entry.deadline, deadline <= now {
                    // Under the lock, and the entry goes before the socket is closed: the number is still this one's.
                    shutdown(entry.socket, Int32(SHUT_RDWR))
                    state.entries[key]?.deadline = nil
                }
                if let onHangUp = entry.onHangUp, Self.hasHungUp(entry.socket) {
                    state.entries[key]?.onHangUp = nil
                    gone.append(onHangUp)
                }
            }
            return gone
        }
        for tell in gone { tell() }
    }

    private static func hasHungUp(_ socket: Int32) -> Bool {
        // POLLRDHUP, which Glibc has behind _GNU_SOURCE: the other side sends nothing more. A browser that does that has
        // closed the connection; none goes on to read.
        let endOfSending: Int16 = 0x2000
        var watched = pollfd(fd: socket, events: endOfSending, revents: 0)
        return poll(&watched, 1, 0) == 1
    }
}
