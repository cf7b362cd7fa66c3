/// The seven fields that say something about a child. They are stored sealed and nowhere else: not in a ``Photo``, an index,
/// a log, a file's name or an event.
public enum SealedField: String, Codable, Sendable, CaseIterable {
    case childName, childAge, notes, tags, milestone, location, metadata

    /// Characters that its text has at most, or each of its tags.
    public var maximumLength: Int {
        switch self {
        case .childName: 200
        case .childAge, .tags: 100
        case .milestone, .location: 1_000
        case .notes: 20_000
        case .metadata: 60_000
        }
    }

    /// Whether it may have several lines.
    public var isLong: Bool { self == .notes || self == .metadata }

    /// Tags of one photo.
    public static let maximumTags = 100
}

/// What the sealed fields of one photo say, opened. Fields that say nothing are absent.
public struct PhotoDetail: Codable, Sendable, Equatable {
    public let photoId: Int64
    public let childName: String?
    public let childAge: String?
    public let notes: String?
    public let tags: [String]?
    public let milestone: String?
    /// A place in words, or where a camera said it was: degrees north and east, as `54.32133, 10.13489`.
    public let location: String?
    /// Whatever else there is to say, for programs too.
    public let metadata: String?
    /// Fields that have a value which does not open: their key is not here, or they were changed from outside. They stay as
    /// they are until they are cleared. Empty where all is well.
    public let unreadable: [SealedField]

    public init(
        photoId: Int64, childName: String? = nil, childAge: String? = nil, notes: String? = nil, tags: [String]? = nil,
        milestone: String? = nil, location: String? = nil, metadata: String? = nil, unreadable: [SealedField] = []
    ) {
        self.photoId = photoId
        self.childName = childName
        self.childAge = childAge
        self.notes = notes
        self.tags = tags
        self.milestone = milestone
        self.location = location
        self.metadata = metadata
        self.unreadable = unreadable
    }

    /// What a field says, of tags each; empty where it says nothing.
    public func texts(_ field: SealedField) -> [String] {
        switch field {
        case .tags: tags ?? []
        case .childName: [childName].compactMap { $0 }
        case .childAge: [childAge].compactMap { $0 }
        case .notes: [notes].compactMap { $0 }
        case .milestone: [milestone].compactMap { $0 }
        case .location: [location].compactMap { $0 }
        case .metadata: [metadata].compactMap { $0 }
        }
    }
}
