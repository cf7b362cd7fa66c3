import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Who comes in by a link: by its token, and where it has a password, by a visit, which stands for that.
struct LinkDoor: Sendable {
    static let tokenBytes = 24

    let catalogue: any Catalogue
    /// By which visits end.
    let clock: BootClock
    /// By which links end.
    let due: DueTime
    let visits = LinkVisits()

    /// A clock that somebody sets back makes no link longer.
    var now: Timestamp { due.now().latest }

    func isGood(_ visit: String?, for link: StoredLink) -> Bool {
        visits.isGood(visit, for: link.id, at: clock.now().milliseconds)
    }

    /// The link that a token opens now.
    /// - Throws: `not_found`, `failed_precondition`.
    func find(_ token: String) async throws -> StoredLink {
        guard let secret = BearerSecret(token, bytes: Self.tokenBytes) else { throw Self.unknown }
        guard let link = try await catalogue.read({ try $0.links.find(tokenDigest: secret.digest) }) else {
            throw Self.unknown
        }
        try Self.requireOpen(link, at: now)
        return link
    }

    /// The same, and who asks has given its password where it has one.
    func visited(_ token: String, _ visit: String?) async throws -> StoredLink {
        let link = try await find(token)
        guard link.passwordHash == nil || isGood(visit, for: link) else {
            throw Self.locked
        }
        return link
    }

    static func requireOpen(_ link: StoredLink, at time: Timestamp) throws {
        switch link.state(at: time) {
        case .open: return
        case .expired:
            throw MeshError(
                .failedPrecondition, "This link has expired. Ask the family for a new one.",
                details: ["link": "expired"])
        case .revoked:
            throw MeshError(
                .failedPrecondition, "This link was ended by the family. Ask for a new one.",
                details: ["link": "revoked"])
        }
    }

    // MARK: Refusals

    static let unknown = MeshError(
        .notFound, "There is no such link. See that the address is whole, or ask for a new one.",
        details: ["link": "unknown"])
    static let locked = MeshError(
        .unauthenticated, "This link has a password. Enter it, or ask the family for it.", details: ["link": "password"]
    )
}
