import Foundation
import LibraryModel

/// A value that a restore has overwritten by the backup's. It is kept for as long as the restore's job is, so that it can be put back.
package enum Overwritten: Codable, Sendable, Equatable {
    /// The description of a photo: name, caption, favourite mark, date, category.
    case photo(before: Photo, after: Photo)
    /// Name, colour and icon.
    case category(before: Category, after: Category)
    /// Ids of all categories.
    case order(before: [Int64], after: [Int64])
    /// Settings that a person may change.
    case preferences(before: Settings, after: Settings)
    /// A sealed value, as it is stored.
    case sealed(photo: String, field: String, before: Data, after: Data)
}

/// Overwritten values, by the jobs that overwrote them, inside one transaction. They go with their job.
package protocol OverwrittenRepository {
    func add(_ changes: [Overwritten], by job: String) throws
    /// In the order in which they were made, without those that cannot be read.
    func changes(by job: String) throws -> [Overwritten]
    func removeChanges(by job: String) throws
    /// For an erasure: a value that is erased must not be put back.
    func removeAll() throws
}
