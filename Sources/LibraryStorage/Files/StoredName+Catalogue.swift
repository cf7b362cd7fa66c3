import LibraryModel
import ServiceMesh

extension StoredName {
    /// Of a path in the catalogue, which may come from anywhere. A path that leads out of the library's folders is no file
    /// of this library: it is neither read nor removed.
    /// - Throws: `data_loss`.
    package init(catalogued path: String) throws {
        guard let name = StoredName(path: path) else {
            throw MeshError(
                .dataLoss,
                "The catalogue names a file that is not in the library's folders: '\(path.prefix(200))'. It is left alone.",
                details: ["path": .string(String(path.prefix(300)))])
        }
        self = name
    }
}
