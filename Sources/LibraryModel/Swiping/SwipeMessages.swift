import ServiceMesh

/// Begins a review. Several may run at once, on several devices.
public struct StartSwipeSession: Message {
    public typealias Reply = SwipeSession
    public static let method = "swipe.start"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Begins a review by swiping."
    public init() {}
}

/// Writes down one decision; the reply means it is on disk. Of several decisions about one photo the latest counts
/// when they are applied, and the photo's ``Photo/lastDecision`` says it at once. Errors: `not_found` (session, photo);
/// `failed_precondition` where the session is finished, or the photo is no longer the one that was shown.
///
/// Wherever a session is named, the beginning of its id will do; `invalid_argument` where several begin so.
public struct RecordSwipe: Message {
    public typealias Reply = PhotoAction
    public static let method = "swipe.record"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Writes down one decision about one photo."
    public let sessionID: String
    /// The photo's uuid.
    public let photoIdentifier: String
    /// Of the content that was shown.
    public let contentDigest: String
    public let action: SwipeAction

    public init(sessionID: String, photoIdentifier: String, contentDigest: String, action: SwipeAction) {
        self.sessionID = sessionID
        self.photoIdentifier = photoIdentifier
        self.contentDigest = contentDigest
        self.action = action
    }
}

/// Takes back the latest decisions of a session that are not processed yet; a finished one's too. Of the photos the decisions
/// before count again. Large numbers are taken back in several transactions: what is interrupted has done a part.
/// Errors: `not_found`; `invalid_argument` for a count below 1, or with `all`.
public struct UndoSwipes: Message {
    public typealias Reply = UndoneSwipes
    public static let method = "swipe.undo"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes back the latest decisions of a session."
    public let sessionID: String
    /// 1 unless told.
    public let count: Int?
    /// Every one that is not processed.
    public let all: Bool?

    public init(sessionID: String, count: Int? = nil, all: Bool? = nil) {
        self.sessionID = sessionID
        self.count = count
        self.all = all
    }
}

public struct UndoneSwipes: Codable, Sendable, Equatable {
    /// In ``actions``.
    public static let listed = 1000
    /// The latest first; of more than ``listed``, these.
    public let actions: [PhotoAction]
    /// How many were taken back; fewer than asked for where there were no more.
    public let count: Int

    public init(actions: [PhotoAction], count: Int) {
        self.actions = actions
        self.count = count
    }
}

/// Ends a review; with the preference `autoProcessActions` its decisions are applied as well, those that one transaction
/// takes (200) in the same. Finishing again ends nothing twice, and applies what an interruption left. Errors: `not_found`.
public struct FinishSwipeSession: Message {
    public typealias Reply = FinishedSwipeSession
    public static let method = "swipe.finish"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Ends a review."
    public let sessionID: String
    public init(sessionID: String) { self.sessionID = sessionID }
}

public struct FinishedSwipeSession: Codable, Sendable, Equatable {
    public let session: SwipeSession
    /// What was applied; absent where finishing applies nothing.
    public let processed: ProcessedSwipes?

    public init(session: SwipeSession, processed: ProcessedSwipes?) {
        self.session = session
        self.processed = processed
    }
}

/// Sessions, the latest first.
public struct ListSwipeSessions: Message {
    public typealias Reply = SwipeSessionList
    public static let method = "swipe.sessions"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Reviews, the latest first."
    /// 1…1000; 100 unless told.
    public let limit: Int?
    public init(limit: Int? = nil) { self.limit = limit }
}

public struct SwipeSessionList: Codable, Sendable, Equatable {
    public let sessions: [SwipeSession]
    public init(sessions: [SwipeSession]) { self.sessions = sessions }
}

/// Decisions that are not applied yet, the oldest first. Batch by batch in a program: `PendingSwipeBatches`.
public struct ListPendingSwipes: Message {
    public typealias Reply = PendingSwipes
    public static let method = "swipe.pending"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "Decisions that are not applied yet, the oldest first, in pages."
    /// Of one session only.
    public let sessionID: String?
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The last action's id of the page before.
    public let after: Int64?

    public init(sessionID: String? = nil, limit: Int? = nil, after: Int64? = nil) {
        self.sessionID = sessionID
        self.limit = limit
        self.after = after
    }
}

