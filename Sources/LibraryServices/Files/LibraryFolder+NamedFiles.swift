import CLinux
import Foundation
import ServiceMesh

/// Which file something is, whatever path leads to it.
struct FileIdentity: Hashable, Sendable {
    let device: dev_t
    let inode: ino_t

    init(_ status: stat) {
        device = status.st_dev
        inode = status.st_ino
    }

    /// Of what a path leads to, over links; nil where nothing is.
    init?(at path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        self.init(found)
    }
}

/// Files that somebody else has named: a client, a folder that is imported, the catalogue of a library that may have been
/// anybody's. All of them are opened here.
extension LibraryFolder {
    /// Whether a path may end in a link to the file that is meant.
    enum Links {
        case followed, refused
    }

    /// The files that this process must not even open to read: the catalogue, what SQLite keeps beside it, the lock.
    ///
    /// POSIX drops every lock that a process has on a file when it closes any descriptor of that file
    /// (https://www.sqlite.org/howtocorrupt.html, 2.2). Another program that looks into the catalogue then takes itself for
    /// the only one, and removes the log of changes that were acknowledged.
    var ownFiles: Set<FileIdentity> {
        let catalogue = ["", "-wal", "-shm", "-journal"].compactMap { FileIdentity(at: self.catalogue + $0) }
        return Set(catalogue + [FileIdentity(at: lock)].compactMap { $0 })
    }

    /// The library's folder and those in it whose files are its own.
    var ownFolders: Set<FileIdentity> {
        Set([path, photos, thumbnails, staging].compactMap { FileIdentity(at: $0) })
    }

    /// Opens a regular file, however it was named, unless it is one of ``ownFiles``.
    ///
    /// It is looked at through a descriptor that only names it, which may be closed without harm, and what was looked at
    /// is what is opened. Rejected: comparing paths, since bind mounts and links lead anywhere; looking first and opening
    /// by path then, since the file may be exchanged between.
    /// - Parameter access: `O_RDONLY` or `O_RDWR`.
    /// - Returns: the descriptor, which the caller closes, and what the file was when it was looked at.
    /// - Throws: `FileSystem.Failure`; `invalid_argument` for what is no file, or one of the library's own.
    func open(
        named path: String, _ access: Int32 = O_RDONLY, links: Links = .refused
    ) throws -> (descriptor: Int32, status: stat) {
        let name = clinux_open_name(path, links == .followed ? 1 : 0)
        guard name >= 0 else { throw FileSystem.Failure(action: "open", path: path, code: errno) }
        defer { close(name) }
        var found = stat()
        guard fstat(name, &found) == 0 else { throw FileSystem.Failure(action: "look at", path: path, code: errno) }
        switch found.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw FileSystem.Failure(action: "open", path: path, code: ELOOP)
        default: throw MeshError(.invalidArgument, "\(path) is not a file. Name a file itself.")
        }
        guard !ownFiles.contains(FileIdentity(found)) else {
            throw MeshError(
                .invalidArgument, "\(path) is a file that this library itself works with. Name another file.",
                details: ["reason": "own_file"])
        }
        guard !FileSystem.isOfKernel(descriptor: name) else {
            throw MeshError(.invalidArgument, "\(path) is no file on a disk. Name one that is.")
        }
        let descriptor = clinux_reopen(name, access | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: path, code: errno) }
        return (descriptor, found)
    }

    /// Runs `body` with the descriptor of ``open(named:_:links:)`` and closes it.
    func withFile<T>(named path: String, links: Links = .refused, _ body: (Int32) throws -> T) throws -> T {
        let (descriptor, _) = try open(named: path, links: links)
        defer { close(descriptor) }
        return try body(descriptor)
    }
}
