/// What a server gives a client at most.
public struct HTTPLimits: Sendable {
    /// Connections in all, and of one address (of IPv6, of one /64): a browser has six, a family behind one router a few of those.
    /// Past either the oldest goes that is no device's.
    public var connections = 1_024
    public var connectionsOfAddress = 256
    /// Bytes of a request's line and headers.
    public var headBytes = 32 << 10
    /// Bytes of a body that is a question and not a file.
    public var bodyBytes = 1 << 20
    /// Bytes of a picture that a member of a group sends, and how many of those are in memory at once, each of another member.
    public var pictureBytes = 16 << 20
    public var picturesAtOnce = 4
    /// Seconds for the whole of such a picture: as long as a member's machine goes on trying. One that a slow client sends fills a
    /// room meanwhile.
    public var pictureSeconds = 180
    /// Bytes of a file's body that are read to their end where the answer is that it is not wanted.
    public var unwantedBytes = 16 << 20
    /// Seconds for which a thumbnail is given again without asking the daemon.
    public var keptSeconds = 10
    /// Requests a second of one address, and how many of them may come at once: a wall of thumbnails is hundreds.
    public var requestsPerSecond = 2_000.0
    public var requestsAtOnce = 6_000.0
    /// The same for requests of nobody who is known: pairing, and whatever is not paired.
    public var strangersPerSecond = 10.0
    public var strangersAtOnce = 60.0
    /// Seconds until the first request's headers are there, TLS included.
    public var headSeconds = 15
    /// Seconds until the next request's headers are there.
    public var idleSeconds = 75
    /// Seconds for a body that is a question.
    public var bodySeconds = 30
    /// Seconds without a byte either way.
    public var silentSeconds = 120
    /// Bytes a second below which a client that sends or takes a file is given up, past ``silentSeconds``.
    public var slowestBytesPerSecond = 1_024
    /// Threads that read and write. The work is done elsewhere.
    public var threads = 2

    public init() {}
}
