/// The bounds of a control socket (<doc:Protocol>). Each is a constructor's argument so that a test can
/// reach it quickly; a daemon takes the defaults.
///
/// What clients make the daemon hold, all together: ``totalBytes`` and ``requestBytes``, and for each connection a line
/// that is being read, ``outboxBytes``, and the replies of 64 small requests.
public struct ControlLimits: Sendable, Equatable {
    /// Bytes of a request line without its end. A longer one is refused and its connection closed.
    public var lineBytes: Int
    /// Bytes of one result. A larger one is answered with `resource_exhausted`: results are paged.
    public var resultBytes: Int
    /// Requests of one connection that run at the same time.
    public var requestsInFlight: Int
    public var connections: Int
    /// How many of the ``connections`` may have come through the door, so that a page's program cannot keep the command line out.
    public var doorConnections: Int { connections - connections / 4 }
    /// Bytes that wait in a connection's outbox before no more requests are read from it.
    public var outboxBytes: Int
    /// Bytes that one connection may hold: replies that wait for its reader, and room for those that are being made.
    /// A request whose reply may pass it waits until there is room. At least ``resultBytes`` for any to start.
    public var connectionBytes: Int
    /// The same for all connections together.
    public var totalBytes: Int
    /// Bytes of all requests that run. Past it nothing is read from a connection that has more than ``lineBytes`` of
    /// them, until one is answered.
    public var requestBytes: Int
    /// Open files that wait for one connection's reader, and for those of all connections; past either, a reply with files
    /// that cannot go out at once is `resource_exhausted`, and its files are closed.
    public var connectionFiles: Int
    public var totalFiles: Int
    /// Milliseconds for which output may wait without a byte being taken, and a line that was begun without going on,
    /// before the connection is closed; and for which a connection has to have been silent before it gives way to a new
    /// one where there are too many.
    public var stallMilliseconds: Int

    public init(
        lineBytes: Int = 1 << 20, resultBytes: Int = 8 << 20, requestsInFlight: Int = 64, connections: Int = 128,
        outboxBytes: Int = 256 << 10, connectionBytes: Int = 16 << 20, totalBytes: Int = 64 << 20,
        requestBytes: Int = 64 << 20, connectionFiles: Int = 64, totalFiles: Int = 256,
        stallMilliseconds: Int = 30_000
    ) {
        self.lineBytes = lineBytes
        self.resultBytes = resultBytes
        self.requestsInFlight = requestsInFlight
        self.connections = connections
        self.outboxBytes = outboxBytes
        self.connectionBytes = connectionBytes
        self.totalBytes = totalBytes
        self.requestBytes = requestBytes
        self.connectionFiles = connectionFiles
        self.totalFiles = totalFiles
        self.stallMilliseconds = stallMilliseconds
    }

    /// What is set aside for one reply that may be large: no more than there is altogether, or none could start.
    var pageBytes: Int { min(resultBytes, connectionBytes, totalBytes) }

    /// Nanoseconds of ``stallMilliseconds``.
    var stall: UInt64 { UInt64(max(0, stallMilliseconds)) &* 1_000_000 }
}
