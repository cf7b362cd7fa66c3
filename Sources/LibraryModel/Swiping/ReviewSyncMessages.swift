import ServiceMesh

/// Joins another machine of the same person, with the token of an invitation (``ShareReviews``): reviews go there and come from
/// there from then on. Replies when that machine has answered. Where it is joined already, the token takes the place of the one
/// before, and all is told once more.
///
/// Errors: `invalid_argument` (the address, the token), `failed_precondition` (an address without TLS that is not this machine's,
/// unless `allowsPlainHTTP`), `unauthenticated` (the token is worth nothing there), `unavailable` (it does not answer),
/// `resource_exhausted` (``ReviewMachine/maximumCount``).
public struct JoinReviews: Message {
    public typealias Reply = ReviewMachine
    public static let method = "swipe.join"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Has reviews in common with another machine of yours."
    public let address: String
    public let token: String
    /// Whether the token and the decisions may go where others on the way can read them.
    public let allowsPlainHTTP: Bool?

    public init(address: String, token: String, allowsPlainHTTP: Bool? = nil) {
        self.address = address
        self.token = token
        self.allowsPlainHTTP = allowsPlainHTTP
    }
}

/// Asks a machine that was joined no more. What came from it stays, unless `forget`, as in ``UnshareReviews``. Errors: `not_found`.
public struct LeaveReviews: Message {
    public typealias Reply = ReviewMachine
    public static let method = "swipe.leave"
    public static let access = Role.parent
    public static let kind = MessageKind.write
    public static let summary = "Has reviews in common with another machine no more."
    public let id: String
    /// Whether what came from it goes too.
    public let forget: Bool?

    public init(id: String, forget: Bool? = nil) {
        self.id = id
        self.forget = forget
    }
}

/// Fetches and sends reviews. It happens by itself as well: when the library is opened, every quarter of an hour, and when a review
/// ends here. Lines tell of machines that did not answer. Errors: `not_found`.
public struct SyncReviews: Message {
    public typealias Reply = JobStarted
    public static let method = "swipe.sync"
    public static let access = Role.parent
    public static let kind = MessageKind.job
    public static let summary = "Fetches and sends reviews of other machines of yours."
    /// All that were joined unless told.
    public let machineId: String?
    public init(machineId: String? = nil) { self.machineId = machineId }
}

public struct ReviewSyncReceipt: JobReceipt, Codable, Sendable, Equatable {
    public let ending: JobEnding
    /// Machines that were asked, and those of them that did not answer as they should.
    public let machines: Int
    public let failed: Int
    /// Decisions.
    public let sent: Int
    public let fetched: Int
    /// Decisions that were taken back elsewhere and had been here.
    public let undone: Int

    public init(ending: JobEnding, machines: Int, failed: Int, sent: Int, fetched: Int, undone: Int) {
        self.ending = ending
        self.machines = machines
        self.failed = failed
        self.sent = sent
        self.fetched = fetched
        self.undone = undone
    }
}

/// Tells SwipeSessionRecorder what SyncCoordinator has fetched.
public struct MergeReviews: Message {
    public typealias Reply = TakenReviews
    public static let method = "swipe.merge"
    public static let access = Role.service
    public static let kind = MessageKind.write
    public static let summary = "Enters what was reviewed on another machine."
    /// The machine's id.
    public let source: String
    public let changes: ReviewChanges

    public init(source: String, changes: ReviewChanges) {
        self.source = source
        self.changes = changes
    }
}
