import Foundation

/// Entries that are not in one archive: each has its bytes in a file that somebody opens, and no checksum. As somebody has
/// unpacked an archive into a folder, or as a folder keeps what several archives have in common.
package struct UnpackedEntries: Sendable {
    /// One file.
    package struct File: Sendable {
        /// Below the folder, with slashes.
        let name: String
        let size: Int64
        /// Milliseconds since 1970-01-01 UTC.
        let modified: Int64
        /// What keeps it from being an entry.
        let problem: EntryProblem?
        /// Where its bytes begin in the file that is opened.
        let offset: Int64

        package init(name: String, size: Int64, modified: Int64, problem: EntryProblem? = nil, offset: Int64 = 0) {
            (self.name, self.size, self.modified, self.problem) = (name, size, modified, problem)
            self.offset = offset
        }
    }

    let files: [File]
    let open: @Sendable (String) throws(ZipError) -> Int32

    /// - Parameters:
    ///   - files: no folders.
    ///   - open: opens one of them for reading, by its name. The descriptor is closed by whoever asked for it.
    package init(_ files: [File], open: @escaping @Sendable (String) throws(ZipError) -> Int32) {
        (self.files, self.open) = (files, open)
    }

    /// As a directory would have them.
    var entries: [ZipEntry] {
        files.enumerated().map { index, file in
            ZipEntry(
                index: index, name: file.name, isFolder: false, method: ZipMethod.stored, size: file.size,
                compressedSize: file.size, crc32: 0, modified: file.modified, flags: 0, headerOffset: 0, rawName: 0..<0)
        }
    }
}

/// Where the bytes of entries are.
enum EntryPlaces: Sendable {
    /// In one file, each behind its header.
    case archive(Int32, offsets: [Int64])
    case folder(UnpackedEntries)

    /// Whether the CRC-32 of an entry is that of its bytes.
    var haveChecksums: Bool {
        switch self {
        case .archive: true
        case .folder: false
        }
    }

    /// Runs `body` with a descriptor, and the place in its file at which the entry's bytes begin.
    func withBytes<Value>(
        of index: Int, _ body: (Int32, Int64) throws(ZipError) -> Value
    ) throws(ZipError) -> Value {
        switch self {
        case .archive(let descriptor, let offsets): return try body(descriptor, offsets[index])
        case .folder(let unpacked):
            let file = unpacked.files[index]
            let descriptor = try unpacked.open(file.name)
            defer { close(descriptor) }
            return try body(descriptor, file.offset)
        }
    }
}
