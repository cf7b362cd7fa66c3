import LibraryModel

/// The categories that somebody sees, where it is not all of them.
package struct CategoryScope: Sendable, Hashable {
    package let ids: Set<Int64>

    package init(_ ids: some Sequence<Int64>) { self.ids = Set(ids) }
}

extension Optional where Wrapped == CategoryScope {
    /// Whether a category is seen; without a scope, each is.
    package func has(_ category: Int64) -> Bool { self?.ids.contains(category) ?? true }
}

extension PhotoRepository {
    /// - Throws: `noPhoto`, also of one that is not in the scope: that it is there is nothing to be told.
    package func require(_ key: PhotoKey, in scope: CategoryScope?) throws -> Photo {
        let photo = try require(key)
        guard scope.has(photo.categoryId) else { throw CatalogueError.noPhoto(key) }
        return photo
    }
}

extension CategoryRepository {
    /// Those of the scope, as ``CategoryRepository/all()``.
    package func all(in scope: CategoryScope?) throws -> [Category] { try all().filter { scope.has($0.id) } }

    /// - Throws: `noCategory`, with some of the names that there are where it was named by its name; also for one that is not in the scope,
    ///   with names of the scope.
    package func require(_ key: CategoryKey, in scope: CategoryScope?) throws -> Category {
        if let category = try find(key), scope.has(category.id) { return category }
        if case .id = key { throw CatalogueError.noCategory(key, known: []) }
        throw CatalogueError.noCategory(key, known: try all(in: scope).prefix(20).map(\.displayName))
    }
}
