import Foundation
import LibraryModel
import ServiceMesh

/// The lists of paths that are being put together for imports (see ``CollectImportPaths``).
struct PathLists {
    private struct List {
        var paths: [String] = []
        var bytes = 0
        /// When the last path came, on the mesh's clock.
        var touched: UInt64
    }

    /// Nanoseconds that a list is kept without being used.
    private static let patience: UInt64 = 600_000_000_000

    /// What a path takes in memory beside its text: it would not do for a million of them that have one letter each.
    private static let overhead = 32

    private var lists: [String: List] = [:]

    /// Puts paths at the end of a list, or on a new one.
    /// - Parameter now: nanoseconds on the mesh's clock.
    /// - Throws: ``MeshError`` as ``CollectImportPaths`` says. The list stays as it was.
    mutating func add(_ paths: [String], to id: String?, now: UInt64) throws -> ImportPathList {
        lists = lists.filter { now &- $0.value.touched < Self.patience }
        var list: List
        if let id {
            guard let known = lists[id] else { throw Self.gone }
            list = known
        } else {
            guard lists.count < CollectImportPaths.lists else {
                throw MeshError(
                    .resourceExhausted,
                    "\(lists.count) lists of paths are being put together, which is the most. Try again in some minutes."
                )
            }
            list = List(touched: now)
        }
        list.touched = now
        list.paths += paths
        list.bytes += paths.reduce(0) { $0 + $1.utf8.count + Self.overhead }
        guard list.bytes <= CollectImportPaths.bytes else {
            throw MeshError(
                short: .size,
                "A list of paths has \(CollectImportPaths.bytes >> 20) MiB at most. Name the folders that the files are in, or import some at a time."
            )
        }
        let id = id ?? UUID().uuidString.lowercased()
        lists[id] = list
        return ImportPathList(list: id, count: list.paths.count)
    }

    /// The paths of a list, which is used up by that.
    mutating func take(_ id: String, now: UInt64) throws -> [String] {
        guard let list = lists.removeValue(forKey: id), now &- list.touched < Self.patience else { throw Self.gone }
        return list.paths
    }

    private static let gone = MeshError(
        .notFound,
        "There is no such list of paths: it was used, or forgotten after ten minutes or a restart. Collect them again.")
}
