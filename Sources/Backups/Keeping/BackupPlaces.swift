import CLinux
import Files
import Foundation
import LibraryStorage
import ServiceMesh

/// Where backups may lie, and how the catalogue names them. Backups are no part of the library, wherever its photos are
/// kept: they go to folders of this machine.
package struct BackupPlaces: Sendable {
    /// The library's folder.
    let library: String
    /// In it, where backups go unless told.
    let standard: String

    private static let standardName = "backups"

    /// - Parameter library: the library's folder, which has a folder `backups/`.
    package init(library: String) {
        self.library = library
        standard = library + "/" + Self.standardName
    }

    /// How the catalogue names a backup's file: relative where it lies in the library's own `backups/`, where a copy of
    /// the library has a copy of it; else absolute.
    func name(_ path: String) -> String {
        path.hasPrefix(standard + "/") ? Self.standardName + "/" + path.dropFirst(standard.count + 1) : path
    }

    /// The path of a file that the catalogue names so; nil where the name leads anywhere else in the library, or out of it.
    func path(_ name: String) -> String? {
        guard !name.utf8.contains(0) else { return nil }
        if name.hasPrefix("/") { return name }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0] == Self.standardName, !parts.contains(""), !parts.contains("."),
            !parts.contains("..")
        else { return nil }
        return library + "/" + name
    }

    /// Whether a file lies on the library's own disk, and would be lost with it. Nil where that cannot be told.
    func isOnLibraryDisk(_ path: String) -> Bool? {
        guard let file = try? FileSystem.status(path), let own = try? FileSystem.status(library + "/.") else {
            return nil
        }
        return file.st_dev == own.st_dev
    }

    /// Which folder the library's is.
    func origin() throws -> UnfinishedBackup.Library {
        let descriptor = clinux_open_name(library, 1)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "look at", path: library, code: errno) }
        defer { close(descriptor) }
        return .init(path: library, origin: try FileOrigin(of: descriptor, library))
    }

    /// - Throws: `invalid_argument` for a folder that only the library's own files are to be in.
    func requireFree(_ folder: String) throws {
        guard try isReserved(folder) else { return }
        throw MeshError(
            .invalidArgument,
            "\(folder) is a folder of the library itself. Name one outside of it, or none: then the backup goes to \(standard).",
            details: ["reason": "inside_library"])
    }

    /// Whether a folder lies in the library, and not in its `backups/`: nothing but the library's own files is to be
    /// there.
    ///
    /// By the folders that stand above it, each compared with the library's own: a link or a second mount leads to the same
    /// folders by other names.
    /// - Parameter place: an absolute path; links are followed.
    func isReserved(_ place: String) throws -> Bool {
        guard let root = FileIdentity(at: library), let backups = FileIdentity(at: standard) else { return false }
        // All there are and not those that we know: what is mounted elsewhere may be any of them.
        let parts = try FileSystem.names(in: library).compactMap { $0 }.map { library + "/" + $0 }
        let own = Set(parts.compactMap { FileIdentity(at: $0) }).union([root])
        var step = place
        var last: FileIdentity?
        while let folder = FileIdentity(at: step), folder != last {
            if folder == backups { return false }
            if own.contains(folder) { return true }
            last = folder
            step += "/.."
        }
        return false
    }
}
