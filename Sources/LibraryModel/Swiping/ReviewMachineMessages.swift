import ServiceMesh

/// Another machine of the same person that reviews go to and come from (<doc:ReviewsBetweenMachines>).
public struct ReviewMachine: Codable, Sendable, Equatable, Identifiable {
    /// A UUID, lower case.
    public let id: String
    /// As a person called it; of one that this machine has joined, its address.
    public let name: String
    /// Whether this machine has joined it and asks it; else it was let in, and asks here.
    public let isJoined: Bool
    public let addedAt: Timestamp
    /// The last use, to the minute, or the last sync; nil before the first.
    public let seenAt: Timestamp?
    /// Why the last sync was none, in a sentence; nil where it was one, and of machines that ask here.
    public let problem: String?

    /// Unicode scalars.
    public static let nameLength = 1...100
    /// Let in at the same time, and joined at the same time.
    public static let maximumCount = 20

    /// What is taken from one machine since it was let in or joined: sessions, decisions, and decisions that were taken back,
    /// together. What is known already counts nothing.
    /// - Parameter photos: in this library.
    public static func maximumTaken(photos: Int) -> Int { 100_000 + 20 * photos }

    public init(
        id: String, name: String, isJoined: Bool, addedAt: Timestamp, seenAt: Timestamp?, problem: String? = nil
    ) {
        self.id = id
        self.name = name
        self.isJoined = isJoined
        self.addedAt = addedAt
        self.seenAt = seenAt
        self.problem = problem
    }
}

/// Lets another machine of the same person in, for reviews and nothing else. Its token is told here and never again: the library
/// keeps its digest.
///
/// Errors: `invalid_argument` (the name), `already_exists` (a machine of that name), `resource_exhausted`
/// (``ReviewMachine/maximumCount``).
public struct ShareReviews: Message {
    public typealias Reply = SharedReviews
    public static let method = "swipe.share"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Lets another machine of yours in for reviews, and tells its token."
    public let name: String
    public init(name: String) { self.name = name }
}

public struct SharedReviews: Codable, Sendable, Equatable {
    public let machine: ReviewMachine
    /// 256 bits at random, in base64url: 43 characters.
    public let token: String

    public init(machine: ReviewMachine, token: String) {
        self.machine = machine
        self.token = token
    }
}

/// Machines that were let in, and machines that were joined, in the order in which they were.
public struct ListReviewMachines: Message {
    public typealias Reply = ReviewMachineList
    public static let method = "swipe.machines"
    public static let access = Role.parent
    public static let kind = MessageKind.read
    public static let replySize = ReplySize.single
    public static let summary = "Other machines that reviews go to and come from."
    public init() {}
}

/// Observes what ``ListReviewMachines`` lists, now and after each change.
public struct ObserveReviewMachines: Message, Hashable {
    public typealias Reply = Done
    public typealias Update = ReviewMachineList
    public static let method = "swipe.observeMachines"
    public static let access = Role.parent
    public static let kind = MessageKind.observation
    public static let replySize = ReplySize.single
    public static let summary = "Other machines that reviews go to and come from, now and after each change."
    public init() {}
}

public struct ReviewMachineList: Codable, Sendable, Equatable {
    public let machines: [ReviewMachine]
    public init(machines: [ReviewMachine]) { self.machines = machines }
}

/// Lets a machine in no more: its token is worth nothing from then on. What came from it stays, unless `forget`: then that goes, but
/// for decisions that were applied, of which the latest about each photo stays. What is interrupted has done a part, and is to be
/// asked for again. Errors: `not_found`.
public struct UnshareReviews: Message {
    public typealias Reply = ReviewMachine
    public static let method = "swipe.unshare"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Lets another machine in for reviews no more."
    public let id: String
    /// Whether what came from it goes too.
    public let forget: Bool?

    public init(id: String, forget: Bool? = nil) {
        self.id = id
        self.forget = forget
    }
}
