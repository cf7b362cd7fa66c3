import CLinux
import Glibc
import ServiceMesh

/// The one thread that waits for the sockets: it accepts, reads lines and hands them on, sends what did not go
/// out at once, and closes. Its state belongs to its thread alone and needs no lock.
struct Reactor: ~Copyable {
    /// Bytes that a refused client may still send while it is meant to read why.
    private static let mostDiscarded = 16 << 20
    /// Bytes of a request that may run on the reactor's own thread: decoding more than this takes too long there.
    private static let mostInlineBytes = 8 << 10
    private static let wakeKey: UInt64 = 1
    /// Nanoseconds after which the listener's name is looked for again: nothing tells when somebody removes it.
    private static let nameInterval: UInt64 = 1_000_000_000

    let core: ServerCore
    let epoll: Int32
    /// By their keys.
    var entrances: [UInt64: Entrance]
    var entries: [UInt64: ReactorEntry] = [:]
    /// Keys of the entries with a moment at which they expire.
    private var expiring: Set<UInt64> = []
    var nextKey: UInt64 = 3
    /// How many of the entries came through the door.
    var fromDoor = 0
    private var chunk = [UInt8](repeating: 0, count: 64 << 10)
    private var events = [clinux_event](repeating: clinux_event(), count: 64)
    /// Whether the next small request may run on this thread; used up by the first.
    private var mayRunInline = false
    private var isReading = true
    private var isFinishing = false
    var acceptsAgainAt: UInt64?
    /// Given up for a moment where the process has no descriptor left, so that who waits is told; -1 where it has not come back.
    var spare = Reactor.openSpare()
    private var looksForNameAt = MonotonicClock.now() &+ Reactor.nameInterval

    /// - Parameter epoll: from ``makeEpoll(core:entrances:)``; closed at the end.
    init(core: ServerCore, entrances: [Entrance], epoll: Int32) {
        self.core = core
        self.entrances = Dictionary(uniqueKeysWithValues: entrances.map { ($0.key, $0) })
        self.epoll = epoll
    }

    /// What may fail of a reactor's making, so that it fails before there is a thread.
    static func makeEpoll(core: ServerCore, entrances: [Entrance]) throws(ControlError) -> Int32 {
        let epoll = clinux_epoll_create()
        guard epoll >= 0 else { throw ControlError.system(operation: "epoll", errno: errno) }
        let waits = [(core.wakeDescriptor, Self.wakeKey)] + entrances.map { ($0.listener.descriptor, $0.key) }
        for (descriptor, key) in waits
        where clinux_epoll_add(epoll, descriptor, UInt32(CLINUX_READABLE), key) != 0 {
            let code = errno
            close(epoll)
            throw ControlError.system(operation: "epoll", errno: code)
        }
        return epoll
    }

    deinit {
        close(epoll)
        close(spare)
    }

    /// Waits for something to happen and does what it asks for.
    /// - Returns: false when ``finish()`` was asked for and the last connection has gone.
    mutating func turn() -> Bool {
        let count = clinux_epoll_wait(epoll, &events, Int32(events.count), milliseconds())
        // Nothing but a programming error can fail here, and no connection could be served after it.
        precondition(count >= 0, "epoll_wait failed")
        // Where several have something to say at once, the pool's threads work side by side.
        mayRunInline = count == 1
        for index in 0..<Int(count) {
            let event = events[index]
            switch event.key {
            case Self.wakeKey: takeInbox()
            case let key where entrances[key] != nil: accept(key)
            default: serve(event.key, event.events)
            }
        }
        expire()
        guard isFinishing && entries.isEmpty else { return true }
        for command in core.end() { command(&self) }
        return false
    }

    private mutating func takeInbox() {
        clinux_wake_clear(core.wakeDescriptor)
        let inbox = core.takeInbox()
        for key in inbox.attention {
            if let entry = entries[key] { pump(entry) }
            settle(key)
        }
        for command in inbox.commands { command(&self) }
    }

    // MARK: Commands

    /// Accepts nobody any more, and refuses the requests that still come.
    mutating func drain() {
        core.isDraining.store(true, ordering: .relaxed)
        for entrance in entrances.values { _ = clinux_epoll_remove(epoll, entrance.listener.descriptor) }
        entrances = [:]
        acceptsAgainAt = nil
    }

