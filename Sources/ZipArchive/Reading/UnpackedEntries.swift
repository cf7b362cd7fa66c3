import Foundation
import Scratch

/// Entries that are not in one archive: each has its bytes in a file that somebody opens, and no checksum. As somebody has
/// unpacked an archive into a folder, or as a folder keeps what several archives have in common.
package struct UnpackedEntries: Sendable {
    /// What keeps a file from being an entry.
    package enum Fault: Int, Codable, Sendable {
        case nameNotUTF8
        case symbolicLink
        /// A device, a pipe, a socket or a folder.
        case specialFile

        var problem: EntryProblem {
            switch self {
            case .nameNotUTF8: .nameNotUTF8
            case .symbolicLink: .symbolicLink
            case .specialFile: .specialFile
            }
        }
    }

    /// One file.
    package struct File: Codable, Sendable {
        /// Below the folder, with slashes.
        let name: String
        let size: Int64
        /// Milliseconds since 1970-01-01 UTC.
        let modified: Int64
        /// What keeps it from being an entry.
        let fault: Fault?
        /// Where its bytes begin in the file that is opened.
        let offset: Int64

        package init(name: String, size: Int64, modified: Int64, fault: Fault? = nil, offset: Int64 = 0) {
            (self.name, self.size, self.modified, self.fault) = (name, size, modified, fault)
            self.offset = offset
        }
    }

    package typealias Opening = @Sendable (String) throws(ZipError) -> Int32

    let files: SpooledList<File>
    let open: Opening

    /// - Parameters:
    ///   - files: no folders.
    ///   - open: opens one of them for reading, by its name. The descriptor is closed by whoever asked for it.
    package init(_ files: SpooledList<File>, open: @escaping Opening) { (self.files, self.open) = (files, open) }
}

/// Where the bytes of entries are.
enum EntryPlaces: Sendable {
    /// In one file, each behind its header.
    case archive(Int32)
    /// Each in a file that is opened by its name.
    case folder(UnpackedEntries.Opening)

    /// Whether the CRC-32 of an entry is that of its bytes.
    var haveChecksums: Bool {
        switch self {
        case .archive: true
        case .folder: false
        }
    }

    /// Runs `body` with the descriptor of the file that has an entry's bytes.
    func withFile<Value>(
        of entry: ZipEntry, _ body: (Int32) throws(ZipError) -> Value
    ) throws(ZipError) -> Value {
        switch self {
        case .archive(let descriptor): return try body(descriptor)
        case .folder(let open):
            let descriptor = try open(entry.name)
            defer { close(descriptor) }
            return try body(descriptor)
        }
    }
}
