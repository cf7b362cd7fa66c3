import LibraryModel
import ServiceMesh

/// The trash of a catalogue inside one transaction.
package protocol TrashRepository {
    /// One page, the latest first.
    func page(_ query: TrashQuery) throws -> TrashPage
    /// Nil where none in the trash has this uuid, in lower case.
    func find(_ uuid: String) throws -> TrashedPhoto?
    func count() throws -> Int
    func totals() throws -> PhotoTotals
    /// Those of `uuids` that photos in the trash have.
    func uuids(among uuids: [String]) throws -> Set<String>
    /// The oldest in the trash, `limit` at most.
    func deleted(before time: Timestamp, limit: Int) throws -> [Int64]

    /// Moves photos of the library into the trash.
    /// - Returns: how many were still in the library.
    func add(_ photos: [Photo], at time: Timestamp) throws -> Int
    /// Moves all photos of a category into the trash.
    /// - Returns: how many it had.
    func add(category: Int64, at time: Timestamp) throws -> Int
    /// Takes photos out of the trash, into their categories, which are made again where they are gone.
    /// - Throws: `notInTrash`; `restoredAlready`.
    func restore(_ ids: [Int64]) throws
    /// Removes photos from the trash for good; their files become discarded files, and are returned.
    /// - Throws: `notInTrash`.
    func purge(_ ids: [Int64]) throws -> [StoredName]
    /// After the categories were exchanged, and their numbers with them: photos belong to the one that has the name
    /// of theirs, or to none, and then it is made again.
    func followCategories() throws
}

/// One page of the trash.
package struct TrashQuery: Sendable {
    package let limit: Int
    /// Photos stand before it, by the time of their deletion; nil for the first page.
    package let end: PhotoPlace?

    /// - Throws: `invalid_argument`.
    package init(_ request: ListTrash) throws {
        limit = try PageLimit.validated(request.limit)
        end = try request.after.map(PhotoPlace.init)
    }
}

/// How long photos stay in the trash.
package enum TrashTerm {
    package static let milliseconds: Int64 = 30 * 24 * 3_600_000

    /// Also for a time at the end of what a number holds: a row may have been written by anybody.
    package static func end(deletedAt time: Int64) -> Timestamp {
        let (end, overflow) = time.addingReportingOverflow(milliseconds)
        return Timestamp(milliseconds: overflow ? .max : end)
    }
}
