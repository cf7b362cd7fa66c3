import Foundation

/// Entries of an archive that was just written, of which every byte, header included, has come back from the disk as it was
/// given to it. Whoever opens that file need not read them once more.
package struct ProvenEntries: Sendable {
    private let layout: ZipLayout
    let digests: EntryTable<ContentDigest>
    private let device: UInt64
    private let inode: UInt64

    init(_ digests: EntryTable<ContentDigest>, of layout: ZipLayout, in descriptor: Int32) {
        var status = stat()
        let isKnown = fstat(descriptor, &status) == 0
        self.layout = layout
        self.digests = isKnown ? digests : EntryTable()
        (device, inode) = (UInt64(status.st_dev), UInt64(status.st_ino))
    }

    /// Nothing of another file, even under the same name.
    func areIn(_ descriptor: Int32) -> Bool {
        var status = stat()
        return fstat(descriptor, &status) == 0 && UInt64(status.st_dev) == device && UInt64(status.st_ino) == inode
    }

    /// Where the bytes of an entry are, if it is proven and its record in the directory says what was written.
    func dataOffset(of entry: ZipEntry) throws(ZipError) -> Int64? {
        guard let digest = try digests[entry.index], entry.index < layout.count else { return nil }
        let placed = try layout.placed(at: entry.index)
        let (written, place) = (placed.entry, placed.place)
        guard entry.isStored, entry.size == digest.size, entry.compressedSize == digest.size,
            entry.size == written.size, entry.crc32 == digest.crc32, entry.headerOffset == place.header,
            entry.flags == EntryFlags.utf8Name, entry.nameBytes.elementsEqual(written.name.utf8)
        else { return nil }
        return place.data
    }
}
