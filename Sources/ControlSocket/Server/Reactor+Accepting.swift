import CLinux
import Glibc
import ServiceMesh

extension Reactor {
    /// Milliseconds for which no connection is accepted after the system ran out of descriptors.
    private static let acceptPause: UInt64 = 100

    /// Takes all that wait at an entrance.
    mutating func accept(_ key: UInt64) {
        var refused = 0
        while let entrance = entrances[key] {
            let listener = entrance.listener
            let socket = clinux_accept(listener.descriptor)
            if socket >= 0 {
                admit(socket, entrance)
                continue
            }
            let code = errno
            if (code == EMFILE || code == ENFILE) && refuseNext(of: listener) {
                refused += 1
                continue
            }
            if code == EMFILE || code == ENFILE || code == ENOMEM || code == ENOBUFS {
                // The connection stays in the listener's queue and would wake this thread without end.
                _ = clinux_epoll_change(epoll, listener.descriptor, 0, key)
                acceptsAgainAt = MonotonicClock.now() &+ Self.acceptPause &* 1_000_000
            }
            break
        }
        if spare < 0 { spare = Self.openSpare() }
        guard refused > 0 else { return }
        core.configuration.faultLog(
            "\(refused == 1 ? "a connection was" : "\(refused) connections were") closed: this process has as many files open as "
                + "it may")
    }

    static func openSpare() -> Int32 { clinux_open("/dev/null", O_RDONLY, 0) }

    /// Tells the next client why it is not served; left alone, it would wait for ever.
    /// - Returns: false where there was no descriptor even for that.
    private mutating func refuseNext(of listener: ListeningSocket) -> Bool {
        guard spare >= 0 else { return false }
        close(spare)
        spare = -1
        let socket = clinux_accept(listener.descriptor)
        guard socket >= 0 else { return false }
        refuse(socket, MeshError(.resourceExhausted, "The daemon has as many files open as it may. Try again later."))
        spare = Self.openSpare()
        return true
    }

    private mutating func admit(_ socket: Int32, _ entrance: Entrance) {
        guard let peer = Peer(socket: socket), let own = core.configuration.roleForPeer(peer) else {
            refuse(socket, MeshError(.permissionDenied, "This socket is its owner's only; ask them, or run your own."))
            return
        }
        // Who comes through the door cannot keep others out.
        let isFromDoor = entrance.isDoor
        let (count, most) =
            isFromDoor ? (fromDoor, core.limits.doorConnections) : (entries.count, core.limits.connections)
        guard count < most || evictSilent(fromDoorAlone: isFromDoor) else {
            refuse(
                socket,
                MeshError(
                    .resourceExhausted,
                    "\(most) connections are open, which is the most. Close one, or try again later."
                ))
            return
        }
        let key = nextKey
        nextKey += 1
        let role = isFromDoor ? Role.nobody : min(own, .parent)
        let connection = ClientConnection(
            key: key, socket: socket, isFromDoor: isFromDoor, role: role, core: core)
        guard clinux_epoll_add(epoll, socket, UInt32(CLINUX_READABLE), key) == 0 else {
            connection.end()
            return
        }
        entries[key] = ReactorEntry(
            connection: connection, socket: socket, isFromDoor: isFromDoor, lineBytes: core.limits.lineBytes,
            now: MonotonicClock.now())
        if isFromDoor { fromDoor += 1 }
    }

    /// Ends the connection that has been silent for longest, where it has been for long enough and nothing runs for it.
    /// One that was forgotten, or is held to keep others out, would otherwise have its place for ever.
    private mutating func evictSilent(fromDoorAlone: Bool) -> Bool {
        let latest = MonotonicClock.now() &- min(core.limits.stall, MonotonicClock.now())
        let silent = entries.filter {
            $0.value.lastHeard <= latest && $0.value.connection.isIdle && ($0.value.isFromDoor || !fromDoorAlone)
        }
        guard let (key, entry) = silent.min(by: { $0.value.lastHeard < $1.value.lastHeard }) else { return false }
        let error = MeshError(
            .unavailable,
            "Nothing came for \(core.limits.stallMilliseconds / 1000) s, and another client needs the place. "
                + "Connect again.")
        entry.connection.write(OutgoingLine.error(nil, error))
        remove(key)
        return true
    }

    private func refuse(_ socket: Int32, _ error: MeshError) {
        let line = OutgoingLine.error(nil, error)
        // A line this short always fits into the empty buffer of a new socket.
        _ = line.withUnsafeBytes { clinux_send_now(socket, $0.baseAddress, $0.count) }
        close(socket)
    }
}
