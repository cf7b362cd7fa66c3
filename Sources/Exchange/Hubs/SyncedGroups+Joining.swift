import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Which machines are hubs of this library.
extension SyncPeers where Subject == SyncedGroups {
    func join(_ request: JoinGroups) async throws -> GroupHub {
        let (address, token) = try Joining.invitation(
            request.address, request.token, allowsPlainHTTP: request.allowsPlainHTTP, what: "the photos")
        _ = try await subject.catalogue.read { try Self.known(address, in: $0) }
        let offset = GroupTime.offset(at: clocks.wall.now())
        let told = try await firstAnswer(of: address, token: token) { remote in
            Set(try await remote.groups(utcOffset: offset).map { $0.id.lowercased() })
        }
        let (id, now) = (UUID().uuidString.lowercased(), clocks.wall.now())
        let keyring = await subject.tokens.keyring()
        let hub = try await subject.catalogue.write { transaction in
            // Another request may have joined it meanwhile.
            let known = try Self.known(address, in: transaction)
            try Self.requireSamePerson(as: known, told, in: transaction)
            let id = known?.id ?? id
            let token = try SealedTokens.sealed(token, keyring, at: SealedTokens.place(ofHub: id), in: transaction)
            let hub = StoredGroupHub(
                id: id, address: address.text, token: token, addedAt: known?.addedAt ?? now, syncedAt: known?.syncedAt)
            try transaction.groupHubs.put(hub)
            // Whoever joins again wants in, whatever they have left before.
            try transaction.groupHubs.removeDepartures(transaction.groupHubs.departures(from: hub.id), from: hub.id)
            return hub
        }
        // It has let us in; should this fail, the reply says why, and it is tried again by itself.
        _ = try? await sync(hub.id)
        return try await peers().first { $0.id == hub.id }?.shown ?? hub.shown
    }

    /// - Throws: `resource_exhausted` where it is not known, and no more can be.
    private static func known(
        _ address: HubAddress, in transaction: any CatalogueTransaction
    ) throws -> StoredGroupHub? {
        let there = try transaction.groupHubs.all()
        if let known = there.first(where: { $0.address == address.text }) { return known }
        guard there.count < GroupHub.maximumCount else {
            throw MeshError(
                short: .count,
                "\(there.count) other machines are joined, which is the most. Forget one: smilepile groups forget")
        }
        return nil
    }

    /// The token takes the place of the one before. Were it another person's, the groups of before would be gone here, with what
    /// waits for them.
    private static func requireSamePerson(
        as known: StoredGroupHub?, _ told: Set<String>, in transaction: any CatalogueTransaction
    ) throws {
        guard let known else { return }
        let lost = try transaction.groups.groups(nil).filter { $0.hub == known.id && !told.contains($0.id) }
        guard let first = lost.first else { return }
        throw MeshError(
            .failedPrecondition,
            "By this invitation you are not in '\(first.name)', which that machine keeps as well. Ask whoever keeps it to invite "
                + "the person that you are there (smilepile groups invite GROUP NAME --known); or forget that machine first: "
                + "smilepile groups forget")
    }

    func list() async throws -> GroupHubList { try await subject.catalogue.read { try $0.groupHubs.list() } }

    func forget(_ id: String) async throws -> GroupHub {
        let id = id.lowercased()
        let (hub, photos) = try await subject.catalogue.write { [subject, clocks] transaction in
            guard let hub = try transaction.groupHubs.all().first(where: { $0.id == id }) else {
                throw subject.missing(id)
            }
            let groups = try transaction.groups.groups(nil).filter { $0.hub == id }
            let photos = try transaction.groups.photos(of: groups.map(\.id)).map(\.id)
            for group in groups { try transaction.noteWaiting(in: group, at: clocks.time(in: transaction)) }
            _ = try transaction.groupHubs.remove(id)
            return (hub, photos)
        }
        // What was under way found no group to enter anything into.
        await endTurns(with: id)
        let (files, folder) = (subject.files, subject.folder)
        // What stays now is met by the next sweep.
        try? await uncancelled { try await files.run { folder.remove(photos) } }
        await mesh?.refreshGroups()
        return hub.shown
    }
}
