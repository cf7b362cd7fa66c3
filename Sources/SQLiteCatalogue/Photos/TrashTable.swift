import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

/// The trash in SQLite.
struct TrashTable: TrashRepository {
    let connection: Connection

    private var photos: PhotoTable { PhotoTable(connection: connection) }

    // MARK: Reading

    func page(_ query: TrashQuery) throws -> TrashPage {
        let (limit, start) = (query.limit, query.end)
        let found = try connection.filled(limit + 1) { limit in
            try connection.readable(
                "trash",
                """
                SELECT \(PhotoColumns.namesWithID), category_name, deleted_at FROM trash
                WHERE (deleted_at, id) < (?, ?) ORDER BY deleted_at DESC, id DESC LIMIT ?
                """, values: [start?.date ?? Int64.max, start?.id ?? Int64.max, limit]
            ) { try Self.trashed($0) { TrashTerm.end(deletedAt: $0, query) } }
        }
        let photos = Array(found.prefix(limit))
        let next = found.count > limit ? photos.last : nil
        return TrashPage(
            photos: photos,
            next: next.map { PhotoPlace(date: $0.deletedAt.milliseconds, id: $0.photo.id).text })
    }

    private static func trashed(
        _ row: borrowing Row, end: (Int64) -> Timestamp = { TrashTerm.end(deletedAt: $0) }
    ) throws -> TrashedPhoto {
        let deletedAt: Int64 = try row["deleted_at"]
        return TrashedPhoto(
            photo: try PhotoColumns.photo(row), categoryName: try row["category_name"],
            deletedAt: Timestamp(milliseconds: deletedAt),
            purgeAfter: end(deletedAt))
    }

    func find(_ uuid: String) throws -> TrashedPhoto? {
        try connection.first(
            "SELECT \(PhotoColumns.namesWithID), category_name, deleted_at FROM trash WHERE uuid = ?", uuid
        ) { try Self.trashed($0) }
    }

    func count() throws -> Int { try connection.value("SELECT count(*) FROM trash") ?? 0 }

    func totals() throws -> PhotoTotals {
        let found = try connection.first(
            "SELECT count(*), coalesce(sum(is_favorite), 0), coalesce(sum(file_size), 0) FROM trash"
        ) { PhotoTotals(photos: try $0[0], favorites: try $0[1], bytes: try $0[2]) }
        return found ?? PhotoTotals(photos: 0, favorites: 0, bytes: 0)
    }

    func uuids(among uuids: [String]) throws -> Set<String> {
        try Set(
            uuids.filter {
                try connection.value("SELECT EXISTS (SELECT 1 FROM trash WHERE uuid = ?)", $0) as Bool? ?? false
            })
    }

    func deleted(before time: Timestamp, limit: Int) throws -> [Int64] {
        try connection.query(
            "SELECT id FROM trash WHERE deleted_at <= ? ORDER BY deleted_at LIMIT ?", time.milliseconds, limit
        ) { try $0[0] as Int64 }
    }

    func countDeleted(before time: Timestamp) throws -> Int {
        try connection.value("SELECT count(*) FROM trash WHERE deleted_at <= ?", time.milliseconds) ?? 0
    }

    func isAnyDeleted(after time: Timestamp) throws -> Bool {
        try connection.value("SELECT EXISTS (SELECT 1 FROM trash WHERE deleted_at > ?)", time.milliseconds) ?? false
    }

    func beginTerm(ofThoseAfter time: Timestamp) throws {
        try connection.execute("UPDATE trash SET deleted_at = ?1 WHERE deleted_at > ?1", time.milliseconds)
    }

    // MARK: In

    func add(_ photos: [Photo], at time: Timestamp) throws -> Int { try add(photos.map(\.id), at: time) }

    func add(category: Int64, at time: Timestamp) throws -> Int {
        try add(
            connection.query("SELECT id FROM photos WHERE category_id = ?", category) { try $0[0] as Int64 }, at: time)
    }

