import BackupFormats
import Foundation
import LibraryModel
import ServiceMesh

/// What a backup needs to go on after a restart. The catalogue as it was stands in the unfinished file itself, as its
/// metadata document; here is where, and what those bytes must be.
///
/// It comes back from the catalogue and is believed only as far as a lie costs no more than the backup: the finished
/// file is proven byte by byte, whoever wrote it.
struct BackupCheckpoint: Codable, Sendable {
    /// A photo whose file is not what the catalogue says.
    struct Deviation: Codable, Sendable {
        let size: Int64
        let sha256: String
    }

    /// Where everything is; the parts of two archives that agree in this can be mixed.
    struct Arrangement: Codable, Sendable, Equatable {
        let metadataOffset: Int64
        let metadataSize: Int64
        /// SHA-256 of the metadata document, lower-case hex.
        let metadataDigest: String
        /// Where the sealed fields stand; nil where there are none.
        var sealed: Place?
        let totalSize: Int64
    }

    /// A document in the unfinished file.
    struct Place: Codable, Sendable, Equatable {
        let offset: Int64
        let size: Int64
        /// SHA-256 of it, lower-case hex.
        let digest: String
    }

    /// Reading it back has shown that the file is whole: only its name is still to come.
    struct Proven: Codable, Sendable {
        let receipt: BackupReceipt
        let lines: [ReceiptLine]
    }

    /// Absolute, or in the library's own `backups/`: see ``LibraryFolder/backupPath(_:)``.
    let target: String
    let time: Timestamp
    /// Whether the backup holds a part of the library only.
    let holdsPart: Bool
    /// Photos whose files were gone at the beginning.
    let missing: [String]
    /// Photos whose originals or sidecars were left out because somebody asked for it; nil in checkpoints of before.
    var originals: Int?
    /// Photos in the trash at the beginning.
    var trashed: Int?
    /// Groups that other machines keep.
    var hubGroups: Int?
    /// Photos with sealed values that did not open when they were to be sealed again.
    var unopened: [String]?
    /// What a backup for the phone apps leaves out; nil of every other.
    var leftForPhone: [ReceiptLine]?
    /// Set where the file is a snapshot in a backup folder.
    var isSnapshot: Bool?
    var deviations: [String: Deviation] = [:]
    /// Photos that could not be read, and why.
    var unreadable: [String: String] = [:]
    var arrangement: Arrangement?
    /// Photos whose bytes are in the file, durably: number and CRC-32 of each, as little-endian 32-bit words.
    var finished = Data()
    var proven: Proven?

    /// The file while it is no backup yet.
    var partial: String { target + BackupFormat.partialSuffix }

    /// Whether what was asked for, a path, was the folder of the target, and not the target itself.
    func isNamedByUs(in wanted: String) -> Bool {
        target.split(separator: "/").last != wanted.split(separator: "/").last
    }

    init(target: String, time: Timestamp, holdsPart: Bool, missing: [String]) {
        self.target = target
        self.time = time
        self.holdsPart = holdsPart
        self.missing = missing
    }

    init?(_ data: Data) {
        guard let read = try? JSONDecoder().decode(Self.self, from: data) else { return nil }
        self = read
    }

    func encoded() throws -> Data { try JSONEncoder().encode(self) }

    /// CRC-32 by the photo's number.
    var finishedEntries: [Int: UInt32] {
        var entries: [Int: UInt32] = [:]
        finished.withUnsafeBytes { bytes in
            for place in stride(from: 0, to: bytes.count - bytes.count % 8, by: 8) {
                let number = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
                entries[Int(number)] = UInt32(
                    littleEndian: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
            }
        }
        return entries
    }

    static func pack(_ entries: [Int: UInt32]) -> Data {
        var packed = Data(capacity: entries.count * 8)
        for (number, checksum) in entries {
            withUnsafeBytes(of: UInt32(clamping: number).littleEndian) { packed.append(contentsOf: $0) }
            withUnsafeBytes(of: checksum.littleEndian) { packed.append(contentsOf: $0) }
        }
        return packed
    }
}
