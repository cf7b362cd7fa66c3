import CLinux
import Foundation
import Synchronization

/// The connections of a server: whose they are, how long each may take for what it is doing, and whether its client is still there.
///
/// When there are too many, or too many from one network, the oldest connection goes whose client has shown no known token: a client
/// that holds connections open keeps no paired device out.
///
/// libmicrohttpd closes a connection on which nothing moves. That is not enough: a byte a second is movement, and while a
/// request is being worked on nothing is read, so that nobody notices that its client has gone.
final class ConnectionTable: Sendable {
    private struct Entry {
        let socket: Int32
        /// Where it comes from, as ``ListeningAddress/network(of:)`` has it.
        let network: String
        /// Of the device whose request came last.
        var token: String?
        /// Whether it is at an event stream, which ends by itself.
        var hasStream = false
        /// Whether it was closed here, and libmicrohttpd has not noticed yet.
        var isCut = false
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
    private let most: Int
    private let mostOfNetwork: Int

    /// - Parameters:
    ///   - most: connections in all.
    ///   - mostOfNetwork: of one network.
    init(most: Int = .max, mostOfNetwork: Int = .max) {
        self.most = most
        self.mostOfNetwork = mostOfNetwork
    }

    /// - Returns: a key, which is never 0 and greater than all keys before.
    func add(socket: Int32, network: String, deadline: UInt64) -> UInt64 {
        state.withLock { state in
            let key = state.nextKey
            state.nextKey += 1
            state.entries[key] = Entry(socket: socket, network: network, deadline: deadline)
            Self.makeRoom(mostOfNetwork, for: key, &state) { $0.network == network }
            Self.makeRoom(most, for: key, &state) { _ in true }
            return key
        }
    }

    private static func makeRoom(
        _ most: Int, for key: UInt64, _ state: inout State, among isMeant: (Entry) -> Bool
    ) {
        // Most connections come while there is room, and the table is not looked through for them.
        guard state.entries.count > most else { return }
        let there = state.entries.filter { !$0.value.isCut && isMeant($0.value) }
        guard there.count > most else { return }
        // Where all are of devices, the new one has no place.
        let goes = there.filter { $0.value.token == nil && $0.key != key }.keys.min() ?? key
        cut(goes, &state)
    }

    /// Under the lock, and the entry goes before the socket is closed: the number is still this one's.
    private static func cut(_ key: UInt64, _ state: inout State) {
        guard let entry = state.entries[key], !entry.isCut else { return }
        shutdown(entry.socket, Int32(SHUT_RDWR))
        state.entries[key]?.isCut = true
        state.entries[key]?.deadline = nil
    }

    /// Notes whose a connection is: of a device that the daemon knows, and not of one that the client claims to be.
    func note(_ key: UInt64, token: String) { state.withLock { $0.entries[key]?.token = token } }

    /// Closes the connections on which a device has requests, but for event streams.
    func cut(token: String) {
        state.withLock { state in
            for (key, entry) in state.entries where entry.token == token && !entry.hasStream {
                Self.cut(key, &state)
            }
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

    func add(_ stream: EventStream, on key: UInt64) {
        state.withLock { state in
            state.streams[ObjectIdentifier(stream)] = stream
            state.entries[key]?.hasStream = true
        }
    }

    func remove(_ stream: EventStream, from key: UInt64) {
        state.withLock { state in
            _ = state.streams.removeValue(forKey: ObjectIdentifier(stream))
            state.entries[key]?.hasStream = false
        }
    }

    var count: Int { state.withLock { $0.entries.count } }

    var allStreams: [EventStream] { state.withLock { Array($0.streams.values) } }

    /// Closes the connections that are past their time, and tells the requests that wait for a client which has gone.
    func look(now: UInt64) {
        let gone = state.withLock { state -> [@Sendable () -> Void] in
            var gone: [@Sendable () -> Void] = []
            for (key, entry) in state.entries {
                if let deadline = entry.deadline, deadline <= now { Self.cut(key, &state) }
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