    /// Moves photos into the trash, with what is needed to make their category again. They keep their ids there,
    /// except where a library was replaced and the id belongs to an older photo in the trash. The new ids that these get
    /// are past all that there are: the next one free in the trash may be that of a photo that is moved with them.
    private func add(_ ids: [Int64], at time: Timestamp) throws -> Int {
        try photos.withoutIndexTriggers {
            try PhotoTable.lists(ids).reduce(0) { count, list in
                try connection.execute(SearchMarkSchema.removeListed, list)
                try connection.execute(Self.insertion, time.milliseconds, list)
                return try count
                    + connection.execute("DELETE FROM photos WHERE id IN (SELECT value FROM json_each(?))", list)
            }
        }
    }

    private static let insertion = """
        INSERT INTO trash (\(PhotoColumns.namesWithID), category_name, category_color, category_icon,
            category_position, category_is_default, deleted_at)
        SELECT CASE WHEN EXISTS (SELECT 1 FROM trash t WHERE t.id = p.id)
            THEN max((SELECT max(id) FROM trash), (SELECT max(id) FROM photos)) + row_number() OVER () ELSE p.id END,
            \(PhotoColumns.all.map { "p.\($0.name)" }.joined(separator: ", ")),
            c.display_name, c.color_hex, c.icon_resource, c.position, c.is_default, ?
        FROM photos p JOIN categories c ON c.id = p.category_id WHERE p.id IN (SELECT value FROM json_each(?))
        """

    // MARK: Out

    private struct Entry {
        let photo: SourcedPhoto
        let category: CategoryEntry
    }

    private func require(_ id: Int64) throws -> Entry {
        let found = try connection.firstReadable("trash", "SELECT * FROM trash WHERE id = ?", values: [id]) {
            try Self.entry($0)
        }
        guard let found else { throw CatalogueError.notInTrash(id) }
        return found
    }

    private static func entry(_ row: borrowing Row) throws -> Entry {
        Entry(
            photo: try PhotoColumns.sourcedPhoto(row),
            category: CategoryEntry(
                CategoryDetails(
                    displayName: try row["category_name"], colorHex: try row["category_color"],
                    iconResource: try row["category_icon"]),
                isDefault: try row["category_is_default"], position: try row["category_position"]))
    }

    func isUnreadable(_ id: Int64) throws -> Bool {
        do {
            _ = try require(id)
            return false
        } catch CatalogueError.notInTrash {
            return false
        } catch DatabaseError.unreadableRow {
            return true
        }
    }

    func restore(_ ids: [Int64]) throws -> [StayingPhoto] {
        var staying: [StayingPhoto] = []
        try photos.indexedTogether {
            var entered: [Int64] = []
            for part in PhotoTable.parts(ids) {
                let plain = part.count < Self.fewPhotos ? [] : try restorePlain(part)
                entered += plain
                let done = Set(plain)
                for id in part where !done.contains(id) {
                    if let stays = try restore(id, &entered) { staying.append(stays) }
                }
            }
            return entered
        }
        return staying
    }

    /// Restores the photos of which nothing has to be decided, with a few statements: their ids are free, their categories are there,
    /// and no other photo is the same picture.
    ///
    /// One after the other they take a square of their number: SQLite keeps what a savepoint has changed in a chain of blocks, and
    /// follows it from its beginning at the end of each statement.
    /// - Returns: their ids, which they keep.
    private func restorePlain(_ ids: [Int64]) throws -> [Int64] {
        let entries = try connection.readable("trash", Self.plain, values: [PhotoTable.list(ids)]) {
            try Self.entry($0)
        }
        guard !entries.isEmpty else { return [] }
        try photos.insertRows(entries.map(\.photo), keepingIDs: true)
        let entered = entries.map(\.photo.photo.id)
        try connection.execute(
            "DELETE FROM trash WHERE id IN (SELECT value FROM json_each(?))", PhotoTable.list(entered))
        return entered
    }

    /// Of fewer the statement would be prepared for once.
    private static let fewPhotos = 100

