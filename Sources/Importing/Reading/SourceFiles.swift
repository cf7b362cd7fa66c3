import CLinux
import Files
import Foundation
import ImageWorkerProtocol
import LibraryModel
import ServiceMesh
import Sidecars

/// The files that an import was asked to look at, found by reading folders. Blocks.
struct SourceFiles {
    struct File: Sendable {
        let path: FilePath
        /// What the receipt calls it: its path, and of an upload the name that its sender knows.
        let item: String
        /// Bytes, when the folder was read.
        let size: Int64
        /// When it was last written to.
        let modified: Timestamp
        /// Of the moment when the folder was read; nil where it may be written to, or be another file, and its status stay the same.
        let stamp: FileStamp?
        /// What lies beside it, where its folder was read.
        let folder: SourceFolder?
    }

    /// Something that was found: where, and where below the folder that was named.
    private struct Entry {
        let path: FilePath
        let inner: String
        let isNamed: Bool
    }

    /// To be imported.
    private(set) var files = SourceFileList.empty
    /// Known already to go nowhere: links, devices, folders that cannot be read.
    private(set) var refused: [ReceiptLine] = []
    /// Neither: how many, by why.
    private(set) var passedOver: [PassedOver: Int] = [:]

    /// Paths that were named and are not there, each refused too.
    private(set) var gone: [FileSystem.Failure] = []

    private let selection: SourceSelection
    private let now: Timestamp
    private let library: FilePath
    private let uploads: String?
    private let ownFiles: Set<FileIdentity>
    private let ownFolders: Set<FileIdentity>
    /// Paths that were looked at; nil where no path that was named leads into another one, so that none is come to twice.
    private var seen: Set<FilePath>?
    /// By device, whether a file's status tells it from all others.
    private var tellingApart: [dev_t: Bool] = [:]
    /// Folders that were read for the sidecars in them; those that have none are nil.
    private var folders: [FilePath: SourceFolder?] = [:]

    /// - Parameters:
    ///   - paths: absolute; a link among them is followed, links found below are not.
    ///   - namedFiles: of the library, which is itself passed over.
    ///   - now: a file that was written to just before may be so again without being told by its status.
    init(
        paths: [FilePath], selection: SourceSelection, namedFiles: NamedFiles, now: Timestamp,
        isCancelled: () -> Bool
    ) throws {
        self.selection = selection
        self.now = now
        // Found paths are real ones, so the library's has to be one too, or it is not recognised behind a link.
        let own = FilePath(bytes: namedFiles.library.utf8)
        library = (try? FileSystem.real(own)) ?? own
        uploads = namedFiles.uploads
        // By path alone it would not be recognised where it is mounted a second time.
        ownFiles = namedFiles.ownFiles
        ownFolders = namedFiles.ownFolders
        var found = SourceFileList.Maker(in: namedFiles.scratch)
        let named = try paths.map { path in
            if isCancelled() { throw CancellationError() }
            return Result { try FileSystem.real(path) }
        }
        seen = Self.overlap(named.compactMap { try? $0.get() }) ? [] : nil
        for (path, real) in zip(paths, named) {
            if isCancelled() { throw CancellationError() }
            do {
                try look(at: real.get(), isCancelled, &found)
            } catch let failure as FileSystem.Failure {
                // It was there when the import was asked for, or when it was asked whether it can go on.
                gone.append(failure)
                refuse(FilePath(text: ImportSource(text: path.text).path), String(cString: strerror(failure.code)))
            }
        }
        files = try found.finish()
    }

    /// Whether one of these paths is another one, or lies below it.
    private static func overlap(_ paths: [FilePath]) -> Bool {
        guard paths.count > 1 else { return false }
        // With a slash at its end, all that lies below a path stands right behind it.
        let sorted = paths.map { Array(($0.text == "/" ? "/" : $0.text + "/").utf8) }
            .sorted { $0.lexicographicallyPrecedes($1) }
        return zip(sorted, sorted.dropFirst()).contains { $1.starts(with: $0) }
    }

    private mutating func look(
        at named: FilePath, _ isCancelled: () -> Bool, _ found: inout SourceFileList.Maker
    ) throws {
        // A list of folders to read, not recursion: depth is the sender's to choose, our stack is not.
        var waiting = [Entry(path: named, inner: named.name, isNamed: true)]
        while let entry = waiting.popLast() {
            if isCancelled() { throw CancellationError() }
            let path = entry.path
            guard path != library, !path.text.hasPrefix(library.text + "/") || isUpload(path) else {
                refuse(path, "it is the library itself")
                continue
            }
            guard seen?.insert(path).inserted != false else { continue }
            do {
                guard let status = try FileSystem.status(path) else { continue }
                if let why = reasonToPassOver(entry, isFolder: status.st_mode & S_IFMT == S_IFDIR) {
                    passedOver[why, default: 0] += 1
                    continue
                }
                switch status.st_mode & S_IFMT {
                case S_IFREG where ownFiles.contains(FileIdentity(status)):
                    refuse(path, "it is a file that the library itself works with")
                case S_IFDIR where ownFolders.contains(FileIdentity(status)):
                    refuse(path, "it is the library itself")
                case S_IFREG where path.withCString(FileSystem.isOfKernel): refuse(path, "it is no file on a disk")
                case S_IFREG:
                    try found.append(
                        File(
                            path: path, item: item(path), status, stamp: stamp(path, status), in: folder(of: path)))
                case S_IFDIR: waiting += try entries(of: entry).reversed()
                case S_IFLNK: refuse(path, "it is a link; links in folders are not followed")
                default: refuse(path, "it is not a file")
                }
            } catch let failure as FileSystem.Failure {
                refuse(path, String(cString: strerror(failure.code)))
            }
        }
    }

