import Database
import LibraryModel
import ServiceMesh

/// The columns that photos have in the library and in the trash, but for the id: the one place that lists them.
///
/// A new one needs a property of `Photo`, a line in ``all``, with the version of the catalogue that brings it, and one in
/// ``photo(_:)``. Where more comes with it than a column of each table, an index of it say, that is a migration of
/// ``CatalogueSchema``.
enum PhotoColumns {
    /// A version of the catalogue that brought one column and nothing else.
    struct Version: Sendable {
        let number: Int
        /// As ``Migration/name``.
        let name: String
        /// What SQLite has in the column: its type, and what rows from before get where that is not NULL.
        let declaration: String
    }

    struct Column: Sendable {
        let name: String
        /// Nil where more came with it.
        let version: Version?
        /// Whether a person changes it.
        let isEditable: Bool
        /// Whether it describes the photo's files.
        let isOfFiles: Bool
        let value: @Sendable (SourcedPhoto) -> (any SQLBindable)?

        init(
            _ name: String, since version: Version? = nil, isEditable: Bool = false, isOfFiles: Bool = false,
            _ value: @escaping @Sendable (SourcedPhoto) -> (any SQLBindable)?
        ) {
            self.name = name
            self.version = version
            self.isEditable = isEditable
            self.isOfFiles = isOfFiles
            self.value = value
        }
    }

    static let all = [
        Column("uuid") { $0.photo.uuid },
        Column("path", isOfFiles: true) { $0.photo.path },
        Column("category_id", isEditable: true) { $0.photo.categoryId },
        Column("name", isEditable: true) { $0.photo.name },
        Column("source_name") { $0.photo.sourceName },
        Column("caption", isEditable: true) { $0.photo.caption },
        Column("is_from_assets") { $0.photo.isFromAssets },
        Column("created_at") { $0.photo.createdAt.milliseconds },
        Column("taken_at", isEditable: true) { $0.photo.takenAt?.milliseconds },
        // Of rows from before nothing is said: until then a date was complete, or it was a day out of a file's name, which looks
        // like midnight.
        Column(
            "date_precision", since: Version(number: 20, name: "how far dates are known", declaration: "TEXT"),
            isEditable: true
        ) { $0.photo.datePrecision?.rawValue },
        Column("taken_offset", isEditable: true) { $0.photo.takenOffset },
        Column("date_source", isEditable: true) { $0.photo.dateSource?.rawValue },
        Column("camera", isOfFiles: true) { $0.photo.camera },
        Column("kind", isOfFiles: true) { $0.photo.kind?.rawValue },
        Column("duration", isOfFiles: true) { $0.photo.duration },
        Column("codecs", isOfFiles: true) { $0.photo.codecs },
        Column("film_offset", isOfFiles: true) { $0.photo.filmOffset },
        Column("film_length", isOfFiles: true) { $0.photo.filmLength },
        Column("content_identifier", isOfFiles: true) { $0.photo.contentIdentifier },
        // Of the film or raw file among the sidecars, said once more: its bytes are asked for as those of sources are. Films came first,
        // which the columns are called after.
        Column("film_digest", isOfFiles: true) { $0.photo.companion?.contentDigest },
        Column("film_size", isOfFiles: true) { $0.photo.companion?.fileSize },
        Column("file_size", isOfFiles: true) { $0.photo.fileSize },
        // As they are shown: turning a photo exchanges them (`PhotoTable.update`).
        Column("width", isOfFiles: true) { $0.photo.width },
        Column("height", isOfFiles: true) { $0.photo.height },
        Column("rotation", isEditable: true) { $0.photo.rotation?.rawValue },
        Column("is_favorite", isEditable: true) { $0.photo.isFavorite },
        Column("media_type", isOfFiles: true) { $0.photo.mediaType },
        Column("content_digest", isOfFiles: true) { $0.photo.contentDigest },
        Column("original_path", isOfFiles: true) { $0.photo.originalPath },
        Column("sidecars", isOfFiles: true) { KeptSidecar.text($0.photo.sidecars) },
        Column("unseen_by", isOfFiles: true) { $0.photo.unseenBy },
        Column("last_decision") { $0.photo.lastDecision?.rawValue },
        Column("source_digest") { $0.sourceDigest },
        Column("source_size") { $0.sourceSize },
    ]

    /// Those that brought one column each.
    static let migrations = all.compactMap { column in
        column.version.map { version in
            Migration(
                version: version.number, name: version.name,
                script: ["photos", "trash"].map { table in
                    "ALTER TABLE \(table) ADD COLUMN \(column.name) \(version.declaration);"
                }.joined(separator: "\n"))
        }
    }

    static let names = all.map(\.name).joined(separator: ", ")
    static let namesWithID = "id, " + names

    /// From a row that has all of these by their names.
    static func photo(_ row: borrowing Row) throws -> Photo {
        let path: String = try row["path"]
        let takenAt: Int64? = try row["taken_at"]
        let datePrecision: String? = try row["date_precision"]
        let dateSource: String? = try row["date_source"]
        let kind: String? = try row["kind"]
        let rotation: Int? = try row["rotation"]
        let lastDecision: String? = try row["last_decision"]
        return Photo(
            id: try row["id"], uuid: try row["uuid"], path: path, categoryId: try row["category_id"],
            name: try row["name"], sourceName: try row["source_name"], caption: try row["caption"],
            isFromAssets: try row["is_from_assets"],
            createdAt: Timestamp(milliseconds: try row["created_at"]), fileSize: try row["file_size"],
            width: try row["width"], height: try row["height"], rotation: rotation.flatMap(Rotation.init(rawValue:)),
            isFavorite: try row["is_favorite"],
            takenAt: takenAt.map(LocalDateTime.init(milliseconds:)),
            datePrecision: datePrecision.flatMap(DatePrecision.init), takenOffset: try row["taken_offset"],
            dateSource: dateSource.flatMap(DateSource.init), camera: try row["camera"],
            kind: kind.flatMap(PhotoKind.init), duration: try row["duration"], codecs: try row["codecs"],
            filmOffset: try row["film_offset"], filmLength: try row["film_length"],
            contentIdentifier: try row["content_identifier"],
            contentDigest: try row["content_digest"],
            mediaType: try row["media_type"], originalPath: try row["original_path"],
            sidecars: KeptSidecar.list(try row["sidecars"], ofPhoto: path), unseenBy: try row["unseen_by"],
            lastDecision: lastDecision.flatMap(SwipeAction.init))
    }

    static func sourcedPhoto(_ row: borrowing Row) throws -> SourcedPhoto {
        SourcedPhoto(
            photo: try photo(row), sourceDigest: try row["source_digest"], sourceSize: try row["source_size"])
    }
}
