import LibraryModel
import ServiceMesh

/// What reviews were and decided, as machines tell each other of it, inside one transaction.
///
/// A `ReviewCursor` says how far changes were told, by three numbers that the catalogue gives (``Catalogue``): to the changes of
/// sessions, to decisions, and to decisions that were taken back.
package protocol ReviewRepository {
    /// What is new since a moment, but for decisions that came from `source`; of each kind `limit` at most. A cursor that was given to
    /// nobody, since an older copy was put in the catalogue's place, begins anew.
    func changes(after cursor: ReviewCursor, except source: String?, limit: Int) throws -> ReviewChanges
    /// Enters what is not known yet, and takes back what was taken back elsewhere. A decision is about the photo that has its uuid
    /// and its content, else about one with its content. One about neither, and one that is older than what was deleted about the
    /// photo, changes nothing here. The values have been checked.
    /// - Returns: what was new. A session of which nothing is told but decisions is entered and not counted.
    func merge(_ changes: ReviewChanges, from source: String) throws -> TakenReviews
    /// Marks the oldest decisions as processed that came from a machine and whose sessions have ended. Of sessions that go on, parts may
    /// still be missing.
    /// - Returns: as ``SwipeRepository/process(session:limit:)``.
    func processArrived(from source: String, limit: Int) throws -> (count: Int, effective: [PhotoAction])
    /// Whether a session has ended of which is not told up to there.
    func hasEndedSession(after cursor: ReviewCursor) throws -> Bool

    /// How many rows were ever entered that a machine told of: sessions, decisions, and decisions that were taken back.
    func countTaken(from source: String) throws -> Int
    /// Numbers of what there is from a machine, ascending, from the one behind `number` on. Each kind has numbers of its own.
    func arrived(_ kind: ArrivedKind, from source: String, after number: Int64, limit: Int) throws -> [Int64]
    /// Forgets those of these that came from a machine and that nothing here rests on: not sessions that have decisions, and
    /// not the processed decision that counts about a photo that is in the library or in its trash.
    func forget(_ kind: ArrivedKind, _ numbers: [Int64], from source: String) throws
}

/// What comes from another machine, in the order in which it can go again.
package enum ArrivedKind: CaseIterable, Sendable {
    /// Decisions that are not processed. Before the others: one that they overrule may be applied, and is to stay.
    case waiting
    case processed
    /// Decisions that were taken back.
    case undone
    case sessions
}

/// Machines of the same person, inside one transaction.
package protocol ReviewMachineRepository {
    /// Machines that were let in, in the order in which they were.
    func machines() throws -> [ReviewMachine]
    func machine(token digest: String) throws -> ReviewMachine?
    func add(_ machine: ReviewMachine, key: String, token digest: String) throws
    func noteUse(of id: String, at time: Timestamp) throws
    /// Its token is worth nothing from then on.
    func revoke(machine id: String) throws
    /// - Returns: whether it was there.
    func remove(machine id: String) throws -> Bool

    /// Machines that were joined, in the order in which they were.
    func partners() throws -> [StoredReviewPartner]
    /// Enters it, or puts it in the place of the one with its id.
    func put(_ partner: StoredReviewPartner) throws
    func setToken(_ token: StoredToken, of partner: String) throws
    /// Notes how a try ended; a problem leaves the time of the last success as it was. Of one that was joined anew since, the try
    /// says nothing.
    func note(_ partner: StoredReviewPartner, syncedAt: Timestamp?, problem: String?) throws
    /// Notes how far it has told us, or we have told it, as far as that is still `before`: a partner that was joined anew
    /// meanwhile begins anew.
    /// - Returns: whether it was noted.
    func advance(
        _ partner: StoredReviewPartner, _ way: ReviewWay, from before: String, to after: String
    ) throws -> Bool
    /// - Returns: whether it was there.
    func remove(partner id: String) throws -> Bool
}

extension ReviewMachineRepository {
    package func list() throws -> ReviewMachineList {
        ReviewMachineList(machines: try machines() + partners().map(\.shown))
    }
}

/// What a cursor of a partner is of: what it has told us, or what we have told it.
package enum ReviewWay: Sendable {
    case heard
    case told
}

/// A machine that was joined, as it is kept.
package struct StoredReviewPartner: Sendable, Equatable {
    package let id: String
    package let address: String
    package let token: StoredToken
    /// How often it was joined: what is under way by the invitation before says nothing about this one.
    package let joins: Int
    package let addedAt: Timestamp
    package let syncedAt: Timestamp?
    package let problem: String?
    /// Its cursor, which to us is a text, and ours.
    package let heard: String
    package let told: String

    package init(
        id: String, address: String, token: StoredToken, joins: Int = 1, addedAt: Timestamp, syncedAt: Timestamp? = nil,
        problem: String? = nil, heard: String = "", told: String = ""
    ) {
        self.id = id
        self.address = address
        self.token = token
        self.joins = joins
        self.addedAt = addedAt
        self.syncedAt = syncedAt
        self.problem = problem
        self.heard = heard
        self.told = told
    }

    package var shown: ReviewMachine {
        ReviewMachine(
            id: id, name: address, isJoined: true, addedAt: addedAt, seenAt: syncedAt, problem: problem)
    }
}
