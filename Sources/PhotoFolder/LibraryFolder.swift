import CLinux
import Files
import Foundation
import LibraryModel
import LibraryStorage
import ServiceMesh

/// A library's folder: where things are in it, and the files of its photos.
///
/// The staging place is its folder `staging/`. A staged file is hard-linked from there to its place under its final name,
/// so both names are one file, and what a kill left in place is recognised by its inode.
package struct LibraryFolder: Sendable {
    /// As people know it.
    package let path: String
    /// As calls reach it: once this process holds it, by its descriptor, so that files go with a folder that is moved, and
    /// never into what stands at its path then.
    let root: String
    let hold: LibraryHold?

    package var photos: String { folder(.photos) }
    package var thumbnails: String { folder(.thumbnails) }
    package var previews: String { folder(.previews) }
    package var originals: String { folder(.originals) }
    package var staging: String { root + "/" + Self.stagingName }
    package var backups: String { root + "/backups" }
    /// Made when the first upload begins.
    package var uploads: String { root + "/" + Self.uploadsName }
    /// Made when the first photo is sent to a group.
    package var groupPhotos: String { root + "/" + GroupPhoto.folder }
    /// By its path: SQLite resolves links, and so a descriptor's name, before it opens anything. Who opens it looks afterwards
    /// whether that was the file in the held folder: ``LibraryHold/holdCatalogue(_:)``.
    package var catalogue: String { path + "/" + Self.catalogueName }
    package var lock: String { path + "/" + LibraryHold.lockName }

    private static let stagingName = "staging"
    private static let uploadsName = "uploads"
    package static let catalogueName = "catalogue.sqlite"

    /// How files that somebody else names are opened beside this library.
    package let namedFiles: NamedFiles

    private let catalogueFiles: [String]

    /// - Parameter catalogueFiles: every file that a catalogue at a path is made of.
    package init(path: String, catalogueFiles: (String) -> [String] = { [$0] }) {
        self.init(path: path, names: catalogueFiles(Self.catalogueName), hold: nil)
    }

    private init(path: String, names: [String], hold: LibraryHold?) {
        let root = hold?.root ?? path
        self.path = path
        self.root = root
        self.hold = hold
        catalogueFiles = names
        let folders = StoredName.Kind.allCases.map(\.rawValue) + [Self.stagingName, GroupPhoto.folder]
        namedFiles = NamedFiles(
            library: path, root: root, files: (names + [LibraryHold.lockName]).map { root + "/" + $0 },
            folders: folders.map { root + "/" + $0 }, uploads: Self.uploadsName)
    }

    /// The same folder, held.
    package func held(by hold: LibraryHold) -> LibraryFolder {
        LibraryFolder(path: path, names: catalogueFiles, hold: hold)
    }

    func folder(_ kind: StoredName.Kind) -> String { root + "/" + kind.rawValue }

    /// Makes what is not there yet.
    /// - Parameter opened: where no new library is made.
    /// - Throws: `failed_precondition` where the folder is another user's or holds other files, where parts of it are links, or
    ///   where the library that was opened in it is not there.
    package func make(unlessIn opened: OpenedLibraries? = nil) throws {
        if try FileSystem.status(catalogue) == nil, try rescued() == nil {
            let other = try entryOfOthers()
            if opened?.contains(path) == true { throw Self.isElsewhere(path) }
            if let other {
                throw MeshError(
                    .failedPrecondition,
                    "\(path) is no library, and has other files in it (\(other)). Make the library in an empty folder, and "
                        + "import this one: smilepile import \(path)", details: ["reason": "not_empty"])
            }
        }
        for folder in [path, photos, thumbnails, previews, originals, staging, backups] {
            try FileSystem.makeFolder(folder)
        }
        // Photos are linked from one to the other, so none can be on another disk. In a library from elsewhere, a link
        // would have this one's files written and removed wherever it leads.
        for part in [photos, thumbnails, previews, originals, staging, groupPhotos, catalogue]
        where try FileSystem.status(part).map({ $0.st_mode & S_IFMT == S_IFLNK }) ?? false {
            throw MeshError(
                .failedPrecondition, "\(part) is a link. Put what it leads to in its place, or remove it.")
        }
        guard try FileSystem.status(path)?.st_uid == geteuid() else {
            throw MeshError(
                .failedPrecondition,
                "The library folder \(path) belongs to another user. Use one of your own, or change its owner.")
        }
    }

    private static func isElsewhere(_ path: String) -> MeshError {
        MeshError(
            .failedPrecondition,
            "There is no library in \(path), where one was opened before: is its disk mounted? Mount it and try again. For a new, "
                + "empty library in its place: smilepile up --new --library \(path)", details: ["reason": "not_there"])
    }

    /// A new library gets a folder that has nothing in it but what an earlier try has made: whoever names a folder of photos
    /// means to import it, and would have the library's files among their own.
    /// - Returns: the name of something else in it.
    /// - Throws: `failed_precondition` where files of a library are there without their catalogue.
    private func entryOfOthers() throws -> String? {
        guard try FileSystem.status(path) != nil else { return nil }
        let own = Set([photos, thumbnails, previews, originals, staging, backups, uploads, groupPhotos])
        for name in try FileSystem.entries(of: FilePath(bytes: path.utf8)) {
            let part = path + "/" + name.text
            if own.contains(part) {
                guard try FileSystem.status(part).map({ $0.st_mode & S_IFMT == S_IFDIR }) == true,
                    try !FileSystem.names(in: part).isEmpty
                else { continue }
                throw MeshError(
                    .failedPrecondition,
                    "\(path) has files in \(name.text)/ and no \(Self.catalogueName). Put the catalogue back from a copy of the "
                        + "library; or make a new library in another folder, and import this one: smilepile import \(path)",
                    details: ["reason": "no_catalogue"])
            }
            guard part == lock || Self.belongsToSystem(name.text) else { return name.text }
        }
        return nil
    }

    /// What file systems and desktops put into a disk's own folder.
    private static func belongsToSystem(_ name: String) -> Bool {
        ["lost+found", "System Volume Information", "$RECYCLE.BIN"].contains(name) || name.hasPrefix(".Trash-")
    }

    func location(_ name: StoredName) -> String { root + "/" + name.path }

    func staged(_ name: String) -> String { staging + "/" + name }

    func staged(_ name: StoredName) -> String { staged(name.stagedName) }
}
