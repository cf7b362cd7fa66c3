import Database
import LibraryModel

/// What version 15 brought: names folded as Unicode says. The tables stay as they are. Photos' texts were folded anew as well;
/// now version 21 does that.
extension CatalogueSchema {
    static func foldAnew(_ connection: Connection) throws {
        try foldNames(of: "categories", in: "display_name", order: "id", connection)
        try foldNames(of: "swipe_machines", in: "name", order: "added_at, id", connection)
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
}
