import Database
import LibraryModel
import LibraryStorage
import ServiceMesh
import TextFolding

/// Photos in SQLite.
struct PhotoTable: PhotoRepository {
    let connection: Connection

    // MARK: Reading

    func find(_ keys: [PhotoKey]) throws -> [Photo?] {
        try keys.map { key in
            switch key {
            case .id(let id): try first(where: "id = ?", id)
            case .uuid(let uuid): try first(where: "uuid = ?", uuid.lowercased())
            case .path(let path): try first(where: "path = ?", path)
            }
        }
    }

    func findReadable(_ keys: [PhotoKey]) throws -> [Photo] {
        try keys.compactMap { key in
            do {
                return try find(key)
            } catch DatabaseError.unreadableRow {
                return nil
            }
        }
    }

    private func first(where condition: String, _ value: any SQLBindable) throws -> Photo? {
        try connection.firstReadable(
            "photos", "SELECT \(PhotoColumns.namesWithID) FROM photos WHERE \(condition)", values: [value]
        ) { try PhotoColumns.photo($0) }
    }

    func find(sourceDigests: [String]) throws -> [Photo?] {
        try sourceDigests.map { try first(where: "source_digest = ?", $0) }
    }

    func page(_ query: PhotoQuery) throws -> PhotoPage { try PhotoSearch(query, in: connection).page() }

    func ids(_ query: PhotoIDQuery) throws -> SelectedPhotos {
        // One more than asked for tells whether there is a next page.
        let filter = try SQLFilter(query.filter, in: connection)
        let words = try query.words.map { try FoundWords($0, in: connection) }
        let statement = PhotoStatement.ids(query, filter, containing: words, limit: query.limit + 1)
        let found = try connection.query(statement.sql, values: statement.values) { try $0[0] as Int64 }
        let ids = Array(found.prefix(query.limit))
        return SelectedPhotos(ids: ids, next: found.count > query.limit ? ids.last : nil)
    }

    func count(_ query: PhotoQuery) throws -> Int { try PhotoSearch(query, in: connection).total() }

    func months(_ query: PhotoQuery, most: Int) throws -> [PhotoSpan] {
        try PhotoCalendar(query, in: connection).months(most: most)
    }

    func days(_ query: PhotoQuery, of month: CalendarSpan, anchorDistance: Int) throws -> [PhotoSpan] {
        try PhotoCalendar(query, in: connection).days(of: month, anchorDistance: anchorDistance)
    }

    static let totals = """
        SELECT coalesce(sum(photos), 0), coalesce(sum(favorites), 0), coalesce(sum(bytes), 0) FROM category_totals
        """

    func totals() throws -> PhotoTotals {
        let found = try connection.first(Self.totals) {
            PhotoTotals(photos: try $0[0], favorites: try $0[1], bytes: try $0[2])
        }
        return found ?? PhotoTotals(photos: 0, favorites: 0, bytes: 0)
    }

    func cameras(limit: Int, in scope: CategoryScope?) throws -> CameraList {
        if let scope { return try cameras(limit: limit, of: scope.ids.sorted()) }
        let found = try connection.query(
            "SELECT name, photos FROM cameras ORDER BY photos DESC, name LIMIT ?", limit
        ) { CameraCount(name: try $0[0], photoCount: try $0[1]) }
        let sums = try connection.first("SELECT count(*), coalesce(sum(photos), 0) FROM cameras") {
            (count: try $0[0] as Int, photos: try $0[1] as Int)
        }
        return CameraList(
            cameras: found, count: sums?.count ?? 0, withoutCamera: try totals().photos - (sums?.photos ?? 0))
    }

    /// Counted in the index: what is kept is of all photos together.
    private func cameras(limit: Int, of categories: [Int64]) throws -> CameraList {
        let counts = try connection.query(
            """
            SELECT camera, count(*) FROM photos INDEXED BY photos_by_category_and_camera
            WHERE category_id IN (SELECT value FROM json_each(?)) GROUP BY camera
            """, SQLFilter.list(of: categories)
        ) { (name: try $0[0] as String?, photos: try $0[1] as Int) }
        let known = counts.compactMap { count in
            count.name.map { CameraCount(name: $0, photoCount: count.photos) }
        }.sorted { ($1.photoCount, $0.name) < ($0.photoCount, $1.name) }
        return CameraList(
            cameras: Array(known.prefix(limit)), count: known.count,
            withoutCamera: counts.first { $0.name == nil }?.photos ?? 0)
    }