    private static let plain = """
        SELECT * FROM (
            SELECT t.*, count(*) OVER (PARTITION BY t.source_digest) AS of_source,
                count(*) OVER (PARTITION BY t.uuid) AS of_uuid, count(*) OVER (PARTITION BY t.path) AS of_path
            FROM json_each(?1) AS l CROSS JOIN trash AS t ON t.id = l.value) AS t
        WHERE of_source = 1 AND of_uuid = 1 AND of_path = 1 AND t.id BETWEEN 1 AND \(SearchPlace.maximumKeptID)
            AND EXISTS (SELECT 1 FROM categories WHERE id = t.category_id)
            AND NOT EXISTS (SELECT 1 FROM photos WHERE id = t.id)
            AND NOT EXISTS (SELECT 1 FROM photos WHERE source_digest = t.source_digest)
            AND NOT EXISTS (SELECT 1 FROM photos WHERE uuid = t.uuid)
            AND NOT EXISTS (SELECT 1 FROM photos WHERE path = t.path)
        """

    /// - Parameter entered: gets the id that the photo has in the library.
    private func restore(_ id: Int64, _ entered: inout [Int64]) throws -> StayingPhoto? {
        let entry = try require(id)
        var photo = entry.photo.photo
        let there = try photos.find(sourceDigest: entry.photo.sourceDigest) ?? photos.find(.uuid(photo.uuid))
        if let there { return StayingPhoto(id: id, sameAs: there.id) }
        photo.categoryId = try category(for: entry)
        entered.append(
            try photos.insertRow(
                SourcedPhoto(photo: photo, sourceDigest: entry.photo.sourceDigest, sourceSize: entry.photo.sourceSize),
                id: try photos.find(.id(photo.id)) == nil ? photo.id : nil))
        try connection.execute("DELETE FROM trash WHERE id = ?", id)
        return nil
    }

    /// By id, then by name: a category of that name made since is the one a person means.
    private func category(for entry: Entry) throws -> Int64 {
        let categories = CategoryTable(connection: connection)
        let there =
            try categories.find(.id(entry.photo.photo.categoryId))
            ?? categories.find(.displayName(entry.category.details.displayName))
        if let there { return there.id }
        // Its place may be another's by now, which stands behind it then, as all that follow do.
        if let position = entry.category.position {
            try connection.execute(
                """
                UPDATE categories SET position = position + 1
                WHERE position >= ?1 AND EXISTS (SELECT 1 FROM categories WHERE position = ?1)
                """, position)
        }
        return try categories.insert(entry.category).id
    }

    func purge(_ ids: [Int64]) throws -> [StoredName] {
        try PhotoTable.parts(ids).flatMap { part in
            let list = PhotoTable.list(part)
            let entries = try connection.readable(
                "trash", "SELECT t.* FROM json_each(?1) AS l CROSS JOIN trash AS t ON t.id = l.value", values: [list]
            ) { try Self.entry($0) }
            let found = Set(entries.map(\.photo.photo.id))
            // Which is not there, or cannot be read.
            for id in part where !found.contains(id) { _ = try require(id) }
            try connection.execute("DELETE FROM trash WHERE id IN (SELECT value FROM json_each(?))", list)
            let paths = entries.flatMap(\.photo.photo.filePaths)
            try DiscardedFileTable(connection: connection).add(paths)
            return paths.compactMap { StoredName(path: $0) }
        }
    }

    func followCategories() throws {
        // Some thousands at a time, as photos are removed.
        var last = Int64.min
        let next = "SELECT max(id) FROM (SELECT id FROM trash WHERE id > ? ORDER BY id LIMIT \(PhotoTable.idsInList))"
        while let end = try connection.first(next, last, transform: { try $0[0] as Int64? }).flatMap(\.self) {
            try connection.execute(
                """
                UPDATE trash SET category_id =
                    coalesce((SELECT id FROM categories c WHERE c.display_name = trash.category_name), 0)
                WHERE id > ? AND id <= ?
                """, last, end)
            last = end
        }
    }
}
