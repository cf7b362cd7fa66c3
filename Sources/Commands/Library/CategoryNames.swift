import LibraryModel
import ServiceMesh

extension LibraryConnection {
    /// The category that a person named by its id or by its name (case ignored).
    func category(named text: String) async throws -> Category {
        try await categories(named: [text])[0]
    }

    /// The same for several, in their order, with one request.
    func categories(named texts: [String]) async throws -> [Category] {
        let all = try await send(ListCategories()).value.categories
        return try texts.map { text in
            if let id = Int64(text), let found = all.first(where: { $0.id == id }) { return found }
            let key = CategoryName.key(text)
            if let found = all.first(where: { CategoryName.key($0.displayName) == key }) { return found }
            let near = Spelling.suggestion(for: text, among: all.map(\.displayName))
            throw CommandFailure.refused(
                MeshError(
                    .notFound,
                    "There is no category '\(text)'" + (near == "." ? ". List them with: smilepile categories" : near)))
        }
    }
}
