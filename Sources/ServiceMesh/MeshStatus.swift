/// How a call ended when it did not succeed, with gRPC's names, so that actors, socket and command line agree.
public enum MeshStatus: String, Codable, Sendable, CaseIterable {
    case invalidArgument = "invalid_argument"
    case notFound = "not_found"
    case alreadyExists = "already_exists"
    case failedPrecondition = "failed_precondition"
    case permissionDenied = "permission_denied"
    case unauthenticated
    case resourceExhausted = "resource_exhausted"
    case deadlineExceeded = "deadline_exceeded"
    case unavailable
    case cancelled
    case dataLoss = "data_loss"
    case `internal`
    case unimplemented

    /// Whether the same request may succeed later without being changed; see ``MeshError/isRetryable``.
    public var isRetryable: Bool {
        switch self {
        case .resourceExhausted, .unavailable, .deadlineExceeded: true
        default: false
        }
    }
}

/// What there is not enough of, where `resource_exhausted` does not mean that somebody else is using it just now: to wait
/// and ask again changes nothing, somebody has to do something first. `reason` in an error's details.
public enum Shortage: String, Codable, Sendable, CaseIterable {
    /// The disk is full, or has too little free for what was asked.
    case space = "no_space"
    /// What was asked, or its answer, is larger than is taken.
    case size = "too_large"
    /// There are as many as there may be.
    case count = "too_many"
}

/// The one error that leaves the mesh: a status for programs and a sentence for people that says what to do next.
public struct MeshError: Error, Codable, Sendable, Equatable, CustomStringConvertible {
    public let status: MeshStatus
    public let message: String
    /// Facts a program may use, by name: `photoCount`, `entry`, `pid`.
    public let details: [String: JSONValue]

    public init(_ status: MeshStatus, _ message: String, details: [String: JSONValue] = [:]) {
        self.status = status
        self.message = message
        self.details = details
    }

    /// `resource_exhausted` that no waiting ends.
    public init(short shortage: Shortage, _ message: String, details: [String: JSONValue] = [:]) {
        self.init(
            .resourceExhausted, message,
            details: details.merging(["reason": .string(shortage.rawValue)], uniquingKeysWith: { $1 }))
    }

    /// What there is not enough of; nil for every other status, and where the resource is only in use.
    public var shortage: Shortage? {
        guard status == .resourceExhausted else { return nil }
        return details["reason"]?.stringValue.flatMap(Shortage.init(rawValue:))
    }

    /// Whether the same request may succeed later without being changed and without anybody doing something.
    public var isRetryable: Bool { status.isRetryable && shortage == nil }

    public var description: String { "\(message) (\(status.rawValue))" }

    /// Any error as one of the mesh: cancellation by its name, errors that know their status as they say,
    /// the rest as `internal`.
    public init(describing error: any Error) {
        switch error {
        case let error as MeshError: self = error
        case is CancellationError: self.init(.cancelled, "The request was cancelled.")
        case let error as any MeshErrorConvertible: self = error.meshError
        default: self.init(.internal, "Something went wrong inside: \(error). Please report it.")
        }
    }
}

/// A module's own error that knows how to present itself at the mesh.
public protocol MeshErrorConvertible: Error {
    var meshError: MeshError { get }
}
