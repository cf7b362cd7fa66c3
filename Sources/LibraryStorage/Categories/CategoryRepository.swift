import LibraryModel
import ServiceMesh

/// The categories of a catalogue inside one transaction. Which method of the specification's repository is which of
/// these: <doc:Methods>.
package protocol CategoryRepository {
    /// All of them by position, of one position by id, with photo counts; ``CategoryLimits/count`` at most.
    func all() throws -> [Category]
    func find(_ key: CategoryKey) throws -> Category?
    func count() throws -> Int
    /// The highest id that a category has or had, after which the next one that is given comes; 0 before the first.
    func lastID() throws -> Int64

    /// Enters categories, one after the other.
    /// - Parameter new: validated before.
    /// - Throws: `nameTaken`; `tooManyCategories`.
    func insert(_ new: [CategoryEntry]) throws -> [Category]
    /// Writes name, colour and icon, of one after the other.
    /// - Returns: these as they are then, in the same order.
    /// - Throws: `noCategory`; `nameTaken` by another one.
    func update(_ changes: [(id: Int64, to: CategoryDetails)]) throws -> [Category]
    /// Puts categories at the positions 0, 1, … as they stand in `ids`, which names every one once.
    func reorder(_ ids: [Int64]) throws
    /// Deletes it, and with it the photos that are in it still.
    /// - Throws: `noCategory`.
    func delete(id: Int64) throws
    /// Deletes all of them, and all photos.
    func removeAll() throws
}

/// What a person gives a category, after the rules for each have been applied.
package struct CategoryDetails: Sendable {
    package let displayName: String
    /// `#RRGGBB`, upper case.
    package let colorHex: String
    package let iconResource: String?

    package init(displayName: String, colorHex: String, iconResource: String?) {
        self.displayName = displayName
        self.colorHex = colorHex
        self.iconResource = iconResource
    }
}

/// A category to be entered.
package struct CategoryEntry: Sendable {
    package let details: CategoryDetails
    package let isDefault: Bool
    package let createdAt: Timestamp
    /// Of data from elsewhere that keeps its ids; nil where the catalogue gives one.
    package let id: Int64?
    /// Nil for the end.
    package let position: Int?

    package init(
        _ details: CategoryDetails, isDefault: Bool = false, createdAt: Timestamp = .now(), id: Int64? = nil,
        position: Int? = nil
    ) {
        self.details = details
        self.isDefault = isDefault
        self.createdAt = createdAt
        self.id = id
        self.position = position
    }
}

extension CategoryRepository {
    /// - Throws: as for many.
    package func insert(_ new: CategoryEntry) throws -> Category { try insert([new])[0] }

    /// - Throws: as for many.
    package func update(id: Int64, to new: CategoryDetails) throws -> Category { try update([(id, new)])[0] }

    /// - Throws: `noCategory`, with some of the names that there are where it was named by its name.
    package func require(_ key: CategoryKey) throws -> Category { try require(key, in: nil) }
}
