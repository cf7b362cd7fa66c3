/// What the client bears at most, whoever is on the other side.
public struct HTTPClientLimits: Sendable {
    /// Until a connection is made, TLS included.
    public var connecting: Duration = .seconds(15)
    /// A transfer that moves fewer than ``slowestBytesPerSecond`` for so long is given up: also while the other side thinks
    /// about what it has got. Whole seconds, 1 or more.
    public var slowSeconds = 30
    public var slowestBytesPerSecond = 512
    /// Requests that wait or run; one more is refused.
    public var transfers = 512
    /// Connections to one host, and in all. Requests past them wait, and their time runs.
    public var connectionsOfHost = 8
    public var connections = 32
    /// Seconds after which an unused connection is not used again: less than the 75 after which a SmilePile closes it.
    public var idleSeconds = 60
    /// Of an answer: lines, and bytes of all of them with those that come before it (1xx) and after it (trailers).
    public var headerLines = 128
    public var headerBytes = 64 << 10
    /// Bytes of an answer's body that are kept where the status is not 2xx.
    public var failureBodyBytes = 64 << 10
    /// Headers of a request.
    public var requestHeaders = 64

    public init() {}
}
