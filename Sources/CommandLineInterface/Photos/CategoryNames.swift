import LibraryModel
import ServiceMesh

extension LibraryConnection {
    /// The category that a person named: by its id as `#3`, by its name (case ignored), or by its id as `3` where no category
    /// has that name, as in libraries from before such names were refused.
    package func category(named text: String) async throws -> Category {
        try await categories(named: [text])[0]
    }

    /// The same for several, in their order, with one request.
    package func categories(named texts: [String]) async throws -> [Category] {
        let all = try await send(ListCategories()).value.categories
        return try texts.map { text in
            let key = CategoryName.key(text)
            let isID = text.hasPrefix("#") && CategoryName.isNumber(text)
            if !isID, let found = all.first(where: { CategoryName.key($0.displayName) == key }) { return found }
            if CategoryName.isNumber(text), let id = Int64(key.drop { $0 == "#" }),
                let found = all.first(where: { $0.id == id })
            {
                return found
            }
            let near = Spelling.suggestion(for: text, among: all.map(\.displayName))
            throw CommandFailure.refused(
                MeshError(
                    .notFound,
                    "There is no category '\(text)'" + (near == "." ? ". List them with: smilepile categories" : near)))
        }
    }
}