public struct PendingSwipes: Codable, Sendable, Equatable {
    public let actions: [PhotoAction]
    public init(actions: [PhotoAction]) { self.actions = actions }
}

/// Applies decisions: favourite marks, trash moves to the trash, keep does nothing. Each is applied once, however
/// often this is asked and wherever it is interrupted. Errors: `not_found` for the session.
public struct ProcessSwipes: Message {
    public typealias Reply = ProcessedSwipes
    public static let method = "swipe.process"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Applies the decisions that are not applied yet."
    /// Of one session only.
    public let sessionID: String?
    public init(sessionID: String? = nil) { self.sessionID = sessionID }
}

public struct ProcessedSwipes: Codable, Sendable, Equatable {
    public let favorited: Int
    public let trashed: Int
    public let kept: Int
    /// Decisions about photos that have gone or changed since: nothing was done.
    public let outdated: Int

    public init(favorited: Int, trashed: Int, kept: Int, outdated: Int) {
        self.favorited = favorited
        self.trashed = trashed
        self.kept = kept
        self.outdated = outdated
    }
}

/// Marks decisions as processed and does nothing to their photos: for programs that have carried them out themselves, and for
/// reviews that are to have no effect. Those that are processed already stay as they are. Errors: `not_found` for the session;
/// `invalid_argument` with ids and a session, and for more than ``maximumCount`` ids.
public struct MarkSwipesProcessed: Message {
    public typealias Reply = MarkedSwipes
    public static let method = "swipe.markProcessed"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Marks decisions as processed without applying them."
    /// Ids in one request.
    public static let maximumCount = 1000
    /// Of one session only; without this and `ids`, all that wait.
    public let sessionID: String?
    /// Of the decisions, as ``PhotoAction/id``.
    public let ids: [Int64]?

    public init(sessionID: String) {
        self.sessionID = sessionID
        ids = nil
    }

    public init(ids: [Int64]? = nil) {
        sessionID = nil
        self.ids = ids
    }
}

public struct MarkedSwipes: Codable, Sendable, Equatable {
    /// How many were not processed before.
    public let count: Int
    public init(count: Int) { self.count = count }
}

/// Every decision that was not taken back, processed or not, the latest first, in pages: of one session, about one photo, or
/// of both. Errors: `not_found` for the session. A photo that is not there, or no longer, has those that it has.
public struct ListSwipeHistory: Message {
    public typealias Reply = SwipeHistory
    public static let method = "swipe.history"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let summary = "All decisions of a review or about a photo, the latest first, in pages."
    /// Of one session only.
    public let sessionID: String?
    /// The uuid of the only photo asked for.
    public let photoIdentifier: String?
    /// 1…1000; 100 unless told.
    public let limit: Int?
    /// The `next` of the page before.
    public let after: Int64?

    public init(sessionID: String? = nil, photoIdentifier: String? = nil, limit: Int? = nil, after: Int64? = nil) {
        self.sessionID = sessionID
        self.photoIdentifier = photoIdentifier
        self.limit = limit
        self.after = after
    }
}

public struct SwipeHistory: Codable, Sendable, Equatable {
    public let actions: [PhotoAction]
    /// What to pass as `after` for the next page; absent after the last.
    public let next: Int64?

    public init(actions: [PhotoAction], next: Int64?) {
        self.actions = actions
        self.next = next
    }
}

/// Deletes processed decisions from before a moment. Those that are not processed stay, however old, what photos say of their last
/// review (``Photo/lastDecision``), and how many photos each session had. Where reviews are shared with other machines, those of a
/// session that was not finished stay too: one of these may take them back.
/// With a moment in the future by more than an hour, what else a wrong clock has left goes too: sessions of then began and ended now.
/// Errors: `not_found` for the session.
public struct DeleteProcessedSwipes: Message {
    public typealias Reply = DeletedSwipes
    public static let method = "swipe.deleteProcessed"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Deletes old decisions that were processed, of finished sessions."
    /// Decisions were made before it.
    public let before: Timestamp
    /// Of one session only.
    public let sessionID: String?

    public init(before: Timestamp, sessionID: String? = nil) {
        self.before = before
        self.sessionID = sessionID
    }
}

public struct DeletedSwipes: Codable, Sendable, Equatable {
    public let count: Int
    public init(count: Int) { self.count = count }
}
