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
    package let path: String

    package var photos: String { folder(.photos) }
    package var thumbnails: String { folder(.thumbnails) }
    package var originals: String { folder(.originals) }
    package var staging: String { path + "/" + Self.stagingName }
    package var backups: String { path + "/backups" }
    /// Made when the first upload begins.
    package var uploads: String { path + "/" + Self.uploadsName }
    /// Made when the first photo is sent to a group.
    package var groupPhotos: String { path + "/" + GroupPhoto.folder }
    package var catalogue: String { path + "/" + Self.catalogueName }
    package var lock: String { path + "/" + Self.lockName }

    private static let stagingName = "staging"
    private static let uploadsName = "uploads"
    private static let catalogueName = "catalogue.sqlite"
    private static let lockName = "library.lock"

    /// How files that somebody else names are opened beside this library.
    package let namedFiles: NamedFiles

    /// - Parameter catalogueFiles: every file that a catalogue at a path is made of.
    package init(path: String, catalogueFiles: (String) -> [String] = { [$0] }) {
        self.path = path
        let folders =
            StoredName.Kind.allCases.map { path + "/" + $0.rawValue }
            + [Self.stagingName, GroupPhoto.folder].map { path + "/" + $0 }
        namedFiles = NamedFiles(
            library: path, files: catalogueFiles(path + "/" + Self.catalogueName) + [path + "/" + Self.lockName],
            folders: folders, uploads: Self.uploadsName)
    }

    private func folder(_ kind: StoredName.Kind) -> String { path + "/" + kind.rawValue }

    /// Makes what is not there yet.
    /// - Throws: `failed_precondition` where the folder is another user's or holds other files, or parts of it are links.
    package func make() throws {
        if try FileSystem.status(catalogue) == nil { try requireFree() }
        for folder in [path, photos, thumbnails, originals, staging, backups] { try FileSystem.makeFolder(folder) }
        // Photos are linked from one to the other, so none can be on another disk. In a library from elsewhere, a link
        // would have this one's files written and removed wherever it leads.
        for part in [photos, thumbnails, originals, staging, groupPhotos, catalogue]
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

    /// A new library gets a folder that has nothing in it but what an earlier try has made: whoever names a folder of photos
    /// means to import it, and would have the library's files among their own.
    private func requireFree() throws {
        guard try FileSystem.status(path) != nil else { return }
        let own = Set([photos, thumbnails, originals, staging, backups, uploads, groupPhotos])
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
            guard part == lock || Self.belongsToSystem(name.text) else {
                throw MeshError(
                    .failedPrecondition,
                    "\(path) is no library, and has other files in it (\(name.text)). Make the library in an empty folder, and "
                        + "import this one: smilepile import \(path)", details: ["reason": "not_empty"])
            }
        }
    }

    /// What file systems and desktops put into a disk's own folder.
    private static func belongsToSystem(_ name: String) -> Bool {
        ["lost+found", "System Volume Information", "$RECYCLE.BIN"].contains(name) || name.hasPrefix(".Trash-")
    }

    private func location(_ name: StoredName) -> String { path + "/" + name.path }

    private func staged(_ name: String) -> String { staging + "/" + name }

    private func staged(_ name: StoredName) -> String { staged(name.stagedName) }
}

extension LibraryFolder: PhotoFiles {
    // MARK: Staging

