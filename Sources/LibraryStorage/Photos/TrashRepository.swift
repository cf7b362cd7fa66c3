import LibraryModel
import ServiceMesh

/// The trash of a catalogue inside one transaction.
package protocol TrashRepository {
    /// One page, the latest first, of one moment the greater id first.
    func page(_ query: TrashQuery) throws -> TrashPage
    /// Nil where none in the trash has this uuid, in lower case.
    func find(_ uuid: String) throws -> TrashedPhoto?
    func count() throws -> Int
    func totals() throws -> PhotoTotals
    /// Those of `uuids` that photos in the trash have.
    func uuids(among uuids: [String]) throws -> Set<String>
    /// Ids of photos that were put there at `time` or before, the oldest first, `limit` at most.
    func deleted(before time: Timestamp, limit: Int) throws -> [Int64]
    /// How many were put there at `time` or before.
    func countDeleted(before time: Timestamp) throws -> Int
    /// Whether photos were put there after `time`, by a clock that was wrong.
    func isAnyDeleted(after time: Timestamp) throws -> Bool
    /// Lets the term of those begin then.
    func beginTerm(ofThoseAfter time: Timestamp) throws

    /// Moves photos of the library into the trash, with all that is said of them, their sealed values, and what is needed to make
    /// their category again. They keep their ids, unless another one there has it.
    /// - Returns: how many were still in the library.
    func add(_ photos: [Photo], at time: Timestamp) throws -> Int
    /// Moves all photos of a category into the trash.
    /// - Returns: how many it had.
    func add(category: Int64, at time: Timestamp) throws -> Int
    /// Takes photos out of the trash, as they were, under their ids where these are free. Each goes into its category, whatever this
    /// is called now; where that is gone, into the one of its name; where there is none, that is made again at its place.
    /// - Returns: those that stay, since the library has the same picture.
    /// - Throws: `notInTrash`.
    func restore(_ ids: [Int64]) throws -> [StayingPhoto]
    /// Removes photos from the trash for good, with their sealed values; their files become discarded files, and are returned.
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

    /// What was put there later is kept for a term from now: the clock was wrong then.
    package let now: Timestamp
    /// Nothing goes before, though its term is over; nil where it does.
    package let notBefore: Timestamp?

    /// - Throws: `invalid_argument`.
    package init(_ request: ListTrash, now: Timestamp = .now(), notBefore: Timestamp? = nil) throws {
        (self.now, self.notBefore) = (now, notBefore)
        limit = try PageLimit.validated(request.limit)
        end = try request.after.map(PhotoPlace.init)
    }
}

/// How long photos stay in the trash.
package enum TrashTerm {
    package static let milliseconds: Int64 = 30 * 24 * 3_600_000

    /// When a photo goes that was put there at `time`.
    package static func end(deletedAt time: Int64, _ query: TrashQuery) -> Timestamp {
        let end = end(deletedAt: min(time, query.now.milliseconds))
        return query.notBefore.map { max(end, $0) } ?? end
    }

    /// Also for a time at the end of what a number holds: a row may have been written by anybody.
    package static func end(deletedAt time: Int64) -> Timestamp {
        let (end, overflow) = time.addingReportingOverflow(milliseconds)
        return Timestamp(milliseconds: overflow ? .max : end)
    }
}
