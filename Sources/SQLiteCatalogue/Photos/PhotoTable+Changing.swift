import Database
import LibraryModel
import LibraryStorage
import ServiceMesh

extension PhotoTable {
    func update(_ photos: [Photo]) throws {
        for category in Set(photos.map(\.categoryId)) {
            try CategoryTable(connection: connection).requireExists(category)
        }
        let columns = Self.columns.filter(\.isEditable)
        for photo in photos { try write(columns, of: photo, turning: true) }
    }

    func setFiles(of photo: Photo, line: ReceiptLine?, of job: JobID?) throws -> [StoredName] {
        let discarded = try setFiles(of: [photo])
        if let job, let line { try JobLineTable.append(line, to: job, in: connection) }
        return discarded
    }

    func setFiles(of photos: [Photo]) throws -> [StoredName] {
        let columns = Self.columns.filter(\.isOfFiles)
        return try photos.flatMap { photo in
            let paths = Set(photo.filePaths)
            let discarded = try require(.id(photo.id)).filePaths.filter { !paths.contains($0) }
            try write(columns, of: photo)
            try DiscardedFileTable(connection: connection).add(discarded)
            return discarded.compactMap { StoredName(path: $0) }
        }
    }

    /// - Parameter turning: whether the rotation is among the columns: where it lays the photo on its side, or up again, its sides change
    ///   places, whatever the photo says of them.
    private func write(_ columns: [PhotoColumns.Column], of photo: Photo, turning: Bool = false) throws {
        let new = SourcedPhoto(photo: photo, sourceDigest: "", sourceSize: 0)
        var set = columns.map { "\($0.name) = ?" }
        if turning {
            let lies = "coalesce(rotation, 0) % 180 <> \(photo.turned % 180)"
            set.append("width = CASE WHEN \(lies) THEN height ELSE width END")
            set.append("height = CASE WHEN \(lies) THEN width ELSE height END")
        }
        let sql = "UPDATE photos SET \(set.joined(separator: ", ")) WHERE id = ?"
        guard try connection.execute(sql, values: columns.map { $0.value(new) } + [photo.id]) > 0 else {
            throw CatalogueError.noPhoto(.id(photo.id))
        }
    }

    func setDate(
        _ date: PhotoDate?, camera: String?, of photo: Photo, line: ReceiptLine, of job: JobID
    ) throws -> Bool {
        var new = photo
        if let date { new.take(date) }
        new.camera = camera ?? photo.camera
        func values(_ photo: Photo) -> [(any SQLBindable)?] {
            [
                photo.takenAt?.milliseconds, photo.datePrecision?.rawValue, photo.takenOffset,
                photo.dateSource?.rawValue,
                photo.camera,
            ]
        }
        let changed = try connection.execute(
            """
            UPDATE photos SET taken_at = ?, date_precision = ?, taken_offset = ?, date_source = ?, camera = ?
            WHERE id = ? AND taken_at IS ? AND date_precision IS ? AND taken_offset IS ? AND date_source IS ? AND camera IS ?
            """, values: values(new) + [photo.id] + values(photo))
        guard changed > 0 else { return false }
        try JobLineTable.append(line, to: job, in: connection)
        return true
    }

    func setFavorite(_ isFavorite: Bool, of photos: [Photo]) throws -> Int {
        try setMark("is_favorite", to: isFavorite, of: photos)
    }

    func move(_ photos: [Photo], to category: Int64) throws -> Int {
        try CategoryTable(connection: connection).requireExists(category)
        return try setMark("category_id", to: category, of: photos)
    }

    /// - Returns: how many had another value.
    private func setMark(_ column: String, to value: any SQLBindable, of photos: [Photo]) throws -> Int {
        // Of one the trigger takes care, in fewer statements.
        if let photo = photos.first, photos.count == 1 {
            return try connection.execute(
                "UPDATE photos SET \(column) = ?1 WHERE id = ?2 AND \(column) <> ?1", value, photo.id)
        }
        return try withoutIndexTriggers {
            try Self.lists(photos.map(\.id)).reduce(0) { count, list in
                let changing = try connection.query(
                    """
                    SELECT p.id FROM json_each(?1) AS l CROSS JOIN photos AS p NOT INDEXED ON p.id = l.value
                    WHERE p.\(column) <> ?2
                    """, list, value
                ) { try $0[0] as Int64 }
                return try Self.lists(changing).reduce(count) { count, list in
                    try connection.execute(SearchMarkSchema.removeListedMarks, list)
                    let changed = try connection.execute(
                        "UPDATE photos SET \(column) = ?1 WHERE id IN (SELECT value FROM json_each(?2))", value, list)
                    try connection.execute(SearchMarkSchema.enterListedMarks, list)
                    return count + changed
                }
            }
        }
    }

    /// All at once, and their marks in the text index with two statements and not by the trigger: the index would write
    /// out what it holds for nearly every photo.
    func moveAll(from category: Int64, to target: Int64) throws -> Int {
        try CategoryTable(connection: connection).requireExists(target)
        return try withoutIndexTriggers {
            try connection.execute(SearchMarkSchema.removeMarks, category)
            try connection.execute(SearchMarkSchema.enterMarks, target, category)
            return try connection.execute("UPDATE photos SET category_id = ? WHERE category_id = ?", target, category)
        }
    }
}
