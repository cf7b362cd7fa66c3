import LibraryModel
import ServiceMesh

extension Mesh {
    /// What one import was told, else what the library is set to.
    func keepsOriginals(_ told: Bool?) async throws -> Bool {
        if let told { return told }
        return try await send(GetSettings()).keepOriginals
    }
}

extension Mesh {
    /// The category that has a name, by the rules for names (`CategoryName.key`); a new one where none has.
    func category(named name: String) async throws -> LibraryModel.Category {
        // Two photos of one import may ask at once, and a person beside them: who comes second finds what the first has made.
        for _ in 0..<2 {
            do {
                return try await send(GetCategory(displayName: name))
            } catch let error as MeshError where error.status == .notFound {}
            do {
                return try await send(AddCategory(displayName: name))
            } catch let error as MeshError where error.status == .alreadyExists {}
        }
        return try await send(GetCategory(displayName: name))
    }
}
