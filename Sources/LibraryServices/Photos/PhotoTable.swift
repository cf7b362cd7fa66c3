import Database
import LibraryModel
import ServiceMesh

/// The SQL of photos. Every function works inside the caller's transaction.
enum PhotoTable {
    /// What the trash and the photos table have in common, in one order.
    static let sharedColumns = """
        id, uuid, path, category_id, name, caption, is_from_assets, created_at, taken_at, file_size, width, height, \
        is_favorite, media_type, content_digest, source_digest, source_size
        """

    static func photo(_ row: borrowing Row) throws -> Photo {
        let takenAt: Int64? = try row["taken_at"]
        return Photo(
            id: try row["id"], uuid: try row["uuid"], path: try row["path"], categoryId: try row["category_id"],
            name: try row["name"], caption: try row["caption"], isFromAssets: try row["is_from_assets"],
            createdAt: Timestamp(milliseconds: try row["created_at"]), fileSize: try row["file_size"],
            width: try row["width"], height: try row["height"], isFavorite: try row["is_favorite"],
            takenAt: takenAt.map(Timestamp.init(milliseconds:)), contentDigest: try row["content_digest"],
            mediaType: try row["media_type"])
    }

    private static func first(
        where condition: String, _ value: any SQLBindable, in connection: Connection
    ) throws -> Photo? {
        try connection.first("SELECT \(sharedColumns) FROM photos WHERE \(condition)", value) { try photo($0) }
    }

    static func find(id: Int64, in connection: Connection) throws -> Photo? {
        try first(where: "id = ?", id, in: connection)
    }

    static func find(uuid: String, in connection: Connection) throws -> Photo? {
        try first(where: "uuid = ?", uuid, in: connection)
    }

    static func find(path: String, in connection: Connection) throws -> Photo? {
        try first(where: "path = ?", path, in: connection)
    }

    static func find(contentDigest: String, in connection: Connection) throws -> Photo? {
        try first(where: "content_digest = ?", contentDigest, in: connection)
    }

    static func find(sourceDigest: String, in connection: Connection) throws -> Photo? {
        try first(where: "source_digest = ?", sourceDigest, in: connection)
    }

    static func isStored(path: String, in connection: Connection) throws -> Bool {
        try connection.first(
            "SELECT EXISTS (SELECT 1 FROM photos WHERE path = ?1) OR EXISTS (SELECT 1 FROM trash WHERE path = ?1)", path
        ) { try $0[0] as Bool } ?? false
    }

    /// Whether a photo, in the library or in the trash, has this file: as its picture or as its thumbnail.
    static func isInUse(path: String, in connection: Connection) throws -> Bool {
        let prefix = "thumbnails/" + LibraryFolder.thumbnailPrefix
        let photo = path.hasPrefix(prefix) ? "photos/" + path.dropFirst(prefix.count) : path
        return try isStored(path: photo, in: connection)
    }

    static func count(in connection: Connection) throws -> Int {
        try connection.first("SELECT count(*) FROM photos") { try $0[0] as Int } ?? 0
    }

    /// - Throws: `noPhoto`.
    static func require(id: Int64, in connection: Connection) throws -> Photo {
        guard let photo = try find(id: id, in: connection) else {
            throw CatalogueError.noPhoto(.id(id))
        }
        return photo
    }

    static func sourceDigests(size: Int64, in connection: Connection) throws -> [String] {
        try connection.query("SELECT source_digest FROM photos WHERE source_size = ? LIMIT 1000", size) {
            try $0[0] as String
        }
    }

