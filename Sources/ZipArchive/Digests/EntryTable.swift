import Scratch
import Synchronization

/// A value that is kept as bytes, always as many.
package protocol RecordedValue: Sendable {
    /// In bytes.
    static var recordSize: Int { get }

    /// - Parameter record: as many bytes as ``recordSize`` says, which ``put(into:)`` has filled.
    init(record: UnsafeRawBufferPointer)

    func put(into record: UnsafeMutableRawBufferPointer)
}

/// What is known of entries, by their places in the archive: one bit in memory for each entry; the values lie in a file once they are
/// many, where there is a folder for that.
///
/// Any number of threads may use it at once, as long as no two of them write of the same entry.
package final class EntryTable<Value: RecordedValue>: Sendable {
    private let records: ScratchRecords
    private let known: Mutex<EntrySet>

    package init(in scratch: Scratch = .memory) {
        records = ScratchRecords(of: Value.recordSize, in: scratch)
        known = Mutex([])
    }

    private init(_ records: ScratchRecords, _ known: EntrySet) {
        self.records = records
        self.known = Mutex(known)
    }

    /// One that knows the same, and may forget it without this one. What either of them learns of an entry that both know, both
    /// have learnt.
    package func copy() -> EntryTable { EntryTable(records, known.withLock { $0 }) }

    /// Whether something is known of an entry.
    package func contains(_ index: Int) -> Bool { known.withLock { $0.contains(index) } }

    /// - Throws: `.scratchFailed`.
    package subscript(index: Int) -> Value? {
        get throws(ZipError) {
            guard contains(index) else { return nil }
            return try ZipError.scratch {
                try withUnsafeTemporaryAllocation(byteCount: Value.recordSize, alignment: 8) { record in
                    try records.read(into: record, at: index)
                    return Value(record: UnsafeRawBufferPointer(record))
                }
            }
        }
    }

    /// - Throws: `.scratchFailed`.
    package func put(_ value: Value, at index: Int) throws(ZipError) {
        try ZipError.scratch {
            try withUnsafeTemporaryAllocation(byteCount: Value.recordSize, alignment: 8) { record in
                value.put(into: record)
                try records.write(UnsafeRawBufferPointer(record), at: index)
            }
        }
        known.withLock { $0.insert(index) }
    }

    package func forget(_ index: Int) { known.withLock { $0.remove(index) } }
}

extension SHA256Digest: RecordedValue {
    package static var recordSize: Int { 32 }

    package init(record: UnsafeRawBufferPointer) {
        guard let digest = SHA256Digest(bytes: record) else { preconditionFailure("SHA-256 has 32 bytes") }
        self = digest
    }

    package func put(into record: UnsafeMutableRawBufferPointer) { record.copyBytes(from: bytes) }
}

extension ContentDigest: RecordedValue {
    package static var recordSize: Int { 44 }

    package init(record: UnsafeRawBufferPointer) {
        self.init(
            size: record.loadUnaligned(as: Int64.self),
            sha256: SHA256Digest(record: UnsafeRawBufferPointer(rebasing: record[12..<44])),
            crc32: record.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
    }

    package func put(into record: UnsafeMutableRawBufferPointer) {
        record.storeBytes(of: size, as: Int64.self)
        record.storeBytes(of: crc32, toByteOffset: 8, as: UInt32.self)
        sha256.put(into: UnsafeMutableRawBufferPointer(rebasing: record[12..<44]))
    }
}

extension VerifiedEntry: RecordedValue {
    /// A fingerprint is of as many bytes as the digest.
    package static var recordSize: Int { ContentDigest.recordSize + 17 }

    package init(record: UnsafeRawBufferPointer) {
        let digest = ContentDigest(record: UnsafeRawBufferPointer(rebasing: record[..<ContentDigest.recordSize]))
        let rest = UnsafeRawBufferPointer(rebasing: record[ContentDigest.recordSize...])
        let fingerprint = Fingerprint(
            size: digest.size, low: rest.loadUnaligned(as: UInt64.self),
            high: rest.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        self.init(digest: digest, fingerprint: rest[16] == 0 ? nil : fingerprint)
    }

    package func put(into record: UnsafeMutableRawBufferPointer) {
        digest.put(into: UnsafeMutableRawBufferPointer(rebasing: record[..<ContentDigest.recordSize]))
        let rest = UnsafeMutableRawBufferPointer(rebasing: record[ContentDigest.recordSize...])
        rest.storeBytes(of: fingerprint?.low ?? 0, as: UInt64.self)
        rest.storeBytes(of: fingerprint?.high ?? 0, toByteOffset: 8, as: UInt64.self)
        rest[16] = fingerprint == nil ? 0 : 1
    }
}
