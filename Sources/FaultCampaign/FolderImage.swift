import Foundation

/// Files and folders below one, in memory: written out anew for every round, which takes a millisecond.
struct FolderImage: Sendable {
    /// By their path inside the folder.
    var files: [String: Data] = [:]
    /// Names of one file have the same number here; those of its own need none.
    var links: [String: UInt64] = [:]
    /// Names that have to be of a certain inode, see ``KeptInodes``.
    var inodes: [String: UInt64] = [:]
    var folders: Set<String> = []

    init() {}

    init(of path: String) throws {
        guard let names = FileManager.default.enumerator(atPath: path) else { return }
        for case let name as String in names {
            var found = stat()
            guard lstat(path + "/" + name, &found) == 0 else { continue }
            switch found.st_mode & S_IFMT {
            case S_IFDIR: folders.insert(name)
            case S_IFREG:
                files[name] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + name))
                if found.st_nlink > 1 { links[name] = UInt64(found.st_ino) }
            default: break
            }
        }
    }

    /// Makes the folder hold this and nothing else. Folders that are there stay the same ones: a library knows itself by
    /// its folder's inode.
    func write(to path: String, keeping kept: KeptInodes? = nil) throws {
        try clear(path)
        for folder in [""] + folders.sorted() {
            guard mkdir(path + "/" + folder, 0o700) == 0 || errno == EEXIST else { throw failure }
        }
        var made: [UInt64: String] = [:]
        for (name, content) in files {
            if let inode = inodes[name], try kept?.put(inode, content, at: path + "/" + name) == true { continue }
            if let number = links[name] {
                if let other = made[number] {
                    guard link(path + "/" + other, path + "/" + name) == 0 else { throw failure }
                    continue
                }
                made[number] = name
            }
            try Self.write(content, to: path + "/" + name, O_CREAT | O_EXCL)
        }
    }

    private func clear(_ path: String) throws {
        let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        // What is inside comes before what it is in.
        for name in all.sorted(by: >) {
            let full = path + "/" + name
            guard unlink(full) != 0, !folders.contains(name) else { continue }
            guard rmdir(full) == 0 else { throw failure }
        }
    }

    fileprivate static func write(_ content: Data, to path: String, _ flags: Int32) throws {
        let file = open(path, O_WRONLY | O_CLOEXEC | flags, 0o600)
        guard file >= 0 else { throw CocoaError(.fileWriteUnknown) }
        defer { close(file) }
        let written = content.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
        guard written == content.count else { throw CocoaError(.fileWriteOutOfSpace) }
    }

    private var failure: any Error { CocoaError(.fileWriteUnknown) }
}

/// Files that a library knows by their inodes, from one state to the next: with other ones it would take them for
/// somebody else's.
///
/// They are moved and never linked, because a file with two names is none of the library's either; so one that a state
/// removes is gone, and the recording with it.
struct KeptInodes {
    let folder: String

    init(folder: String) throws {
        self.folder = folder
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Takes those of `wanted` that are somewhere below `path` out of it.
    /// - Returns: those that are here now; the others are gone.
    func take(_ wanted: Set<UInt64>, from path: String) -> Set<UInt64> {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        for name in names {
            var found = stat()
            guard lstat(path + "/" + name, &found) == 0, wanted.contains(UInt64(found.st_ino)) else { continue }
            rename(path + "/" + name, self.path(UInt64(found.st_ino)))
        }
        return wanted.filter { access(self.path($0), F_OK) == 0 }
    }

    fileprivate func put(_ inode: UInt64, _ content: Data, at path: String) throws -> Bool {
        guard access(self.path(inode), F_OK) == 0 else { return false }
        try FolderImage.write(content, to: self.path(inode), O_TRUNC)
        return rename(self.path(inode), path) == 0
    }

    private func path(_ inode: UInt64) -> String { "\(folder)/\(inode)" }
}
