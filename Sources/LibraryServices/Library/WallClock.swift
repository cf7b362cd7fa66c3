import ServiceMesh

/// The date and time as whoever sets this machine's clock sets them. Injected, so that tests can set it.
package struct WallClock: Sendable {
    package let now: @Sendable () -> Timestamp

    package init(now: @escaping @Sendable () -> Timestamp) { self.now = now }
}
