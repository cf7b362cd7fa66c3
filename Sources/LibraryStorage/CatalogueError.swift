import LibraryModel
import ServiceMesh

/// Why a repository refuses a change.
package enum CatalogueError: Error {
    case noPhoto(PhotoKey)
    /// - `known`: some of the names that there are, for a request that named one.
    case noCategory(CategoryKey, known: [String])
    /// A category has this name, case ignored.
    case nameTaken(Category)
    /// There are ``CategoryLimits/count`` already.
    case tooManyCategories
    /// The picture is in the library already.
    case pictureThere(Photo)
    /// Of photos that were to be entered together, two have one source, uuid or path, or one has the uuid or the path of a photo that
    /// is there; the text is the path of one of these.
    case repeatedPhoto(String)
    case notInTrash(Int64)
    case noSwipeSession(String)
    /// What several ids begin with, and some of these.
    case severalSwipeSessions(String, [String])
    case noGroup(String)
    /// A group has ``Group/maximumMembers`` already, or would have more.
    case tooManyMembers
    /// A member's photo of the day is there.
    case sentAlready(isOfTomorrow: Bool = false)
}

/// How a photo is named in a request.
package enum PhotoKey: Sendable, Hashable {
    case id(Int64)
    /// Case ignored.
    case uuid(String)
    /// Relative to the library folder.
    case path(String)
}

/// How a category is named in a request.
package enum CategoryKey: Sendable, Hashable {
    case id(Int64)
    /// Case ignored.
    case displayName(String)
    /// The derived name, as it is; of several the first in order.
    case name(String)
}

extension PhotoKey {
    /// - Throws: `invalid_argument` unless exactly one is given.
    package init(id: Int64?, uuid: String?, path: String?) throws {
        switch (id, uuid, path) {
        case (let id?, nil, nil): self = .id(id)
        case (nil, let uuid?, nil): self = .uuid(uuid)
        case (nil, nil, let path?): self = .path(path)
        default: throw MeshError(.invalidArgument, "Name the photo by one of 'id', 'uuid' and 'path'.")
        }
    }

    /// - Throws: `invalid_argument` unless exactly one is given.
    package init(id: Int64?, uuid: String?) throws {
        guard (id == nil) != (uuid == nil) else {
            throw MeshError(.invalidArgument, "Name the photo by 'id' or by 'uuid', and not by both.")
        }
        try self.init(id: id, uuid: uuid, path: nil)
    }
}

extension CategoryKey {
    /// - Throws: `invalid_argument` unless exactly one is given.
    package init(id: Int64?, displayName: String?, name: String?) throws {
        switch (id, displayName, name) {
        case (let id?, nil, nil): self = .id(id)
        case (nil, let name?, nil): self = .displayName(name)
        case (nil, nil, let name?): self = .name(name)
        default: throw MeshError(.invalidArgument, "Name the category by 'id' or by 'displayName'.")
        }
    }
}

extension CatalogueError: MeshErrorConvertible {
    package var meshError: MeshError {
        switch self {
        case .noPhoto(.id(let id)):
            MeshError(
                .notFound, "There is no photo with the id \(id). It may be in the trash: smilepile trash list.",
                details: ["photoId": .integer(id)])
        case .noPhoto(.uuid(let uuid)): MeshError(.notFound, "There is no photo with the uuid \(uuid.prefix(80)).")
        case .noPhoto(.path(let path)):
            MeshError(
                .notFound,
                "There is no photo with the path '\(path.prefix(200))'. Paths begin in the library's folder: photos/…")
        case .noCategory(.id(let id), _):
            MeshError(
                .notFound, "There is no category #\(id). 'smilepile categories' lists them.",
                details: ["categoryId": .integer(id)])
        case .noCategory(.displayName(let name), let known), .noCategory(.name(let name), let known):
            MeshError(
                .notFound, "There is no category '\(name.prefix(80))'. There are: \(known.joined(separator: ", ")).")
        case .nameTaken(let other):
            MeshError(
                .alreadyExists, "There is a category '\(other.displayName)' already. Choose another name.",
                details: ["categoryId": .integer(other.id)])
        case .tooManyCategories:
            MeshError(
                short: .count,
                "A library has \(CategoryLimits.count) categories at most. Delete one that is not needed first.")
        case .pictureThere(let there):
            MeshError(
                .alreadyExists, "The library has this picture already, as photo \(there.id).",
                details: ["photoId": .integer(there.id), "path": .string(there.path)])
        case .repeatedPhoto(let detail):
            MeshError(
                .alreadyExists, "Two of these photos are the same (\(detail)). Nothing was added; leave one out.")
        case .notInTrash(let id):
            MeshError(
                .notFound, "There is no photo with the id \(id) in the trash. 'smilepile trash list' shows what is.",
                details: ["photoId": .integer(id)])
        case .severalSwipeSessions(let beginning, let ids):
            MeshError(
                .invalidArgument,
                "Several swipe sessions begin with \(beginning.prefix(80)): \(ids.joined(separator: ", ")). Give more of the id."
            )
        case .noGroup(let id):
            MeshError(.notFound, "There is no group \(id.prefix(80)). 'smilepile groups' lists them.")
        case .tooManyMembers:
            MeshError(
                short: .count,
                "A group has \(Group.maximumMembers) members at most. Make another one, or wait until somebody leaves.")
        case .sentAlready(let isOfTomorrow):
            MeshError(
                .alreadyExists,
                isOfTomorrow
                    ? "You have sent your photo of the day to this group, on a calendar on which it was tomorrow already. The next one can "
                        + "go the day after tomorrow."
                    : "You have sent your photo of the day to this group. The next one can go after midnight.",
                details: ["reason": "sent_today"])
        case .noSwipeSession(let id):
            MeshError(.notFound, "There is no swipe session \(id.prefix(80)). 'smilepile swipe sessions' lists them.")
        }
    }
}
