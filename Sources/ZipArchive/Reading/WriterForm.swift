import Foundation

/// How far an archive is, byte for byte, what ``ZipWriter`` writes.
///
/// Each byte of such an archive that is no entry's follows from the entries: their names, sizes, times, checksums and order. So
/// one that is another one can be told, also where readers would not look: the zeros that align an entry, a time, who made it.
/// That costs no reading, since both headers are read anyway.
///
/// The writer's form has not changed since its first archive. One that is to change it has to keep the old one here beside its own:
/// archives of before would be called damaged.
package struct WriterForm: Sendable {
    /// Entries with other headers than the writer gives them, or in another place.
    package private(set) var otherEntries: EntrySet = []
    /// Whether what stands behind the entries is not what it writes there. Somebody's comment is not looked at.
    package private(set) var hasOtherEnd = false
    /// Where the next entry's header would be.
    private var position: Int64 = 0

    /// Entries have to come in the order of the directory.
    /// - Parameters:
    ///   - isAsWritten: whether its headers are those that the writer would give it where it is.
    ///   - end: of its bytes.
    mutating func take(_ entry: ZipEntry, isAsWritten: Bool, end: Int64) {
        if !isAsWritten || entry.headerOffset != position { otherEntries.insert(entry.index) }
        position = end
    }

    /// An entry without a header, or one that cannot be read.
    mutating func miss(_ entry: ZipEntry) { otherEntries.insert(entry.index) }

    /// - Parameter bytes: from the end of the directory to that of the file.
    mutating func takeEnd(_ end: ZipEnd, _ bytes: [UInt8]) {
        let size = end.directory.upperBound - end.directory.lowerBound
        let expected = ZipRecords.end(
            count: Int(clamping: end.count), directoryOffset: end.directory.lowerBound, directorySize: size)
        // The last two are the length of the comment, which fits the file.
        hasOtherEnd = position != end.directory.lowerBound || !bytes.starts(with: expected.dropLast(2))
    }

    /// Whether this is the record in the directory that the writer would give the entry where it is.
    static func written(_ entry: ZipEntry, record: ArraySlice<UInt8>) -> WrittenForm {
        guard entry.isStored, entry.flags == EntryFlags.utf8Name, entry.name.utf8.count <= EntryName.longest
        else { return .other }
        return [WrittenForm.asItIs, .beforeTime].first { form in
            guard let (written, place) = writing(entry, form) else { return false }
            return areSame(record, ZipRecords.centralHeader(written, place: place, crc32: entry.crc32))
        } ?? .other
    }

    /// Whether the writer would give an entry with such a record this local header.
    static func isAsWritten(_ entry: ZipEntry, _ form: WrittenForm, header: ArraySlice<UInt8>) -> Bool {
        guard let (written, place) = writing(entry, form) else { return false }
        return areSame(header, ZipRecords.localHeader(written, place: place, crc32: entry.crc32))
    }

    /// What the writer was told of an entry.
    private static func writing(
        _ entry: ZipEntry, _ form: WrittenForm
    ) -> (entry: ZipLayout.Entry, place: ZipLayout.Place)? {
        guard let time = form.time(of: entry) else { return nil }
        let written = ZipLayout.Entry(name: entry.name, size: entry.size, modified: time)
        return (written, ZipLayout.place(of: written, at: entry.headerOffset))
    }

    /// Headers of large entries have thousands of bytes.
    private static func areSame(_ bytes: ArraySlice<UInt8>, _ expected: [UInt8]) -> Bool {
        guard bytes.count == expected.count else { return false }
        return bytes.withUnsafeBytes { bytes in
            expected.withUnsafeBytes { memcmp(bytes.baseAddress!, $0.baseAddress!, $0.count) == 0 }
        }
    }
}

/// Whether a record is what the writer would have made it, and of which time.
enum WrittenForm: Int, Sendable {
    case other
    /// Of the time that it says.
    case asItIs
    /// Of a time before 1901: all such become the first day that DOS knows.
    case beforeTime

    /// 1980-01-01.
    private static let earliest: Int64 = 315_532_800_000

    /// What the writer may have been told, in milliseconds: seconds say nothing of the rest.
    func time(of entry: ZipEntry) -> Int64? {
        switch self {
        case .other: nil
        case .asItIs: entry.modified
        case .beforeTime: entry.modified == Self.earliest ? .min : nil
        }
    }
}
