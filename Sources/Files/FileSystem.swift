import CLinux
import Foundation
import ServiceMesh

/// File system calls with typed errors. All of them block: they belong on a `BlockingPool`.
package enum FileSystem {
    /// A failed call: which, on what, and errno.
    package struct Failure: MeshErrorConvertible, CustomStringConvertible {
        package let action: String
        package let path: String
        /// `errno`.
        package let code: Int32

        package init(action: String, path: String, code: Int32) {
            self.action = action
            self.path = FileSystem.plain(path)
            self.code = code
        }

        package var description: String { "\(action) \(path): \(String(cString: strerror(code)))" }

        private var shortened: String { "\(action) \(path.prefix(100))…: \(String(cString: strerror(code)))" }

        package var meshError: MeshError {
            switch code {
            case ENOSPC, EDQUOT:
                MeshError(short: .space, "The disk is full (\(description)). Free some space and try again.")
            case EFBIG:
                MeshError(
                    short: .space,
                    "The file would be too large for this file system\(FileSystem.limit(at: path)) (\(description)). Choose a place on "
                        + "another one, such as ext4, Btrfs or exFAT.")
            case ENOENT, ENOTDIR: MeshError(.notFound, "There is no such file (\(description)).")
            case ELOOP:
                MeshError(
                    .invalidArgument,
                    "There is a link that is not followed, or that leads in a circle (\(description)). Name the file itself."
                )
            case ENAMETOOLONG:
                MeshError(.invalidArgument, "A name is too long for the file system (\(shortened)). Use a shorter one.")
            case EEXIST: MeshError(.alreadyExists, "There is such a file already (\(description)).")
            case EROFS:
                MeshError(
                    .failedPrecondition,
                    "The disk can only be read (\(description)). Take off its write protection, or choose another place."
                )
            case EACCES, EPERM:
                MeshError(
                    .failedPrecondition, "This is not allowed (\(description)). Check the owner and the permissions.")
            default: MeshError(.unavailable, "The file system failed (\(description)). Check the disk.")
            }
        }
    }

    /// Bytes that a file may have at most at a path, or nil where its file system sets no such limit (FAT has 4 GiB) and this process
    /// has none.
    package static func largestFile(at path: String) -> Int64? {
        let found = clinux_largest_file(path)
        return found < 0 ? nil : found
    }

    private static func limit(at path: String) -> String {
        guard let most = largestFile(at: path) ?? largestFile(at: parent(of: path)) else { return "" }
        return ", which takes files of at most \(most.formatted(.byteCount(style: .file)))"
    }

    private static let ownDescriptors = "/proc/self/fd/"

    /// The path by which calls reach a folder that this process has open, wherever the folder is moved. Everything below it
    /// is looked up from the folder itself, as by openat(2).
    package static func path(of folder: Int32) -> String { ownDescriptors + String(folder) }

    /// A path as a person is told it: one that goes through an open folder names that folder as it is called now.
    package static func plain(_ path: String) -> String {
        guard path.hasPrefix(ownDescriptors) else { return path }
        let end = path.dropFirst(ownDescriptors.count).firstIndex(of: "/") ?? path.endIndex
        guard let folder = try? FileManager.default.destinationOfSymbolicLink(atPath: String(path[..<end])) else {
            return path
        }
        return folder + path[end...]
    }

    package static func check(_ result: Int32, _ action: String, _ path: String) throws {
        guard result != 0 else { return }
        throw Failure(action: action, path: path, code: errno)
    }

    /// Makes a folder with mode 0700, with those above it, durably. One that is there already stays as it is.
    package static func makeFolder(_ path: String) throws {
        guard mkdir(path, 0o700) != 0 else { return try sync(parent(of: path)) }
        if errno == EEXIST { return }
        guard errno == ENOENT, path.lastIndex(of: "/") ?? path.startIndex != path.startIndex else {
            throw Failure(action: "make folder", path: path, code: errno)
        }
        try makeFolder(parent(of: path))
        guard mkdir(path, 0o700) != 0 else { return try sync(parent(of: path)) }
        guard errno == EEXIST else { throw Failure(action: "make folder", path: path, code: errno) }
    }

    /// Runs `body` with an open descriptor and closes it.
    package static func withFile<T>(
        _ path: String, _ flags: Int32, mode: mode_t = 0o600, _ body: (Int32) throws -> T
    ) throws -> T {
        let descriptor = clinux_open(path, flags, mode)
        guard descriptor >= 0 else { throw Failure(action: "open", path: path, code: errno) }
        defer { close(descriptor) }
        return try body(descriptor)
    }

    /// Makes the contents of a file, or the names in a folder, durable.
    package static func sync(_ path: String) throws { try withFile(path, O_RDONLY) { try sync($0, path) } }

    package static func sync(_ descriptor: Int32, _ path: String) throws { try check(fsync(descriptor), "sync", path) }

    package static func link(_ source: String, as target: String) throws {
        try check(Foundation.link(source, target), "link", target)
    }

    package static func rename(_ source: String, to target: String) throws {
        try check(Foundation.rename(source, target), "rename", target)
    }

    /// Renames a file without ever replacing another one: EEXIST where the name is taken.
    ///
    /// By whatever the file system knows. Memory sticks (FAT, exFAT) have no hard links; network file systems may
    /// have links and no such rename. Where it has neither, looking first is all that is left.
    ///
    /// An error may come after the deed: from a network that lost the answer, or a disk that failed in writing it down. So
    /// the last word is what the target is.
    /// - Parameter rename: which refuses a name that is taken.
    package static func renameNew(
        _ source: String, to target: String, by rename: (String, String) -> Int32 = { clinux_rename_new($0, $1) }
    ) throws {
        let file = try status(source).map(FileIdentity.init)
        do {
            try tryRenameNew(source, to: target, by: rename)
        } catch {
            guard let file, let found = try? status(target), FileIdentity(found) == file else { throw error }
            try? remove(source)
        }
    }

    private static func tryRenameNew(
        _ source: String, to target: String, by rename: (String, String) -> Int32
    ) throws {
        guard rename(source, target) != 0 else { return }
        guard errno == EINVAL || errno == ENOSYS else {
            throw Failure(action: "rename", path: target, code: errno)
        }
        do {
            try link(source, as: target)
            try remove(source)
        } catch let failure as Failure where [EPERM, EOPNOTSUPP, ENOSYS, EINVAL].contains(failure.code) {
            guard try status(target) == nil else { throw Failure(action: "rename", path: target, code: EEXIST) }
            try Self.rename(source, to: target)
        }
    }

    /// Removes a file; one that is gone already is fine.
    package static func remove(_ path: String) throws {
        guard unlink(path) != 0, errno != ENOENT else { return }
        throw Failure(action: "remove", path: path, code: errno)
    }

    /// Nil where there is nothing; a link is described itself, not what it points to.
    package static func status(_ path: String) throws -> stat? {
        var found = stat()
        guard lstat(path, &found) != 0 else { return found }
        guard errno == ENOENT || errno == ENOTDIR else { throw Failure(action: "look at", path: path, code: errno) }
        return nil
    }

    /// For a job that goes on: what it needs has to be there, or it waits.
    /// - Throws: ``JobObstacle``.
    package static func requireThere(_ path: String) throws { try requireThere(FilePath(bytes: path.utf8)) }

    package static func requireThere(_ path: FilePath) throws {
        guard !isThere(path) else { return }
        let isGone = [ENOENT, ENOTDIR, ENODEV, ENXIO, ESTALE].contains(errno)
        let why = isGone ? "is not there" : "cannot be reached: \(String(cString: strerror(errno)))"
        throw JobObstacle("\(path) \(why).")
    }

    /// Whether a path leads to what only looks like files: `/proc`, `/sys` and what is mounted in them. Reading there
    /// may wait for ever, never end, or have effects.
    package static func isOfKernel(_ path: UnsafePointer<CChar>) -> Bool {
        kernelFileSystems.contains(clinux_file_system(path))
    }

    package static func isOfKernel(descriptor: Int32) -> Bool {
        kernelFileSystems.contains(clinux_file_system_of(descriptor))
    }

    /// The magic numbers of proc, sysfs, debugfs, tracefs, cgroup2, securityfs and configfs, of statfs(2).
    private static let kernelFileSystems: Set = [
        0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x6367_7270, 0x7363_6673, 0x6265_6570,
    ]

    /// Whether the status of a file tells it from all others that were there before: where inodes stay what they are when the file
    /// system is mounted again, and a change of the status has a time that nobody can set. FAT and exFAT number files as they are
    /// come upon and count seconds in twos, so two cards of a camera that knows no time may have the same numbers, sizes and times;
    /// NFS and SMB may show such a card, and what FUSE shows is what somebody's program makes up.
    package static func tellsFilesApart(_ path: UnsafePointer<CChar>) -> Bool {
        exactFileSystems.contains(clinux_file_system(path))
    }

    /// The magic numbers of ext2 to 4, XFS, Btrfs, F2FS, bcachefs, JFS, ZFS, NTFS of the kernel, tmpfs and overlayfs.
    private static let exactFileSystems: Set = [
        0xef53, 0x5846_5342, 0x9123_683e, 0xf2f5_2010, 0xca45_1a4e, 0x3153_464a, 0x2fc1_2fc1, 0x7366_746e, Magic.tmpfs,
        0x794c_7630,
    ]

    /// Whether the kernel tells everything that changes in a folder (inotify(7)): not what other machines write, nor what somebody's
    /// program makes up.
    package static func tellsChanges(_ folder: FilePath) -> Bool {
        !farFileSystems.contains(folder.withCString { clinux_file_system($0) })
    }

    /// Magic numbers of statfs(2) that are asked for by name. SMB's are of its three ages.
    package enum Magic {
        package static let nfs = 0x6969
        package static let smb: Set = [0x517b, 0xff53_4d42, 0xfe53_4d42]
        package static let tmpfs = 0x0102_1994
    }

    /// NFS, SMB, and the magic numbers of FUSE, 9P, Ceph, AFS and the shares of VirtualBox.
    private static let farFileSystems = Magic.smb.union([
        Magic.nfs, 0x6573_5546, 0x0102_1997, 0x00c3_6400, 0x5346_414f, 0x786f_4256,
    ])

    /// Folders in a folder, links not among them; none where it cannot be read.
    package static func folders(in folder: FilePath) -> [FilePath] {
        var folders: [FilePath] = []
        try? eachName(in: folder) { name in
            let path = folder.appending(FilePath(bytes: name))
            var found = stat()
            if path.withCString({ lstat($0, &found) }) == 0, found.st_mode & S_IFMT == S_IFDIR { folders.append(path) }
        }
        return folders
    }

    package static func isSameFile(_ one: String, _ other: String) throws -> Bool {
        guard let first = try status(one), let second = try status(other) else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// The folder of an absolute path.
    package static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/"
    }

    /// Where the file system is mounted that a folder is on, links followed; nil where there is no such folder. What is
    /// mounted inside one file system, as a folder bound to another place, is not told apart from it.
    package static func mountPoint(of folder: String) -> String? {
        guard let resolved = realpath(folder, nil) else { return nil }
        defer { free(resolved) }
        guard var place = String(validatingCString: resolved) else { return nil }
        var found = stat()
        guard stat(place, &found) == 0, found.st_mode & S_IFMT == S_IFDIR else { return nil }
        let device = found.st_dev
        while place != "/", stat(parent(of: place), &found) == 0, found.st_dev == device {
            place = parent(of: place)
        }
        return place
    }

    /// Names in a folder, without `.` and `..`; names that are not valid UTF-8 come as nil.
    package static func names(in folder: String) throws -> [String?] {
        var names: [String?] = []
        // Not by its text: a folder of ours may be called what stands for another name.
        try eachName(in: FilePath(bytes: folder.utf8)) { names.append(String(validating: $0, as: UTF8.self)) }
        return names
    }

    /// O_TMPFILE of fcntl.h without its O_DIRECTORY; Swift does not import it because it stands behind _GNU_SOURCE.
    private static let unnamed: Int32 = 0o20_000_000

    /// Opens a file without a name, which goes with the last who has it open, however their processes end.
    /// - Parameter access: `O_RDWR` or `O_WRONLY`.
    /// - Returns: the descriptor, which the caller closes; -1 with errno set, also where the file system has no such files (FAT, exFAT).
    package static func openUnnamed(in folder: String, _ access: Int32 = O_RDWR, mode: mode_t = 0o600) -> Int32 {
        clinux_open(folder, access | O_DIRECTORY | unnamed, mode)
    }

    /// Bytes free for this user on the file system of `path`.
    package static func freeBytes(_ path: String) throws -> Int64 {
        var found = statvfs()
        try check(statvfs(path, &found), "look at", path)
        let (bytes, overflow) = Int64(clamping: found.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: found.f_frsize))
        return overflow ? .max : bytes
    }

    /// The most memory that a process has had resident (VmHWM), in bytes; 0 for one that has gone.
    package static func peakMemory(of process: Int32) -> Int64 {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = Int64(line.dropFirst("VmHWM:".count).filter(\.isNumber))
        else { return 0 }
        return kilobytes * 1024
    }
}
