import Database
import Imaging
import ServiceMesh
import ZipArchive

// How the lower floors' own errors present themselves at the mesh. Their sentences are for people already.

extension DatabaseError: MeshErrorConvertible {
    public var meshError: MeshError {
        let status: MeshStatus =
            switch self {
            case .cannotOpen, .notADatabase, .foreign, .newer, .migrationFailed, .locked, .readOnly, .writingStopped:
                .failedPrecondition
            case .corrupt, .unexpectedValue: .dataLoss
            case .constraint(.unique, _): .alreadyExists
            case .constraint(.foreignKey, _): .notFound
            case .constraint: .invalidArgument
            case .diskFull, .busy, .outOfMemory, .tooLarge: .resourceExhausted
            case .ioFailure, .closed, .notCommitted: .unavailable
            case .outcomeUnknown: .dataLoss
            case .deadlineExceeded: .deadlineExceeded
            case .invalidStatement: .internal
            }
        return MeshError(status, description, details: details)
    }

    private var details: [String: JSONValue] {
        switch self {
        case .outcomeUnknown: [MeshError.outcome: .string("unknown")]
        case .diskFull: MeshError.details(of: .space)
        case .tooLarge: MeshError.details(of: .size)
        default: [:]
        }
    }
}

extension MeshError {
    fileprivate static let outcome = "outcome"

    fileprivate static func details(of shortage: Shortage) -> [String: JSONValue] {
        ["reason": .string(shortage.rawValue)]
    }

    /// Whether the change may have been stored although it failed. What belongs to it stays as it is then, in `staging/`
    /// and in place: the next start sees whether its row is there.
    var mayHaveBeenStored: Bool { details[Self.outcome] == .string("unknown") }
}

extension ImagingError: MeshErrorConvertible {
    public var meshError: MeshError {
        let (status, kind): (MeshStatus, String) =
            switch self {
            case .unsupported: (.unimplemented, "unsupported_media")
            case .damaged, .workerCrashed, .timedOut: (.dataLoss, "damaged")
            case .tooLarge: (.resourceExhausted, "too_large")
            case .changed: (.unavailable, "changed")
            case .workerLost: (.unavailable, "worker_lost")
            case .cancelled: (.cancelled, "cancelled")
            case .io: (.unavailable, "io")
            case .diskFull: (.resourceExhausted, "disk_full")
            case .noWorkers: (.unavailable, "no_workers")
            }
        let details: [String: JSONValue] = ["imaging": .string(kind)]
        return switch self {
        case .tooLarge: MeshError(short: .size, description, details: details)
        case .diskFull: MeshError(short: .space, description, details: details)
        default: MeshError(status, description, details: details)
        }
    }
}

extension ZipError: MeshErrorConvertible {
    public var meshError: MeshError {
        let status: MeshStatus =
            switch self {
            case .cancelled: .cancelled
            case .diskFull: .resourceExhausted
            case .readFailed, .writeFailed: .unavailable
            case .unusableArchive, .unusableEntry, .entryTooLarge: .dataLoss
            case .sourceSizeDiffers: .dataLoss
            case .unusableName, .unusableSize: .invalidArgument
            case .writtenTwice, .unwritten: .internal
            }
        return self == .diskFull ? MeshError(short: .space, description) : MeshError(status, description)
    }
}
