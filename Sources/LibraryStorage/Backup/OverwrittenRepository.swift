import Foundation
import LibraryModel

/// What a restore has put what the backup says in the place of. Kept for as long as the restore's job is, so that it can be put back.
package enum Overwritten: Codable, Sendable, Equatable {
    /// What is said of a photo: name, caption, favourite mark, date, category.
    case photo(before: Photo, after: Photo)
    /// Name, colour and icon.
    case category(before: Category, after: Category)
    /// Ids of all categories.
    case order(before: [Int64], after: [Int64])
    /// What a person may set.
    case preferences(before: Settings, after: Settings)
    /// A sealed value, as it is stored.
    case sealed(photo: String, field: String, before: Data, after: Data)
}

/// Such changes, by the jobs that made them, inside one transaction. They go with their job.
package protocol OverwrittenRepository {
    func add(_ changes: [Overwritten], by job: String) throws
    /// In the order in which they were made. What cannot be read is left out.
    func changes(by job: String) throws -> [Overwritten]
    func removeChanges(by job: String) throws
    /// What is erased must not be there to be put back.
    func removeAll() throws
}
