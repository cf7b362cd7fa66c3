/// The bounds of a control socket (CONTROL.md, "Limits"). Each is a constructor's argument so that a test can
/// reach it quickly; a daemon takes the defaults.
public struct ControlLimits: Sendable, Equatable {
    /// Bytes of a request line without its end. A longer one is refused and its connection closed.
    public var lineBytes: Int
    /// Bytes of one result. A larger one is answered with `resource_exhausted`: results are paged.
    public var resultBytes: Int
    /// Requests of one connection that run at the same time.
    public var requestsInFlight: Int
    public var connections: Int
    /// Bytes that wait in a connection's outbox before no more requests are read from it.
    public var outboxBytes: Int
    /// Milliseconds for which output may wait without a byte being taken, before the connection is closed.
    public var stallMilliseconds: Int

    public init(
        lineBytes: Int = 1 << 20, resultBytes: Int = 8 << 20, requestsInFlight: Int = 64, connections: Int = 128,
        outboxBytes: Int = 1 << 20, stallMilliseconds: Int = 30_000
    ) {
        self.lineBytes = lineBytes
        self.resultBytes = resultBytes
        self.requestsInFlight = requestsInFlight
        self.connections = connections
        self.outboxBytes = outboxBytes
        self.stallMilliseconds = stallMilliseconds
    }
}
