import LibraryModel
import ServiceMesh

/// The categories of a catalogue inside one transaction. Which method of the specification's repository is which of
/// these: <doc:Methods>.
protocol CategoryRepository {
    /// All of them by position, with photo counts; ``CategoryLimits/count`` at most.
    func all() throws(CatalogueError) -> [Category]
    func find(_ key: CategoryKey) throws(CatalogueError) -> Category?
    func count() throws(CatalogueError) -> Int

    /// Enters a category at the end.
    /// - Parameter new: validated before, and with a colour.
    /// - Throws: `nameTaken`; `tooManyCategories`.
    func insert(_ new: ValidCategory, isDefault: Bool, at time: Timestamp) throws(CatalogueError) -> Category
    /// Writes name, colour and icon.
    /// - Throws: `noCategory`; `nameTaken` by another one.
    func update(id: Int64, to new: ValidCategory) throws(CatalogueError) -> Category
    /// Puts categories at the positions 0, 1, … as they stand in `ids`, which names every one once.
    func reorder(_ ids: [Int64]) throws(CatalogueError)
    /// Deletes it, and with it the photos that are in it still.
    /// - Throws: `noCategory`.
    func delete(id: Int64) throws(CatalogueError)
}

/// What a person gives a category, after the rules for each have been applied.
struct ValidCategory: Sendable {
    let displayName: String
    /// `#RRGGBB`, upper case.
    let colorHex: String
    let iconResource: String?
}

extension CategoryRepository {
    /// - Throws: `noCategory`, with some of the names that there are where it was named by its name.
    func require(_ key: CategoryKey) throws(CatalogueError) -> Category {
        if let category = try find(key) { return category }
        if case .id = key { throw .noCategory(key, known: []) }
        throw .noCategory(key, known: try all().prefix(20).map(\.displayName))
    }
}
