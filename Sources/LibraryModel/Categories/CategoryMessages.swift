import ServiceMesh

/// All categories in their order, with photo counts.
public struct ListCategories: Message {
    public typealias Reply = CategoryList
    public static let method = "category.list"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "All categories in their order, with the number of photos in each."
    public init() {}
}

public struct CategoryList: Codable, Sendable, Equatable {
    public let categories: [Category]
    public init(categories: [Category]) { self.categories = categories }
}

/// One category by its id or by its name (case ignored). Errors: `not_found`, `invalid_argument` without either.
public struct GetCategory: Message {
    public typealias Reply = Category
    public static let method = "category.get"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "One category, by id or by name."
    public let id: Int64?
    public let displayName: String?

    public init(id: Int64) {
        self.id = id
        displayName = nil
    }

    public init(displayName: String) {
        id = nil
        self.displayName = displayName
    }
}

/// Adds a category at the end. Errors: `invalid_argument` (name, colour), `already_exists` (name, case ignored).
public struct AddCategory: Message {
    public typealias Reply = Category
    public static let method = "category.add"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Adds a category at the end."
    public let displayName: String
    /// `#RRGGBB`; without it the first palette colour not in use.
    public let colorHex: String?
    public let iconResource: String?

    public init(displayName: String, colorHex: String? = nil, iconResource: String? = nil) {
        self.displayName = displayName
        self.colorHex = colorHex
        self.iconResource = iconResource
    }
}

/// Changes what is given and keeps the rest. Errors: `not_found`, `invalid_argument`, `already_exists`.
public struct EditCategory: Message {
    public typealias Reply = Category
    public static let method = "category.edit"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Renames a category, or gives it another colour or icon."
    public let id: Int64
    public let displayName: String?
    public let colorHex: String?
    /// An empty text removes the icon.
    public let iconResource: String?

    public init(id: Int64, displayName: String? = nil, colorHex: String? = nil, iconResource: String? = nil) {
        self.id = id
        self.displayName = displayName
        self.colorHex = colorHex
        self.iconResource = iconResource
    }
}

/// Puts the categories into a new order, all at once. Errors: `invalid_argument` unless every category is named
/// exactly once, so that two people who reorder at the same time cannot lose one.
public struct ReorderCategories: Message {
    public typealias Reply = CategoryList
    public static let method = "category.reorder"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Puts the categories into a new order; takes every id, once."
    public let ids: [Int64]
    public init(ids: [Int64]) { self.ids = ids }
}

/// Deletes a category. One with photos is refused with their number, unless the request says what becomes of them.
/// Errors: `not_found`; `failed_precondition` for the last category, and for one with photos (`photoCount`);
/// `invalid_argument` where both answers are given.
public struct DeleteCategory: Message {
    public typealias Reply = CategoryDeletion
    public static let method = "category.delete"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Deletes a category; its photos go to the trash or to another category, as told."
    public let id: Int64
    /// Its photos go to the trash.
    public let deletePhotos: Bool?
    /// Its photos go to this category.
    public let moveTo: Int64?

    public init(id: Int64, deletePhotos: Bool? = nil, moveTo: Int64? = nil) {
        self.id = id
        self.deletePhotos = deletePhotos
        self.moveTo = moveTo
    }
}

public struct CategoryDeletion: Codable, Sendable, Equatable {
    public let photosTrashed: Int
    public let photosMoved: Int

    public init(photosTrashed: Int, photosMoved: Int) {
        self.photosTrashed = photosTrashed
        self.photosMoved = photosMoved
    }
}
