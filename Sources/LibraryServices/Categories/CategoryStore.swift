import LibraryModel
import LibraryStorage
import ServiceMesh

/// The categories and their rules. Every rule is checked in the transaction that acts on it, so that requests
/// that race are decided by their order and never both win. It calls no other service.
public actor CategoryStore: MeshService {
    public static let serviceName = "CategoryStore"
    public static var messages: MessageList<CategoryStore> {
        ListCategories.self
        GetCategory.self
        CountCategories.self
        CheckCategoryName.self
        AddCategory.self
        AddCategories.self
        EditCategory.self
        ReorderCategories.self
        DeleteCategory.self
    }

    private let catalogue: any Catalogue
    private let access: LibraryAccess

    /// - Parameter access: which knows who asks: a child's device sees chosen categories alone.
    package init(catalogue: any Catalogue, access: LibraryAccess = LibraryAccess()) {
        self.catalogue = catalogue
        self.access = access
    }

    /// Name and colour, in order. Created once in a library's life.
    package static let defaults = [
        ("Family", "#E91E63"), ("Cars", "#F44336"), ("Games", "#9C27B0"), ("Sports", "#4CAF50"),
    ]

    public func start(on mesh: Mesh) async throws {
        try await catalogue.write { transaction in
            guard try !transaction.settings.areDefaultCategoriesMade() else { return }
            let there = Set(try transaction.categories.all().map { CategoryName.key($0.displayName) })
            let lacking = Self.defaults.filter { !there.contains(CategoryName.key($0.0)) }
            _ = try transaction.categories.insert(
                lacking.map { name, color in
                    CategoryEntry(
                        CategoryDetails(displayName: name, colorHex: color, iconResource: nil), isDefault: true)
                })
            try transaction.settings.setDefaultCategoriesMade()
        }
    }

    public func checkHealth() async throws { _ = try await count() }

    // MARK: Reading

    func list(_ request: ListCategories) async throws -> CategoryList {
        let query = try CategoryQuery(text: request.text, order: request.order)
        let viewer = access.viewer
        return CategoryList(
            categories: query.select(
                from: try await catalogue.read { try $0.categories.all(in: viewer.scope(in: $0)) }))
    }

    func get(_ request: GetCategory) async throws -> Category {
        let key = try CategoryKey(id: request.id, displayName: request.displayName, name: request.name)
        let viewer = access.viewer
        return try await catalogue.read { try $0.categories.require(key, in: viewer.scope(in: $0)) }
    }

    func count() async throws -> Int {
        let viewer = access.viewer
        return try await catalogue.read { transaction in
            guard let scope = try viewer.scope(in: transaction) else { return try transaction.categories.count() }
            return try transaction.categories.all(in: scope).count
        }
    }

    func checkName(_ request: CheckCategoryName) async throws -> CategoryNameUse {
        let other = try await catalogue.read { try $0.categories.find(.displayName(request.displayName)) }
        return CategoryNameUse(categoryId: other?.id == request.exceptId ? nil : other?.id)
    }

    // MARK: Changing

    func add(_ request: AddCategory) async throws -> Category {
        let new = NewCategory(
            displayName: request.displayName, colorHex: request.colorHex, iconResource: request.iconResource)
        return try await add([new])[0]
    }

    /// All or none.
    func add(_ requests: [NewCategory]) async throws -> [Category] {
        guard (1...CategoryLimits.count).contains(requests.count) else {
            throw MeshError(.invalidArgument, "Give between 1 and \(CategoryLimits.count) categories.")
        }
        let wanted = try requests.map { request in
            (
                name: try CategoryName.validated(request.displayName),
                color: try request.colorHex.map(CategoryColor.validated),
                icon: try request.iconResource.map(CategoryLimits.validated(icon:)).flatMap { $0.isEmpty ? nil : $0 }
            )
        }
        return try await catalogue.write { transaction in
            var used = try transaction.categories.all().map(\.colorHex)
            let new = wanted.map { name, color, icon in
                let color = color ?? CategoryColor.next(used: used)
                used.append(color)
                return CategoryEntry(CategoryDetails(displayName: name, colorHex: color, iconResource: icon))
            }
            return try transaction.categories.insert(new)
        }
    }

    func edit(_ request: EditCategory) async throws -> Category {
        guard request.displayName != nil || request.colorHex != nil || request.iconResource != nil else {
            throw MeshError(.invalidArgument, "Say what changes: 'displayName', 'colorHex' or 'iconResource'.")
        }
        let name = try request.displayName.map { try CategoryName.validated($0) }
        let color = try request.colorHex.map(CategoryColor.validated)
        let newIcon = try request.iconResource.map(CategoryLimits.validated(icon:))
        return try await catalogue.write { transaction in
            let old = try transaction.categories.require(.id(request.id))
            let icon = newIcon.map { $0.isEmpty ? nil : $0 } ?? old.iconResource
            return try transaction.categories.update(
                id: old.id,
                to: CategoryDetails(
                    displayName: name ?? old.displayName, colorHex: color ?? old.colorHex, iconResource: icon))
        }
    }

    func reorder(_ ids: [Int64]) async throws -> CategoryList {
        try await catalogue.write { transaction in
            let known = try transaction.categories.all().map(\.id)
            guard ids.count == known.count, Set(ids) == Set(known) else {
                throw MeshError(
                    .invalidArgument,
                    "A new order names every category once. The library has: \(known.map { "#\($0)" }.joined(separator: " "))."
                )
            }
            try transaction.categories.reorder(ids)
            return CategoryList(categories: try transaction.categories.all())
        }
    }

    func delete(_ request: DeleteCategory) async throws -> CategoryDeletion {
        guard !(request.deletePhotos == true && request.moveTo != nil) else {
            throw MeshError(.invalidArgument, "Say either 'deletePhotos' or 'moveTo', not both.")
        }
        guard request.moveTo != request.id else {
            throw MeshError(.invalidArgument, "Photos cannot be moved to the category that is deleted.")
        }
        return try await catalogue.write { transaction in
            let category = try transaction.categories.require(.id(request.id))
            guard try transaction.categories.count() > 1 else {
                throw MeshError(
                    .failedPrecondition, "'\(category.displayName)' is the last category. Add another one first.")
            }
            // Also where there is nothing to move: a request that names what is not there is a mistake.
            if let target = request.moveTo { _ = try transaction.categories.require(.id(target)) }
            var moved = 0
            var trashed = 0
            if category.photoCount > 0 {
                if let target = request.moveTo {
                    moved = try transaction.photos.moveAll(from: category.id, to: target)
                } else if request.deletePhotos == true {
                    trashed = try transaction.trash.add(category: category.id, at: .now())
                } else {
                    throw MeshError(
                        .failedPrecondition,
                        "'\(category.displayName)' has \(category.photoCount) photos. Say whether they go to the trash (--delete-photos) or to another category (--move-to).",
                        details: ["photoCount": .integer(Int64(category.photoCount))])
                }
            }
            try transaction.categories.delete(id: category.id)
            return CategoryDeletion(photosTrashed: trashed, photosMoved: moved)
        }
    }
}

extension ListCategories: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryList { try await service.list(self) }
}

extension GetCategory: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> Category { try await service.get(self) }
}

extension CountCategories: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryCount {
        CategoryCount(count: try await service.count())
    }
}

extension CheckCategoryName: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryNameUse {
        try await service.checkName(self)
    }
}

extension AddCategories: HandledMessage {
    public func perform(on service: CategoryStore) async throws -> CategoryList {
        CategoryList(categories: try await service.add(categories))
    }
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
