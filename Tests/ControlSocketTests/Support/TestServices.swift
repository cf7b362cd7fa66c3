import Dispatch
import Foundation
import ServiceMesh

/// A service with one message of each kind that the socket has to carry.
actor TestService: MeshService {
    static let serviceName = "TestService"
    static let admission = AdmissionLimit(concurrent: 10_000, queued: 0)
    static var messages: MessageList<TestService> {
        Echo.self
        Big.self
        Hold.self
        HoldWrite.self
        HoldPage.self
        Raise.self
        ParentOnly.self
        Unlock.self
        Identify.self
        ServicesOnly.self
        ObserveNumber.self
        Work.self
        Block.self
    }

    nonisolated let gate = Gate()
    nonisolated let pageGate = Gate()
    nonisolated let number = ObservedValue(0)
    nonisolated let workGate = Gate()
    /// Where ``Identify`` waits before it answers, where it is set.
    private(set) var identifying: Gate?

    func hold(_ gate: Gate) { identifying = gate }

    /// What ``Block`` waits for, holding its thread.
    nonisolated let thread = DispatchSemaphore(value: 0)
    nonisolated let blocked = Gate()
    private(set) var echoes = 0

    func echo(_ text: String) -> String {
        echoes += 1
        return text
    }

    func block() {
        blocked.note()
        thread.wait()
    }
}

struct Text: Codable, Sendable, Equatable { let text: String }

struct Echo: HandledMessage {
    typealias Reply = Text
    static let method = "test.echo"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Says it again."
    let text: String
    func perform(on service: TestService) async throws -> Text { Text(text: await service.echo(text)) }
}

struct Big: HandledMessage {
    typealias Reply = Text
    static let method = "test.big"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Answers with that many bytes."
    let bytes: Int
    func perform(on service: TestService) async throws -> Text {
        Text(text: await service.echo(String(repeating: "x", count: bytes)))
    }
}

struct Hold: HandledMessage {
    typealias Reply = Done
    static let method = "test.hold"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let replySize = ReplySize.single
    static let summary = "Waits at the gate."
    func perform(on service: TestService) async throws -> Done {
        try await service.gate.pass()
        return Done()
    }
}

/// As ``Hold``, for what changes something.
struct HoldWrite: HandledMessage {
    typealias Reply = Done
    static let method = "test.holdWrite"
    static let access = Role.kid
    static let kind = MessageKind.write
    static let summary = "Waits at the gate, as if it wrote."
    func perform(on service: TestService) async throws -> Done {
        try await service.gate.pass()
        return Done()
    }
}

/// As ``Hold``, for an answer that may be large.
struct HoldPage: HandledMessage {
    typealias Reply = Text
    static let method = "test.holdPage"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Waits at the gate for pages, then answers with that many bytes."
    let bytes: Int
    func perform(on service: TestService) async throws -> Text {
        try await service.pageGate.pass()
        return Text(text: await service.echo(String(repeating: "x", count: bytes)))
    }
}

/// What no service should do: it keeps its thread.
struct Block: HandledMessage {
    typealias Reply = Done
    static let method = "test.block"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let replySize = ReplySize.single
    static let summary = "Blocks its thread until the test lets it go."
    func perform(on service: TestService) async throws -> Done {
        await service.block()
        return Done()
    }
}

struct Raise: HandledMessage {
    typealias Reply = Done
    static let method = "test.raise"
    static let access = Role.kid
    static let kind = MessageKind.read
    static let summary = "Fails with that status."
    let status: MeshStatus
    func perform(on service: TestService) async throws -> Done {
        throw MeshError(status, "As asked.", details: ["photoCount": 3, "status": "not this one"])
    }
}

struct ParentOnly: HandledMessage {
    typealias Reply = Done
    static let method = "test.parentOnly"
    static let access = Role.parent
    static let kind = MessageKind.write
    static let summary = "For parents."
    func perform(on service: TestService) async throws -> Done { Done() }
}

struct Unlock: HandledMessage {
    typealias Reply = Done
    static let method = "test.unlock"
    static let access = Role.kid
    static let kind = MessageKind.write
    static let summary = "Right where the PIN is 1234."
    let pin: String
    func perform(on service: TestService) async throws -> Done {
        guard pin == "1234" else { throw MeshError(.unauthenticated, "That is not the PIN.") }
        return Done()
    }
}

struct Identify: HandledMessage {
    typealias Reply = Text
    static let method = "test.identify"
    static let access = Role.nobody
    static let kind = MessageKind.read
    static let summary = "Right where somebody has that name."
    let name: String
    func perform(on service: TestService) async throws -> Text {
        guard name != "nobody" else { throw MeshError(.unauthenticated, "Nobody has that name.") }
        try await service.identifying?.pass()
        return Text(text: name)
    }
}

struct ServicesOnly: HandledMessage {
    typealias Reply = Done
    static let method = "test.servicesOnly"
    static let access = Role.service
    static let kind = MessageKind.read
    static let summary = "Not from outside."
    func perform(on service: TestService) async throws -> Done { Done() }
}

struct ObserveNumber: HandledObservation {
    typealias Reply = Text
    typealias Update = Int
    static let method = "test.observe"
    static let access = Role.kid
    static let kind = MessageKind.observation
    static let summary = "The number, as it changes."
    func observe(on service: TestService) async throws -> Observation<Int> { service.number.observe() }
    func conclude(on service: TestService) async throws -> Text { Text(text: "over") }
}

struct WorkReceipt: JobReceipt {
    let ending: JobEnding
}

struct Work: HandledJob {
    typealias Reply = JobStarted
    typealias Service = TestService
    typealias Receipt = WorkReceipt
    static let method = "test.work"
    static let access = Role.kid
    static let summary = "A job that waits at the gate."
    func run(on service: TestService, job: Job) async throws -> WorkReceipt {
        do {
            try await service.workGate.pass()
            return WorkReceipt(ending: .complete)
        } catch {
            return WorkReceipt(ending: .cancelled)
        }
    }
}
