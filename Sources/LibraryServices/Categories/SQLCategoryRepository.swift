import Database
import LibraryModel
import ServiceMesh

/// Categories in SQLite, by way of ``CategoryTable``.
struct SQLCategoryRepository: CategoryRepository {
    let connection: Connection

    func all() throws(CatalogueError) -> [Category] {
        try CatalogueError.typed { try CategoryTable.all(in: connection) }
    }

    func find(_ key: CategoryKey) throws(CatalogueError) -> Category? {
        try CatalogueError.typed {
            switch key {
            case .id(let id): try CategoryTable.find(id: id, in: connection)
            case .displayName(let name): try CategoryTable.find(displayName: name, in: connection)
            case .name(let name): try CategoryTable.all(in: connection).first { $0.name == name }
            }
        }
    }

    func count() throws(CatalogueError) -> Int {
        try CatalogueError.typed { try CategoryTable.count(in: connection) }
    }

    func insert(_ new: ValidCategory, isDefault: Bool, at time: Timestamp) throws(CatalogueError) -> Category {
        try CatalogueError.typed {
            try CategoryTable.add(
                displayName: new.displayName, colorHex: new.colorHex, iconResource: new.iconResource,
                isDefault: isDefault, createdAt: time, in: connection)
        }
    }

    func update(id: Int64, to new: ValidCategory) throws(CatalogueError) -> Category {
        try CatalogueError.typed {
            try CategoryTable.requireExists(id: id, in: connection)
            try CategoryTable.refuseClash(new.displayName, except: id, in: connection)
            try CategoryTable.update(
                id: id, displayName: new.displayName, colorHex: new.colorHex, iconResource: new.iconResource,
                in: connection)
            return try CategoryTable.require(id: id, in: connection)
        }
    }

    func reorder(_ ids: [Int64]) throws(CatalogueError) {
        try CatalogueError.typed {
            for (position, id) in ids.enumerated() {
                try CategoryTable.setPosition(position, of: id, in: connection)
            }
        }
    }

    func delete(id: Int64) throws(CatalogueError) {
        try CatalogueError.typed {
            try CategoryTable.requireExists(id: id, in: connection)
            try CategoryTable.delete(id: id, in: connection)
        }
    }
}
