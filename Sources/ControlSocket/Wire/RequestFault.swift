import ServiceMesh

/// The error codes that JSON-RPC 2.0 itself gives out.
enum ProtocolCode: Int, Sendable {
    case parse = -32700
    case invalidRequest = -32600
    case methodNotFound = -32601
    case invalidParams = -32602
    case `internal` = -32603

    /// The same in the mesh's words, for clients that look at `data.status` alone.
    var status: MeshStatus {
        switch self {
        case .parse, .invalidRequest, .invalidParams: .invalidArgument
        case .methodNotFound: .unimplemented
        case .internal: .internal
        }
    }
}

/// A request that never reaches the mesh: the code, a sentence, and the id to answer where it could be read.
struct RequestFault: Error {
    let code: ProtocolCode
    let message: String
    let id: RequestID?
    let details: [String: JSONValue]

    init(_ code: ProtocolCode, _ message: String, id: RequestID? = nil, details: [String: JSONValue] = [:]) {
        self.code = code
        self.message = message
        self.id = id
        self.details = details
    }
}

extension MeshStatus {
    /// Its code on the socket: -32000 less the number that gRPC gives the same status, so that it never changes.
    var code: Int {
        switch self {
        case .cancelled: -32001
        case .invalidArgument: -32003
        case .deadlineExceeded: -32004
        case .notFound: -32005
        case .alreadyExists: -32006
        case .permissionDenied: -32007
        case .resourceExhausted: -32008
        case .failedPrecondition: -32009
        case .unimplemented: -32012
        case .internal: -32013
        case .unavailable: -32014
        case .dataLoss: -32015
        case .unauthenticated: -32016
        }
    }
}
