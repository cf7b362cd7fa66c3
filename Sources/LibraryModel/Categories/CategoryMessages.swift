import ServiceMesh

/// All categories, or those whose name contains a text, with photo counts. Errors: `invalid_argument` (a text of more
/// than 1,000 characters).
public struct ListCategories: Message {
    public typealias Reply = CategoryList
    public static let method = "category.list"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let summary = "Categories with the number of photos in each; all, or by a part of the name."
    /// Anywhere in the display name; case and diacritics ignored; `%`, `_`, quotes and emoji are literal.
    public let text: String?
    /// By position unless told.
    public let order: CategoryOrder?

    public init(text: String? = nil, order: CategoryOrder? = nil) {
        self.text = text
        self.order = order
    }
}

/// How a list of categories is sorted.
public enum CategoryOrder: String, Codable, Sendable, CaseIterable {
    /// As the family put them.
    case position
    /// By display name, case and diacritics ignored.
    case displayName
    /// The oldest first.
    case createdAt
}

/// How many categories there are. Errors: none of its own.
public struct CountCategories: Message {
    public typealias Reply = CategoryCount
    public static let method = "category.count"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "How many categories there are."
    public init() {}
}

public struct CategoryCount: Codable, Sendable, Equatable {
    public let count: Int
    public init(count: Int) { self.count = count }
}

/// Whether a category has a name, case ignored: for a form, before it is sent. Whoever adds or renames is checked in any
/// case, so there is no need to ask first. Errors: none of its own; a name that no category may have is not taken.
public struct CheckCategoryName: Message {
    public typealias Reply = CategoryNameUse
    public static let method = "category.checkName"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Whether a name is taken, by another category than one's own."
    public let displayName: String
    /// The category that is being renamed, which may keep its name.
    public let exceptId: Int64?

    public init(displayName: String, exceptId: Int64? = nil) {
        self.displayName = displayName
        self.exceptId = exceptId
    }
}

public struct CategoryNameUse: Codable, Sendable, Equatable {
    public let isTaken: Bool
    /// The category that has the name.
    public let categoryId: Int64?

    public init(categoryId: Int64?) {
        isTaken = categoryId != nil
        self.categoryId = categoryId
    }
}

public struct CategoryList: Codable, Sendable, Equatable {
    public let categories: [Category]
    public init(categories: [Category]) { self.categories = categories }
}

/// One category by its id or by one of its names. Errors: `not_found`, `invalid_argument` unless it is named in one way.
public struct GetCategory: Message {
    public typealias Reply = Category
    public static let method = "category.get"
    public static let access = Role.kid
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "One category, by id or by name."
    public let id: Int64?
    /// Case ignored.
    public let displayName: String?
    /// The derived name, as it is: `big_trip`. Of several the first in order, since only display names are unique.
    public let name: String?

    public init(id: Int64) {
        self.id = id
        displayName = nil
        name = nil
    }

    public init(displayName: String) {
        id = nil
        self.displayName = displayName
        name = nil
    }

    public init(name: String) {
        id = nil
        displayName = nil
        self.name = name
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

/// Adds several categories at the end, in the order given, all or none. Replies with them.
/// Errors: as ``AddCategory``, also where two of them have one name; `invalid_argument` for none.
public struct AddCategories: Message {
    public typealias Reply = CategoryList
    public static let method = "category.addAll"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Adds several categories at the end, all or none."
    /// 1…``CategoryLimits/count``.
    public let categories: [NewCategory]
    public init(categories: [NewCategory]) { self.categories = categories }
}

/// A category that is to be added; see ``AddCategory``.
public struct NewCategory: Codable, Sendable, Equatable {
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
