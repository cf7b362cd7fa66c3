import ServiceMesh

/// Why a request is not answered with what it asks for: HTTP's number for it, and the mesh's error.
struct Refusal: Error {
    let status: Int
    let error: MeshError
    let headers: [Header]

    init(_ status: Int, _ error: MeshError, headers: [Header] = []) {
        self.status = status
        self.error = error
        self.headers = headers
    }

    init(_ status: Int, _ meshStatus: MeshStatus, _ message: String, headers: [Header] = []) {
        self.init(status, MeshError(meshStatus, message), headers: headers)
    }

    /// An error of the mesh or of the way to it.
    init(_ error: any Error) {
        if let refusal = error as? Refusal {
            self = refusal
            return
        }
        let error = MeshError(describing: error)
        let wait = error.isRetryable ? [Header("Retry-After", "1")] : []
        self.init(Self.status(of: error), error, headers: wait)
    }

    private static func status(of error: MeshError) -> Int {
        switch error.status {
        case .invalidArgument: 400
        case .unauthenticated: 401
        case .permissionDenied: 403
        case .notFound: 404
        case .alreadyExists, .failedPrecondition, .cancelled: 409
        case .resourceExhausted: error.shortage == nil ? 429 : 507
        case .unavailable: 503
        case .deadlineExceeded: 504
        case .unimplemented: 501
        case .internal, .dataLoss: 500
        }
    }

    static let notFound = Refusal(404, .notFound, "There is nothing at this address.")
    static let stopping = Refusal(
        503, .unavailable, "The web server is stopping. Start it again with 'smilepile web'.",
        headers: [Header("Retry-After", "1")])
    static let unpaired = Refusal(
        401, .unauthenticated,
        "This browser is not paired. Run 'smilepile web' on the machine with the photos, and open the address it prints."
    )
}
