import CLinux

/// What the reactor knows of one connection. Its thread's alone.
///
/// A class, so that growing an input buffer through the dictionary does not copy it.
final class ReactorEntry {
    let connection: ClientConnection
    let socket: Int32
    /// Whether it came through the door.
    let isFromDoor: Bool
    var input: LineBuffer
    var armed = UInt32(CLINUX_READABLE)
    var hasSeenEnd = false
    /// Bytes thrown away since the client was refused.
    var discarded = 0
    /// When it last said something, or came.
    var lastHeard: UInt64
    /// See ``ClientConnection/Standing``.
    var expiresAt: UInt64?
    var drainsSince: UInt64?
    var roleFallsAt: UInt64?
    /// The moment by which a line that was begun has to go on.
    var lineExpiresAt: UInt64?
    /// Whether the reactor looks at its deadlines.
    var isExpiring = false

    init(connection: ClientConnection, socket: Int32, isFromDoor: Bool, lineBytes: Int, now: UInt64) {
        self.connection = connection
        self.socket = socket
        self.isFromDoor = isFromDoor
        input = LineBuffer(limit: lineBytes)
        lastHeard = now
    }

    /// The moment by which something has to have happened here, nil for none.
    /// - Parameters:
    ///   - contendedSince: since when other connections wait for room that this one holds; nil where none does.
    ///   - stall: nanoseconds that it has.
    func deadline(contendedSince: UInt64?, stall: UInt64) -> UInt64? {
        var next = min(expiresAt ?? .max, lineExpiresAt ?? .max)
        if let drainsSince, let contendedSince { next = min(next, max(drainsSince, contendedSince) &+ stall) }
        return next == .max ? nil : next
    }
}
