import CLinux
import Files
import Foundation

/// What the file system says of a name.
package struct FileFacts: Sendable, Equatable {
    package enum Kind: Sendable { case nothing, folder, file, link, socket, other, unreachable }

    package let path: String
    package let kind: Kind
    package let owner: UInt32
    /// The permissions alone.
    package let mode: UInt32
    package let links: Int
    package let bytes: Int64

    package init(path: String, kind: Kind, owner: UInt32 = 0, mode: UInt32 = 0, links: Int = 1, bytes: Int64 = 0) {
        (self.path, self.kind, self.owner) = (path, kind, owner)
        (self.mode, self.links, self.bytes) = (mode, links, bytes)
    }

    /// - Parameter followsLink: whether what a link leads to is meant. Blocks.
    static func look(at path: String, followsLink: Bool = false) -> FileFacts {
        var found = stat()
        guard (followsLink ? stat(path, &found) : lstat(path, &found)) == 0 else {
            return FileFacts(path: path, kind: errno == ENOENT || errno == ENOTDIR ? .nothing : .unreachable)
        }
        let kind: Kind =
            switch found.st_mode & S_IFMT {
            case S_IFDIR: .folder
            case S_IFREG: .file
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            default: .other
            }
        return FileFacts(
            path: path, kind: kind, owner: found.st_uid, mode: found.st_mode & 0o7777, links: Int(found.st_nlink),
            bytes: Int64(found.st_size))
    }

    /// Gives a file or a folder of this user's own another mode. Blocks.
    ///
    /// What is changed is what was opened, and a link leads to a folder or nowhere: who may write where the name stands cannot have it
    /// be another file of this user's.
    /// - Returns: whether it has that mode now.
    static func setMode(_ mode: UInt32, of path: String) -> Bool {
        let isLink = look(at: path).kind == .link
        let descriptor = clinux_open_name(path, isLink ? 1 : 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var found = stat()
        guard fstat(descriptor, &found) == 0, found.st_uid == geteuid(), found.st_mode & S_IFMT != S_IFLNK,
            !isLink || found.st_mode & S_IFMT == S_IFDIR
        else { return false }
        guard chmod(FileSystem.path(of: descriptor), mode) == 0, fstat(descriptor, &found) == 0 else { return false }
        // FAT takes any mode, and keeps its own.
        return found.st_mode & 0o7777 == mode
    }

    /// `644`, as chmod takes it.
    var modeText: String { String(mode & 0o7777, radix: 8) }
}

/// The file system that a folder is on.
package struct DiskFacts: Sendable, Equatable {
    package let path: String
    /// As statfs(2) says it; nil where it does not.
    package let kind: Int?
    /// Free for this user.
    package let freeBytes: Int64
    package let totalBytes: Int64

    package init(path: String, kind: Int?, freeBytes: Int64, totalBytes: Int64) {
        (self.path, self.kind, self.freeBytes, self.totalBytes) = (path, kind, freeBytes, totalBytes)
    }

    /// - Returns: nil where there is no such folder. Blocks.
    static func look(at path: String) -> DiskFacts? {
        var found = statvfs()
        guard statvfs(path, &found) == 0, let free = try? FileSystem.freeBytes(path) else { return nil }
        let (total, overflow) = Int64(clamping: found.f_blocks).multipliedReportingOverflow(
            by: Int64(clamping: found.f_frsize))
        let kind = clinux_file_system(path)
        return DiskFacts(
            path: path, kind: kind < 0 ? nil : kind, freeBytes: free, totalBytes: overflow ? .max : total)
    }
}