    func countWithoutOriginal() throws -> Int {
        try connection.value("SELECT count(*) FROM photos WHERE original_path IS NULL") ?? 0
    }

    func sourceDigests(size: Int64) throws -> [String] {
        try connection.query("SELECT source_digest FROM photos WHERE source_size = ? LIMIT 1000", size) {
            try $0[0] as String
        }
            + connection.query("SELECT film_digest FROM photos WHERE film_size = ? LIMIT 1000", size) {
                try $0[0] as String
            }
    }

    func find(companionDigest: String) throws -> Photo? { try first(where: "film_digest = ?", companionDigest) }

    func pairCandidates(_ query: PairQuery) throws -> [Photo] {
        let kind = query.areFilms ? "kind = 'film'" : "kind IS NULL"
        func found(_ condition: String, _ values: [any SQLBindable]) throws -> [Photo] {
            try connection.readable(
                "photos",
                """
                SELECT \(PhotoColumns.namesWithID) FROM photos WHERE \(kind) AND \(condition)
                LIMIT \(PairQuery.maximumCount)
                """, values: values
            ) { try PhotoColumns.photo($0) }
        }
        if let identifier = query.identifier {
            let pairs = try found("content_identifier = ?", [identifier])
            guard pairs.isEmpty else { return pairs }
        }
        guard let stem = query.stem, let clocks = query.clocks else { return [] }
        let name = stem + "."
        return try found(
            """
            id IN (SELECT id FROM photos WHERE \(kind) AND shown_at BETWEEN ? AND ? LIMIT \(PairQuery.maximumLooks))
            AND lower(substr(source_name, 1, ?)) = lower(?)
            """, [clocks.lowerBound, clocks.upperBound, name.unicodeScalars.count, name])
    }

    /// Two sources may have become the same bytes: of photos that share their content, the one with the uuid is meant.
    func matches(of others: [PhotoIdentity]) throws -> [Photo?] {
        try others.map { other in
            do {
                return try match(of: other)
            } catch DatabaseError.unreadableRow {
                // It gives way to what comes back: see ``giveWay(to:)``.
                return nil
            }
        }
    }

    private func match(of other: PhotoIdentity) throws -> Photo? {
        let named = try first(where: "uuid = ?", other.uuid)
        if let named, named.contentDigest == other.contentDigest { return named }
        return try first(where: "content_digest = ?", other.contentDigest) ?? named
            ?? find(sourceDigest: other.sourceDigest)
    }

    func forEach(since time: Timestamp?, _ body: (SourcedPhoto) throws -> Void) throws {
        try connection.forEachReadable(
            "photos", "SELECT \(PhotoColumns.namesWithID) FROM photos WHERE created_at >= ? ORDER BY id",
            values: [time?.milliseconds ?? Int64.min], transform: { try PhotoColumns.sourcedPhoto($0) }, body: body)
    }

    func files(_ place: PhotoFileEntry.Place, after id: Int64) throws -> [PhotoFileEntry] {
        let table =
            switch place {
            case .library: "photos"
            case .trash: "trash"
            }
        return try connection.walked(from: id) { last in
            try connection.readable(
                table,
                """
                SELECT id, path, file_size, content_digest, original_path, source_size, source_digest, sidecars,
                    width, height, unseen_by, rotation
                FROM \(table) WHERE id > ? ORDER BY id LIMIT 256
                """, values: [last]
            ) { row in
                last = try row[0]
                return try Self.files(row, place)
            }
        }
    }

