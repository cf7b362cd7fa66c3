import ControlSocket
import LibraryModel

/// The paths of an import on their way to the daemon, which takes lines of 1 MiB: 14,000 names are more than that.
enum ImportPaths {
    /// Bytes of paths in one request, as JSON may write them.
    private static let page = 256 << 10

    /// The same import in one line: its paths are put on a list first where they do not fit.
    /// - Throws: ``CommandFailure``.
    static func fitting(_ message: ImportPhotos, _ library: any LibraryConnection) async throws -> ImportPhotos {
        guard try JSONText.encode(message).count > ControlLimits().lineBytes - 1024 else { return message }
        var list: String?
        var rest = message.paths[...]
        while !rest.isEmpty {
            let count = pageLength(of: rest)
            list = try await library.send(CollectImportPaths(paths: Array(rest.prefix(count)), list: list)).value.list
            rest = rest.dropFirst(count)
        }
        return list.map(message.with(list:)) ?? message
    }

    /// How many paths make a page: one at least.
    private static func pageLength(of paths: ArraySlice<String>) -> Int {
        var bytes = 0
        for (offset, path) in paths.enumerated() {
            bytes += path.utf8.count + 3
            if bytes > page && offset > 0 { return offset }
        }
        return paths.count
    }
}
