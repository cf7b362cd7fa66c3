/// Where connections come in.
struct Entrance: Sendable {
    var listener: ListeningSocket
    /// Whether whoever comes in here is nobody until a service knows who that is, whatever user they are.
    let isDoor: Bool

    /// For the reactor's epoll set.
    var key: UInt64 { isDoor ? 2 : 0 }
}
