import Files
import Foundation
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Which machines are hubs of this library.
extension SyncCoordinator {
    func join(_ request: JoinGroups) async throws -> GroupHub {
        let address = try HubAddress(request.address)
        let token = try InvitationLink.validated(token: request.token)
        try Self.requirePrivacy(address, allowsPlainHTTP: request.allowsPlainHTTP, what: "the photos")
        _ = try await catalogue.read { try Self.known(address, in: $0) }
        let remote = try makeRemote(address, token)
        let told: Set<String>
        do {
            // Whether it lets us in, before anything is written down.
            told = Set(
                try await remote.groups(utcOffset: GroupTime.offset(at: clocks.wall.now())).map { $0.id.lowercased() })
        } catch {
            await remote.close()
            throw Self.answerFromAfar(to: error, of: address)
        }
        await remote.close()
        let (id, now) = (UUID().uuidString.lowercased(), clocks.wall.now())
        let keyring = await tokens.keyring()
        let hub = try await catalogue.write { transaction in
            // Another request may have joined it meanwhile.
            let known = try Self.known(address, in: transaction)
            try Self.requireSamePerson(as: known, told, in: transaction)
            let id = known?.id ?? id
            let token = try SealedTokens.sealed(token, keyring, at: SealedTokens.place(ofHub: id), in: transaction)
            let hub = StoredGroupHub(
                id: id, address: address.text, token: token, addedAt: known?.addedAt ?? now, syncedAt: known?.syncedAt)
            try transaction.groupHubs.put(hub)
            // Whoever joins again wants in, whatever they have left before.
            for group in try transaction.groupHubs.departures(from: hub.id) {
                try transaction.groupHubs.removeDeparture(group, from: hub.id)
            }
            return hub
        }
        // It has let us in; should this fail, the reply says why, and it is tried again by itself.
        _ = try? await sync(hub)
        return try await hubs().first { $0.id == hub.id }?.shown ?? hub.shown
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

    /// What somebody who is not at this machine is told of an address that did not let them in: one and the same, whether nothing
    /// is there, something else answers, or a hub that does not know the token. A page that was taken over would else find out
    /// which programs and machines answer in this network.
    static func answerFromAfar(to error: any Error, of address: HubAddress) -> any Error {
        guard CallContext.current?.isFromAfar ?? false, (error as? MeshError)?.status != .cancelled else {
            return error
        }
        return MeshError(
            .unavailable,
            "No machine at \(address) takes this invitation: it is not running, not reached from here, or the invitation is not "
                + "good any more. The library's own machine says which: smilepile groups join, smilepile swipe join")
    }

    static func requirePrivacy(_ address: HubAddress, allowsPlainHTTP: Bool?, what: String) throws {
        guard address.isPrivate || allowsPlainHTTP == true else {
            throw MeshError(
                .failedPrecondition,
                "Without TLS everybody on the way can read the token and \(what). Use an address with https, or say --insecure-http."
            )
        }
    }

    func list() async throws -> GroupHubList { try await catalogue.read { try $0.groupHubs.list() } }

    func forget(_ id: String) async throws -> GroupHub {
        let id = id.lowercased()
        let (hub, photos) = try await catalogue.write { [clocks] transaction in
            guard let hub = try transaction.groupHubs.all().first(where: { $0.id == id }) else { throw Self.noHub(id) }
            var photos: [String] = []
            for group in try transaction.groups.groups(nil) where group.hub == id {
                photos += try transaction.groups.photos(of: group.id).map(\.id)
                try transaction.noteWaiting(in: group, at: clocks.time(in: transaction))
            }
            _ = try transaction.groupHubs.remove(id)
            return (hub, photos)
        }
        // What begins from now on finds nobody to ask. What is under way finds no group to enter anything into, and must not go on
        // after the reply.
        while let running = running[id] {
            running.cancel()
            _ = await running.result
        }
        let (files, folder) = (files, folder)
        // What stays now is met by the next sweep.
        try? await uncancelled { try await files.run { folder.remove(photos) } }
        if let link = links.removeValue(forKey: id) { await link.remote.close() }
        await refresh()
        return hub.shown
    }
}
