import Database
import LibraryModel
import LibraryStorage

extension PhotoTable {
    func forget(_ ids: [Int64]) throws -> ForgottenFiles {
        var files = ForgottenFiles()
        for id in ids {
            do {
                let photo = try require(.id(id))
                let made = [photo.thumbnailPath, photo.previewPath]
                files.left += photo.filePaths.filter { !made.contains($0) }
                files.made += made
                try connection.execute("DELETE FROM photos WHERE id = ?", id)
            } catch DatabaseError.unreadableRow {
                try forgetUnreadable("photos", id, &files)
            } catch CatalogueError.noPhoto(let key) {
                guard try TrashTable(connection: connection).isUnreadable(id) else { throw CatalogueError.noPhoto(key) }
                try forgetUnreadable("trash", id, &files)
            }
        }
        try DiscardedFileTable(connection: connection).add(files.made)
        return files
    }

    /// Some thousands at a time: until a statement or a savepoint ends, SQLite keeps in memory what all pages that it has changed were
    /// before.
    func removeAll() throws {
        while true {
            let ids = try connection.query("SELECT id FROM photos ORDER BY id LIMIT \(Self.idsInList)") {
                try $0[0] as Int64
            }
            guard !ids.isEmpty else { return }
            let list = Self.list(ids)
            try withoutIndexTriggers {
                try connection.execute(SearchMarkSchema.removeListed, list)
                try connection.execute("DELETE FROM photos WHERE id IN (SELECT value FROM json_each(?))", list)
            }
        }
    }

    /// Its files stay and are named, as far as the row tells.
    private func forgetUnreadable(_ table: String, _ id: Int64, _ files: inout ForgottenFiles) throws {
        try connection.forEach("SELECT path, original_path FROM \(table) WHERE id = ?", id) { row in
            for column in 0...1 {
                guard let path = row.rawBytes(column).flatMap({ String(validating: $0, as: UTF8.self) }),
                    let name = StoredName(path: path), !files.left.contains(path)
                else { continue }
                files.left.append(path)
                if column == 0 { files.made += [name.thumbnail.path, name.preview.path] }
            }
        }
        try connection.execute("DELETE FROM \(table) WHERE id = ?", id)
    }

    /// Rows that cannot be read, of photos that come back from a backup, go; so do not their files, nor what is sealed for their uuids.
    func giveWay(to photos: [SourcedPhoto]) throws {
        let noted = connection.unreadable.all.filter { $0.table == "photos" }.compactMap { Int64($0.id) }
        guard !noted.isEmpty else { return }
        let (uuids, sources) = (Set(photos.map(\.photo.uuid)), Set(photos.map(\.sourceDigest)))
        for id in noted where try isUnreadable(id) {
            let isMeant = try connection.first("SELECT uuid, source_digest FROM photos WHERE id = ?", id) { row in
                let uuid = String(decoding: row.rawBytes(0) ?? [], as: UTF8.self)
                return uuids.contains(uuid)
                    || sources.contains(String(decoding: row.rawBytes(1) ?? [], as: UTF8.self))
            }
            guard isMeant == true else { continue }
            let held = try connection.execute("INSERT OR IGNORE INTO sealed_fields_held (id) VALUES (1)")
            try connection.execute("DELETE FROM photos WHERE id = ?", id)
            if held > 0 { try connection.execute("DELETE FROM sealed_fields_held") }
        }
    }

    private func isUnreadable(_ id: Int64) throws -> Bool {
        do {
            _ = try find(.id(id))
            return false
        } catch DatabaseError.unreadableRow {
            return true
        }
    }

    func forgetSourceNames(
        in place: PhotoFileEntry.Place, after id: Int64, limit: Int, where isToGo: (String) -> Bool
    ) throws -> (forgotten: Int, next: Int64?) {
        let table = place == .library ? "photos" : "trash"
        let rows = try connection.query(
            "SELECT id, source_name, name, caption FROM \(table) WHERE id > ? AND source_name IS NOT NULL ORDER BY id LIMIT ?",
            id, limit
        ) {
            (
                id: try $0[0] as Int64, source: try $0[1] as String, name: try $0[2] as String,
                caption: try $0[3] as String?
            )
        }
        let going = rows.filter { isToGo($0.source) }
        for row in going {
            try connection.execute("UPDATE \(table) SET source_name = NULL WHERE id = ?", row.id)
            guard place == .library else { continue }
            try connection.execute(
                "UPDATE photos SET search_text = ? WHERE id = ?",
                Self.searchText(name: row.name, sourceName: nil, caption: row.caption), row.id)
        }
        return (going.count, rows.count == limit ? rows.last?.id : nil)
    }
}
