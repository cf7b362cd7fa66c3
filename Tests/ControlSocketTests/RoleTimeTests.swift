import Foundation
import ServiceMesh
import Synchronization
import Testing

@testable import ControlSocket

/// How a role that was granted ends, and what ends with it.
@Suite("What a role's end does", .timeLimit(.minutes(2)))
struct RoleTimeTests {
    /// Nanoseconds in a test's hands.
    private final class Time: Sendable {
        private let nanoseconds = Mutex<UInt64>(1_000_000_000_000)
        var now: UInt64 { nanoseconds.withLock { $0 } }
        func pass(seconds: UInt64) { nanoseconds.withLock { $0 += seconds * 1_000_000_000 } }
    }

    private static let unlock = request("test.unlock", params: #"{"pin":"1234"}"#)

    private func configuration(_ time: Time) -> ControlServer.Configuration {
        var configuration = ControlServer.Configuration(
            grants: ["test.unlock": .init(.parent, idle: .seconds(300), total: .seconds(3600))],
            lowers: ["test.echo": .kid]
        ) { _ in .kid }
        configuration.roleClock = { time.now }
        return configuration
    }

    private func mayDoAll(_ raw: RawClient) async throws -> Bool {
        try await raw.ask(request("test.parentOnly")).status == nil
    }

    @Test("it ends when nothing was asked for so long, and at the latest after so long")
    func times() async throws {
        let time = Time()
        try await withHarness(configuration(time)) { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(Self.unlock).code == nil)
            time.pass(seconds: 299)
            #expect(try await mayDoAll(raw))
            time.pass(seconds: 299)
            #expect(try await mayDoAll(raw))
            time.pass(seconds: 300)
            #expect(try await !mayDoAll(raw))
            // It does not come back by itself.
            #expect(try await !mayDoAll(raw))
            #expect(try await raw.ask(Self.unlock).code == nil)
            for _ in 0..<14 {
                time.pass(seconds: 250)
                #expect(try await mayDoAll(raw))
            }
            time.pass(seconds: 100)
            #expect(try await !mayDoAll(raw))
        }
    }

    @Test("a method that lowers lowers the connection that called it, and no other")
    func lowers() async throws {
        try await withHarness(configuration(Time())) { harness in
            let (one, other) = (try harness.connect(), try harness.connect())
            for raw in [one, other] { #expect(try await raw.ask(Self.unlock).code == nil) }
            #expect(try await one.ask(echo("lock")).code == nil)
            #expect(try await !mayDoAll(one))
            #expect(try await mayDoAll(other))
        }
    }

    @Test("the end of grants reaches every connection, and leaves what is a connection's own")
    func endOfGrants() async throws {
        let own = Mutex(Role.kid)
        let configuration = ControlServer.Configuration(grants: ["test.unlock": .init(.parent)]) { _ in
            own.withLock { $0 }
        }
        try await withHarness(configuration) { harness in
            let granted = try harness.connect()
            #expect(try await granted.ask(Self.unlock).code == nil)
            own.withLock { $0 = .parent }
            let parent = try harness.connect()
            #expect(try await mayDoAll(parent))
            await harness.server.lowerRoles(.endOfGrants)
            #expect(try await !mayDoAll(granted))
            #expect(try await mayDoAll(parent))
        }
    }

    @Test("who is on the way in when roles fall stays out")
    func fallMeanwhile() async throws {
        let configuration = ControlServer.Configuration(grants: ["test.hold": .init(.parent)]) { _ in .kid }
        try await withHarness(configuration) { harness in
            let raw = try harness.connect()
            await raw.send(request("test.hold", id: "1"))
            await harness.service.gate.arrived()
            await harness.server.lowerRoles(.endOfGrants)
            harness.service.gate.open()
            #expect(try await raw.reply().code == nil)
            #expect(try await !mayDoAll(raw))
            #expect(try await raw.ask(request("test.hold")).code == nil)
            #expect(try await mayDoAll(raw))
        }
    }

    /// One that observes and one that waits, neither of which has anything to say at that moment.
    @Test("what reads and observes as a parent ends at once when the role falls", arguments: [true, false])
    func ending(byTime: Bool) async throws {
        let time = Time()
        try await withHarness(configuration(time)) { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(Self.unlock).code == nil)
            let job = try #require(try await raw.ask(request("test.work")).result?["job"]?.stringValue)
            let first = try await raw.ask(request("job.watch", id: "2", params: #"{"job":"\#(job)"}"#))
            #expect(first.method == "job.watch")
            await raw.send(request("job.wait", id: "3", params: #"{"job":"\#(job)"}"#))
            // What a kid may do goes on.
            await raw.send(request("test.hold", id: "4"))
            await harness.service.gate.arrived()
            if byTime {
                time.pass(seconds: 300)
                await harness.server.endForbidden()
            } else {
                await harness.server.lowerRoles(.to(.kid))
            }
            var refused: Set<Int64> = []
            while refused.count < 2 {
                let reply = try await raw.reply()
                guard reply.method == nil else { continue }
                #expect(reply.status == "permission_denied")
                if let id = reply.id?.integerValue { refused.insert(id) }
            }
            #expect(refused == [2, 3])
            harness.service.gate.open()
            let held = try await raw.reply()
            #expect(held.id == 4 && held.code == nil)
        }
    }

    /// By the server's own timer: nothing is asked meanwhile, and nothing changes. Where the machine is so slow that the time
    /// is over before the observation begins, it is refused, with the same answer.
    @Test("what a parent observes ends by itself when the time is over")
    func endingByItself() async throws {
        let grant = HeldRole.Grant(.parent, idle: .milliseconds(300), total: .seconds(3600))
        let configuration = ControlServer.Configuration(grants: ["test.unlock": grant]) { _ in .kid }
        try await withHarness(configuration) { harness in
            let raw = try harness.connect()
            let job = try #require(try await raw.ask(request("test.work")).result?["job"]?.stringValue)
            #expect(try await raw.ask(Self.unlock).code == nil)
            await raw.send(request("job.watch", id: "2", params: #"{"job":"\#(job)"}"#))
            var reply = try await raw.reply()
            while reply.method != nil { reply = try await raw.reply() }
            #expect(reply.id == 2 && reply.status == "permission_denied")
        }
    }

    @Test("a request that may not be sent is refused whatever its params are")
    func paramsAreNotRead() async throws {
        try await withHarness(ControlServer.Configuration { _ in .kid }) { harness in
            let raw = try harness.connect()
            for params in ["{}", #"{"stranger":1}"#, #"{"job":7}"#] {
                let reply = try await raw.ask(request("job.cancel", params: params))
                #expect(reply.status == "permission_denied")
                #expect(reply.json["error"]?["data"]?["neededRole"] == "parent")
            }
        }
    }
}
