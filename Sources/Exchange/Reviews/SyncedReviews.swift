import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Reviews that a person's machines have in common.
struct SyncedReviews: Synced {
    let catalogue: any Catalogue
    let tokens: SealedTokens
    let makeRemote: ReviewRemoteMaker

    /// One that is being left (``LeaveReviews/forget``) is asked nothing any more: what answers there may let anybody in, and tell
    /// more.
    func peers(in transaction: any CatalogueTransaction) throws -> [StoredReviewPartner] {
        try transaction.reviewMachines.partners().filter { $0.token != .none }
    }

    func peersWithNews(
        at clocks: GroupTime.Clocks, in transaction: any CatalogueTransaction
    ) throws -> [StoredReviewPartner] {
        try peers(in: transaction).filter { partner in
            try transaction.reviews.hasEndedSession(after: (try? ReviewCursor(partner.told)) ?? .start)
        }
    }

    func note(
        _ partner: StoredReviewPartner, syncedAt: Timestamp?, problem: String?,
        in transaction: any CatalogueTransaction
    ) throws {
        try transaction.reviewMachines.note(partner, syncedAt: syncedAt, problem: problem)
    }

    func token(of partner: StoredReviewPartner) async throws -> String {
        try await tokens.open(partner.token, at: SealedTokens.place(ofPartner: partner.id))
    }

    func remote(at address: HubAddress, token: String) throws -> any ReviewRemote { try makeRemote(address, token) }

    func close(_ remote: any ReviewRemote) async { await remote.close() }

    func turn(
        with partner: StoredReviewPartner, over link: PeerLink<any ReviewRemote>, clocks: GroupTime.Clocks,
        on mesh: Mesh, job: Job?
    ) async throws -> SyncOutcome {
        try await ReviewSync(partner: partner, link: link, catalogue: catalogue, mesh: mesh).run(job: job)
    }

    func outcome(withoutPeer id: String) throws -> SyncOutcome { throw missing(id) }

    func forget(_ partner: StoredReviewPartner, after error: MeshError) -> SyncOutcome? { nil }

    func missing(_ id: String) -> MeshError {
        MeshError(.notFound, "No other machine is joined as \(id.prefix(40)). See which are: smilepile swipe machines")
    }
}
