import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import Sealing
import ServiceMesh

/// What visitors ask. Each time the token says which link is meant, and a visit stands for the password where the link has one.
extension LinkStore {
    // MARK: Coming in

    func open(_ request: OpenLink) async throws -> OpenedLink {
        let link = try await door.find(request.token)
        if let visit = request.visit, door.isGood(visit, for: link) {
            let count = try await catalogue.read { try $0.links.photoCount(of: link.id) }
            return link.opened(photoCount: count, visit: visit)
        }
        if let hash = link.passwordHash { try await check(request.password, of: link.id, hash) }
        let time = door.now
        let count = try await catalogue.write { transaction in
            guard var link = try transaction.links.find(id: link.id) else { throw LinkDoor.unknown }
            try LinkDoor.requireOpen(link, at: time)
            link.openings = min(link.openings, Int(Int32.max) - 1) + 1
            link.lastOpenedAt = time
            (link.failures, link.lastFailure) = (0, nil)
            try transaction.links.update(link)
            return try transaction.links.photoCount(of: link.id)
        }
        return link.opened(photoCount: count, visit: door.visits.begin(of: link.id, at: clock.now().milliseconds))
    }

    /// The try is on disk as a wrong one before it is looked at, as a PIN's is; a right one takes it back. Tries are counted for the
    /// link: where visitors come from nobody can vouch for.
    private func check(_ password: LinkPassword?, of id: String, _ hash: String) async throws {
        guard let password else { throw LinkDoor.locked }
        let (clock, deriver) = (clock, deriver)
        let tried = try await catalogue.write { transaction in
            guard var link = try transaction.links.find(id: id) else { throw LinkDoor.unknown }
            let now = clock.now()
            let left = PINDelay.left(after: link.failures, link.lastFailure, at: now)
            guard left == 0 else { throw Self.tooEarly(left) }
            link.failures = min(link.failures, Int(Int32.max) - 1) + 1
            link.lastFailure = now
            try transaction.links.update(link)
            return link
        }
        let secret = password.canonical
        // What can be no password is hashed too, so that the time that the answer takes tells nothing of it.
        let isRight = try await Self.deriving {
            try await deriver.matches(secret ?? [], PasswordHash(text: hash)) && secret != nil
        }
        guard isRight else {
            throw Self.wrong(PINDelay.left(after: tried.failures, tried.lastFailure, at: clock.now()))
        }
    }

    // MARK: Looking

    func photos(_ request: ListLinkPhotos) async throws -> LinkPhotoPage {
        let link = try await door.visited(request.token, request.visit)
        return try await catalogue.read { transaction in
            let (photos, next) =
                link.categories.isEmpty
                ? try Self.chosen(link, after: request.after, transaction)
                : try Self.ofCategories(link, after: request.after, transaction)
            return LinkPhotoPage(id: link.id, photos: photos.map { LinkPhoto($0, of: link) }, next: next)
        }
    }

    private static func chosen(
        _ link: StoredLink, after: String?, _ transaction: any CatalogueTransaction
    ) throws -> (photos: [Photo], next: String?) {
        guard let place = after.map({ Int($0) }) ?? -1, (-1...Link.maximumPhotos).contains(place) else {
            throw noPlace
        }
        let found = try transaction.links.photos(of: link.id, after: place, limit: ListLinkPhotos.limit + 1)
        let page = found.prefix(ListLinkPhotos.limit)
        let photos = try transaction.photos.findReadable(page.map { .uuid($0.uuid) })
        return (photos, found.count > page.count ? page.last.map { String($0.place) } : nil)
    }

    /// One category after the other: a place is a category's id, and behind a point where its page begins.
    private static func ofCategories(
        _ link: StoredLink, after: String?, _ transaction: any CatalogueTransaction
    ) throws -> (photos: [Photo], next: String?) {
        var rest = link.categories[...]
        var cursor: String?
        if let after {
            let parts = after.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let category = Int64(parts[0]), let index = rest.firstIndex(of: category) else {
                throw noPlace
            }
            rest = rest[index...]
            cursor = parts[1].isEmpty ? nil : String(parts[1])
        }
        var photos: [Photo] = []
        while let category = rest.first {
            let query = try PhotoQuery(
                PhotoFilter(categoryId: category), after: cursor, limit: ListLinkPhotos.limit - photos.count)
            let page = try transaction.photos.page(query)
            photos += page.photos
            if let next = page.next { return (photos, "\(category).\(next)") }
            rest = rest.dropFirst()
            cursor = nil
            if photos.count == ListLinkPhotos.limit { break }
        }
        return (photos, rest.first.map { "\($0)." })
    }

    // MARK: Refusals

    private static let noPlace = MeshError(
        .invalidArgument, "'after' is none of this link's places. Begin again.")

    /// Says the same of a right password and a wrong one, since nobody has looked at it.
    private static func tooEarly(_ left: Int64) -> MeshError {
        MeshError(
            .resourceExhausted, "Too many wrong passwords. The next one is taken in \((left + 999) / 1000) s.",
            details: ["link": "wait", "retryAfterMs": .integer(left)])
    }

    private static func wrong(_ left: Int64) -> MeshError {
        MeshError(
            .unauthenticated,
            "That is not the password."
                + (left == 0 ? " Try again." : " The next one is taken in \((left + 999) / 1000) s."),
            details: left == 0 ? ["link": "wrong"] : ["link": "wrong", "retryAfterMs": .integer(left)])
    }
}

extension OpenLink: HandledMessage {
    public func perform(on service: LinkStore) async throws -> OpenedLink { try await service.open(self) }
}

extension ListLinkPhotos: HandledMessage {
    public func perform(on service: LinkStore) async throws -> LinkPhotoPage { try await service.photos(self) }
}
