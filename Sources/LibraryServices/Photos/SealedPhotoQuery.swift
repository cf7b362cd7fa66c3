import Database
import LibraryModel
import ServiceMesh

/// One page of the photos that have sealed fields. They are found by the sealed fields' own table: most photos have
/// none, and an index that told which ones have would be plaintext about them.
struct SealedPhotoQuery {
    let limit: Int
    /// Photos stand before it; nil for the first page.
    let end: PhotoPlace?

    /// - Throws: `invalid_argument`.
    init(_ request: ListSealedPhotos) throws {
        limit = try PhotoQuery.validated(limit: request.limit)
        end = try request.after.map(PhotoPlace.init)
    }

    /// Dates and ids of a page. They are sorted, and not rows.
    static let places = """
        SELECT p.shown_at, p.id
        FROM (SELECT DISTINCT photo_id FROM sealed_fields) AS s
        CROSS JOIN photos AS p INDEXED BY photos_by_id ON p.id = s.photo_id
        WHERE ?1 OR (p.shown_at, p.id) < (?2, ?3) ORDER BY p.shown_at DESC, p.id DESC LIMIT ?4
        """

    func page(in connection: Connection) throws -> SealedPhotos {
        // One more than asked for tells whether there is a next page.
        let places = try connection.query(
            Self.places, end == nil, end?.date ?? 0, end?.id ?? 0, limit + 1
        ) { PhotoPlace(date: try $0[0], id: try $0[1]) }
        let photos = try places.prefix(limit).compactMap { try PhotoTable.find(id: $0.id, in: connection) }
        let total: Int? = try connection.value("SELECT count(DISTINCT photo_id) FROM sealed_fields")
        return SealedPhotos(
            photos: photos, next: places.count > limit ? photos.last.map { PhotoPlace($0).text } : nil,
            total: total ?? 0)
    }
}
