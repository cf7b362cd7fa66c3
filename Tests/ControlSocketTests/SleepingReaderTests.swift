import ControlSocket
import Foundation
import ServiceMesh
import Synchronization
import Testing

/// How many values of one test are alive, and how often one was written as JSON.
private final class Living: Sendable {
    let count = Atomic(0)
    let written = Atomic(0)
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

        func noteWriting() { living.written.add(1, ordering: .relaxed) }
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

    func encode(to encoder: any Encoder) throws {
        token?.noteWriting()
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(number, forKey: .number)
        try container.encode(weight, forKey: .weight)
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
    nonisolated let values: [ObservedValue<Heavy>]
    nonisolated var value: ObservedValue<Heavy> { values[0] }

    init(values count: Int = 1) { values = (0..<count).map { [living] in ObservedValue(Heavy($0, living)) } }
}

private struct ObserveHeavy: HandledObservation {
    typealias Reply = Done
    typealias Update = Heavy
    static let method = "heavy.observe"
    static let access = Role.kid
    static let kind = MessageKind.observation
    static let summary = "A heavy value."
    let index: Int?

    func observe(on service: HeavyService) async throws -> Observation<Heavy> {
        service.values[index ?? 0].observe()
    }
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

    @Test("of sixty-four things that it observes, nothing is made ready that it does not read")
    func manyObservations() async throws {
        let service = HeavyService(values: 64)
        let harness = try await Harness(
            ControlServer.Configuration(limits: ControlLimits(stallMilliseconds: 500)), services: [service])
        let raw = try harness.connect()
        for index in 0..<64 {
            await raw.send(request("heavy.observe", id: "\(index)", params: #"{"index":\#(index)}"#))
        }
        await raw.hungUp()
        // What the kernel and the outbox take, two at once: not one for each.
        let written = service.living.written.load(ordering: .relaxed)
        #expect(written < 10, "\(written) were made ready for a client that reads none")
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
