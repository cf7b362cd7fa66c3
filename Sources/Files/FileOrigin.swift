import CLinux
import Foundation

/// Which file or folder something is, for as long as it exists: the same one after it was renamed and after a restart,
/// another one than its copy. For one moment ``FileIdentity`` does.
package struct FileOrigin: Sendable, Equatable {
    package let device: Int64
    package let inode: Int64
    /// Nanoseconds since 1970; nil where the file system does not tell.
    package let birth: Int64?

    package init(device: Int64, inode: Int64, birth: Int64?) {
        self.device = device
        self.inode = inode
        self.birth = birth
    }

    /// - Throws: `FileSystem.Failure` where the descriptor cannot be looked at.
    package init(of descriptor: Int32, _ path: String) throws {
        var found = stat()
        try FileSystem.check(fstat(descriptor, &found), "look at", path)
        var nanoseconds: Int64 = 0
        self.init(
            device: Int64(bitPattern: UInt64(found.st_dev)), inode: Int64(bitPattern: UInt64(found.st_ino)),
            birth: clinux_birth(descriptor, &nanoseconds) == 0 ? nanoseconds : nil)
    }

    /// Whether this is a file that was seen as `other` before, at the same path.
    ///
    /// By its birth, where that is known: on FAT and exFAT, which most sticks have, a file has another inode number each
    /// time it is mounted, and a stick may be another device each time it is plugged in. No program can choose when a file
    /// was born, so a copy, or another program's file of the same name, does not have this one's.
    package func isSameFile(as other: FileOrigin) -> Bool {
        if let birth, let otherBirth = other.birth { return birth == otherBirth }
        return device == other.device && inode == other.inode
    }
}
