/// Why a whole archive is refused: what its parts say about each other does not hold.
public enum ArchiveProblem: Hashable, Sendable {
    /// No end-of-central-directory record: not a ZIP file, or cut off.
    case endNotFound
    /// Two end records could both be meant (one may sit in the other's comment).
    case endAmbiguous
    /// Parts on several disks.
    case severalDisks
    /// The end record and its ZIP64 form contradict each other, or one is damaged.
    case zip64Disagrees
    /// The central directory is not where the end record says.
    case directoryMisplaced
    /// The record of entry `index` (from 0) in the central directory is damaged.
    case directoryDamaged(index: Int)
    /// The end record counts other entries than the directory holds.
    case countDisagrees(declared: UInt64, found: UInt64)
    /// More entries than the limit.
    case tooManyEntries(count: UInt64, limit: Int)
    /// A central directory of more bytes than the limit.
    case directoryTooLarge(size: UInt64, limit: Int)
    /// The entries declare more bytes than the limit, together.
    case tooManyBytes(limit: Int64)
    /// The archive as a whole would inflate by more than the limit.
    case inflatesTooMuch(ratio: Int)
    /// Two entries share bytes of the file: the sign of a ZIP bomb.
    case overlap(entry: String, other: String)
}

extension ArchiveProblem: CustomStringConvertible {
    public var description: String {
        switch self {
        case .endNotFound: "it is no ZIP file, or its end is missing"
        case .endAmbiguous: "it has two ends, and which one is meant cannot be known"
        case .severalDisks: "it is one part of several; join them first"
        case .zip64Disagrees: "its two end records contradict each other"
        case .directoryMisplaced: "its directory is not where its end record says"
        case .directoryDamaged(let index): "its directory is damaged at entry \(index + 1)"
        case .countDisagrees(let declared, let found): "it declares \(declared) entries and holds \(found)"
        case .tooManyEntries(let count, let limit): "it has \(count) entries; at most \(limit) are taken"
        case .directoryTooLarge(let size, let limit): "its directory has \(size) bytes; at most \(limit) are taken"
        case .tooManyBytes(let limit): "its entries declare more than the \(limit) bytes that are allowed"
        case .inflatesTooMuch(let ratio): "it would inflate by more than \(ratio) times"
        case .overlap(let entry, let other): "'\(entry)' and '\(other)' share the same bytes"
        }
    }
}
