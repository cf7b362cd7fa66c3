import Foundation

/// A file system of a few megabytes, where this process may mount one.
public struct SmallDisk {
    public let folder: TemporaryFolder

    public static let isPossible = geteuid() == 0 && mountTrial()

    private static func mountTrial() -> Bool {
        guard let folder = try? TemporaryFolder("disk") else { return false }
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=1m") == 0 else { return false }
        return umount(folder.path) == 0
    }

    /// - Parameter megabytes: what fits on it.
    public init(megabytes: Int = 2) throws {
        folder = try TemporaryFolder("disk")
        guard mount("tmpfs", folder.path, "tmpfs", 0, "size=\(megabytes)m") == 0 else { throw POSIXError(.EPERM) }
    }

    /// Leaves not one block.
    public func fill() throws {
        try Data().write(to: URL(fileURLWithPath: folder.file("ballast")))
        let ballast = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("ballast")))
        let block = Data(repeating: 1, count: 4_096)
        while (try? ballast.write(contentsOf: block)) != nil {}
        try ballast.close()
    }

    /// Undoes `fill`.
    public func relieve() { unlink(folder.file("ballast")) }

    public func unmount() { umount2(folder.path, Int32(MNT_DETACH)) }
}
