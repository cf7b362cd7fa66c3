/// What a reader takes from an archive that it has not seen before.
public struct ZipLimits: Sendable, Hashable {
    /// Entries, folders included. 100,000 photos and the files that describe them by default.
    public var maximumEntries: Int
    /// Bytes that all entries together declare, after inflating: usually the free space.
    public var maximumTotalBytes: Int64
    /// Times that a compressed entry may grow. Photos and JSON stay below 20; deflate ends at 1,032, bzip2 at about
    /// 45,000 times. Applies to entries of more than `ratioFreeBytes`, and to all compressed entries together where
    /// they declare more than eight times that.
    public var maximumRatio: Int
    /// An entry of at most this many bytes may have any ratio: it is no bomb alone, and an empty picture or a
    /// sparse database of that size is honest.
    public var ratioFreeBytes: Int64
    /// Bytes of the central directory. It is read a part at a time, and what is kept of it is about as long.
    public var maximumDirectoryBytes: Int

    public init(
        maximumEntries: Int = 100_064, maximumTotalBytes: Int64 = .max, maximumRatio: Int = 100,
        ratioFreeBytes: Int64 = 8 << 20, maximumDirectoryBytes: Int = 32 << 20
    ) {
        self.maximumEntries = maximumEntries
        self.maximumTotalBytes = maximumTotalBytes
        self.maximumRatio = maximumRatio
        self.ratioFreeBytes = ratioFreeBytes
        self.maximumDirectoryBytes = maximumDirectoryBytes
    }

    func growsTooMuch(_ compressed: Int64, to size: Int64, free: Int64) -> Bool {
        let (allowed, overflow) = compressed.multipliedReportingOverflow(by: Int64(maximumRatio))
        return size > free && !overflow && size > allowed
    }
}
