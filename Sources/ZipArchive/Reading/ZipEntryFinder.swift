import Scratch

/// Finds entries by their names, for one who asks in about the order in which they stand, as a backup's manifest names them: the
/// next one is looked at first, without the names of all being asked. It finds the same as
/// ``ZipReader/index(of:)``.
package struct ZipEntryFinder {
    /// Entries that are read at once.
    private static let portion = 64

    private let reader: ZipReader
    private var read: [EntryRecord] = []
    private var start = 0
    private var next = 0

    package init(_ reader: ZipReader) { self.reader = reader }

    /// - Throws: `.scratchFailed`.
    package mutating func find(_ name: String) throws(ZipError) -> ZipEntry? {
        // A second entry under a name has a problem, so that the one without any is the one that is meant.
        if next < reader.entries.count, case let entry = try entry(at: next), entry.name == name,
            reader.problems(of: next).isEmpty
        {
            next += 1
            return entry
        }
        guard let index = try reader.index(of: name) else { return nil }
        next = index + 1
        return try reader.entries[index]
    }

    private mutating func entry(at index: Int) throws(ZipError) -> ZipEntry {
        if !(start..<start + read.count).contains(index) {
            let wanted = index..<min(index + Self.portion, reader.entries.count)
            read = try ZipError.scratch { try reader.entries.records.elements(wanted) }
            start = index
        }
        return read[index - start].entry
    }
}
