import Foundation

/// One entry as the central directory describes it.
public struct ZipEntry: Sendable, Hashable {
    /// Its position in the central directory, from 0; what `ZipReader` wants to be asked with.
    public let index: Int
    /// As text, as it stands in the archive: safe as a path only where the reader lists no problem for it.
    ///
    /// UTF-8 where the archive says so or where it happens to be valid; else code page 437, the format's default;
    /// Info-ZIP's Unicode path field (0x7075) goes before both where its checksum fits.
    public let name: String
    public let isFolder: Bool
    /// 0 stored, 8 deflated, 12 bzip2; others are refused.
    public let method: UInt16
    public var isStored: Bool { method == ZipMethod.stored }
    /// In bytes, after inflating, as declared.
    public let size: Int64
    /// In bytes, in the archive.
    public let compressedSize: Int64
    public let crc32: UInt32
    /// Milliseconds since 1970-01-01 UTC, or nil where the archive has no possible date. Without the extended
    /// timestamp it is local time of an unknown place, taken as UTC.
    public let modified: Int64?

    let flags: UInt16
    /// Of the local header, from the start of the file.
    let headerOffset: Int64
    /// The name's bytes in the directory, to compare them with the local header's; nil where they are those of `name`.
    let rawName: [UInt8]?

    /// The name as it stands in the directory.
    var nameBytes: [UInt8] { rawName ?? Array(name.utf8) }

    /// The same entry in another place of a directory.
    func moved(to index: Int) -> ZipEntry {
        ZipEntry(
            index: index, name: name, isFolder: isFolder, method: method, size: size, compressedSize: compressedSize,
            crc32: crc32, modified: modified, flags: flags, headerOffset: headerOffset, rawName: rawName)
    }
}

extension ZipEntry {
    /// A file, as a directory would have it.
    init(_ file: UnpackedEntries.File, index: Int) {
        self.init(
            index: index, name: file.name, isFolder: false, method: ZipMethod.stored, size: file.size,
            compressedSize: file.size, crc32: 0, modified: file.modified, flags: 0, headerOffset: 0, rawName: nil)
    }
}

/// One thing that is wrong with one entry.
public struct ZipRefusal: Sendable, Hashable, CustomStringConvertible {
    /// The entry's index.
    public let entry: Int
    public let name: String
    public let problem: EntryProblem

    public var description: String { ZipError.unusableEntry(name: name, problem).description }
}

/// The bits of the general purpose flag, as far as they decide how an entry is read.
enum EntryFlags {
    static let encrypted: UInt16 = 1 << 0
    static let dataDescriptor: UInt16 = 1 << 3
    /// The bytes are a patch of another file's (PKWARE, 1990s).
    static let patch: UInt16 = 1 << 5
    static let stronglyEncrypted: UInt16 = 1 << 6
    static let utf8Name: UInt16 = 1 << 11
    static let maskedHeader: UInt16 = 1 << 13

    static let anyEncryption = encrypted | stronglyEncrypted | maskedHeader
    /// Of deflate: hints about the compressor's effort.
    private static let effort: UInt16 = 1 << 1 | 1 << 2

    /// Whether both headers say the same, the data descriptor aside: who promises it is looked at by itself.
    static func agree(_ one: UInt16, _ other: UInt16, method: UInt16) -> Bool {
        (one ^ other) & ~dataDescriptor & ~(method == ZipMethod.stored ? 0 : effort) == 0
    }
}
