import Files
import Foundation
import LibraryModel
import ServiceMesh

/// What becomes of a catalogue that was taken away while it was in use: a copy of it beside the library, which a library
/// without a catalogue gets back.
extension LibraryFolder {
    private static let rescuedPrefix = "catalogue.rescued-"
    private static let rescuedEnding = ".sqlite"

    /// The newest copy of a catalogue that was taken away: its name in the folder.
    package func rescued() throws -> String? {
        guard try FileSystem.status(root) != nil else { return nil }
        return try FileSystem.names(in: root).compactMap { $0 }.filter {
            $0.hasPrefix(Self.rescuedPrefix) && $0.hasSuffix(Self.rescuedEnding)
        }.max()
    }

    /// Paths for a copy that is made now, the best first: in the folder, and, where that is gone as well, beside it.
    package func rescuePlaces(at moment: Timestamp) -> [String] {
        let name = Self.rescuedPrefix + String(moment.milliseconds) + Self.rescuedEnding
        return [root + "/" + name, path + "." + name]
    }

    /// Puts the newest copy into the place of a catalogue that is not there.
    ///
    /// The log that may be there still is of the file that is gone: SQLite would write it over the copy. It gets another
    /// name; its index is made from it.
    /// - Returns: whether it has done so.
    package func putBackCatalogue() throws -> Bool {
        let catalogue = root + "/" + Self.catalogueName
        guard try FileSystem.status(catalogue) == nil, let copy = try rescued() else { return false }
        if try FileSystem.status(catalogue + "-wal") != nil {
            try FileSystem.rename(catalogue + "-wal", to: root + "/" + copy + ".old-wal")
        }
        try FileSystem.remove(catalogue + "-shm")
        try FileSystem.sync(root)
        try FileSystem.renameNew(root + "/" + copy, to: catalogue)
        try FileSystem.sync(root)
        return true
    }
}
