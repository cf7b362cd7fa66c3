/// Where connections come in.
struct Entrance: Sendable {
    var listener: ListeningSocket
    /// Whether a client that comes in here is nobody until a service knows who it is, whatever user it runs as.
    let isDoor: Bool

    /// For the reactor's epoll set.
    var key: UInt64 { isDoor ? 2 : 0 }
}
