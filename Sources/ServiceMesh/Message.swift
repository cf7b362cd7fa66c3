/// A request as a value: what it asks, what it answers, who may ask. One declaration of a message gives the
/// in-process call (`mesh.send`), the socket method, its role, its schema and its entry in `rpc.discover`.
///
/// A message knows no service. The module that owns the service conforms it to ``HandledMessage``; clients
/// that only talk over the socket share the bare message.
public protocol Message<Reply>: Codable, Sendable {
    associatedtype Reply: Codable & Sendable
    /// The name on the wire, `service.verb` in lower case: `category.add`.
    static var method: String { get }
    /// The least role that may send it. Checked by the mesh and nowhere else.
    static var access: Role { get }
    static var kind: MessageKind { get }
    /// How much its reply may be, and each change of an observation. Default: a page for what reads and observes, else
    /// one thing.
    static var replySize: ReplySize { get }
    /// Whether its reply holds an ``OwnedFile``, so that a client has to ask for descriptors. Default: no.
    static var carriesFiles: Bool { get }
    /// Whether it is taken from clients at this machine alone, because of its contents: a path, a key, an address. Default: no. The
    /// mesh looks at this where a message comes from outside, by name.
    var isForThisMachine: Bool { get }
    /// The least role that may send it because of its contents: ``access`` unless it asks for more than the least of its kind. The mesh looks
    /// at this where a message comes from outside, by name.
    var contentAccess: Role { get }
    /// One sentence for `rpc.discover` and `--help`: what it does.
    static var summary: String { get }
}

extension Message {
    public static var carriesFiles: Bool { false }

    public var isForThisMachine: Bool { false }

    public var contentAccess: Role { Self.access }

    public static var replySize: ReplySize {
        switch kind {
        case .read, .observation: .page
        case .write, .job: .single
        }
    }
}

/// How much an answer may be: what has to be kept for a client that does not read it yet, and is therefore there before
/// the request starts.
public enum ReplySize: Sendable {
    /// One thing: some kilobytes. Nobody waits for room for it, so a request that takes long, and one that is needed
    /// when there is no room, is of this size.
    case single
    /// A list, or whatever is as large as one answer may be.
    case page
}

/// What sending a message does to the library, and how its answer comes.
public enum MessageKind: String, Codable, Sendable, CaseIterable {
    /// Changes nothing; may be repeated freely.
    case read
    /// Changes the library; the reply means that the change is durable.
    case write
    /// Starts a long piece of work and answers at once with its id (see ``JobStarted``).
    case job
    /// Answers with the current value at once, then with each change, until it is cancelled.
    case observation
}

/// Who is asking, in rising order of what they may do. The numbers are those that jobs are stored with, and say nothing of the order.
public enum Role: Int, Codable, Sendable, CaseIterable, Comparable {
    /// May say who it is: a connection that a program of strangers' requests makes, before a device's token has come over it.
    case nobody = -1
    /// May look at photos and categories.
    case kid = 0
    /// May mark favourites besides, and changes nothing else.
    case looker = 3
    /// The library's owner: a connection of the same user, or the program that embeds the library.
    case parent = 1
    /// Another service of the same mesh. Messages that need it do not exist on the socket.
    case service = 2

    private var rank: Int8 {
        switch self {
        case .nobody: 0
        case .kid: 1
        case .looker: 2
        case .parent: 3
        case .service: 4
        }
    }

    public static func < (left: Role, right: Role) -> Bool { left.rank < right.rank }
}

/// The answer of a message that has nothing to say but that it was done.
public struct Done: Codable, Sendable, Equatable {
    public init() {}
}

/// A message together with the actor that answers it.
///
/// `perform` takes a plain `Service` and awaits one of its methods. Taking `isolated Service` was rejected:
/// a synchronous witness of such a requirement crashes the 6.3.1 compiler when its caller is specialised.
public protocol HandledMessage: Message {
    associatedtype Service: MeshService
    func perform(on service: Service) async throws -> Reply
}

/// A message whose answer goes on: `observe` sends the current value first, then each change, and returns its
/// reply when there is nothing more to come. It runs until then, or until its caller cancels.
public protocol HandledObservation: Message {
    associatedtype Service: MeshService
    associatedtype Update: Codable & Sendable
    /// Whether its changes end when the library is closed, whose end then waits until each follower has the reply.
    /// Default: no; it is cancelled then.
    static var endsWithTheLibrary: Bool { get }
    /// ``Observation`` for what cannot fail, ``QueryObservation`` for what has to be read, or what is made of one.
    associatedtype Changes: AsyncSequence & Sendable where Changes.Element == Change<Update>
    /// The changes; the sequence ends when there is nothing more to see, or with an error.
    func observe(on service: Service) async throws -> Changes
    /// The reply once the changes have ended. Default: that it is done.
    func conclude(on service: Service) async throws -> Reply
}

extension HandledObservation {
    public static var endsWithTheLibrary: Bool { false }
}

extension HandledObservation where Reply == Done {
    public func conclude(on service: Service) async throws -> Done { Done() }
}
