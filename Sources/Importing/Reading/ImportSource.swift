import Files
import Foundation
import ServiceMesh

/// A path that an import was given, as its job keeps it: a folder's ends in `/`. When it is not there any more, a folder
/// that was named is a stick that was pulled, and a file may have been removed.
struct ImportSource: Sendable {
    let text: String

    init(text: String) { self.text = text }

    /// Looks whether it is a folder. Blocks.
    init(naming path: String) {
        var found = stat()
        let isFolder =
            path.hasPrefix("/") && !path.utf8.contains(0) && FilePath(text: path).withCString { stat($0, &found) } == 0
            && found.st_mode & S_IFMT == S_IFDIR
        let plain = ImportSource(text: path).path
        text = isFolder ? (plain == "/" ? plain : plain + "/") : path
    }

    private var isFolder: Bool { text.hasSuffix("/") }

    /// Without what marks a folder.
    var path: String {
        var end = text.endIndex
        while end > text.startIndex, text[text.index(before: end)] == "/" { end = text.index(before: end) }
        return end == text.startIndex && !text.isEmpty ? "/" : String(text[..<end])
    }

    /// For an import that goes on. A file that has gone from a folder that is there is none to wait for: it is a line of
    /// the receipt. A folder without a file in it, from which some were taken, is where a stick was mounted. Blocks.
    /// - Parameters:
    ///   - done: the files that have a line.
    ///   - emptied: what is known of folders; looked at once for all files in it.
    /// - Throws: ``JobObstacle``.
    func requireThere(_ done: RecordedItems, _ emptied: inout [String: Bool]) throws {
        guard !FileSystem.isThere(FilePath(text: text)) else {
            if isFolder && Self.isEmptied(path, done, &emptied) {
                throw JobObstacle("\(path) is empty now, and files in it were imported before.")
            }
            return
        }
        let isMissing = errno == ENOENT
        let parent = FileSystem.parent(of: path)
        if isMissing && !isFolder && FileSystem.isThere(FilePath(text: parent))
            && !Self.isEmptied(parent, done, &emptied)
        {
            return
        }
        try FileSystem.requireThere(FilePath(text: path))
    }

    /// Whether nothing is left in a folder of which the import has seen files, and nothing is mounted there.
    private static func isEmptied(_ folder: String, _ done: RecordedItems, _ known: inout [String: Bool]) -> Bool {
        if let known = known[folder] { return known }
        var (own, above) = (stat(), stat())
        var isEmptied = false
        let path = FilePath(text: folder)
        if let names = try? FileSystem.entries(of: path), names.isEmpty, let real = try? FileSystem.real(path) {
            let prefix = real.text + "/"
            let isMounted =
                path.withCString { stat($0, &own) } != 0
                || path.appending(FilePath(text: "..")).withCString { stat($0, &above) } != 0
                || own.st_dev != above.st_dev
            isEmptied = !isMounted && done.contains { $0.utf8.starts(with: prefix.utf8) }
        }
        known[folder] = isEmptied
        return isEmptied
    }
}
