import CLinux
import Foundation

/// Where backups may lie, and how the catalogue names them.
extension LibraryFolder {
    /// How the catalogue names a backup's file: relative where it lies in the library's own `backups/`, where a copy of
    /// the library has a copy of it; else absolute.
    func backupName(_ path: String) -> String {
        path.hasPrefix(backups + "/") ? "backups/" + path.dropFirst(backups.count + 1) : path
    }

    /// The path of a file that the catalogue names so; nil where the name leads anywhere else in the library, or out of it.
    func backupPath(_ name: String) -> String? {
        guard !name.utf8.contains(0) else { return nil }
        if name.hasPrefix("/") { return name }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0] == "backups", !parts.contains(""), !parts.contains("."), !parts.contains("..")
        else { return nil }
        return path + "/" + name
    }

    /// Whether a folder lies in the library, and not in its `backups/`: nothing but the library's own files is to be
    /// there.
    ///
    /// By the folders that stand above it, each compared with the library's own: a link or a second mount leads to the same
    /// folders by other names.
    /// - Parameter place: an absolute path; links are followed.
    func keepsForItself(_ place: String) throws -> Bool {
        guard let library = FileIdentity(at: path), let backups = FileIdentity(at: backups) else { return false }
        // All there are and not those that we know: what is mounted elsewhere may be any of them.
        let parts = try FileSystem.names(in: path).compactMap { $0 }.map { path + "/" + $0 }
        let own = Set(parts.compactMap { FileIdentity(at: $0) }).union([library])
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

    /// The folder of an absolute path.
    static func parent(of path: String) -> String {
        path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "/"
    }
}
