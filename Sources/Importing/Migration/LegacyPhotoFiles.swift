import AndroidDatabase
import Files
import Foundation
import LibraryModel

/// Finds the files that old rows speak of: under the paths of a phone, or as `content://…`, where only the last part
/// says anything here. Blocks while it reads the folder.
struct LegacyPhotoFiles: Sendable {
    enum Finding: Sendable {
        case file(SourceFiles.File)
        /// Why there is none.
        case missing(String)
    }

    /// Nil where files are looked for where the database says.
    private let files: [SourceFiles.File]?
    /// Places in `files` by the last component of their paths; texts that are canonically equivalent are one key.
    private let byName: [String: [Int]]
    private let namedFiles: NamedFiles

    /// - Parameters:
    ///   - folder: absolute. Only what is really in it is found: names are compared with those that were read, no path
    ///     of an old row is ever opened below it, and links are not followed.
    ///   - namedFiles: of the library, in which nothing is found.
    init(folder: String?, namedFiles: NamedFiles, isCancelled: () -> Bool) throws {
        self.namedFiles = namedFiles
        guard let folder else {
            files = nil
            byName = [:]
            return
        }
        let sources = try SourceFiles(
            paths: [FilePath(bytes: folder.utf8)], selection: .all, namedFiles: namedFiles, now: .now(),
            isCancelled: isCancelled)
        if let failure = sources.gone.first { throw failure }
        let found = try sources.files.compactMap { $0 }
        files = found
        byName = Dictionary(grouping: found.indices) { Self.components(found[$0].path.text).last ?? "" }
    }

    func find(_ uri: String) -> Finding {
        guard uri.utf8.count <= LegacyLibrary.uriBytes, !uri.utf8.contains(0) else {
            return .missing("its uri is no name of a file")
        }
        let (path, isLocal) = Self.path(of: uri)
        let parts = Self.components(path)
        guard let name = parts.last, name != ".", name != ".." else { return .missing("its uri names no file") }
        guard let files else {
            return isLocal ? look(at: path) : .missing("say where the files are: --photos DIR")
        }
        let candidates = byName[name] ?? []
        let lengths = candidates.map { Self.commonTail(parts, Self.components(files[$0].path.text)) }
        guard let longest = lengths.max() else { return .missing("no file of that name was found") }
        let best = zip(candidates, lengths).filter { $0.1 == longest }.map(\.0)
        guard best.count == 1 else {
            return .missing(
                "\(best.count) files have that name, and its uri does not tell which: "
                    + best.prefix(3).map { files[$0].path.text }.joined(separator: ", ") + (best.count > 3 ? ", …" : "")
            )
        }
        return .file(files[best[0]])
    }

    private func look(at path: String) -> Finding {
        guard let status = try? FileSystem.status(path), status.st_mode & S_IFMT == S_IFREG else {
            return .missing("there is no such file here; say where it is: --photos DIR")
        }
        guard !namedFiles.isInLibrary(path), !namedFiles.ownFiles.contains(FileIdentity(status)) else {
            return .missing("it is a file of this library itself")
        }
        guard !FileSystem.isOfKernel(path) else { return .missing("it is no file on a disk") }
        return .file(SourceFiles.File(path: FilePath(bytes: path.utf8), status))
    }

    /// The path in a uri, and whether it may be one of this machine.
    private static func path(of uri: String) -> (path: String, isLocal: Bool) {
        guard let colon = uri.firstIndex(of: ":"), !uri[..<colon].contains("/") else {
            return (uri, uri.hasPrefix("/"))
        }
        let scheme = uri[..<colon].lowercased()
        guard scheme == "file" || scheme == "content" else { return (uri, false) }
        var rest = uri[uri.index(after: colon)...]
        var hasHost = false
        if rest.hasPrefix("//") {
            let authority = rest.dropFirst(2)
            let slash = authority.firstIndex(of: "/") ?? authority.endIndex
            hasHost = !authority[..<slash].isEmpty && authority[..<slash].lowercased() != "localhost"
            rest = authority[slash...]
        }
        rest = rest.prefix { $0 != "?" && $0 != "#" }
        let path = String(rest).removingPercentEncoding ?? String(rest)
        guard !path.utf8.contains(0) else { return ("", false) }
        // A document provider says `primary:DCIM/beach.jpg`, encoded, as one component.
        return (path, scheme == "file" && !hasHost && path.hasPrefix("/"))
    }

    private static func components(_ path: String) -> [String] { path.split(separator: "/").map(String.init) }

    private static func commonTail(_ one: [String], _ other: [String]) -> Int {
        zip(one.reversed(), other.reversed()).prefix { $0 == $1 }.count
    }
}
