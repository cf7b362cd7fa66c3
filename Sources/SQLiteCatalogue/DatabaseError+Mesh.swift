import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

// What the database refuses or fails with, at the mesh. Its sentences are for people already.
extension DatabaseError: MeshErrorConvertible {
    public var meshError: MeshError {
        let status: MeshStatus =
            switch self {
            case .cannotOpen, .notADatabase, .foreign, .newer, .migrationFailed, .locked, .readOnly, .writingStopped,
                .writingRefused:
                .failedPrecondition
            case .corrupt, .unexpectedValue, .unreadableRow: .dataLoss
            case .constraint(.unique, _): .alreadyExists
            case .constraint(.foreignKey, _): .notFound
            case .constraint: .invalidArgument
            case .diskFull, .fileTooLarge, .busy, .outOfMemory, .tooLarge: .resourceExhausted
            case .ioFailure, .closed, .notCommitted: .unavailable
            case .outcomeUnknown: .dataLoss
            case .deadlineExceeded: .deadlineExceeded
            case .invalidStatement: .internal
            }
        return switch self {
        case .diskFull, .fileTooLarge: MeshError(short: .space, description)
        case .tooLarge: MeshError(short: .size, description)
        case .unreadableRow(let row): MeshError(status, UnreadableEntry(row).sentence)
        case .outcomeUnknown: MeshError(status, description, details: MeshError.unknownOutcome)
        default: MeshError(status, description)
        }
    }
}
