import Executors
import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Groups that other machines keep.
struct SyncedGroups: Synced {
    let catalogue: any Catalogue
    let tokens: SealedTokens
    let folder: GroupPhotoFolder
    let pictures: GroupPictures
    let files: BlockingPool
    let makeRemote: GroupRemoteMaker

    func peers(in transaction: any CatalogueTransaction) throws -> [StoredGroupHub] { try transaction.groupHubs.all() }

    func peersWithNews(
        at clocks: GroupTime.Clocks, in transaction: any CatalogueTransaction
    ) throws -> [StoredGroupHub] {
        let waiting = try transaction.groupHubs.withOutgoing(at: clocks.time(in: transaction).now)
        return try peers(in: transaction).filter { waiting.contains($0.id) }
    }

    func note(
        _ hub: StoredGroupHub, syncedAt: Timestamp?, problem: String?, in transaction: any CatalogueTransaction
    ) throws {
        try transaction.groupHubs.note(hub.id, syncedAt: syncedAt, problem: problem)
    }

    func token(of hub: StoredGroupHub) async throws -> String {
        try await tokens.open(hub.token, at: SealedTokens.place(ofHub: hub.id))
    }

    func remote(at address: HubAddress, token: String) throws -> any GroupRemote { try makeRemote(address, token) }

    func close(_ remote: any GroupRemote) async { await remote.close() }

    func turn(
        with hub: StoredGroupHub, over link: PeerLink<any GroupRemote>, clocks: GroupTime.Clocks, on mesh: Mesh,
        job: Job?
    ) async throws -> SyncOutcome {
        let turn = HubSync(
            hub: hub, link: link, catalogue: catalogue, folder: folder, pictures: pictures, files: files,
            clocks: clocks)
        do {
            return try await turn.run(job: job) { await mesh.refreshGroups() }
        } catch {
            // It may have come to some of it before.
            await mesh.refreshGroups()
            throw error
        }
    }

    func outcome(withoutPeer id: String) -> SyncOutcome { SyncOutcome() }

    /// Who has left all groups of a hub is not known there any more, and has no use for it either.
    func forget(_ hub: StoredGroupHub, after error: MeshError) async throws -> SyncOutcome? {
        guard error.status == .unauthenticated else { return nil }
        let isLeft = try await catalogue.write { transaction in
            guard try !transaction.groups.groups(nil).contains(where: { $0.hub == hub.id }) else { return false }
            return try transaction.groupHubs.remove(hub.id)
        }
        guard isLeft else { return nil }
        return SyncOutcome(lines: [
            ReceiptLine(item: hub.address, outcome: "left", detail: "you are in none of its groups any more")
        ])
    }

    func missing(_ id: String) -> MeshError {
        MeshError(.notFound, "No other machine is joined as \(id.prefix(40)). See which are: smilepile groups hubs")
    }
}

extension Mesh {
    /// Has GroupStore look anew. As a service: the timer is nobody's call, and would ask as the program that owns the library,
    /// which may not.
    func refreshGroups() async {
        _ = try? await send(RefreshGroups(), in: .root(mesh: self, role: .service))
    }
}
