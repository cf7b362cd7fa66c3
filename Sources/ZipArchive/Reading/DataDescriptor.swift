/// What stands behind an entry's bytes where its flags promise that (APPNOTE 4.3.9): checksum and both sizes once more.
///
/// Readers go on behind it, and those that read from front to back know the entry by nothing else. It has four forms,
/// and nothing says which: with a signature or without, with sizes of 32 bits or of 64.
enum DataDescriptor {
    private static let signature: UInt32 = 0x0807_4B50

    /// Its bytes, or nil where none is there that says what the directory says.
    /// - Parameter behind: from the end of the entry's bytes to the directory.
    static func length(of entry: ZipEntry, in behind: Range<Int64>, of descriptor: Int32) throws(ZipError) -> Int64? {
        guard !behind.isEmpty else { return nil }
        let end = min(behind.upperBound, behind.lowerBound + 24)
        let bytes = try ZipDirectory.bytes(of: descriptor, behind.lowerBound..<end)
        let view = RecordView(bytes[...])
        for start in view.u32(0) == signature ? [4, 0] : [0] {
            guard view.u32(start) == entry.crc32 else { continue }
            let sizes = (view.u32(start + 4).map(Int64.init), view.u32(start + 8).map(Int64.init))
            if sizes == (entry.compressedSize, entry.size) { return Int64(start + 12) }
            let wide = (
                view.u64(start + 4).flatMap(Int64.init(exactly:)), view.u64(start + 12).flatMap(Int64.init(exactly:))
            )
            if wide == (entry.compressedSize, entry.size) { return Int64(start + 20) }
        }
        return nil
    }
}
