@testable import ControlSocket
import Foundation
import ServiceMesh
import ServiceMeshTesting
import TestSupport
import Testing

@Suite("Stopping", .timeLimit(.minutes(2)))
struct LifetimeTests {
    @Test("what runs is answered, what comes later is refused, a ping is answered to the end, and the socket is gone")
    func drain() async throws {
        let harness = try await Harness()
        let raw = try harness.connect()
        await raw.send(request("test.hold", id: "1"))
        await harness.service.gate.arrived()
        await harness.server.drain()
        #expect(!FileManager.default.fileExists(atPath: harness.path))
        #expect(throws: ControlError.notRunning(path: harness.path)) { try harness.client() }
        let late = try await raw.ask(request("test.hold", id: "2"))
        #expect(late.id == 2 && late.status == "unavailable")
        #expect(try await raw.ask(request("rpc.ping", id: "3")).code == nil)
        harness.service.gate.open()
        await harness.mesh.stop()
        await harness.server.close()
        let replies = try await raw.rest().map(Reply.init)
        #expect(replies.map(\.id) == [1])
        #expect(replies.first?.code == nil)
        #expect(harness.service.gate.arrivals == 1)
    }

    @Test("observations end with 'unavailable', not as if the client had cancelled them")
    func observations() async throws {
        let harness = try await Harness()
        let raw = try harness.connect()
        _ = try await raw.ask(request("test.observe"))
        await harness.stop()
        let reply = try await raw.reply()
        #expect(reply.id == 1)
        #expect(reply.status == "unavailable")
        #expect(await raw.line() == nil)
    }

    @Test("jobs get their receipts, and whoever watches one gets one reply, after all changes")
    func jobs() async throws {
        let harness = try await Harness()
        let raw = try harness.connect()
        let job = try #require(try await raw.ask(request("test.work")).result?["job"]?.stringValue)
        await harness.service.workGate.arrived()
        let watched = try await raw.ask(request("job.watch", id: "2", params: #"{"job":"\#(job)"}"#))
        #expect(watched.json["params"]?["value"]?["state"] == "running")
        await harness.server.drain()
        await harness.mesh.stop()
        await harness.server.close()
        let lines = try await raw.rest().map(Reply.init)
        // One reply, and it comes last: the job with its receipt, after the change that says the same.
        #expect(lines.filter { $0.id == 2 }.count == 1 && lines.last?.id == 2)
        #expect(lines.last?.result?["state"] == "cancelled")
        let change = lines.dropLast().last?.json["params"]?["value"]
        #expect(change?["state"] == "cancelled")
        #expect(change?["receipt"]?["ending"] == "cancelled")
    }

    @Test("a reader that does not read does not hold up the end for longer than its time")
    func stalledReader() async throws {
        let harness = try await Harness(limits: ControlLimits(stallMilliseconds: 50))
        let raw = try harness.connect()
        await raw.send(request("test.big", params: #"{"bytes":4000000}"#))
        await raw.send(request("test.hold", id: "2"))
        await harness.service.gate.arrived()
        await harness.stop()
        await raw.hungUp()
    }

    @Test("closing twice, from two tasks, and without a connection is fine")
    func twice() async throws {
        let harness = try await Harness()
        async let one: Void = harness.server.close()
        async let other: Void = harness.server.close()
        _ = await (one, other)
        await harness.stop()
    }

    @Test("a server that is let go ends its connections")
    func dropped() async throws {
        let folder = try TemporaryFolder("socket")
        let mesh = try Mesh(services: [TestService()], journal: MemoryJobJournal())
        try await mesh.start()
        var server: ControlServer? = try ControlServer(
            mesh: mesh, listener: try ListeningSocket(at: folder.file("c.sock")))
        let raw = try RawClient(path: try #require(server?.path))
        #expect(try await raw.ask(request("rpc.ping")).code == nil)
        server = nil
        #expect(await raw.line() == nil)
        #expect(!FileManager.default.fileExists(atPath: folder.file("c.sock")))
    }

    @Test("a socket whose name was removed is made again, and who was connected stays so")
    func nameThatWasRemoved() async throws {
        try await withHarness { harness in
            let before = try harness.client()
            try FileManager.default.removeItem(atPath: harness.path)
            await harness.server.restoreName()
            let after = try harness.client()
            for client in [before, after] { #expect(try await client.call(Ping()) == Done()) }
            before.close()
            after.close()
        }
    }

    @Test("a name that is another's by now is left alone")
    func nameOfAnother() async throws {
        try await withHarness { harness in
            try FileManager.default.removeItem(atPath: harness.path)
            try Data("mine".utf8).write(to: URL(fileURLWithPath: harness.path))
            await harness.server.restoreName()
            #expect(try String(contentsOfFile: harness.path, encoding: .utf8) == "mine")
        }
    }

    @Test("a daemon that takes nobody any more makes no socket")
    func noNameAfterTheEnd() async throws {
        try await withHarness { harness in
            await harness.server.drain()
            await harness.server.restoreName()
            #expect(!FileManager.default.fileExists(atPath: harness.path))
        }
    }
}
