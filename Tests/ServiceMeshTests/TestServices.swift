import ServiceMesh
import ServiceMeshTesting
import Synchronization
import TestSupport

/// A service whose work stands at a gate until the test opens it.
actor Workshop: MeshService {
    static let serviceName = "Workshop"
    static let admission = AdmissionLimit(concurrent: 2, queued: 3)
    static var messages: MessageList<Workshop> {
        Echo.self
        Hold.self
        Commit.self
        Fail.self
        CallBack.self
        Produce.self
        Stuck.self
        Boast.self
    }

    nonisolated let gate = Gate()
    nonisolated let log: EventLog
    private unowned var mesh: Mesh?

    init(log: EventLog = EventLog()) { self.log = log }

    func start(on mesh: Mesh) {
        self.mesh = mesh
        log.add("start Workshop")
    }

    func stop() { log.add("stop Workshop") }

    func callBack() async throws -> String {
        guard let mesh else { return "" }
        return try await mesh.send(Echo(text: "from inside")).text
    }
}

/// Stands behind Workshop in the list and calls it.
actor Office: MeshService {
    static let serviceName = "Office"
    static var messages: MessageList<Office> { Relay.self }

    nonisolated let log: EventLog
    private unowned var mesh: Mesh?

    init(log: EventLog = EventLog()) { self.log = log }

    func start(on mesh: Mesh) throws {
        self.mesh = mesh
        log.add("start Office")
    }

    func stop() { log.add("stop Office") }

    func relay(_ text: String) async throws -> Relayed {
        guard let mesh, let context = CallContext.current else { throw MeshError(.internal, "not in a call") }
        let echoed = try await mesh.send(Hold(text: text))
        return Relayed(
            text: echoed.text, chain: context.chain, trace: context.trace, deadline: context.deadline?.nanoseconds)
    }
}

final class EventLog: Sendable {
    private let events = Awaited<[String]>([])
    func add(_ event: String) { events.change { $0.append(event) } }
    var all: [String] { events.value }
    /// Returns once the events meet a condition.
    func meets(_ condition: @escaping @Sendable ([String]) -> Bool) async { await events.meets(condition) }
}

struct EchoReply: Codable, Sendable, Equatable {
    let text: String
}

struct Echo: HandledMessage {
    typealias Reply = EchoReply
    static let method = "test.echo"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Says it again."
    let text: String
    func perform(on service: Workshop) async throws -> EchoReply { EchoReply(text: text) }
}

struct Hold: HandledMessage {
    typealias Reply = EchoReply
    static let method = "test.hold"
    static let access = Role.parent
    static let kind = MessageKind.write
    static let summary = "Waits at the gate."
    let text: String
    func perform(on service: Workshop) async throws -> EchoReply {
        await service.gate.pass()
        try Task.checkCancellation()
        return EchoReply(text: text)
    }
}

/// Waits at the gate and then has done its work, whether or not anybody wants it any more: as a commit does.
struct Commit: HandledMessage {
    typealias Reply = Done
    static let method = "test.commit"
    static let access = Role.parent
    static let kind = MessageKind.write
    static let summary = "Waits at the gate and cannot be called off."
    func perform(on service: Workshop) async throws -> Done {
        await service.gate.pass()
        return Done()
    }
}

struct Fail: HandledMessage {
    typealias Reply = Done
    static let method = "test.fail"
    static let access = Role.parent
    static let kind = MessageKind.read
    static let summary = "Fails."
    struct Broken: Error {}
    func perform(on service: Workshop) async throws -> Done { throw Broken() }
}

/// Calls its own service: a cycle.
struct CallBack: HandledMessage {
    typealias Reply = EchoReply
    static let method = "test.callBack"
    static let access = Role.parent
    static let kind = MessageKind.read
    static let summary = "Calls its own service."
    func perform(on service: Workshop) async throws -> EchoReply { EchoReply(text: try await service.callBack()) }
}

struct Relayed: Codable, Sendable {
    let text: String
    let chain: [String]
    let trace: UInt64
    let deadline: UInt64?
}

struct Relay: HandledMessage {
    typealias Reply = Relayed
    static let method = "test.relay"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Passes it on to the Workshop."
    let text: String
    func perform(on service: Office) async throws -> Relayed { try await service.relay(text) }
}

struct ProduceReceipt: JobReceipt {
    let made: Int
    let ending: JobEnding
}

/// A job that makes items until it has enough, stopping at the gate before the item `holdAt`.
struct Produce: HandledJob {
    typealias Service = Workshop
    typealias Reply = JobStarted
    static let method = "test.produce"
    static let access = Role.parent
    static let summary = "Makes items."
    let items: Int
    let holdAt: Int?

    func run(on service: Workshop, job: Job) async throws -> ProduceReceipt {
        job.begin(phase: "making", items: Int64(items))
        for item in 0..<items {
            if item == holdAt { await service.gate.pass() }
            if Task.isCancelled {
                return ProduceReceipt(made: item, ending: .cancelled)
            }
            job.record(ReceiptLine(item: "item \(item)", outcome: "made"))
            job.advance(items: 1)
        }
        return ProduceReceipt(made: items, ending: .complete)
    }
}

/// A job that fails.
struct Stuck: HandledJob {
    typealias Service = Workshop
    typealias Reply = JobStarted
    static let method = "test.stuck"
    static let access = Role.parent
    static let summary = "Fails after one item."

    func run(on service: Workshop, job: Job) async throws -> ProduceReceipt {
        job.record(ReceiptLine(item: "one", outcome: "made"))
        throw MeshError(.dataLoss, "It broke.")
    }
}

/// A job that claims to have done more than a number can say.
struct Boast: HandledJob {
    typealias Service = Workshop
    typealias Reply = JobStarted
    static let method = "test.boast"
    static let access = Role.parent
    static let summary = "Counts too much."

    func run(on service: Workshop, job: Job) async throws -> ProduceReceipt {
        for _ in 0..<2 { job.advance(items: .max, bytes: .max) }
        return ProduceReceipt(made: 0, ending: .complete)
    }
}

func startedMesh(_ workshop: Workshop = Workshop(), clock: MeshClock = .system) async throws -> (Mesh, Workshop) {
    let mesh = try Mesh(services: [workshop, Office(log: workshop.log)], journal: MemoryJobJournal(), clock: clock)
    try await mesh.start()
    return (mesh, workshop)
}

func meshStatus(_ body: () async throws -> Void) async -> MeshStatus? {
    do {
        try await body()
        return nil
    } catch {
        return MeshError(describing: error).status
    }
}

extension Mesh {
    func counts(_ method: String) async throws -> MeshStatistics.Message {
        let statistics = try await send(GetMeshStatistics())
        guard let message = statistics.messages.first(where: { $0.method == method }) else {
            throw MeshError(.notFound, method)
        }
        return message
    }
}

/// Keeps values alive.
final class EventLogOf<Value: Sendable>: Sendable {
    private let values = Mutex<[Value]>([])
    func add(_ value: Value) { values.withLock { $0.append(value) } }
}