    /// Enters a photo under a new id, or under its own where `keepingID` is set and it is not past
    /// ``SearchPlace/maximumKeptID``, and returns that id.
    static func insert(
        _ photo: Photo, sourceDigest: String, sourceSize: Int64, keepingID: Bool = false, in connection: Connection
    ) throws -> Int64 {
        try connection.execute(
            """
            INSERT INTO photos (\(sharedColumns), search_text)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            keepingID && (1...SearchPlace.maximumKeptID).contains(photo.id) ? photo.id : nil, photo.uuid, photo.path,
            photo.categoryId, photo.name, photo.caption,
            photo.isFromAssets, photo.createdAt.milliseconds, photo.takenAt?.milliseconds, photo.fileSize, photo.width,
            photo.height, photo.isFavorite, photo.mediaType, photo.contentDigest, sourceDigest, sourceSize,
            searchText(name: photo.name, caption: photo.caption, path: photo.path))
        return connection.lastInsertRowID
    }

    /// Enters photos under new ids, all or none, and their texts into the index with one statement: see
    /// ``SearchIndexSchema``.
    static func insert(_ photos: [NewPhoto], in connection: Connection) throws {
        try connection.inSavepoint {
            try connection.execute("INSERT INTO photo_search_paused (id) VALUES (1)")
            let last = try connection.value("SELECT coalesce(max(id), 0) FROM photos") as Int64? ?? 0
            try insertRows(photos, in: connection)
            try connection.execute(SearchMarkSchema.enterRange, last + 1, Int64.max)
            try connection.execute("DELETE FROM photo_search_paused")
        }
    }

    private static func insertRows(_ photos: [NewPhoto], in connection: Connection) throws {
        let row = "(" + Array(repeating: "?", count: 17).joined(separator: ", ") + ")"
        var rest = photos[...]
        while !rest.isEmpty {
            let some = rest.prefix(rowsInStatement)
            rest = rest.dropFirst(rowsInStatement)
            var values: [(any SQLBindable)?] = []
            values.reserveCapacity(17 * some.count)
            for new in some {
                let photo = new.photo
                values += [
                    photo.uuid, photo.path, photo.categoryId, photo.name, photo.caption, photo.isFromAssets,
                    photo.createdAt.milliseconds, photo.takenAt?.milliseconds, photo.fileSize, photo.width,
                    photo.height, photo.isFavorite, photo.mediaType, photo.contentDigest, new.sourceDigest,
                    new.sourceSize, searchText(name: photo.name, caption: photo.caption, path: photo.path),
                ]
            }
            // The columns but the id, which is first.
            try connection.execute(
                "INSERT INTO photos (\(sharedColumns.dropFirst("id, ".count)), search_text) VALUES "
                    + Array(repeating: row, count: some.count).joined(separator: ", "), values: values)
        }
    }

    /// Seventeen values each; SQLite takes 32,766 in one statement.
    private static let rowsInStatement = 500

    /// What a text search looks through: folded, one field a line, so that no match spans two fields.
    static func searchText(name: String, caption: String?, path: String) -> String {
        [name, caption ?? "", path].map(\.searchFolded).joined(separator: "\n")
    }

    /// - Returns: whether anything changed.
    static func setFavorite(_ isFavorite: Bool, id: Int64, in connection: Connection) throws -> Bool {
        try connection.execute(
            "UPDATE photos SET is_favorite = ?1 WHERE id = ?2 AND is_favorite <> ?1", isFavorite, id) > 0
    }

    static func move(id: Int64, to category: Int64, in connection: Connection) throws -> Bool {
        try connection.execute(
            "UPDATE photos SET category_id = ?1 WHERE id = ?2 AND category_id <> ?1", category, id) > 0
    }

    /// All at once, and their marks in the text index with two statements and not by the trigger: the index would write
    /// out what it holds for nearly every photo.
    static func moveAll(from category: Int64, to target: Int64, in connection: Connection) throws -> Int {
        try connection.inSavepoint {
            try connection.execute("INSERT INTO photo_search_paused (id) VALUES (1)")
            try connection.execute(SearchMarkSchema.removeMarks, category)
            try connection.execute(SearchMarkSchema.enterMarks, target, category)
            let count = try connection.execute(
                "UPDATE photos SET category_id = ? WHERE category_id = ?", target, category)
            try connection.execute("DELETE FROM photo_search_paused")
            return count
        }
    }

    /// Name, caption, category, mark and date. The path stays, and with it what the search text has of it.
    /// - Returns: whether there is such a photo.
    static func update(_ photo: Photo, in connection: Connection) throws -> Bool {
        try connection.execute(
            """
            UPDATE photos SET name = ?, caption = ?, category_id = ?, is_favorite = ?, taken_at = ?, search_text = ?
            WHERE id = ?
            """, photo.name, photo.caption, photo.categoryId, photo.isFavorite, photo.takenAt?.milliseconds,
            searchText(name: photo.name, caption: photo.caption, path: photo.path), photo.id) > 0
    }

    static func delete(id: Int64, in connection: Connection) throws {
        try connection.execute("DELETE FROM photos WHERE id = ?", id)
    }
}
