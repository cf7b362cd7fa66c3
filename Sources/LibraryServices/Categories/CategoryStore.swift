import Database
import LibraryModel
import ServiceMesh

/// The categories and their rules. Every rule is checked in the transaction that acts on it, so that requests
/// that race are decided by their order and never both win. It calls no other service.
public actor CategoryStore: MeshService {
    public static let serviceName = "CategoryStore"
    public static var messages: MessageList<CategoryStore> {
        ListCategories.self
        GetCategory.self
        AddCategory.self
        EditCategory.self
        ReorderCategories.self
        DeleteCategory.self
    }

    private let database: Database

    init(database: Database) { self.database = database }

    /// Name and colour, in order. Created once in a library's life.
    private static let defaults = [
        ("Family", "#E91E63"), ("Cars", "#F44336"), ("Games", "#9C27B0"), ("Sports", "#4CAF50"),
    ]

    public func start(on mesh: Mesh) async throws {
        try await database.write { connection in
            guard try SettingTable.value(.defaultCategoriesInitialized, in: connection) != "true" else { return }
            for (name, color) in Self.defaults
            where try CategoryTable.find(displayName: name, in: connection) == nil {
                try CategoryTable.add(
                    displayName: name, colorHex: color, iconResource: nil, isDefault: true, createdAt: .now(),
                    in: connection)
            }
            try SettingTable.set(.defaultCategoriesInitialized, to: "true", in: connection)
        }
    }

    public func checkHealth() async throws { _ = try await database.read { try CategoryTable.count(in: $0) } }

    func list() async throws -> CategoryList {
        CategoryList(categories: try await database.read { try CategoryTable.all(in: $0) })
    }

    func get(_ request: GetCategory) async throws -> Category {
        try await database.read { connection in
            if let id = request.id { return try CategoryTable.require(id: id, in: connection) }
            guard let name = request.displayName else {
                throw MeshError(.invalidArgument, "Name the category by 'id' or by 'displayName'.")
            }
            guard let category = try CategoryTable.find(displayName: name, in: connection) else {
                let known = try CategoryTable.all(in: connection).prefix(20).map(\.displayName)
                throw MeshError(
                    .notFound,
                    "There is no category '\(name.prefix(80))'. There are: \(known.joined(separator: ", ")).")
            }
            return category
        }
    }

    func add(_ request: AddCategory) async throws -> Category {
        let name = try CategoryName.validated(request.displayName)
        let color = try request.colorHex.map(CategoryColor.validated)
        let icon = try request.iconResource.map(CategoryLimits.validated(icon:))
        return try await database.write { connection in
            let used = try CategoryTable.all(in: connection).map(\.colorHex)
            return try CategoryTable.add(
                displayName: name, colorHex: color ?? CategoryColor.next(used: used),
                iconResource: icon.flatMap { $0.isEmpty ? nil : $0 }, isDefault: false,
                createdAt: .now(), in: connection)
        }
    }

    func edit(_ request: EditCategory) async throws -> Category {
        let name = try request.displayName.map(CategoryName.validated)
        let color = try request.colorHex.map(CategoryColor.validated)
        let newIcon = try request.iconResource.map(CategoryLimits.validated(icon:))
        return try await database.write { connection in
            let old = try CategoryTable.require(id: request.id, in: connection)
            if let name { try CategoryTable.refuseClash(name, except: old.id, in: connection) }
            let icon = newIcon.map { $0.isEmpty ? nil : $0 } ?? old.iconResource
            try CategoryTable.update(
                id: old.id, displayName: name ?? old.displayName, colorHex: color ?? old.colorHex, iconResource: icon,
                in: connection)
            return try CategoryTable.require(id: old.id, in: connection)
        }
    }

    func reorder(_ ids: [Int64]) async throws -> CategoryList {
        try await database.write { connection in
            let known = try CategoryTable.all(in: connection).map(\.id)
            guard ids.count == known.count, Set(ids) == Set(known) else {
                throw MeshError(
                    .invalidArgument,
                    "A new order names every category once. The library has: \(known.map(String.init).joined(separator: " "))."
                )
            }
            for (position, id) in ids.enumerated() {
                try CategoryTable.setPosition(position, of: id, in: connection)
            }
            return CategoryList(categories: try CategoryTable.all(in: connection))
        }
    }

    func delete(_ request: DeleteCategory) async throws -> CategoryDeletion {
        guard !(request.deletePhotos == true && request.moveTo != nil) else {
            throw MeshError(.invalidArgument, "Say either 'deletePhotos' or 'moveTo', not both.")
        }
        guard request.moveTo != request.id else {
            throw MeshError(.invalidArgument, "Photos cannot be moved to the category that is deleted.")
        }
        return try await database.write { connection in
            let category = try CategoryTable.require(id: request.id, in: connection)
            guard try CategoryTable.count(in: connection) > 1 else {
                throw MeshError(
                    .failedPrecondition, "'\(category.displayName)' is the last category. Add another one first.")
            }
            var moved = 0
            var trashed = 0
            if category.photoCount > 0 {
                if let target = request.moveTo {
                    _ = try CategoryTable.require(id: target, in: connection)
                    moved = try PhotoTable.moveAll(from: category.id, to: target, in: connection)
                } else if request.deletePhotos == true {
                    trashed = try TrashTable.moveIn(
                        where: "p.category_id = ?", category.id, at: .now(), in: connection)
                } else {
                    throw MeshError(
                        .failedPrecondition,
                        "'\(category.displayName)' has \(category.photoCount) photos. Say whether they go to the trash (--delete-photos) or to another category (--move-to).",
                        details: ["photoCount": .integer(Int64(category.photoCount))])
                }
            }
            try CategoryTable.delete(id: category.id, in: connection)
            return CategoryDeletion(photosTrashed: trashed, photosMoved: moved)
        }
    }
}

extension ListCategories: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryList { try await service.list() }
}

extension GetCategory: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> Category { try await service.get(self) }
}

extension AddCategory: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> Category { try await service.add(self) }
}

extension EditCategory: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> Category { try await service.edit(self) }
}

extension ReorderCategories: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryList { try await service.reorder(ids) }
}

extension DeleteCategory: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryDeletion {
        try await service.delete(self)
    }
}
