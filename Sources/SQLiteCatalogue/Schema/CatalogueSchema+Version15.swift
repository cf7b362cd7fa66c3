import Database
import LibraryModel
import TextFolding

/// What version 15 brought: names and words folded as Unicode says. The tables stay as they are.
extension CatalogueSchema {
    static func foldAnew(_ connection: Connection) throws {
        try foldNames(of: "categories", in: "display_name", order: "id", connection)
        try foldNames(of: "swipe_machines", in: "name", order: "added_at, id", connection)
        try foldSearchTexts(connection)
    }

    /// Names that are alike now get a number: see `CategoryName.toldApart(_:)`. The key of one that cannot be read is one that no
    /// name has.
    private static func foldNames(
        of table: String, in column: String, order: String, _ connection: Connection
    ) throws {
        var rows: [(id: String, name: String)] = []
        try connection.forEach("SELECT CAST(id AS TEXT), \(column) FROM \(table) ORDER BY \(order)") { row in
            guard let name = row.rawBytes(1).flatMap({ String(validating: $0, as: UTF8.self) }) else { return }
            rows.append((try row[0], name))
        }
        // All keys give way first: the new one of a row may be the old one of another.
        try connection.execute("UPDATE \(table) SET name_key = char(1) || id")
        for (row, name) in zip(rows, CategoryName.toldApart(rows.map(\.name))) {
            // A number written as text is compared as a number where the column is of numbers.
            try connection.execute(
                "UPDATE \(table) SET \(column) = ?, name_key = ? WHERE id = ?", name, CategoryName.key(name), row.id)
        }
    }

    /// Where the text of before is of ASCII alone, folding it anew changes nothing, so the index by place has all that is asked of
    /// most photos: of a million that takes less than a second. In the order of places, for the sake of the text index.
    private static func foldSearchTexts(_ connection: Connection) throws {
        let place = SearchPlace.sql(date: "shown_at", id: "id")
        var last: Int64?
        repeat {
            var texts: [(id: Int64, text: String)] = []
            let after = last ?? .min
            last = nil
            try connection.forEach(
                """
                SELECT \(place), id, name, caption, path, search_text FROM photos INDEXED BY photos_by_place
                WHERE \(place) > ? AND length(CAST(search_text AS BLOB)) > length(search_text)
                ORDER BY \(place) LIMIT 1000
                """, after
            ) { row in
                last = try row[0]
                let (caption, old) = (row.rawBytes(3), row.rawBytes(5))
                guard let name = row.rawBytes(2).flatMap({ String(validating: $0, as: UTF8.self) }),
                    let path = row.rawBytes(4).flatMap({ String(validating: $0, as: UTF8.self) }),
                    let caption = String(validating: caption ?? [], as: UTF8.self)
                else { return }
                let text = PhotoTable.searchText(name: name, caption: caption, path: path)
                if old.map({ text.utf8.elementsEqual($0) }) != true { texts.append((try row[1], text)) }
            }
            for (id, text) in texts {
                try connection.execute("UPDATE photos SET search_text = ? WHERE id = ?", text, id)
            }
        } while last != nil
    }
}
