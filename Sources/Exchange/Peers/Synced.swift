import LibraryModel
import LibraryServices
import LibraryStorage
import ServiceMesh

/// Another machine that this library's person has joined: one that keeps groups, or one of their own.
protocol StoredPeer: Sendable {
    var id: String { get }
    var address: String { get }
    var token: StoredToken { get }
    /// What was wrong the last time, as people read it.
    var problem: String? { get }
}

extension StoredGroupHub: StoredPeer {}
extension StoredReviewPartner: StoredPeer {}

/// What several machines have in common and ``SyncPeers`` brings together: groups, or reviews. All in which these two differ is here.
protocol Synced: Sendable {
    associatedtype Peer: StoredPeer
    /// The way to one machine.
    associatedtype Remote: Sendable

    var catalogue: any Catalogue { get }
    var tokens: SealedTokens { get }

    /// The machines that are asked.
    func peers(in transaction: any CatalogueTransaction) throws -> [Peer]
    /// Those of them for which something waits here that a machine is told at once.
    func peersWithNews(at clocks: GroupTime.Clocks, in transaction: any CatalogueTransaction) throws -> [Peer]
    /// Notes how a turn ended; a problem leaves the time of the last success as it was.
    func note(
        _ peer: Peer, syncedAt: Timestamp?, problem: String?, in transaction: any CatalogueTransaction
    ) throws

    func token(of peer: Peer) async throws -> String
    func remote(at address: HubAddress, token: String) throws -> Remote
    func close(_ remote: Remote) async

    /// Brings both together, once. It can be broken off anywhere and begun anew.
    func turn(
        with peer: Peer, over link: PeerLink<Remote>, clocks: GroupTime.Clocks, on mesh: Mesh, job: Job?
    ) async throws -> SyncOutcome
    /// What a turn comes to whose machine was forgotten while it waited.
    func outcome(withoutPeer id: String) throws -> SyncOutcome
    /// Forgets a machine that does not know this one any more, where nothing here needs it either.
    /// - Returns: nil where it stays joined, and the error is a problem.
    func forget(_ peer: Peer, after error: MeshError) async throws -> SyncOutcome?
    /// `not_found`, with how to see which there are.
    func missing(_ id: String) -> MeshError
}

/// What one turn with a machine has done, or several.
struct SyncOutcome: Sendable {
    /// Photos, or decisions.
    var sent = 0
    var fetched = 0
    /// Photos that were sent here and not taken there.
    var lost = 0
    /// Decisions that were taken back elsewhere and had been here.
    var undone = 0
    var lines: [ReceiptLine] = []
    /// Why something could not be done that is to be tried again, while all else was.
    var problem: MeshError?
    /// What somebody should know while all is up to date.
    var notice: String?
    /// Whether the job stood still before all was done.
    var isBrokenOff = false

    /// The figures of another turn.
    mutating func add(_ other: SyncOutcome) {
        (sent, fetched) = (sent + other.sent, fetched + other.fetched)
        (lost, undone) = (lost + other.lost, undone + other.undone)
    }

    mutating func meet(_ error: MeshError) { problem = problem ?? error }

    /// Asked between two photos, or two parts. A job that stands still gives its turn up, which would else keep all others waiting,
    /// and end as one that takes too long: so no ``Job/mayContinue()``, which waits.
    mutating func mayContinue(_ job: Job?) throws -> Bool {
        guard let job else { return true }
        if job.isCancelled || job.isInterrupted { throw CancellationError() }
        isBrokenOff = job.isPaused
        return !isBrokenOff
    }
}
