import ServiceMesh

/// A gallery of some photos for people who have no paired device: whoever has its address sees them until it ends (<doc:LinksForOthers>). In
/// no backup.
public struct Link: Codable, Sendable, Equatable, Identifiable {
    /// A UUID, lower case. It lets nobody in.
    public let id: String
    /// What visitors read above the photos; nil where they read nothing.
    public let title: String?
    public let createdAt: Timestamp
    public let expiresAt: Timestamp
    /// When a parent ended it; nil where nobody has.
    public let revokedAt: Timestamp?
    public let state: LinkState
    /// Categories whose photos it shows, also those that come later; empty where it shows chosen photos.
    public let categoryIds: [Int64]
    /// How many photos it shows now.
    public let photoCount: Int
    public let hasPassword: Bool
    /// Whether visitors may have the files that were imported, with all that is in them.
    public let givesOriginals: Bool
    /// Whether visitors get captions, films, and photos with what stands in their files.
    public let givesDetails: Bool
    /// How often a visitor has opened it; who looks again within a day is not counted again.
    public let openings: Int
    public let lastOpenedAt: Timestamp?

    /// Unicode scalars.
    public static let titleLength = 1...100
    /// Of one link.
    public static let maximumPhotos = 2_000
    public static let maximumCategories = 16
    /// In a library, those that have ended among them.
    public static let maximumCount = 500
    public static let days = 1...366
    public static let standardDays = 30
    /// Days for which an ended link is still listed, and tells its visitors that it has ended.
    public static let rememberedDays = 30

    public init(
        id: String, title: String?, createdAt: Timestamp, expiresAt: Timestamp, revokedAt: Timestamp?,
        state: LinkState, categoryIds: [Int64], photoCount: Int, hasPassword: Bool, givesOriginals: Bool,
        givesDetails: Bool, openings: Int, lastOpenedAt: Timestamp?
    ) {
        self.id = id
        self.title = title
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.state = state
        self.categoryIds = categoryIds
        self.photoCount = photoCount
        self.hasPassword = hasPassword
        self.givesOriginals = givesOriginals
        self.givesDetails = givesDetails
        self.openings = openings
        self.lastOpenedAt = lastOpenedAt
    }
}

public enum LinkState: String, Codable, Sendable, CaseIterable {
    case open, expired, revoked
}

/// A link's password as somebody gave it. It prints as `LinkPassword`: no log can show this one.
public struct LinkPassword: Sendable, Codable {
    /// Characters, after Unicode's composition (NFC).
    public static let length = PIN.length

    private let typed: PIN

    public init(_ typed: String) { self.typed = PIN(typed) }

    public init(from decoder: any Decoder) throws { typed = try PIN(from: decoder) }

    public func encode(to encoder: any Encoder) throws { try typed.encode(to: encoder) }

    /// What is hashed: the same for every way of typing the same characters. Nil where it cannot be a password.
    public var canonical: [UInt8]? { typed.canonical }

    /// - Returns: ``canonical``.
    /// - Throws: `invalid_argument`, with what a password is.
    public func validated() throws -> [UInt8] {
        guard let canonical else {
            throw MeshError(
                .invalidArgument,
                "A link's password has \(Self.length.lowerBound) to \(Self.length.upperBound) characters, with no control "
                    + "characters, and no spaces at either end. Choose another one.")
        }
        return canonical
    }
}

extension LinkPassword: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "LinkPassword" }
    public var debugDescription: String { "LinkPassword" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension LinkPassword: SchemaDescribed {
    public static let jsonSchema = PIN.jsonSchema
    public static let schemaExample = LinkPassword("0000")
}
