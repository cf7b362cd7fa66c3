import Files
import Foundation

/// Whether a folder is as it was: names, sizes and times of all that is below it, in one number.
enum FolderSignature {
    /// Blocks. The same for the same content as long as this process runs.
    /// - Throws: `FileSystem.Failure` where the folder cannot be read.
    static func of(_ root: FilePath) throws -> Int {
        var sum = 0
        var waiting = [root]
        while let folder = waiting.popLast() {
            do {
                try FileSystem.eachName(in: folder) { name in
                    let path = folder.appending(FilePath(bytes: name))
                    var found = stat()
                    guard path.withCString({ lstat($0, &found) }) == 0 else { return }
                    if found.st_mode & S_IFMT == S_IFDIR { waiting.append(path) }
                    var hasher = Hasher()
                    hasher.combine(path)
                    hasher.combine(found.st_size)
                    hasher.combine(found.st_mtim.tv_sec)
                    hasher.combine(found.st_mtim.tv_nsec)
                    // A sum, since names come in any order.
                    sum &+= hasher.finalize()
                }
            } catch  where folder != root {}
        }
        return sum
    }
}
