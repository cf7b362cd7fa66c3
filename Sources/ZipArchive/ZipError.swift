import Files
import Foundation

/// Everything that writing or reading an archive can end with. `description` says what to do next.
///
/// Names inside are as an archive or a caller gave them: escape them before they reach a terminal or a log.
public enum ZipError: Error, Hashable, Sendable {
    /// The caller's `cancelled` answered true. What was written so far is of no use.
    case cancelled
    /// The file system is full, or its quota is used up (ENOSPC, EDQUOT).
    case diskFull
    /// The archive is larger than its file system takes, or this process may write (EFBIG).
    case fileTooLarge
    /// Reading the source of an entry, or an archive, failed with this errno.
    case readFailed(errno: Int32)
    /// Writing failed with this errno, other than for a lack of space.
    case writeFailed(errno: Int32)
    /// What is remembered of the entries lies in a file that has no name, and that file failed with this errno.
    case scratchFailed(errno: Int32)

    // Writing

    /// A name that readers would have to refuse.
    case unusableName(entry: String, problem: EntryProblem)
    /// A size below zero, or a total that passes 2^63 - 1 bytes.
    case unusableSize(entry: String)
    /// The source holds fewer or more bytes than the layout says.
    case sourceSizeDiffers(entry: String, expected: Int64)
    /// The entry has been written, or is being written by another thread.
    case writtenTwice(entry: String)
    /// The disk gave back other bytes than were written.
    case readBackDiffers(entry: String)
    /// `finish()` came while entries were missing; `entry` is the first of them.
    case unwritten(entry: String, count: Int)

    // Reading

    /// The archive as a whole cannot be trusted.
    case unusableArchive(ArchiveProblem)
    /// One entry cannot be taken; others of the same archive may be.
    case unusableEntry(name: String, EntryProblem)
    /// An entry's bytes are not those that were verified before: somebody writes to the archive.
    case changedSinceVerified(entry: String)
    /// The entry is larger than the caller's own limit, in bytes.
    case entryTooLarge(name: String, size: Int64, limit: Int64)
}

extension ZipError: CustomStringConvertible, LocalizedError {
    public var description: String {
        switch self {
        case .cancelled: "Cancelled."
        case .fileTooLarge:
            "The file would be too large for this file system: choose a place on another one, and start again."
        case .diskFull: "The disk is full: free some space, or choose another place, and start again."
        case .readFailed(let code): "Reading failed (\(Self.text(code))): check the disk and its permissions."
        case .writeFailed(let code): "Writing failed (\(Self.text(code))): check the disk and its permissions."
        case .scratchFailed(let code):
            "The program's own notes about the archive failed (\(Self.text(code))): free some space on the library's disk, check it, "
                + "and start again."
        case .unusableName(let entry, let problem): "'\(entry)' cannot be the name of an entry: \(problem)."
        case .unusableSize(let entry): "The size of '\(entry)' is out of range."
        case .sourceSizeDiffers(let entry, let expected):
            "'\(entry)' no longer has the \(expected) bytes that were expected: look at it and start again."
        case .writtenTwice(let entry): "'\(entry)' was to be written twice."
        case .readBackDiffers(let entry):
            "The disk gave back other bytes of '\(entry)' than were written to it: it may be failing. Choose another place."
        case .unwritten(let entry, let count): "\(count) entries were not written, '\(entry)' first."
        case .unusableArchive(let problem): "This archive cannot be used: \(problem)."
        case .unusableEntry(let name, let problem): "'\(name)' in this archive cannot be used: \(problem)."
        case .changedSinceVerified(let entry):
            "'\(entry)' in this archive has changed while it was read: copy the archive to another place, and start again."
        case .entryTooLarge(let name, let size, let limit):
            "'\(name)' in this archive has \(size) bytes; at most \(limit) are taken."
        }
    }

    public var errorDescription: String? { description }

    private static func text(_ code: Int32) -> String { String(cString: strerror(code)) }

    /// Runs what reads or writes scratch files, which may throw errors of this type as well.
    /// - Throws: `.scratchFailed` for what the files throw.
    static func scratch<Value>(_ body: () throws -> Value) throws(ZipError) -> Value {
        do {
            return try body()
        } catch {
            throw ZipError(scratch: error)
        }
    }

    /// What a scratch file has thrown; an error of this type as it is.
    init(scratch error: any Error) {
        switch error {
        case let error as ZipError: self = error
        case let failure as FileSystem.Failure: self = .scratchFailed(errno: failure.code)
        // It is short, or has other bytes than were written.
        default: self = .scratchFailed(errno: EIO)
        }
    }

    /// The case for a failed write with `errno`.
    static func writing(_ code: Int32) -> ZipError {
        switch code {
        case ENOSPC, EDQUOT: .diskFull
        case EFBIG: .fileTooLarge
        default: .writeFailed(errno: code)
        }
    }
}