    private static func files(_ row: borrowing Row, _ place: PhotoFileEntry.Place) throws -> PhotoFileEntry {
        let photo = PhotoFileEntry.File(path: try row[1], size: try row[2], digest: try row[3])
        let originalPath: String? = try row[4]
        let (size, digest): (Int64, String) = (try row[5], try row[6])
        let original = originalPath.map { PhotoFileEntry.File(path: $0, size: size, digest: digest) }
        let sidecars = KeptSidecar.list(try row[7], ofPhoto: photo.path)
        return PhotoFileEntry(
            place: place, id: try row[0], photo: photo,
            original: original.flatMap { $0.path == photo.path ? nil : $0 },
            sidecars: sidecars.map { .init(path: $0.path, size: $0.fileSize, digest: $0.contentDigest) },
            width: try row[8], height: try row[9], isUnseen: try (row[10] as String?) != nil,
            rotation: try (row[11] as Int?).flatMap(Rotation.init(rawValue:)))
    }

    /// An original or a sidecar is found by its photo, whose path is indexed.
    func inUse(_ names: [StoredName]) throws -> Set<StoredName> {
        try Set(names.filter { name in try name.photos.contains { try isFile(name, of: $0) } })
    }

    private func isFile(_ name: StoredName, of photo: StoredName) throws -> Bool {
        let found = try connection.query(
            """
            SELECT original_path, sidecars FROM photos WHERE path = ?1
            UNION ALL SELECT original_path, sidecars FROM trash WHERE path = ?1
            """, photo.path
        ) { row in
            do {
                let original: String? = try row[0]
                return try name.kind != .originals || original == name.path
                    || KeptSidecar.list(row[1], ofPhoto: photo.path).contains { $0.path == name.path }
            } catch DatabaseError.unexpectedValue {
                // What cannot be read may name it.
                return true
            }
        }
        return found.contains(true)
    }

    // MARK: Entering

    func insert(_ new: SourcedPhoto, line: ReceiptLine?, of job: JobID?) throws -> Photo {
        if let there = try find(sourceDigest: new.sourceDigest) ?? find(companionDigest: new.sourceDigest) {
            throw CatalogueError.pictureThere(there)
        }
        try CategoryTable(connection: connection).requireExists(new.photo.categoryId)
        let id = try insertRow(new, id: nil)
        if let job, let line { try JobLineTable.append(line, to: job, in: connection) }
        return try require(.id(id))
    }

    func insert(_ photos: [SourcedPhoto]) throws {
        for category in Set(photos.map(\.photo.categoryId)) {
            try CategoryTable(connection: connection).requireExists(category)
        }
        do {
            try insertTogether(photos)
        } catch DatabaseError.constraint(.unique, _) {
            // Looked for only now: a million questions whose answer is no would cost as much as the rows.
            for new in photos {
                guard let there = try find(sourceDigest: new.sourceDigest) else { continue }
                throw CatalogueError.pictureThere(there)
            }
            throw CatalogueError.repeatedPhoto(try repeated(among: photos)?.path ?? "")
        }
    }

    /// The first photo that is like one before it, or like one that is there, in what no two have in common.
    private func repeated(among photos: [SourcedPhoto]) throws -> Photo? {
        var (sources, uuids, paths) = (Set<String>(), Set<String>(), Set<String>())
        return try photos.first { new in
            let isNew = [
                sources.insert(new.sourceDigest).inserted, uuids.insert(new.photo.uuid).inserted,
                paths.insert(new.photo.path).inserted,
            ]
            return try isNew.contains(false) || find(.uuid(new.photo.uuid)) != nil || find(.path(new.photo.path)) != nil
        }?.photo
    }

    func insert(_ photos: [SourcedPhoto], keepingIDs: Bool) throws {
        try giveWay(to: photos)
        for some in photos.parts(of: Self.rowsInSavepoint) {
            try indexedTogether {
                try some.map { try insertRow($0, id: keepingIDs ? $0.photo.id : nil) }
            }
        }
    }

    /// Until a savepoint ends, SQLite keeps in memory what the pages were that it has changed, and follows that from its beginning with
    /// each statement: of 20,000 photos each took 1.4 ms and all 70 MB where 1,024 were entered in one savepoint, and 0.2 ms and 6 MB
    /// with 128.
    private static let rowsInSavepoint = 128

