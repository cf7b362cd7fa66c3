import Database
import LibraryModel
import ServiceMesh

/// The SQL of the trash, and of files that are to go. Every function works inside the caller's transaction.
enum TrashTable {
    /// Moves photos into the trash, with what is needed to make their category again. They keep their ids there,
    /// except where a library was replaced and the id belongs to an older photo in the trash. The new ids that these get
    /// are past all that there are: the next one free in the trash may be that of a photo that is moved with them.
    /// - Parameter condition: over `p` (photos), with one value.
    static func moveIn(
        where condition: String, _ value: any SQLBindable, at time: Timestamp, in connection: Connection
    ) throws -> Int {
        try connection.execute(
            """
            INSERT INTO trash (\(PhotoTable.sharedColumns), category_name, category_color, category_icon, deleted_at)
            SELECT CASE WHEN EXISTS (SELECT 1 FROM trash t WHERE t.id = p.id)
                THEN max((SELECT max(id) FROM trash), (SELECT max(id) FROM photos)) + row_number() OVER () ELSE p.id END,
                \(PhotoTable.sharedColumns.split(separator: ", ").dropFirst().map { "p.\($0)" }.joined(separator: ", ")),
                c.display_name, c.color_hex, c.icon_resource, ?
            FROM photos p JOIN categories c ON c.id = p.category_id WHERE \(condition)
            """, time.milliseconds, value)
        return try connection.execute(
            "DELETE FROM photos AS p WHERE \(condition)", value)
    }

    private static func trashed(_ row: borrowing Row) throws -> TrashedPhoto {
        let deletedAt: Int64 = try row["deleted_at"]
        return TrashedPhoto(
            photo: try PhotoTable.photo(row), categoryName: try row["category_name"],
            deletedAt: Timestamp(milliseconds: deletedAt),
            purgeAfter: TrashTerm.end(deletedAt: deletedAt))
    }

    static func page(_ query: TrashQuery, in connection: Connection) throws -> TrashPage {
        let (limit, start) = (query.limit, query.end)
        let found = try connection.query(
            """
            SELECT \(PhotoTable.sharedColumns), category_name, deleted_at FROM trash
            WHERE (deleted_at, id) < (?, ?) ORDER BY deleted_at DESC, id DESC LIMIT ?
            """, start?.date ?? Int64.max, start?.id ?? Int64.max, limit + 1
        ) { try trashed($0) }
        let photos = Array(found.prefix(limit))
        let next = found.count > limit ? photos.last : nil
        return TrashPage(
            photos: photos,
            next: next.map { PhotoPlace(date: $0.deletedAt.milliseconds, id: $0.photo.id).text })
    }

    private struct Entry {
        let photo: Photo
        let sourceDigest: String
        let sourceSize: Int64
        let categoryName: String
        let categoryColor: String
        let categoryIcon: String?
    }

    private static func entry(_ id: Int64, in connection: Connection) throws -> Entry {
        let found = try connection.first("SELECT * FROM trash WHERE id = ?", id) { row in
            Entry(
                photo: try PhotoTable.photo(row), sourceDigest: try row["source_digest"],
                sourceSize: try row["source_size"], categoryName: try row["category_name"],
                categoryColor: try row["category_color"], categoryIcon: try row["category_icon"])
        }
        guard let found else {
            throw CatalogueError.notInTrash(id)
        }
        return found
    }

    /// Takes a photo out of the trash, into its category; that one is made again where it is gone.
    static func moveOut(id: Int64, in connection: Connection) throws {
        let entry = try entry(id, in: connection)
        let there =
            try PhotoTable.find(sourceDigest: entry.sourceDigest, in: connection)
            ?? PhotoTable.find(uuid: entry.photo.uuid, in: connection)
        if let there {
            throw CatalogueError.restoredAlready(id, as: there.id)
        }
        let category = try category(for: entry, in: connection)
        let photo = entry.photo
        _ = try PhotoTable.insert(
            Photo(
                id: photo.id, uuid: photo.uuid, path: photo.path, categoryId: category, name: photo.name,
                caption: photo.caption, isFromAssets: photo.isFromAssets, createdAt: photo.createdAt,
                fileSize: photo.fileSize, width: photo.width, height: photo.height, isFavorite: photo.isFavorite,
                takenAt: photo.takenAt, contentDigest: photo.contentDigest, mediaType: photo.mediaType),
            sourceDigest: entry.sourceDigest, sourceSize: entry.sourceSize,
            keepingID: try PhotoTable.find(id: photo.id, in: connection) == nil, in: connection)
        try connection.execute("DELETE FROM trash WHERE id = ?", id)
    }

    /// By id, then by name: a category of that name made since is the one a person means.
    private static func category(for entry: Entry, in connection: Connection) throws -> Int64 {
        if let same = try CategoryTable.find(id: entry.photo.categoryId, in: connection) { return same.id }
        if let named = try CategoryTable.find(displayName: entry.categoryName, in: connection) { return named.id }
        return try CategoryTable.add(
            displayName: entry.categoryName, colorHex: entry.categoryColor, iconResource: entry.categoryIcon,
            isDefault: false, createdAt: .now(), in: connection
        ).id
    }

    static func count(in connection: Connection) throws -> Int {
        try connection.first("SELECT count(*) FROM trash") { try $0[0] as Int } ?? 0
    }

    static func ids(deletedBefore time: Timestamp, limit: Int, in connection: Connection) throws -> [Int64] {
        try connection.query(
            "SELECT id FROM trash WHERE deleted_at <= ? ORDER BY deleted_at LIMIT ?", time.milliseconds, limit
        ) { try $0[0] as Int64 }
    }

    /// Removes a photo from the trash for good and notes its files as discarded.
    /// - Returns: those files.
    static func purge(id: Int64, in connection: Connection) throws -> [String] {
        let photo = try entry(id, in: connection).photo
        try connection.execute("DELETE FROM trash WHERE id = ?", id)
        let paths = [photo.path, photo.thumbnailPath]
        try DiscardedFileTable.add(paths, in: connection)
        return paths
    }

    /// After the categories were exchanged, and their numbers with them: photos belong to the one that has the name
    /// of theirs, or to none, and then it is made again.
    static func followCategories(in connection: Connection) throws {
        try connection.execute(
            """
            UPDATE trash SET category_id =
                coalesce((SELECT id FROM categories c WHERE c.display_name = trash.category_name), 0)
            """)
    }
}

/// One page of the trash.
struct TrashQuery {
    let limit: Int
    /// Photos stand before it, by the time of their deletion; nil for the first page.
    let end: PhotoPlace?

    /// - Throws: `invalid_argument`.
    init(_ request: ListTrash) throws {
        limit = try PhotoQuery.validated(limit: request.limit)
        end = try request.after.map(PhotoPlace.init)
    }
}

/// The SQL of files to which nothing refers any more.
enum DiscardedFileTable {
    static func add(_ paths: [String], in connection: Connection) throws {
        for path in paths {
            try connection.execute("INSERT OR IGNORE INTO discarded_files (path) VALUES (?)", path)
        }
    }

    static func contains(_ path: String, in connection: Connection) throws -> Bool {
        try connection.first("SELECT EXISTS (SELECT 1 FROM discarded_files WHERE path = ?)", path) {
            try $0[0] as Bool
        } ?? false
    }

    static func all(in connection: Connection) throws -> [String] {
        try connection.query("SELECT path FROM discarded_files ORDER BY path") { try $0[0] as String }
    }

    static func remove(_ paths: [String], in connection: Connection) throws {
        for path in paths { try connection.execute("DELETE FROM discarded_files WHERE path = ?", path) }
    }
}
