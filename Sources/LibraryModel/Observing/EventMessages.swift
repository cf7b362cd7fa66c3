import ServiceMesh

/// Observes that something has changed, whatever it is: for a program that reacts and then asks. Not for showing
/// lists: the other observations bring them along.
public struct SubscribeToEvents: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = LibraryEvent
    public static let method = "event.subscribe"
    public static let access = Role.looker
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "Which kinds of things have changed, and how many there are of each."
    public init() {}
}

/// What kinds of things a library's changes are about.
public enum EventKind: String, Codable, Sendable, CaseIterable {
    // In alphabetical order, as events list them.
    /// Those that the library has made and knows of, and their schedule.
    case backups
    case categories
    case photos
    case settings
    case swipe
    case trash
}

/// What has changed since the event before, as this subscriber got it: nothing is left out for one that is slow.
public struct LibraryEvent: Codable, Sendable, Equatable {
    /// In alphabetical order; empty in the first event, which tells the state.
    public let changed: [EventKind]
    public let totals: LibraryTotals

    public init(changed: [EventKind], totals: LibraryTotals) {
        self.changed = changed
        self.totals = totals
    }
}

/// How many there are.
public struct LibraryTotals: Codable, Sendable, Equatable {
    public let photos: Int
    public let categories: Int
    public let trashed: Int
    /// Decisions that are not applied yet.
    public let pendingSwipes: Int

    public init(photos: Int, categories: Int, trashed: Int, pendingSwipes: Int) {
        self.photos = photos
        self.categories = categories
        self.trashed = trashed
        self.pendingSwipes = pendingSwipes
    }
}
