import ServiceMesh

/// Whom a device is for. A PIN that is entered on it gives it no more than this (<doc:Roles>).
public enum DeviceRole: String, Codable, Sendable, CaseIterable {
    /// May everything, in kids mode with the PIN.
    case parent
    /// Sees all photos, marks favourites and downloads; changes nothing else.
    case looker
    /// Is always in kids mode, with the categories that a parent chose for it, and gets no originals.
    case child

    /// The highest role that a connection of the device has.
    public var ceiling: Role {
        switch self {
        case .parent: .parent
        case .looker: .looker
        case .child: .kid
        }
    }
}

/// What a parent has chosen for a device.
public struct DeviceRights: Sendable, Hashable {
    public static let parent = DeviceRights(.parent)
    /// A child's device that sees nothing: all its categories are gone.
    public static let none = DeviceRights(.child, categoryIds: [])

    public let role: DeviceRole
    /// Ascending, each once; nil for all that is no child's.
    public let categoryIds: [Int64]?

    public init(_ role: DeviceRole, categoryIds: [Int64]? = nil) {
        self.role = role
        self.categoryIds = role == .child ? Set(categoryIds ?? []).sorted() : nil
    }

    /// The most categories of a child's device.
    public static let maximumCategories = 64

    /// What a request says.
    /// - Parameters:
    ///   - role: a parent's unless told.
    ///   - categoryIds: of a child's device, and of no other.
    /// - Throws: `invalid_argument`, with what is missing or too much. Whether there are such categories is not looked at.
    public static func validated(role: DeviceRole?, categoryIds: [Int64]?) throws -> DeviceRights {
        let rights = DeviceRights(role ?? .parent, categoryIds: categoryIds)
        guard let chosen = rights.categoryIds else {
            guard categoryIds == nil else {
                throw MeshError(
                    .invalidArgument,
                    "Categories are chosen for a child's device. Leave 'categoryIds' out, or make the device a child's."
                )
            }
            return rights
        }
        guard (1...maximumCategories).contains(chosen.count) else {
            throw MeshError(
                .invalidArgument,
                "A child's device shows 1 to \(maximumCategories) categories. Choose them with 'categoryIds'.")
        }
        return rights
    }
}
