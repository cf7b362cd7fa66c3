import CLinux
import Foundation
import ServiceMesh

/// Files that somebody else has named: a client, a folder that is imported, the catalogue of a library that may have been
/// anybody's. All of them are opened here, and never one that the library itself works with.
///
/// POSIX drops every lock that a process has on a file when it closes any descriptor of that file
/// (https://www.sqlite.org/howtocorrupt.html, 2.2). Another program that looks into the catalogue then takes itself for
/// the only one, and removes the log of changes that were acknowledged.
package struct NamedFiles: Sendable {
    /// Whether a path may end in a link to the file that is meant.
    package enum Links {
        case followed, refused
    }

    /// The library's folder, as people know it.
    package let library: String
    /// The same folder as calls reach it, also when it has been moved.
    package let root: String
    /// The name of a folder in the library's in which there is what is to be imported yet; nil where there is none.
    package let uploads: String?
    private let files: [String]
    private let folders: [String]

    /// - Parameters:
    ///   - library: the library's folder.
    ///   - root: the path by which calls reach it; unless given, the same.
    ///   - files: that this process must not even open to read, those included that are not there yet.
    ///   - folders: whose files are the library's own.
    ///   - uploads: see ``uploads``.
    package init(
        library: String, root: String? = nil, files: [String], folders: [String], uploads: String? = nil
    ) {
        self.library = library
        self.root = root ?? library
        self.uploads = uploads
        self.files = files
        self.folders = folders
    }

    /// The library's own files, as they are now: SQLite makes and removes some of them.
    package var ownFiles: Set<FileIdentity> { Set(files.compactMap { FileIdentity(at: $0) }) }

    /// The library's folder and those in it whose files are its own.
    package var ownFolders: Set<FileIdentity> { Set(([root] + folders).compactMap { FileIdentity(at: $0) }) }

    /// Whether a path leads into the library's folder, over whatever links.
    package func isInLibrary(_ other: String) -> Bool {
        guard let own = realpath(root, nil) else { return false }
        defer { free(own) }
        guard let real = realpath(other, nil) else { return false }
        defer { free(real) }
        return String(cString: real).hasPrefix(String(cString: own) + "/")
    }

    /// Opens a regular file, however it was named, unless it is one of ``ownFiles``.
    ///
    /// It is looked at through a descriptor that only names it, which may be closed without harm, and what was looked at
    /// is what is opened. Rejected: comparing paths, since bind mounts and links lead anywhere; looking first and opening
    /// by path then, since the file may be exchanged between.
    /// - Parameter access: `O_RDONLY` or `O_RDWR`.
    /// - Returns: the descriptor, which the caller closes, and what the file was when it was looked at.
    /// - Throws: `FileSystem.Failure`; `invalid_argument` for what is no file, or one of the library's own.
    package func open(
        _ path: String, _ access: Int32 = O_RDONLY, links: Links = .refused
    ) throws -> (descriptor: Int32, status: stat) {
        try open(path.withCString { clinux_open_name($0, links == .followed ? 1 : 0) }, path, access)
    }

    /// As ``open(_:_:links:)-(String,_,_)``, to read it, whatever bytes its name has.
    package func open(_ path: FilePath) throws -> (descriptor: Int32, status: stat) {
        try open(path.withCString { clinux_open_name($0, 0) }, path.text, O_RDONLY)
    }

    /// - Parameters:
    ///   - name: a descriptor that only names the file, or -1 and errno.
    ///   - path: for messages.
    private func open(_ name: Int32, _ path: String, _ access: Int32) throws -> (descriptor: Int32, status: stat) {
        guard name >= 0 else { throw FileSystem.Failure(action: "open", path: path, code: errno) }
        defer { close(name) }
        var found = stat()
        guard fstat(name, &found) == 0 else { throw FileSystem.Failure(action: "look at", path: path, code: errno) }
        switch found.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFLNK: throw FileSystem.Failure(action: "open", path: path, code: ELOOP)
        default: throw MeshError(.invalidArgument, "\(FileSystem.plain(path)) is not a file. Name a file itself.")
        }
        guard !ownFiles.contains(FileIdentity(found)) else {
            throw MeshError(
                .invalidArgument,
                "\(FileSystem.plain(path)) is a file that this library itself works with. Name another file.",
                details: ["reason": "own_file"])
        }
        guard !FileSystem.isOfKernel(descriptor: name) else {
            throw MeshError(.invalidArgument, "\(path) is no file on a disk. Name one that is.")
        }
        let descriptor = clinux_reopen(name, access | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: path, code: errno) }
        return (descriptor, found)
    }

    /// Runs `body` with the descriptor of ``open(_:)`` and closes it.
    package func withFile<T>(_ path: FilePath, _ body: (Int32) throws -> T) throws -> T {
        let (descriptor, _) = try open(path)
        defer { close(descriptor) }
        return try body(descriptor)
    }

    /// Runs `body` with the descriptor of ``open(_:_:links:)`` and closes it.
    package func withFile<T>(_ path: String, links: Links = .refused, _ body: (Int32) throws -> T) throws -> T {
        let (descriptor, _) = try open(path, links: links)
        defer { close(descriptor) }
        return try body(descriptor)
    }
}
