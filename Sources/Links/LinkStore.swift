import Executors
import Foundation
import Imaging
import LibraryModel
import LibraryServices
import LibraryStorage
import Sealing
import ServiceMesh

/// Links with which people who have no device see some photos: made and ended by parents, opened by visitors. It calls no
/// other service.
///
/// A link is looked up for each request of a visitor, so that one that is revoked is over with the request that comes next. What a
/// visitor may have is decided here, and not by the program that serves the page.
public actor LinkStore: MeshService {
    public static let serviceName = "LinkStore"
    public static let admission = AdmissionLimit(concurrent: 32, queued: 256)
    public static var messages: MessageList<LinkStore> {
        CreateLink.self
        ListLinks.self
        RevokeLink.self
        OpenLink.self
        ListLinkPhotos.self
        ObserveLinks.self
    }

    private static let day: Int64 = 86_400_000

    let catalogue: any Catalogue
    let deriver: KeyDeriver
    let clock: BootClock
    let door: LinkDoor
    nonisolated let openLinks = ObservedValue(OpenLinkIDs(ids: []))

    private init(_ door: LinkDoor, deriver: KeyDeriver) {
        (catalogue, clock) = (door.catalogue, door.clock)
        self.door = door
        self.deriver = deriver
    }

    /// Links, and the pictures that visitors get of them.
    /// - Parameters:
    ///   - clock: by which wrong passwords wait, and visits end.
    ///   - due: by which links end.
    package static func services(
        catalogue: any Catalogue, photoFiles: any PhotoFiles, workers: ImageWorkerPool, files: BlockingPool,
        deriver: KeyDeriver, clock: BootClock = .system, due: DueTime
    ) -> [any MeshService] {
        let door = LinkDoor(catalogue: catalogue, clock: clock, due: due)
        return [
            LinkStore(door, deriver: deriver),
            LinkPictures(door: door, photoFiles: photoFiles, workers: workers, files: files),
        ]
    }

    public func start(on mesh: Mesh) async throws { try await publish() }

    public func stop() async { openLinks.finish() }

    private func publish() async throws {
        let all = try await catalogue.read { try $0.links.all() }
        openLinks.publish(OpenLinkIDs(ids: all.filter { $0.revokedAt == nil }.map(\.id).sorted()))
    }

    // MARK: Making and ending

    func create(_ request: CreateLink) async throws -> CreatedLink {
        let wanted = try LinkContent(request)
        let title = try Self.title(request.title)
        let days = request.days ?? Link.standardDays
        guard Link.days.contains(days) else {
            throw MeshError(
                .invalidArgument, "A link is good for \(Link.days.lowerBound) to \(Link.days.upperBound) days.")
        }
        let secret = try request.password?.validated()
        let deriver = deriver
        var hash: String?
        if let secret { hash = try await Self.deriving { try await deriver.hash(secret).text } }
        let token = BearerSecret.random(bytes: LinkDoor.tokenBytes)
        let time = door.now
        let new = StoredLink(
            id: UUID().uuidString.lowercased(), tokenDigest: token.digest, title: title, createdAt: time,
            expiresAt: Timestamp(milliseconds: time.milliseconds + Int64(days) * Self.day),
            categories: wanted.categories, givesOriginals: request.originals ?? false,
            givesDetails: request.details ?? false, passwordHash: hash)
        let forgotten = forgottenBefore
        let count = try await catalogue.write { transaction in
            for category in wanted.categories { _ = try transaction.categories.require(.id(category)) }
            let photos = try transaction.photos.require(wanted.photos.map { .id($0) })
            let all = try transaction.links.all()
            let old = all.filter { $0.end <= forgotten }
            try transaction.links.remove(old.map(\.id))
            guard all.count - old.count < Link.maximumCount else {
                throw MeshError(
                    short: .count,
                    "There are \(Link.maximumCount) links, which is the most. Those that have ended go by themselves after "
                        + "\(Link.rememberedDays) days.")
            }
            try transaction.links.insert(new, photos: photos.map { $0.uuid.lowercased() })
            return try transaction.links.photoCount(of: new.id)
        }
        try await publish()
        return CreatedLink(link: new.shown(photoCount: count, at: time), token: token.text)
    }

    func list() async throws -> LinkList {
        let (all, counts) = try await catalogue.read { (try $0.links.all(), try $0.links.photoCounts(of: nil)) }
        let (time, forgotten) = (door.now, forgottenBefore)
        return LinkList(
            links: all.filter { $0.end > forgotten }.map { $0.shown(photoCount: counts[$0.id] ?? 0, at: time) })
    }

    func revoke(_ id: String) async throws -> Link {
        let time = door.now
        let (link, count) = try await catalogue.write { transaction in
            guard var link = try transaction.links.find(id: id.lowercased()) else {
                throw MeshError(.notFound, "There is no such link. See which there are: smilepile links")
            }
            if link.state(at: time) == .open {
                link.revokedAt = time
                try transaction.links.update(link)
            }
            return (link, try transaction.links.photoCount(of: link.id))
        }
        door.visits.end(link: link.id)
        // The reply comes after who serves visitors could be told.
        try await publish()
        return link.shown(photoCount: count, at: time)
    }

    /// What has ended by then is not told of any more. Never by a clock that may be ahead.
    private var forgottenBefore: Timestamp {
        Timestamp(milliseconds: door.due.now().due.milliseconds - Int64(Link.rememberedDays) * Self.day)
    }

    private static func title(_ text: String?) throws -> String? {
        guard let title = text?.trimmingCharacters(in: .whitespacesAndNewlines), !title.isEmpty else { return nil }
        let isShown = title.unicodeScalars.allSatisfy {
            ![.control, .lineSeparator, .paragraphSeparator, .format].contains($0.properties.generalCategory)
        }
        guard Link.titleLength.contains(title.unicodeScalars.count), isShown else {
            throw MeshError(
                .invalidArgument,
                "A link's title has \(Link.titleLength.upperBound) characters at most, all of which can be seen.")
        }
        return title
    }

    static func deriving<Value: Sendable>(_ work: @Sendable () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch let failure as PasswordHash.Failure {
            switch failure {
            case .outOfMemory:
                throw MeshError(
                    .resourceExhausted,
                    "There is not enough memory to check a password just now. Try again in a moment.")
            case .notAHash:
                throw MeshError(
                    .dataLoss, "What the library keeps of this link's password is damaged. Make a new link.")
            }
        }
    }
}

