import ControlSocket
import Foundation
import ServiceMesh
import Synchronization
import Testing

/// How many values of one test are alive.
private final class Living: Sendable {
    let count = Atomic(0)
}

/// A value of which each copy is heavy as JSON, and counted.
private struct Heavy: Codable, Sendable {
    final class Token: Sendable {
        let living: Living
        init(_ living: Living) {
            self.living = living
            living.count.add(1, ordering: .relaxed)
        }
        deinit { living.count.subtract(1, ordering: .relaxed) }
    }

    static let text = String(repeating: "x", count: 100_000)

    enum CodingKeys: CodingKey { case number, weight }
    let number: Int
    let weight: String
    let token: Token?

    init(_ number: Int, _ living: Living) {
        self.number = number
        weight = Self.text
        token = Token(living)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        number = try container.decode(Int.self, forKey: .number)
        weight = try container.decode(String.self, forKey: .weight)
        token = nil
    }
}

private actor HeavyService: MeshService {
    static let serviceName = "HeavyService"
    static var messages: MessageList<HeavyService> { ObserveHeavy.self }

    nonisolated let living = Living()
    nonisolated let value: ObservedValue<Heavy>

    init() { value = ObservedValue(Heavy(0, living)) }
}

private struct ObserveHeavy: HandledObservation {
    typealias Reply = Done
    typealias Update = Heavy
    static let method = "heavy.observe"
    static let access = Role.kid
    static let kind = MessageKind.observation
    static let summary = "A heavy value."

    func observe(on service: HeavyService) async throws -> Observation<Heavy> { service.value.observe() }
    func conclude(on service: HeavyService) async throws -> Done { Done() }
}

@Suite("A reader that sleeps", .timeLimit(.minutes(2)))
struct SleepingReaderTests {
    @Test("costs the daemon one pending value, and has the newest when it wakes")
    func memory() async throws {
        let service = HeavyService()
        // It may take as long as a busy machine makes it.
        let harness = try await Harness(
            ControlServer.Configuration(limits: ControlLimits(stallMilliseconds: 600_000)), services: [service])
        let raw = try harness.connect()
        _ = try await raw.ask(request("heavy.observe"))
        let last = 2000
        for number in 1...last {
            service.value.publish(Heavy(number, service.living))
            // The newest; the one that waits in the slot, mostly the same; one or two on their way into the socket.
            #expect(service.living.count.load(ordering: .relaxed) <= 5)
        }
        var lines = 0
        var number: Int64 = 0
        while number < last {
            let params = try #require(try await raw.reply().json["params"])
            number = params["value"]?["number"]?.integerValue ?? 0
            lines += 1
        }
        // Of the 200 MB there came what fits into the kernel's buffers, and the newest.
        #expect(lines < 100)
        raw.disconnect()
        await harness.stop()
    }

    @Test("an update larger than a result may be is refused like one")
    func tooLarge() async throws {
        let service = HeavyService()
        let harness = try await Harness(
            ControlServer.Configuration(limits: ControlLimits(resultBytes: 50_000)), services: [service])
        let raw = try harness.connect()
        let reply = try await raw.ask(request("heavy.observe"))
        #expect(reply.id == 1 && reply.status == "resource_exhausted")
        await harness.stop()
    }
}
