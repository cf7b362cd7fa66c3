import LibraryModel
import ServiceMesh

extension LibraryConnection {
    /// The photo that a person named by its number or its uuid.
    func photo(named text: String) async throws -> Answer<Photo> {
        if let id = Int64(text) { return try await send(GetPhoto(id: id)) }
        return try await send(GetPhoto(uuid: text.lowercased()))
    }

    /// Their ids; a uuid costs a request, a number none.
    func photoIDs(named texts: [String]) async throws -> [Int64] {
        var ids: [Int64] = []
        for text in texts {
            if let id = Int64(text) { ids.append(id) } else { ids.append(try await photo(named: text).value.id) }
        }
        return ids
    }
}
