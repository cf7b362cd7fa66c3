import ServiceMesh

/// Requests to another machine over HTTP/1.1, with or without TLS.
///
/// ```swift
/// let client = try HTTPClient()
/// let hub = try HTTPURL("https://hub.example:8443")
/// let answer = try await client.send(
///     .get(hub.appending(["api", "version"])), receiving: .memory(atMost: 64 << 10), within: .seconds(20))
/// await client.stop()
/// ```
///
/// Connections are kept and used again. Certificates are always checked; nothing is followed to another address, no
/// cookies are kept, and no files of the user's (`.netrc`, `.curlrc`) are read.
///
/// All transfers run on one thread of the client's own, which also writes the files that are received: a disk that stands
/// still holds up the others. The alternative, to pause a transfer and write on a `BlockingPool`, was rejected: two
/// thread hops for each 64 KiB, for a case in which the library is on that same disk.
public final class HTTPClient: Sendable {
    /// Who stands between.
    public enum Proxy: Sendable, CaseIterable {
        /// Nobody, whatever the environment says.
        case none
        /// Whom `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` name.
        case environment
    }

    private let inbox: TransferInbox

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM). Who is vouched for by them is trusted, and nobody else: a family with
    ///     its own authority need not trust the world's.
    ///   - proxy: who stands between.
    /// - Throws: ``HTTPClientError/unexpected(_:)`` where the process has no memory or descriptors left.
    public init(
        limits: HTTPClientLimits = HTTPClientLimits(), authorities: String? = nil, proxy: Proxy = .none
    ) throws(HTTPClientError) {
        inbox = try TransferLoop.start(Surroundings(limits: limits, authorities: authorities, proxy: proxy))
    }

    deinit { inbox.stopAdmission() }

    /// Sends a request and returns when all of the answer is there.
    ///
    /// Once it has returned, by whatever way, nothing reads or writes the files of the request any more. Cancelling the
    /// task ends the transfer and its connection at once.
    /// - Parameters:
    ///   - receiving: where the body of a good answer goes, and how large it may get.
    ///   - time: for all of it: waiting for a connection, connecting, sending and receiving.
    /// - Throws: what did not come about. A status such as 404 is an answer.
    public func send(
        _ request: HTTPRequest, receiving: HTTPReceiving, within time: Duration
    ) async throws(HTTPClientError) -> HTTPResponse {
        // Otherwise the optimiser may let go of the client, which ends its transfers, while this one is on its way.
        defer { withExtendedLifetime(self) {} }
        let deadline = ContinuousClock.now.advanced(by: time)
        let id = inbox.nextID()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                inbox.submit(
                    Arrival(
                        id: id, request: request, receiving: receiving, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            inbox.cancel(id)
        }
        return try result.get()
    }

    /// Ends all transfers with ``HTTPClientError/stopped``, takes no more, and returns when the thread has ended. May be
    /// called more than once.
    public func stop() async {
        inbox.stopAdmission()
        await inbox.ended()
    }
}

/// What all transfers of a client have in common.
struct Surroundings: Sendable {
    let limits: HTTPClientLimits
    let authorities: String?
    let proxy: HTTPClient.Proxy
}
