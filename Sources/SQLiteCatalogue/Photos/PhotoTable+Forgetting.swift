import Database
import LibraryModel
import LibraryStorage

extension PhotoTable {
    func forget(_ ids: [Int64]) throws -> ForgottenFiles {
        var files = ForgottenFiles()
        for id in ids {
            do {
                let photo = try require(.id(id))
                files.left += photo.filePaths.filter { $0 != photo.thumbnailPath }
                files.thumbnails.append(photo.thumbnailPath)
                try connection.execute("DELETE FROM photos WHERE id = ?", id)
            } catch DatabaseError.unreadableRow {
                try forgetUnreadable("photos", id, &files)
            } catch CatalogueError.noPhoto(let key) {
                guard try TrashTable(connection: connection).isUnreadable(id) else { throw CatalogueError.noPhoto(key) }
                try forgetUnreadable("trash", id, &files)
            }
        }
        try DiscardedFileTable(connection: connection).add(files.thumbnails)
        return files
    }

    /// Its files stay and are named, as far as the row tells.
    private func forgetUnreadable(_ table: String, _ id: Int64, _ files: inout ForgottenFiles) throws {
        try connection.forEach("SELECT path, original_path FROM \(table) WHERE id = ?", id) { row in
            for column in 0...1 {
                guard let path = row.rawBytes(column).flatMap({ String(validating: $0, as: UTF8.self) }),
                    let name = StoredName(path: path), !files.left.contains(path)
                else { continue }
                files.left.append(path)
                if column == 0 { files.thumbnails.append(name.thumbnail.path) }
            }
        }
        try connection.execute("DELETE FROM \(table) WHERE id = ?", id)
    }
}