    /// Reads nothing any more, cancels what still runs, and ends each connection when its replies have gone out.
    mutating func finish() {
        drain()
        isReading = false
        isFinishing = true
        for entry in Array(entries.values) {
            entry.connection.refuse(shuttingDown: true)
            settle(entry.connection.key)
        }
    }

    mutating func lowerRoles(_ fall: RoleFall) {
        for (key, entry) in entries {
            entry.connection.lowerRole(fall)
            // It may be over with that.
            settle(key)
        }
    }

    /// Ends the requests that a connection's role does not allow any more.
    mutating func endForbidden(of key: UInt64) { entries[key]?.connection.endForbidden() }

    /// Ends the requests that no connection's role allows at this moment, as when its time is over: for tests, whose clocks wake no
    /// thread.
    mutating func endForbidden() {
        for entry in entries.values { entry.connection.endForbidden() }
    }

    /// Listens anew where the listener's name was removed: who is connected stays so, and others find it again. Where that
    /// cannot be done, as long as the folder's own folder is missing, the next look tries.
    mutating func restoreName() {
        for (key, entrance) in entrances {
            let lost = entrance.listener
            guard lost.hasLostItsName, let new = try? ListeningSocket(at: lost.path),
                clinux_epoll_add(epoll, new.descriptor, UInt32(CLINUX_READABLE), key) == 0
            else { continue }
            _ = clinux_epoll_remove(epoll, lost.descriptor)
            entrances[key]?.listener = new
            acceptsAgainAt = nil
        }
    }

    // MARK: Serving

    private mutating func serve(_ key: UInt64, _ events: UInt32) {
        guard let entry = entries[key] else { return }
        if events & UInt32(CLINUX_HUNG_UP) != 0 {
            remove(key)
            return
        }
        if events & UInt32(CLINUX_WRITABLE) != 0 {
            entry.connection.flush()
            pump(entry)
        }
        if events & UInt32(CLINUX_READABLE) != 0, isReading, !read(entry) {
            remove(key)
            return
        }
        settle(key)
    }

    /// Reads once; where more is there, the next wait returns at once, and the other connections had their turn.
    /// - Returns: false where the connection is broken.
    private mutating func read(_ entry: ReactorEntry) -> Bool {
        let connection = entry.connection
        let intake = connection.intake
        guard intake == .taken || intake == .discarded, !entry.hasSeenEnd else { return true }
        let count = chunk.withUnsafeMutableBytes { clinux_receive_now(entry.socket, $0.baseAddress, $0.count) }
        guard count >= 0 else { return errno == EAGAIN }
        entry.lastHeard = MonotonicClock.now()
        if count == 0 {
            entry.hasSeenEnd = true
            pump(entry)
        } else if intake == .discarded {
            entry.discarded += count
        } else {
            var inline = mayRunInline && count <= Self.mostInlineBytes
            let outcome = entry.input.add(chunk.span.extracting(0..<count)) { line in
                connection.receive(line, inline: inline)
                inline = false
                return connection.intake == .taken
            }
            if outcome == .tooLong { refuseTooLong(entry) }
            entry.lineExpiresAt = nil
            expectMore(entry, outcome)
        }
        return true
    }

    /// Goes on with lines that were held back, and with the end of the input once they are all taken.
    private func pump(_ entry: ReactorEntry) {
        let connection = entry.connection
        guard isReading, connection.intake == .taken else { return }
        func take(_ line: Span<UInt8>) -> Bool {
            connection.receive(line, inline: false)
            return connection.intake == .taken
        }
        let outcome = entry.hasSeenEnd ? entry.input.finish(take) : entry.input.resume(take)
        if outcome == .tooLong { refuseTooLong(entry) }
        expectMore(entry, outcome)
        if entry.hasSeenEnd, entry.input.isEmpty { connection.endInput() }
    }

    /// Gives a line that was begun its time, unless it has it already.
    private func expectMore(_ entry: ReactorEntry, _ outcome: LineBuffer.Outcome) {
        let isBegun = outcome == .drained && !entry.input.isEmpty && !entry.hasSeenEnd
        guard isBegun else { return entry.lineExpiresAt = nil }
        if entry.lineExpiresAt == nil { entry.lineExpiresAt = MonotonicClock.now() &+ core.limits.stall }
    }

