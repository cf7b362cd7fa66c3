import Files
import Foundation
import LibraryModel
import ServiceMesh
import Sidecars

/// The files that an import was asked to look at, found by reading folders. Blocks.
struct SourceFiles {
    struct File: Sendable {
        let path: String
        /// Bytes, when the folder was read.
        let size: Int64
        /// When it was last written to.
        let modified: Timestamp
        /// What lies beside it, where its folder was read.
        let folder: SourceFolder?

        init(path: String, _ status: stat, in folder: SourceFolder? = nil) {
            self.path = path
            self.folder = folder
            size = Int64(status.st_size)
            let (seconds, overflow) = Int64(status.st_mtim.tv_sec).multipliedReportingOverflow(by: 1000)
            modified = Timestamp(
                milliseconds: overflow ? .min : seconds &+ Int64(status.st_mtim.tv_nsec) / 1_000_000)
        }
    }

    /// To be imported.
    private(set) var files: [File] = []
    /// Known already to go nowhere: links, devices, folders that cannot be read.
    private(set) var refused: [ReceiptLine] = []

    /// Paths that were named and are not there, each refused too.
    private(set) var gone: [FileSystem.Failure] = []

    /// Of the files together; sparse ones may claim more than a number holds.
    var bytes: Int64 { Self.bytes(of: files) }

    static func bytes(of files: [File]) -> Int64 {
        files.reduce(0) { sum, file in
            let (total, overflow) = sum.addingReportingOverflow(file.size)
            return overflow ? .max : total
        }
    }

    private let library: String
    private let ownFiles: Set<FileIdentity>
    private let ownFolders: Set<FileIdentity>
    private var seen: Set<String> = []
    /// Folders with sidecars in them.
    private var folders: [String: SourceFolder] = [:]

    /// - Parameters:
    ///   - paths: absolute; a link among them is followed, links found below are not.
    ///   - namedFiles: of the library, which is itself passed over.
    init(paths: [String], namedFiles: NamedFiles, isCancelled: () -> Bool) throws {
        // Found paths are real ones, so the library's has to be one too, or it is not recognised behind a link.
        let real = realpath(namedFiles.library, nil)
        defer { free(real) }
        library = real.flatMap { String(validatingCString: $0) } ?? namedFiles.library
        // By path alone it would not be recognised where it is mounted a second time.
        ownFiles = namedFiles.ownFiles
        ownFolders = namedFiles.ownFolders
        for path in paths {
            if isCancelled() { throw CancellationError() }
            guard let real = realpath(path, nil) else {
                // It was there when the import was asked for, or when it was asked whether it can go on.
                let failure = FileSystem.Failure(action: "look at", path: path, code: errno)
                gone.append(failure)
                refuse(ImportSource(text: path).path, String(cString: strerror(failure.code)))
                continue
            }
            defer { free(real) }
            guard let resolved = String(validatingCString: real) else {
                refuse(path, "its name is not valid UTF-8; rename it")
                continue
            }
            try look(at: resolved, isCancelled)
        }
    }

    private mutating func look(at path: String, _ isCancelled: () -> Bool) throws {
        // A list of folders to read, not recursion: depth is the sender's to choose, our stack is not.
        var waiting = [path]
        while let path = waiting.popLast() {
            if isCancelled() { throw CancellationError() }
            guard path != library, !path.hasPrefix(library + "/") else {
                refuse(path, "it is the library itself")
                continue
            }
            guard seen.insert(path).inserted else { continue }
            do {
                guard let status = try FileSystem.status(path) else { continue }
                switch status.st_mode & S_IFMT {
                case S_IFREG where ownFiles.contains(FileIdentity(status)):
                    refuse(path, "it is a file that the library itself works with")
                case S_IFDIR where ownFolders.contains(FileIdentity(status)):
                    refuse(path, "it is the library itself")
                case S_IFREG where FileSystem.isOfKernel(path): refuse(path, "it is no file on a disk")
                case S_IFREG:
                    files.append(
                        File(path: path, status, in: folders[FileSystem.parent(of: path)]))
                case S_IFDIR: waiting += try entries(of: path).reversed()
                case S_IFLNK: refuse(path, "it is a link; links in folders are not followed")
                default: refuse(path, "it is not a file")
                }
            } catch let failure as FileSystem.Failure {
                refuse(path, String(cString: strerror(failure.code)))
            }
        }
    }

    /// In the order of their names, so that two runs do the same. Sidecars are read with the pictures that they belong to,
    /// and are no files of their own; those that belong to none are.
    private mutating func entries(of folder: String) throws -> [String] {
        let found = try FileSystem.names(in: folder)
        for name in found where name == nil {
            refuse(folder + "/?", "its name is not valid UTF-8; rename it")
        }
        var names = found.compactMap { $0 }.sorted()
        if names.contains(where: SidecarNames.isSidecar) {
            let sidecars = SidecarNames(names)
            let unclaimed = Set(sidecars.unclaimed)
            names.removeAll { SidecarNames.isSidecar($0) && !unclaimed.contains($0) }
            folders[folder] = SourceFolder(path: folder, sidecars: sidecars)
        }
        return names.map { (folder == "/" ? "" : folder) + "/" + $0 }
    }

    private mutating func refuse(_ path: String, _ reason: String) {
        refused.append(ReceiptLine(item: path, outcome: ImportOutcome.unreadable.rawValue, detail: reason))
    }
}
