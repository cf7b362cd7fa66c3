/// What the status of a file says of whether it was written to: as long as all of it is the same, the bytes are.
public struct FileStamp: Codable, Hashable, Sendable {
    /// Of the file system, as stat(2) tells it; another one once a stick has been plugged in elsewhere.
    public let device: Int64
    public let inode: Int64
    /// Bytes.
    public let size: Int64
    /// Nanoseconds since 1970; a time too far away for that is the nearest one that is not.
    public let modified: Int64
    /// The same of the last change of the status, which nobody can set back.
    public let changed: Int64

    public init(device: Int64, inode: Int64, size: Int64, modified: Int64, changed: Int64) {
        self.device = device
        self.inode = inode
        self.size = size
        self.modified = modified
        self.changed = changed
    }
}