    private func refuseTooLong(_ entry: ReactorEntry) {
        refuse(
            entry,
            "A line is longer than \(core.limits.lineBytes) bytes. Send less at a time; this connection is closed.")
    }

    private func refuseUnfinished(_ entry: ReactorEntry) {
        refuse(
            entry,
            "A line was begun and has not gone on for \(core.limits.stallMilliseconds / 1000) s. End each request with a "
                + "line feed; this connection is closed.")
    }

    private func refuse(_ entry: ReactorEntry, _ message: String) {
        entry.input = LineBuffer(limit: core.limits.lineBytes)
        entry.lineExpiresAt = nil
        entry.connection.refuse(shuttingDown: false)
        entry.connection.write(OutgoingLine.fault(RequestFault(.invalidRequest, message)))
    }

    /// Waits for what the connection now needs, or ends it.
    private mutating func settle(_ key: UInt64) {
        guard let entry = entries[key] else { return }
        let standing = entry.connection.standing(inputHasEnded: entry.hasSeenEnd)
        guard !standing.isOver, entry.discarded <= Self.mostDiscarded else {
            remove(key)
            return
        }
        entry.expiresAt = standing.expiresAt
        entry.drainsSince = standing.drainsSince
        entry.roleFallsAt = standing.roleFallsAt
        // Where nothing is read here, it is not the client that keeps its line from going on.
        if !standing.wantsRead { entry.lineExpiresAt = nil }
        let isExpiring = entry.expiresAt != nil || entry.lineExpiresAt != nil || entry.roleFallsAt != nil
        if isExpiring != entry.isExpiring {
            entry.isExpiring = isExpiring
            if isExpiring { expiring.insert(key) } else { expiring.remove(key) }
        }
        var wanted: UInt32 = 0
        if standing.wantsRead && isReading && !entry.hasSeenEnd { wanted |= UInt32(CLINUX_READABLE) }
        if standing.wantsWrite { wanted |= UInt32(CLINUX_WRITABLE) }
        guard wanted != entry.armed else { return }
        entry.armed = wanted
        if clinux_epoll_change(epoll, entry.socket, wanted, key) != 0 { remove(key) }
    }

    mutating func remove(_ key: UInt64) {
        guard let entry = entries.removeValue(forKey: key) else { return }
        if entry.isFromDoor { fromDoor -= 1 }
        expiring.remove(key)
        _ = clinux_epoll_remove(epoll, entry.socket)
        entry.connection.end()
    }

    // MARK: Time

    private func deadline(of entry: ReactorEntry) -> UInt64? {
        entry.deadline(contendedSince: core.budget.contendedSince, stall: core.limits.stall)
    }

    /// How long to wait for events: until the next connection expires, for ever where none does.
    private func milliseconds() -> Int32 {
        var next = acceptsAgainAt
        if !entrances.isEmpty { next = min(next ?? .max, looksForNameAt) }
        for key in expiring {
            guard let entry = entries[key] else { continue }
            let soonest = min(deadline(of: entry) ?? .max, entry.roleFallsAt ?? .max)
            if soonest != .max { next = min(next ?? .max, soonest) }
        }
        guard let next else { return -1 }
        let now = MonotonicClock.now()
        // Rounded up, so that the wait does not end just before the moment, over and over.
        return next <= now ? 0 : Int32(clamping: (next - now) / 1_000_000 + 1)
    }

    private mutating func expire() {
        guard !entrances.isEmpty || !expiring.isEmpty else { return }
        let now = MonotonicClock.now()
        if looksForNameAt <= now {
            looksForNameAt = now &+ Self.nameInterval
            restoreName()
        }
        for key in expiring {
            if let entry = entries[key], let falls = entry.roleFallsAt, falls <= now {
                entry.connection.endForbidden()
                settle(key)
            }
            guard let entry = entries[key], let deadline = deadline(of: entry), deadline <= now else { continue }
            if let line = entry.lineExpiresAt, line <= now {
                refuseUnfinished(entry)
                settle(key)
            } else {
                remove(key)
            }
        }
        if let again = acceptsAgainAt, again <= now {
            acceptsAgainAt = nil
            for (key, entrance) in entrances {
                _ = clinux_epoll_change(epoll, entrance.listener.descriptor, UInt32(CLINUX_READABLE), key)
            }
        }
    }
}
