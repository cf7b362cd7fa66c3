import ServiceMesh

/// What a swipe decided about a photo (<doc:Rules>).
public enum SwipeAction: String, Codable, Sendable, CaseIterable {
    case favorite
    case trash
    case keep
}

/// One review of photos by swiping.
public struct SwipeSession: Codable, Sendable, Equatable {
    /// A UUID, lower case.
    public let sessionID: String
    public let startTime: Timestamp
    /// Nil while it runs.
    public let endTime: Timestamp?
    /// Photos about which it has decisions: two about one photo count once, and one that was taken back not at all.
    public let photosProcessed: Int

    public init(sessionID: String, startTime: Timestamp, endTime: Timestamp?, photosProcessed: Int) {
        self.sessionID = sessionID
        self.startTime = startTime
        self.endTime = endTime
        self.photosProcessed = photosProcessed
    }
}

/// One decision. It names the photo and the content that was shown.
public struct PhotoAction: Codable, Sendable, Equatable {
    public let id: Int64
    public let sessionID: String
    /// The photo's uuid.
    public let photoIdentifier: String
    public let contentDigest: String
    public let action: SwipeAction
    public let timestamp: Timestamp
    public let isProcessed: Bool

    public init(
        id: Int64, sessionID: String, photoIdentifier: String, contentDigest: String, action: SwipeAction,
        timestamp: Timestamp, isProcessed: Bool
    ) {
        self.id = id
        self.sessionID = sessionID
        self.photoIdentifier = photoIdentifier
        self.contentDigest = contentDigest
        self.action = action
        self.timestamp = timestamp
        self.isProcessed = isProcessed
    }
}
