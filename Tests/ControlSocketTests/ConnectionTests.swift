import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Connections", .timeLimit(.minutes(2)))
struct ConnectionTests {
    @Test("a client that ends its side gets what it asked for, then the end")
    func halfClose() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: "1"))
            await raw.send(echo("x", id: "2"))
            raw.endSending()
            #expect(try await raw.reply().id == 2)
            await harness.service.gate.arrived()
            harness.service.gate.open()
            #expect(try await raw.reply().id == 1)
            #expect(await raw.line() == nil)
        }
    }

    @Test("lines that were held back still count when the client has ended")
    func halfCloseWhileHeldBack() async throws {
        try await withHarness(limits: ControlLimits(outboxBytes: 1000)) { harness in
            let raw = try harness.connect()
            let lines = (1...40).map { request("test.big", id: "\($0)", params: #"{"bytes":100000}"#) + "\n" }
            await raw.send(bytes: Array(lines.joined().utf8))
            raw.endSending()
            #expect(await raw.rest().count == 40)
        }
    }

    @Test("a connection that goes cancels its requests, but not the jobs it started")
    func disconnect() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let job = try #require(try await raw.ask(request("test.work")).result?["job"]?.stringValue)
            await harness.service.workGate.arrived()
            await raw.send(request("test.hold"))
            await harness.service.gate.arrived()
            raw.disconnect()
            await harness.service.gate.cancelled()

            let client = try harness.client()
            #expect(try await client.call(GetJob(job: job)).state == .running)
            harness.service.workGate.open()
            #expect(try await client.call(WaitForJob(job: job)).state == .finished)
        }
    }

    @Test("the 65th request is refused at once, and the 64 are answered")
    func inFlight() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            for id in 1...64 { await raw.send(request("test.hold", id: "\(id)")) }
            await harness.service.gate.arrived(64)
            let refused = try await raw.ask(request("test.hold", id: "65"))
            #expect(refused.id == 65)
            #expect(refused.status == "resource_exhausted")
            #expect(try await raw.ask(request("rpc.ping", id: "66")).code == nil)
            harness.service.gate.open()
            var answered: Set<String> = []
            for _ in 1...64 {
                let reply = try await raw.reply()
                #expect(reply.code == nil)
                answered.insert(reply.idText)
            }
            #expect(answered.count == 64)
            #expect(harness.service.gate.arrivals == 64)
        }
    }

    @Test("the 129th connection is told so and closed; when one goes there is room again")
    func connections() async throws {
        // None is silent for so long that it has to give way, however slow the machine is.
        try await withHarness(limits: ControlLimits(stallMilliseconds: 600_000)) { harness in
            var open: [RawClient] = []
            for _ in 1...128 {
                let raw = try harness.connect()
                #expect(try await raw.ask(request("rpc.ping")).code == nil)
                open.append(raw)
            }
            let refused = try harness.connect()
            let reply = try await refused.reply()
            #expect(reply.id == .null)
            #expect(reply.status == "resource_exhausted")
            #expect(await refused.line() == nil)

            open[0].endSending()
            #expect(await open[0].rest() == [])
            let another = try harness.connect()
            #expect(try await another.ask(request("rpc.ping")).code == nil)
        }
    }

    @Test("a client that never reads holds little and is closed; the others notice nothing")
    func neverReads() async throws {
        let limits = ControlLimits(outboxBytes: 64 << 10, stallMilliseconds: 300)
        try await withHarness(limits: limits) { harness in
            let deaf = try harness.connect()
            let lines = (1...5000).map { request("test.big", id: "\($0)", params: #"{"bytes":60000}"#) + "\n" }
            async let sentAll = deaf.send(bytes: Array(lines.joined().utf8))
            let other = try harness.connect()
            #expect(try await other.ask(echo("x")).id == 1)
            await deaf.hungUp()
            #expect(await sentAll == false)
            // What the kernel and the outbox take, and what was in flight: nowhere near the 5000 that were sent.
            let answered = await harness.service.echoes
            #expect(answered < 200, "\(answered) answers were made for a client that reads none")
            #expect(try await other.ask(echo("y")).id == 1)
        }
    }

    @Test("a slow reader that does read is not closed and gets everything")
    func slowReader() async throws {
        try await withHarness(limits: ControlLimits(outboxBytes: 10_000, stallMilliseconds: 60_000)) { harness in
            let raw = try harness.connect()
            let lines = (1...300).map { request("test.big", id: "\($0)", params: #"{"bytes":20000}"#) + "\n" }
            async let sent = raw.send(bytes: Array(lines.joined().utf8))
            var ids: Set<String> = []
            for _ in 1...300 { ids.insert(try await raw.reply().idText) }
            #expect(ids.count == 300)
            #expect(await sent)
        }
    }

    @Test("a service that holds its thread holds up no other request")
    func blockedThread() async throws {
        try await withHarness { harness in
            let other = try harness.connect()
            for round in 1...3 {
                let raw = try harness.connect()
                await raw.send(request("test.block"))
                await harness.service.blocked.arrived(round)
                #expect(try await other.ask(request("job.list")).code == nil)
                #expect(try await other.ask(request("rpc.ping")).code == nil)
                harness.service.thread.signal()
                #expect(try await raw.reply().code == nil)
            }
        }
    }
}
