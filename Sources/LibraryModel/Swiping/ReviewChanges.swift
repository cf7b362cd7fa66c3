import ServiceMesh

/// A part of what reviews were and decided, as one machine tells another: sessions that began or ended, decisions, and decisions
/// that were taken back. It can be taken in any order and any number of times, with the same outcome
/// (<doc:ReviewsBetweenMachines>).
public struct ReviewChanges: Codable, Sendable, Equatable {
    public struct Session: Codable, Sendable, Hashable {
        /// A UUID, lower case.
        public let id: String
        public let startedAt: Timestamp
        /// Nil while it runs.
        public let endedAt: Timestamp?

        public init(id: String, startedAt: Timestamp, endedAt: Timestamp?) {
            self.id = id
            self.startedAt = startedAt
            self.endedAt = endedAt
        }
    }

    /// A decision, which is the same everywhere by all of these together.
    public struct Decision: Codable, Sendable, Hashable {
        public let session: String
        /// The photo's uuid where it was decided.
        public let photo: String
        /// SHA-256 of the content that was shown, lower-case hex.
        public let digest: String
        public let action: SwipeAction
        public let decidedAt: Timestamp

        public init(session: String, photo: String, digest: String, action: SwipeAction, decidedAt: Timestamp) {
            self.session = session
            self.photo = photo
            self.digest = digest
            self.action = action
            self.decidedAt = decidedAt
        }
    }

    /// How a person reviews, on whichever of their machines they have set it last.
    public struct Preferences: Codable, Sendable, Hashable {
        public let swipeThreshold: Double
        public let enableHapticFeedback: Bool
        public let autoProcessActions: Bool
        /// The later change counts.
        public let changedAt: Timestamp

        public init(swipeThreshold: Double, enableHapticFeedback: Bool, autoProcessActions: Bool, changedAt: Timestamp)
        {
            self.swipeThreshold = swipeThreshold
            self.enableHapticFeedback = enableHapticFeedback
            self.autoProcessActions = autoProcessActions
            self.changedAt = changedAt
        }
    }

    /// Of each kind, in one part.
    public static let maximumCount = 200

    public let sessions: [Session]
    public let decisions: [Decision]
    /// Those that were taken back.
    public let undone: [Decision]
    /// Where the next part begins.
    public let next: String
    /// Whether there is a next part already.
    public let more: Bool
    /// Nil where nobody has set any, and of machines that do not say.
    public var preferences: Preferences?

    public init(
        sessions: [Session], decisions: [Decision], undone: [Decision], next: String, more: Bool,
        preferences: Preferences? = nil
    ) {
        self.preferences = preferences
        self.sessions = sessions
        self.decisions = decisions
        self.undone = undone
        self.next = next
        self.more = more
    }

    /// Whether it tells of no review.
    public var isEmpty: Bool { sessions.isEmpty && decisions.isEmpty && undone.isEmpty }
}

/// How far one machine has told another: ``ReviewChanges/next``. To others than who wrote it, it is a text.
public struct ReviewCursor: Sendable, Equatable, CustomStringConvertible {
    /// UTF-8 bytes.
    public static let maximumLength = 100

    public var session: Int64
    public var decision: Int64
    public var undone: Int64

    public static let start = ReviewCursor(session: 0, decision: 0, undone: 0)

    public init(session: Int64, decision: Int64, undone: Int64) {
        self.session = session
        self.decision = decision
        self.undone = undone
    }

    /// - Throws: `invalid_argument` for what was written by nobody here. Nothing at all is the start.
    public init(_ text: String?) throws {
        self = .start
        guard let text, !text.isEmpty else { return }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int64($0) }
        guard text.utf8.count <= Self.maximumLength, parts.count == 3, let session = parts[0], let decision = parts[1],
            let undone = parts[2], min(session, decision, undone) >= 0
        else {
            throw MeshError(.invalidArgument, "'after' is the 'next' of the part before. Leave it out to begin anew.")
        }
        self.init(session: session, decision: decision, undone: undone)
    }

    public var description: String { "\(session).\(decision).\(undone)" }
}

// What another machine of the same person asks, from there. The web program hands it on; the token says who asks, so a kid's
// connection may carry it.

/// What reviews were and decided here since a part. Nothing comes back that came from who asks. Errors: `unauthenticated`,
/// `invalid_argument` (`after`).
public struct ListHubReviews: Message {
    public typealias Reply = ReviewChanges
    public static let method = "hub.reviews"
    public static let access = Role.nobody
    public static let kind = MessageKind.read
    public static let summary = "What was reviewed here, for the machine whose token this is."
    public let token: String
    /// The `next` of the part before; all from the beginning unless told.
    public let after: String?

    public init(token: String, after: String? = nil) {
        self.token = token
        self.after = after
    }
}

/// Takes what was reviewed on the machine whose token this is. The same once more changes nothing. What has an end and was not
/// known is applied with the last part (`more` is false) where the preference `autoProcessActions` says so.
///
/// Errors: `unauthenticated`; `invalid_argument` for what cannot be right, and then nothing of it is taken.
public struct TakeHubReviews: Message {
    public typealias Reply = TakenReviews
    public static let method = "hub.takeReviews"
    public static let access = Role.nobody
    public static let kind = MessageKind.write
    public static let summary = "Takes what was reviewed on the machine whose token this is."
    public let token: String
    public let changes: ReviewChanges

    public init(token: String, changes: ReviewChanges) {
        self.token = token
        self.changes = changes
    }
}

/// What of a part was new here.
public struct TakenReviews: Codable, Sendable, Equatable {
    /// Sessions that began or changed.
    public let sessions: Int
    public let decisions: Int
    /// Decisions that were here and are taken back.
    public let undone: Int

    public static let none = TakenReviews(sessions: 0, decisions: 0, undone: 0)

    public init(sessions: Int, decisions: Int, undone: Int) {
        self.sessions = sessions
        self.decisions = decisions
        self.undone = undone
    }
}
