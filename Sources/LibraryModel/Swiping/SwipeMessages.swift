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
/// when they are applied. Errors: `not_found` (session, photo); `failed_precondition` where the session is
/// finished, or the photo is no longer the one that was shown.
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

/// Takes back the latest decisions of a session that are not processed yet. Errors: `not_found`;
/// `invalid_argument` for a count below 1.
public struct UndoSwipes: Message {
    public typealias Reply = UndoneSwipes
    public static let method = "swipe.undo"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Takes back the latest decisions of a session."
    public let sessionID: String
    /// 1 unless told.
    public let count: Int?

    public init(sessionID: String, count: Int? = nil) {
        self.sessionID = sessionID
        self.count = count
    }
}

public struct UndoneSwipes: Codable, Sendable, Equatable {
    /// The latest first; fewer than asked for where there were no more.
    public let actions: [PhotoAction]
    public init(actions: [PhotoAction]) { self.actions = actions }
}

/// Ends a review; with the preference `autoProcessActions` its decisions are applied as well. Finishing again
/// changes nothing. Errors: `not_found`.
public struct FinishSwipeSession: Message {
    public typealias Reply = SwipeSession
    public static let method = "swipe.finish"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Ends a review."
    public let sessionID: String
    public init(sessionID: String) { self.sessionID = sessionID }
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

/// Decisions that are not applied yet, the oldest first.
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
