import CLinux
import Foundation
import Synchronization

/// Places for connections: counted before a connection is handed over, until it has been closed.
///
/// libmicrohttpd's own limit must never be reached: 0.9.75 then keeps a lock of its own for ever (`new_connection_process_`, for
/// connections that are handed to it), and its thread stands still.
final class Places: Sendable {
    private let taken = Atomic(0)
    private let most: Int
    /// Becomes readable when there is a place again.
    let news: Int32 = clinux_wake_create()

    init(_ most: Int) { self.most = most }

    deinit { close(news) }

    var areAllTaken: Bool { taken.load(ordering: .relaxed) >= most }

    func take() { taken.add(1, ordering: .relaxed) }

    func give() {
        if taken.subtract(1, ordering: .relaxed).oldValue >= most { clinux_wake(news) }
    }
}

/// Takes connections from sockets that listen, on a thread of its own. Which sockets these are may change while it runs.
final class Acceptor: Sendable {
    /// While there is no descriptor for another connection, the next try waits for so long.
    private static let pauseMilliseconds: Int32 = 100

    private struct State {
        var listeners: [Int32]
        /// To be closed by the thread, which may be waiting for them.
        var leaving: [Int32] = []
        var isStopping = false
        var onEnd: CheckedContinuation<Void, Never>?
        var hasEnded = false
    }

    private let state: Mutex<State>
    private let places: Places
    private let wake: Int32

    /// - Parameters:
    ///   - listeners: non-blocking; the acceptor's from now on.
    ///   - places: while all are taken, connections wait at the sockets.
    ///   - take: called on the thread, with connections that are its from then on.
    init(_ listeners: [Int32], places: Places, take: @escaping @Sendable (Int32) -> Void) {
        state = Mutex(State(listeners: listeners))
        self.places = places
        wake = clinux_wake_create()
        let thread = Thread { [self] in
            _ = clinux_set_thread_name("web-accept")
            run(take)
        }
        thread.stackSize = 256 << 10
        thread.start()
    }

    /// Listens on these from now on; those that are not among them are closed.
    func listen(on listeners: [Int32]) {
        state.withLock { state in
            let leaving = state.listeners.filter { !listeners.contains($0) }
            // At once: from here on nobody is let in there. The number is free when the thread has let go of it.
            for socket in leaving { shutdown(socket, Int32(SHUT_RDWR)) }
            state.leaving += leaving
            state.listeners = listeners
        }
        clinux_wake(wake)
    }

    /// Closes the sockets, and returns when no connection comes any more.
    func stop() async {
        await withCheckedContinuation { continuation in
            let hasEnded = state.withLock { state in
                state.isStopping = true
                if !state.hasEnded { state.onEnd = continuation }
                return state.hasEnded
            }
            clinux_wake(wake)
            if hasEnded { continuation.resume() }
        }
    }

    private func run(_ take: (Int32) -> Void) {
        while true {
            let listeners = state.withLock { state -> [Int32]? in
                for socket in state.leaving { close(socket) }
                state.leaving = []
                return state.isStopping ? nil : state.listeners
            }
            guard let listeners else { break }
            let open = places.areAllTaken ? [] : listeners
            var watched = ([wake, places.news] + open).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            guard poll(&watched, nfds_t(watched.count), -1) > 0 else { continue }
            if watched[0].revents != 0 { clinux_wake_clear(wake) }
            if watched[1].revents != 0 { clinux_wake_clear(places.news) }
            var isFull = false
            for entry in watched.dropFirst(2) where entry.revents != 0 && !places.areAllTaken {
                let connection = clinux_accept(entry.fd)
                if connection >= 0 {
                    places.take()
                    take(connection)
                } else if ![EAGAIN, EINVAL].contains(errno) {
                    // EINVAL is a socket that has just been shut.
                    isFull = true
                }
            }
            if isFull {
                // Out of descriptors or memory: those that wait would make this a loop without a pause.
                var wakened = pollfd(fd: wake, events: Int16(POLLIN), revents: 0)
                _ = poll(&wakened, 1, Self.pauseMilliseconds)
            }
        }
        let waiter = state.withLock { state in
            for socket in state.listeners { close(socket) }
            state.listeners = []
            state.hasEnded = true
            defer { state.onEnd = nil }
            return state.onEnd
        }
        waiter?.resume()
    }

    deinit { close(wake) }
}