/// What a link is asked to show: either is empty.
private struct LinkContent: Sendable {
    let photos: [Int64]
    let categories: [Int64]

    /// - Throws: `invalid_argument`.
    init(_ request: CreateLink) throws {
        (photos, categories) = (request.photoIds ?? [], request.categoryIds ?? [])
        guard photos.isEmpty != categories.isEmpty else {
            throw MeshError(.invalidArgument, "A link shows photos or categories: name some of one kind.")
        }
        guard photos.count <= Link.maximumPhotos, categories.count <= Link.maximumCategories else {
            throw MeshError(
                .invalidArgument,
                "A link shows \(Link.maximumPhotos) photos or \(Link.maximumCategories) categories at most. Move more into a "
                    + "category, and make a link to that.")
        }
        guard Set(photos).count == photos.count, Set(categories).count == categories.count else {
            throw MeshError(.invalidArgument, "A link shows each photo and each category once. Name each once.")
        }
    }
}

extension StoredLink {
    /// When it ended, or will.
    var end: Timestamp { revokedAt.map { min($0, expiresAt) } ?? expiresAt }

    func state(at time: Timestamp) -> LinkState { revokedAt != nil ? .revoked : expiresAt <= time ? .expired : .open }

    func shown(photoCount: Int, at time: Timestamp) -> Link {
        Link(
            id: id, title: title, createdAt: createdAt, expiresAt: expiresAt, revokedAt: revokedAt,
            state: state(at: time), categoryIds: categories, photoCount: photoCount, hasPassword: passwordHash != nil,
            givesOriginals: givesOriginals, givesDetails: givesDetails, openings: openings,
            lastOpenedAt: lastOpenedAt)
    }
}

extension CreateLink: HandledMessage {
    public func perform(on service: LinkStore) async throws -> CreatedLink { try await service.create(self) }
}

extension ListLinks: HandledMessage {
    public func perform(on service: LinkStore) async throws -> LinkList { try await service.list() }
}

extension RevokeLink: HandledMessage {
    public func perform(on service: LinkStore) async throws -> Link { try await service.revoke(id) }
}

extension ObserveLinks: HandledObservation {
    public typealias Service = LinkStore
    public typealias Update = OpenLinkIDs

    public func observe(on service: LinkStore) async throws -> Observation<OpenLinkIDs> { service.openLinks.observe() }
}
