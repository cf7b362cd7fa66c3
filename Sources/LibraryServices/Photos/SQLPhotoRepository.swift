import Database
import LibraryModel
import ServiceMesh

/// Photos in SQLite, by way of ``PhotoTable`` and ``TrashTable``.
struct SQLPhotoRepository: PhotoRepository {
    let connection: Connection

    // MARK: Reading

    func find(_ key: PhotoKey) throws(CatalogueError) -> Photo? {
        try CatalogueError.typed {
            switch key {
            case .id(let id): try PhotoTable.find(id: id, in: connection)
            case .uuid(let uuid): try PhotoTable.find(uuid: uuid.lowercased(), in: connection)
            case .path(let path): try PhotoTable.find(path: path, in: connection)
            }
        }
    }

    func page(_ query: PhotoQuery) throws(CatalogueError) -> PhotoPage {
        try CatalogueError.typed { try query.page(in: connection) }
    }

    func count(_ query: PhotoQuery) throws(CatalogueError) -> Int {
        try CatalogueError.typed { try query.total(in: connection) }
    }

    func sealed(_ query: SealedPhotoQuery) throws(CatalogueError) -> SealedPhotos {
        try CatalogueError.typed { try query.page(in: connection) }
    }

    func sourceDigests(size: Int64) throws(CatalogueError) -> [String] {
        try CatalogueError.typed { try PhotoTable.sourceDigests(size: size, in: connection) }
    }

    // MARK: Changing

    func insert(_ new: NewPhoto, line: ReceiptLine?, of job: JobID?) throws(CatalogueError) -> Photo {
        try CatalogueError.typed {
            if let there = try PhotoTable.find(sourceDigest: new.sourceDigest, in: connection) {
                throw CatalogueError.pictureThere(there)
            }
            try CategoryTable.requireExists(id: new.photo.categoryId, in: connection)
            let id = try PhotoTable.insert(
                new.photo, sourceDigest: new.sourceDigest, sourceSize: new.sourceSize, in: connection)
            if let job, let line { try JobLineTable.append(line, to: job, in: connection) }
            return try PhotoTable.require(id: id, in: connection)
        }
    }

    func insert(_ photos: [NewPhoto]) throws(CatalogueError) {
        try CatalogueError.typed {
            for category in Set(photos.map(\.photo.categoryId)) {
                try CategoryTable.requireExists(id: category, in: connection)
            }
            do {
                try PhotoTable.insert(photos, in: connection)
            } catch DatabaseError.constraint(.unique, let detail) {
                // Looked for only now: a million questions whose answer is no would cost as much as the rows.
                for new in photos {
                    guard let there = try PhotoTable.find(sourceDigest: new.sourceDigest, in: connection) else {
                        continue
                    }
                    throw CatalogueError.pictureThere(there)
                }
                throw CatalogueError.repeatedPhoto(detail)
            }
        }
    }

    func update(_ photo: Photo) throws(CatalogueError) {
        try CatalogueError.typed {
            try CategoryTable.requireExists(id: photo.categoryId, in: connection)
            guard try PhotoTable.update(photo, in: connection) else { throw CatalogueError.noPhoto(.id(photo.id)) }
        }
    }

    func setFavorite(_ isFavorite: Bool, id: Int64) throws(CatalogueError) -> Bool {
        try CatalogueError.typed { try PhotoTable.setFavorite(isFavorite, id: id, in: connection) }
    }

    func move(id: Int64, to category: Int64) throws(CatalogueError) -> Bool {
        try CatalogueError.typed {
            try CategoryTable.requireExists(id: category, in: connection)
            return try PhotoTable.move(id: id, to: category, in: connection)
        }
    }

    func moveAll(from category: Int64, to target: Int64) throws(CatalogueError) -> Int {
        try CatalogueError.typed {
            try CategoryTable.requireExists(id: target, in: connection)
            return try PhotoTable.moveAll(from: category, to: target, in: connection)
        }
    }

    func forget(id: Int64) throws(CatalogueError) -> Photo {
        try CatalogueError.typed {
            let photo = try PhotoTable.require(id: id, in: connection)
            try PhotoTable.delete(id: id, in: connection)
            try DiscardedFileTable.add([photo.thumbnailPath], in: connection)
            return photo
        }
    }

    // MARK: Trash

    func moveToTrash(id: Int64, at time: Timestamp) throws(CatalogueError) -> Bool {
        try CatalogueError.typed { try TrashTable.moveIn(where: "p.id = ?", id, at: time, in: connection) > 0 }
    }

    func moveToTrash(category: Int64, at time: Timestamp) throws(CatalogueError) -> Int {
        try CatalogueError.typed {
            try TrashTable.moveIn(where: "p.category_id = ?", category, at: time, in: connection)
        }
    }

    func trash(_ request: TrashQuery) throws(CatalogueError) -> TrashPage {
        try CatalogueError.typed { try TrashTable.page(request, in: connection) }
    }

    func trashCount() throws(CatalogueError) -> Int {
        try CatalogueError.typed { try TrashTable.count(in: connection) }
    }

    func trashed(before time: Timestamp, limit: Int) throws(CatalogueError) -> [Int64] {
        try CatalogueError.typed { try TrashTable.ids(deletedBefore: time, limit: limit, in: connection) }
    }

    func restore(id: Int64) throws(CatalogueError) {
        try CatalogueError.typed { try TrashTable.moveOut(id: id, in: connection) }
    }

    func purge(id: Int64) throws(CatalogueError) -> [String] {
        try CatalogueError.typed { try TrashTable.purge(id: id, in: connection) }
    }
}
