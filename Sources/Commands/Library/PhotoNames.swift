import CommandLineInterface
import LibraryModel
import ServiceMesh

extension LibraryConnection {
    /// The photo that a person named by its number or its uuid.
    func photo(named text: String) async throws -> Answer<Photo> {
        if let id = Int64(text) { return try await send(GetPhoto(id: id)) }
        return try await send(GetPhoto(uuid: text.lowercased()))
    }

    /// Its id; a uuid costs a request, a number none.
    func photoID(named text: String) async throws -> Int64 {
        if let id = Int64(text) { return id }
        return try await photo(named: text).value.id
    }
}
