import LibraryModel
import ServiceMesh

/// Links for people without a device, inside one transaction. Of their tokens and passwords there are hashes alone.
package protocol LinkRepository {
    /// In the order in which they were made, of one moment by id.
    func all() throws -> [StoredLink]
    /// Nil where there is none. The other is the digest of a token.
    func find(id: String) throws -> StoredLink?
    func find(tokenDigest: String) throws -> StoredLink?
    /// Enters a link to categories, or to photos in this order.
    /// - Parameter photos: their uuids, lower case; each once.
    /// - Throws: the catalogue's own error where a link has its id or its token, or a category is not there.
    func insert(_ link: StoredLink, photos: [String]) throws
    /// Sets when a link was revoked, how often it was opened and which passwords were tried; the rest of it stays. One that is not
    /// there is passed over.
    func update(_ link: StoredLink) throws
    /// Removes links with what they show.
    func remove(_ ids: [String]) throws
    /// Photos of the library that a link to photos shows, in its order, those behind a place in it. What is in the trash is passed over.
    /// - Returns: uuids with their places, `limit` at most.
    func photos(of id: String, after place: Int, limit: Int) throws -> [(place: Int, uuid: String)]
    /// Whether a link was made for this photo itself; a photo of its categories is not asked for here.
    func contains(_ uuid: String, in id: String) throws -> Bool
    /// Whether any link, one that has ended among them, was made for this photo itself.
    func contains(_ uuid: String) throws -> Bool
    /// How many photos of the library each link shows, or the one of an id, by their ids; of their categories all that are there.
    func photoCounts(of id: String?) throws -> [String: Int]
}

extension LinkRepository {
    package func photoCount(of id: String) throws -> Int { try photoCounts(of: id)[id] ?? 0 }
}

package struct StoredLink: Sendable, Equatable {
    package let id: String
    /// SHA-256 of the token's bytes, lower-case hex.
    package let tokenDigest: String
    package let title: String?
    package let createdAt: Timestamp
    package let expiresAt: Timestamp
    package var revokedAt: Timestamp?
    /// In the order in which they are shown; a category that is deleted is none of them any more.
    package let categories: [Int64]
    package let givesOriginals: Bool
    package let givesDetails: Bool
    /// As `PasswordHash` writes it.
    package let passwordHash: String?
    package var openings: Int
    package var lastOpenedAt: Timestamp?
    /// Passwords since the last right one, those that are still being looked at among them.
    package var failures: Int
    /// When the last of them came; nil where there is none, or where the time is not known any more.
    package var lastFailure: BootTime?

    package init(
        id: String, tokenDigest: String, title: String?, createdAt: Timestamp, expiresAt: Timestamp,
        revokedAt: Timestamp? = nil, categories: [Int64], givesOriginals: Bool, givesDetails: Bool,
        passwordHash: String?, openings: Int = 0, lastOpenedAt: Timestamp? = nil, failures: Int = 0,
        lastFailure: BootTime? = nil
    ) {
        self.id = id
        self.tokenDigest = tokenDigest
        self.title = title
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revokedAt = revokedAt
        self.categories = categories
        self.givesOriginals = givesOriginals
        self.givesDetails = givesDetails
        self.passwordHash = passwordHash
        self.openings = openings
        self.lastOpenedAt = lastOpenedAt
        self.failures = failures
        self.lastFailure = lastFailure
    }
}
