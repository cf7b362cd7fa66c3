import ControlSocket
import Foundation
import ServiceMesh
import Testing

/// Connections that are held and not used.
@Suite("Clients that say nothing", .timeLimit(.minutes(2)))
struct SilentClientTests {
    @Test("a line that is begun and does not go on is refused, and its connection closed; an idle one stays")
    func halfLine() async throws {
        try await withHarness(limits: ControlLimits(stallMilliseconds: 100)) { harness in
            let idle = try harness.connect()
            #expect(try await idle.ask(echo("x")).code == nil)
            let half = try harness.connect()
            await half.send(request("test.hold", id: "7"))
            await half.send(bytes: Array(echo("half").utf8.prefix(20)))
            let replies = try await half.rest().map(Reply.init)
            // What runs is cancelled and answered, as for a line that is too long.
            #expect(replies.count == 2)
            #expect(replies.contains { $0.id == 7 && $0.status == "cancelled" })
            #expect(replies.contains { $0.id == .null && $0.code == -32600 && $0.message.contains("line feed") })
            #expect(try await idle.ask(echo("y")).result?["text"] == "y")
        }
    }

    @Test("a half line that waits only because its client has to read first is not refused")
    func heldBackLine() async throws {
        try await withHarness(limits: ControlLimits(outboxBytes: 1000, stallMilliseconds: 60_000)) { harness in
            let raw = try harness.connect()
            let lines = (1...40).map { request("test.big", id: "\($0)", params: #"{"bytes":100000}"#) + "\n" }
            await raw.send(bytes: Array((lines.joined() + echo("end", id: "41").prefix(10)).utf8))
            for _ in 1...40 { #expect(try await raw.reply().code == nil) }
            await raw.send(String(echo("end", id: "41").dropFirst(10)))
            #expect(try await raw.reply().id == 41)
        }
    }

    @Test("where there are too many connections, the one that was silent for longest gives way to a new one")
    func eviction() async throws {
        try await withHarness(limits: ControlLimits(connections: 3, stallMilliseconds: 0)) { harness in
            let busy = try harness.connect()
            await busy.send(request("test.hold"))
            await harness.service.gate.arrived()
            let (first, second) = (try harness.connect(), try harness.connect())
            #expect(try await first.ask(echo("x")).code == nil)
            #expect(try await second.ask(echo("x")).code == nil)
            #expect(try await first.ask(echo("again")).code == nil)

            let third = try harness.connect()
            #expect(try await third.ask(echo("x")).code == nil)
            let told = try await second.reply()
            #expect(told.id == .null && told.status == "unavailable" && told.message.contains("Connect again"))
            #expect(await second.line() == nil)
            #expect(try await first.ask(echo("still here")).code == nil)

            for raw in [first, third] { await raw.send(request("test.hold", id: "2")) }
            await harness.service.gate.arrived(3)
            let refused = try await harness.connect().reply()
            #expect(refused.status == "resource_exhausted")
            harness.service.gate.open()
            #expect(try await busy.reply().code == nil)
        }
    }
}