    package func stage(as name: StoredName?) throws -> (name: String, descriptor: Int32) {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        // Where it is there, somebody else brings in a file of that name: publishing finds out whose it is.
        if let name = name?.stagedName {
            let descriptor = clinux_open(staged(name), flags, 0o600)
            if descriptor >= 0 { return (name, descriptor) }
            guard errno == EEXIST else { throw FileSystem.Failure(action: "make", path: staged(name), code: errno) }
        }
        let name = String(UInt64.random(in: 0 ... .max), radix: 16) + ".new"
        let descriptor = clinux_open(staged(name), flags, 0o600)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "make", path: staged(name), code: errno) }
        return (name, descriptor)
    }

    /// By one call for the whole file system: to sync each file waits for the disk's own cache each time, which took half the
    /// time of a restore of small photos. An error that the system met while it wrote in the background is told to the first
    /// who asks, even of a descriptor that was opened later.
    package func syncStaged() throws {
        try FileSystem.withFile(staging, O_RDONLY) {
            try FileSystem.check(clinux_sync_file_system($0), "sync", staging)
        }
    }

    package func openStaged(_ name: String) throws -> Int32 {
        let descriptor = clinux_open(staged(name), O_RDONLY | O_NOFOLLOW, 0)
        guard descriptor >= 0 else { throw FileSystem.Failure(action: "open", path: staged(name), code: errno) }
        return descriptor
    }

    package func unstage(_ names: [String]) {
        for name in names { try? FileSystem.remove(staged(name)) }
    }

    /// One folder of each kind is synced however many files there are.
    package func publish(_ files: [StagedFile]) throws {
        for file in files where try FileSystem.status(location(file.name)) != nil { throw NameTaken(file.name) }
        do {
            for file in files where file.staged != file.name.stagedName {
                try FileSystem.rename(staged(file.staged), to: staged(file.name))
            }
            try FileSystem.sync(staging)
            for file in files { try link(file.name) }
            for kind in Set(files.map(\.name.kind)) { try FileSystem.sync(folder(kind)) }
        } catch {
            try? withdraw(files.map(\.name))
            throw error
        }
    }

    /// One name of the new file goes over the old one; the other stays in `staging/` as the record, by which the next start
    /// removes it where the photo has gone.
    package func replace(_ thumbnail: StagedFile) throws {
        precondition(thumbnail.name.isThumbnail, "photos and originals are never replaced")
        do {
            // What is left of the import that brought the photo in.
            try FileSystem.remove(staged(thumbnail.name))
            try FileSystem.link(staged(thumbnail.staged), as: staged(thumbnail.name))
            try FileSystem.sync(staging)
            try FileSystem.rename(staged(thumbnail.staged), to: location(thumbnail.name))
            try FileSystem.sync(thumbnails)
        } catch {
            unstage([thumbnail.staged, thumbnail.name.stagedName])
            throw error
        }
    }

    private func link(_ name: StoredName) throws {
        do {
            try FileSystem.link(staged(name), as: location(name))
        } catch let failure as FileSystem.Failure where failure.code == EEXIST {
            throw NameTaken(name)
        }
    }

    package func settle(_ names: [StoredName]) throws {
        for name in names { try FileSystem.remove(staged(name)) }
    }

    /// The staged names go last, once the others are gone durably: without them, a linked file that a power cut brings
    /// back would be nobody's.
    package func withdraw(_ names: [StoredName]) throws {
        var changed: Set<StoredName.Kind> = []
        for name in names where try FileSystem.isSameFile(staged(name), location(name)) {
            try FileSystem.remove(location(name))
            changed.insert(name.kind)
        }
        for kind in changed { try FileSystem.sync(folder(kind)) }
        try settle(names)
    }

    /// Regular files only; file servers put folders of theirs everywhere.
    package func leftovers() throws -> [StoredName] {
        try FileSystem.names(in: staging).compactMap { $0 }.filter { name in
            try FileSystem.status(staged(name)).map { $0.st_mode & S_IFMT == S_IFREG } ?? false
        }.compactMap { StoredName(staged: $0) }.sorted()
    }

    // MARK: Stored files

    package func facts(_ name: StoredName) throws -> StoredFileFacts? {
        try FileSystem.status(location(name)).map { status in
            StoredFileFacts(size: Int64(status.st_size), isFile: status.st_mode & S_IFMT == S_IFREG)
        }
    }

    /// A stored name may be a hard link to anything, so it is opened as if somebody else had named it.
    package func withReader<Value>(_ name: StoredName, _ body: (any ByteSource) throws -> Value) throws -> Value {
        try namedFiles.withFile(location(name)) { try body(OpenFile($0)) }
    }

    package func open(_ name: StoredName) throws -> Int32 { try namedFiles.open(location(name)).descriptor }

    /// Names that are not valid UTF-8 are none of ours.
    package func list(_ kind: StoredName.Kind, after name: String?) throws -> [StoredFile] {
        var files: [StoredFile] = []
        for case .some(let found) in try FileSystem.names(in: folder(kind)) where name.map({ found > $0 }) ?? true {
            guard let stored = StoredName(kind, found), let facts = try facts(stored), facts.isFile else { continue }
            files.append(StoredFile(name: stored, size: facts.size))
        }
        return files.sorted { $0.name < $1.name }
    }

    /// One that is gone already counts once its folder is synced: whoever removed it may have been stopped before that.
    package func remove(_ names: [StoredName]) -> [StoredName] {
        let removed = names.filter { (try? FileSystem.remove(location($0))) != nil }
        return Dictionary(grouping: removed, by: \.kind).flatMap { kind, names in
            (try? FileSystem.sync(folder(kind))) == nil ? [] : names
        }
    }

    package func room() throws -> Int64 { try FileSystem.freeBytes(path) }

    // MARK: Files as other programs see them

    package func path(of name: StoredName) -> String? { location(name) }

    package func owns(_ path: String) -> Bool {
        guard let relative = relative(path) else { return false }
        return StoredName.Kind.allCases.contains { relative.hasPrefix($0.rawValue + "/") }
    }

    package func name(at path: String) -> StoredName? { relative(path).flatMap { StoredName(path: $0) } }

    /// A path as it is behind this folder's; nil for one that does not lie in it.
    private func relative(_ path: String) -> Substring? {
        let plain = URL(fileURLWithPath: path).standardizedFileURL.path
        return plain.hasPrefix(self.path + "/") ? plain.dropFirst(self.path.count + 1) : nil
    }
}