    /// Runs `body` without the triggers of the text index, and enters what it inserted with one statement.
    /// - Parameter body: returns the ids of photos that are new.
    func indexedTogether(_ body: () throws -> [Int64]) throws {
        try withoutIndexTriggers {
            for list in Self.lists(try body()) { try connection.execute(SearchMarkSchema.enterListed, list) }
        }
    }

    /// Runs `body`, which tells the text index by itself what it changes.
    func withoutIndexTriggers<T>(_ body: () throws -> T) throws -> T {
        try connection.inSavepoint {
            try connection.execute("INSERT INTO photo_search_paused (id) VALUES (1)")
            let result = try body()
            try connection.execute("DELETE FROM photo_search_paused")
            return result
        }
    }

    /// Ids, each once, as JSON lists of some thousands.
    static func lists(_ ids: [Int64]) -> [String] { parts(Array(Set(ids))).map(list) }

    /// The ids in their order, some thousands at a time.
    static func parts(_ ids: [Int64]) -> [[Int64]] { ids.parts(of: idsInList).map(Array.init) }

    static func list(_ ids: [Int64]) -> String { "[" + ids.map(String.init).joined(separator: ",") + "]" }

    static let idsInList = 5_000

    static let columns =
        PhotoColumns.all + [
            .init("search_text", isEditable: true) { new in
                searchText(name: new.photo.name, sourceName: new.photo.sourceName, caption: new.photo.caption)
            }
        ]

    private static let insertion = """
        INSERT INTO photos (id, \(columns.map(\.name).joined(separator: ", ")))
        VALUES (\(Array(repeating: "?", count: columns.count + 1).joined(separator: ", ")))
        """

    /// - Parameter id: to be kept, unless it is past ``SearchPlace/maximumKeptID``.
    /// - Returns: the id that it has.
    func insertRow(_ new: SourcedPhoto, id: Int64?) throws -> Int64 {
        let kept = id.flatMap { (1...SearchPlace.maximumKeptID).contains($0) ? $0 : nil }
        try connection.execute(Self.insertion, values: [kept] + Self.columns.map { $0.value(new) })
        return connection.lastInsertRowID
    }

    /// Enters photos under new ids, all or none, and their texts into the index with one statement: see
    /// ``SearchIndexSchema``.
    private func insertTogether(_ photos: [SourcedPhoto]) throws {
        try withoutIndexTriggers {
            let last = try connection.value("SELECT coalesce(max(id), 0) FROM photos") as Int64? ?? 0
            try insertRows(photos)
            try connection.execute(SearchMarkSchema.enterRange, last + 1, Int64.max)
        }
    }

    /// - Parameter keepsIDs: whether they get the ids that they have, which must be free and at most
    ///   ``SearchPlace/maximumKeptID``, or new ones.
    func insertRows(_ photos: [SourcedPhoto], keepingIDs keepsIDs: Bool = false) throws {
        let columns = Self.columns
        let row = "(" + Array(repeating: "?", count: columns.count + 1).joined(separator: ", ") + ")"
        for some in photos.parts(of: Self.rowsInStatement) {
            var values: [(any SQLBindable)?] = []
            values.reserveCapacity((columns.count + 1) * some.count)
            for new in some {
                values.append(keepsIDs ? new.photo.id : nil)
                for column in columns { values.append(column.value(new)) }
            }
            try connection.execute(
                "INSERT INTO photos (id, \(columns.map(\.name).joined(separator: ", "))) VALUES "
                    + Array(repeating: row, count: some.count).joined(separator: ", "), values: values)
        }
    }

    /// SQLite takes 32,766 values in one statement.
    private static let rowsInStatement = 500

    /// What a text search looks through: folded, one field a line, so that no match spans two fields. The library's own file
    /// names are no part of it: `ada` is found in the digits of one of them.
    static func searchText(name: String, sourceName: String?, caption: String?) -> String {
        let (name, source) = (name.searchFolded, sourceName?.searchFolded ?? "")
        // As long as nobody has renamed a photo, its name is the beginning of its source's.
        let names = source.hasPrefix(name) ? [source] : source.isEmpty ? [name] : [name, source]
        return (names + [caption?.searchFolded ?? ""]).joined(separator: "\n")
    }
}
