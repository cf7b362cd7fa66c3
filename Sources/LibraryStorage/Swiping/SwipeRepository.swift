import LibraryModel
import ServiceMesh

/// The swipe sessions of a catalogue and their decisions, inside one transaction. Ids of sessions are in lower case; those of decisions
/// are numbers that the catalogue gives (``Catalogue``), in the order in which the decisions were entered.
package protocol SwipeRepository {
    /// Sessions whose ids begin so, in the ids' order.
    func find(beginningWith beginning: String, limit: Int) throws -> [SwipeSession]
    /// The latest first, of one moment by id.
    func sessions(limit: Int) throws -> [SwipeSession]
    /// Decisions not processed yet, the oldest first, from the one behind `id` on, which is 0 for the first page; of one session or
    /// of all.
    func pending(session: String?, after id: Int64, limit: Int) throws -> [PhotoAction]
    func pendingCount() throws -> Int
    /// Decisions, the latest first, from the one before `id` on.
    /// - Parameters:
    ///   - session: nil for all.
    ///   - photo: its uuid; nil for all.
    func decisions(session: String?, photo: String?, before id: Int64, limit: Int) throws -> [PhotoAction]
    /// Ids of processed decisions from before `time`, from the one behind `id` on; of one session or of all. Of sessions that go on
    /// only while no other machine is known, where nobody else can take a decision back.
    func processed(before time: Timestamp, session: String?, after id: Int64, limit: Int) throws -> [Int64]
    /// Every session with all of its decisions, the latest session first.
    func history() throws -> [SwipeRecord]
    /// Those of `ids` that are there.
    func known(_ ids: [String]) throws -> Set<String>

    /// - Returns: the new session.
    func start(_ id: String, at time: Timestamp) throws -> SwipeSession
    /// Writes down a decision, provided that its session is open and the photo still has the content that was shown;
    /// nil where not. It is the photo's last one from then on: its time is `time`, or a millisecond after the latest about the photo
    /// that is known, be that taken back or deleted.
    func record(_ decision: SwipeDecision, at time: Timestamp) throws -> PhotoAction?
    /// Takes back the latest decisions of a session that are not processed. Of the photos, those before count again.
    /// - Returns: those that are gone, the latest first.
    func undo(session: String, count: Int) throws -> [PhotoAction]
    /// Sets the end; a session that has one keeps it.
    func finish(_ id: String, at time: Timestamp) throws
    /// Marks the oldest decisions as processed; of one session or of all.
    /// - Returns: how many, and those of them about whose photo no later decision waits.
    func process(session: String?, limit: Int) throws -> (count: Int, effective: [PhotoAction])
    /// Marks decisions as processed.
    /// - Returns: how many were not.
    func markProcessed(_ ids: [Int64]) throws -> Int
    /// Deletes those of these decisions that are processed, as ``processed(before:session:after:limit:)`` tells them. Their sessions
    /// still count the photos, and these still say what was decided last.
    /// - Returns: how many there were.
    func deleteProcessed(_ ids: [Int64]) throws -> Int
    /// Sets back to `now` what is later than a limit: begins and ends of sessions that have no such decision any more, and the times
    /// of deleted decisions. What was taken back then is forgotten.
    func setBack(later limit: Timestamp, to now: Timestamp, session: String?) throws
    /// Enters sessions from elsewhere, whose ids are new here. Photos say the latest decision from then on; one that came with a
    /// decision of which nothing else is known here goes on saying that.
    func insert(_ records: [SwipeRecord]) throws
    /// With all that is known of what was taken back or deleted: it says nothing of sessions that come instead.
    func removeAll() throws
}

extension SwipeRepository {
    /// A session by its id, or by the beginning of it.
    /// - Throws: `noSwipeSession`, `severalSwipeSessions`.
    package func require(_ id: String) throws -> SwipeSession {
        let beginning = id.lowercased()
        let found = beginning.isEmpty ? [] : try find(beginningWith: beginning, limit: 5)
        guard let first = found.first else { throw CatalogueError.noSwipeSession(id) }
        guard found.count == 1 || first.sessionID == beginning else {
            throw CatalogueError.severalSwipeSessions(id, found.map(\.sessionID))
        }
        return first
    }
}

/// What a person decided about a photo as it was shown.
package struct SwipeDecision: Sendable {
    package let session: String
    package let photo: String
    package let contentDigest: String
    package let action: SwipeAction

    package init(session: String, photo: String, contentDigest: String, action: SwipeAction) {
        self.session = session
        self.photo = photo
        self.contentDigest = contentDigest
        self.action = action
    }
}

/// A session with its decisions, in their order.
package struct SwipeRecord: Sendable {
    package let sessionID: String
    package let startTime: Timestamp
    package let endTime: Timestamp?
    /// Photos that it counts and of which no decision is left.
    package let forgottenPhotos: Int
    package let actions: [Action]

    package struct Action: Sendable {
        package let decision: SwipeDecision
        package let timestamp: Timestamp
        package let isProcessed: Bool

        package init(decision: SwipeDecision, timestamp: Timestamp, isProcessed: Bool) {
            self.decision = decision
            self.timestamp = timestamp
            self.isProcessed = isProcessed
        }
    }

    package init(
        sessionID: String, startTime: Timestamp, endTime: Timestamp?, forgottenPhotos: Int, actions: [Action]
    ) {
        self.sessionID = sessionID
        self.startTime = startTime
        self.endTime = endTime
        self.forgottenPhotos = forgottenPhotos
        self.actions = actions
    }
}
