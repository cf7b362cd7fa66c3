import Foundation
import Imaging
import ServiceMesh
import ZipArchive

// How the lower floors' own errors present themselves at the mesh. Their sentences are for people already.

extension ImagingError: MeshErrorConvertible {
    public var meshError: MeshError {
        let (status, kind): (MeshStatus, String) =
            switch self {
            case .unsupported: (.unimplemented, "unsupported_media")
            case .damaged, .workerCrashed: (.dataLoss, "damaged")
            case .tooLarge: (.resourceExhausted, "too_large")
            case .needsMemory: (.resourceExhausted, "needs_memory")
            case .timedOut: (.resourceExhausted, "timed_out")
            case .changed: (.unavailable, "changed")
            case .workerLost: (.unavailable, "worker_lost")
            case .cancelled: (.cancelled, "cancelled")
            case .io: (.unavailable, "io")
            case .diskFull: (.resourceExhausted, "disk_full")
            case .fileTooLarge: (.resourceExhausted, "file_too_large")
            case .noWorkers: (.unavailable, "no_workers")
            }
        let details: [String: JSONValue] = ["imaging": .string(kind)]
        return switch self {
        case .tooLarge, .needsMemory, .timedOut: MeshError(short: .size, description, details: details)
        case .diskFull, .fileTooLarge: MeshError(short: .space, description, details: details)
        default: MeshError(status, description, details: details)
        }
    }
}

extension MeshError {
    /// Whether a picture itself is why it was not opened, and not the disk, the workers or somebody's order: the next picture
    /// may be opened all the same, and this one would fail again.
    package var isPictureFault: Bool {
        let faults: Set = ["unsupported_media", "damaged", "too_large", "needs_memory", "timed_out"]
        return details["imaging"]?.stringValue.map(faults.contains) ?? false
    }
}

extension ZipError: MeshErrorConvertible {
    public var meshError: MeshError {
        let status: MeshStatus =
            switch self {
            case .cancelled: .cancelled
            case .diskFull, .fileTooLarge: .resourceExhausted
            case .readFailed, .writeFailed, .scratchFailed: .unavailable
            case .unusableArchive, .unusableEntry, .entryTooLarge: .dataLoss
            case .sourceSizeDiffers, .readBackDiffers, .changedSinceVerified: .dataLoss
            case .unusableName, .unusableSize: .invalidArgument
            case .writtenTwice, .unwritten: .internal
            }
        return switch self {
        case .diskFull, .fileTooLarge, .scratchFailed(ENOSPC), .scratchFailed(EDQUOT):
            MeshError(short: .space, description)
        default: MeshError(status, description)
        }
    }
}