    /// Uploads come once.
    private mutating func stamp(_ path: FilePath, _ status: stat) -> FileStamp? {
        let tellsApart = tellingApart[status.st_dev] ?? path.withCString(FileSystem.tellsFilesApart)
        tellingApart[status.st_dev] = tellsApart
        let isFresh = FileState(status).isFresh(at: Int(now.milliseconds / 1000))
        return tellsApart && !isFresh && !isUpload(path) ? FileStamp(status) : nil
    }

    private func isUpload(_ path: FilePath) -> Bool {
        uploads.map { path.text.hasPrefix("\(library.text)/\($0)/") } ?? false
    }

    /// The folder that uploads are claimed in is new, the job's alone, and nobody's to know; what is below it has the names
    /// that its sender knows.
    private func item(_ path: FilePath) -> String {
        guard let uploads, isUpload(path) else { return path.text }
        let below = path.text.dropFirst("\(library.text)/\(uploads)/".count)
        guard let end = below.utf8.firstIndex(of: UInt8(ascii: "/")) else { return path.name }
        return String(below[below.utf8.index(after: end)...])
    }

    private func reasonToPassOver(_ entry: Entry, isFolder: Bool) -> PassedOver? {
        let name = entry.path.name
        guard entry.isNamed else { return selection.passesOver(name, at: entry.inner, isFolder: isFolder) }
        return selection.excludes(name, at: entry.inner, isFolder: isFolder) ? .excluded : nil
    }

    /// In the order of their names, so that two runs do the same, but raw files behind the pictures of their names: one that comes after
    /// its picture joins that, where one before it is a photo for a moment. Sidecars are read with the pictures that they belong to,
    /// and are no files of their own.
    private mutating func entries(of folder: Entry) throws -> [Entry] {
        let found = try FileSystem.entries(of: folder.path).map { ($0, Self.place($0.text)) }.sorted { $0.1 < $1.1 }
            .map(\.0)
        let inner = folder.isNamed ? "" : folder.inner + "/"
        func entry(_ name: FilePath) -> Entry {
            Entry(path: folder.path.appending(name), inner: inner + name.text, isNamed: false)
        }
        guard let sidecars = note(found, in: folder.path)?.sidecars else { return found.map(entry) }
        let names = Dictionary(grouping: found) { SidecarNames.isSidecar($0.text) }
        let others = names[false] ?? []
        let owned = Set(others.flatMap { sidecars.candidates(for: $0.text).map(\.name) })
        let unclaimed = Set(sidecars.unclaimed)
        for name in names[true] ?? [] where !owned.contains(name.text) {
            let why: PassedOver = unclaimed.contains(name.text) ? .sidecar : .document
            let passed = selection.passesOver(name.text, at: inner + name.text, isFolder: false) ?? why
            passedOver[passed, default: 0] += 1
        }
        return others.map(entry)
    }

    /// What a name is sorted by: a raw file's behind all that begin like it up to the dot.
    private static func place(_ name: String) -> String {
        guard let dot = name.lastIndex(of: "."), StoredName.rawExtensions.contains(name[dot...].lowercased()) else {
            return name
        }
        return name[...dot] + "\u{10FFFF}" + name[dot...]
    }

    /// Where a file was named and not its folder, what lies beside it belongs to it all the same.
    private mutating func folder(of file: FilePath) -> SourceFolder? {
        let parent = file.parent
        if let known = folders[parent] { return known }
        return (try? FileSystem.entries(of: parent)).flatMap { note($0, in: parent) }
    }

    private mutating func note(_ names: [FilePath], in folder: FilePath) -> SourceFolder? {
        let hasSidecars = names.contains { SidecarNames.isSidecar($0.text) }
        let found = hasSidecars ? SourceFolder(path: folder, sidecars: SidecarNames(names.map(\.text))) : nil
        folders.updateValue(found, forKey: folder)
        return found
    }

    private mutating func refuse(_ path: FilePath, _ reason: String) {
        refused.append(ReceiptLine(item: item(path), outcome: ImportOutcome.unreadable.rawValue, detail: reason))
    }
}
