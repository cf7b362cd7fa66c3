import Database
import LibraryModel
import LibraryStorage

extension PhotoTable {
    /// Dates and ids of a page of the photos that have sealed fields. They are sorted, and not rows. They are found by the
    /// sealed fields' own table: most photos have none, and an index that told which ones have would be plaintext about
    /// them.
    static let sealedPlaces = """
        SELECT p.shown_at, p.id
        FROM (SELECT DISTINCT photo_uuid FROM sealed_fields) AS s CROSS JOIN photos AS p ON p.uuid = s.photo_uuid
        WHERE ?1 OR (p.shown_at, p.id) < (?2, ?3) ORDER BY p.shown_at DESC, p.id DESC LIMIT ?4
        """

    func sealed(_ query: SealedPhotoQuery) throws -> SealedPhotos {
        // One more than asked for tells whether there is a next page.
        let places = try connection.query(
            Self.sealedPlaces, query.end == nil, query.end?.date ?? 0, query.end?.id ?? 0, query.limit + 1
        ) { PhotoPlace(date: try $0[0], id: try $0[1]) }
        let photos = try findReadable(places.prefix(query.limit).map { .id($0.id) })
        // Photos in the trash have their fields still.
        let total: Int? = try connection.value(
            """
            SELECT count(*) FROM (SELECT DISTINCT photo_uuid FROM sealed_fields) AS s
            WHERE EXISTS (SELECT 1 FROM photos WHERE uuid = s.photo_uuid)
            """)
        return SealedPhotos(
            photos: photos, next: places.count > query.limit ? places[query.limit - 1].text : nil,
            total: total ?? 0)
    }
}
