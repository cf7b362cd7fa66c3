import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("Who may", .timeLimit(.minutes(2)))
struct RoleTests {
    @Test("the same user and root are parents, anyone else is nobody")
    func standardRole() {
        #expect(Peer(pid: 1, uid: geteuid(), gid: 0).standardRole == .parent)
        #expect(Peer(pid: 1, uid: 0, gid: 0).standardRole == .parent)
        #expect(Peer(pid: 1, uid: geteuid() + 1, gid: 0).standardRole == nil)
    }

    @Test("the kernel tells who is there, and a peer that is nobody is told so and closed")
    func refusedPeer() async throws {
        let configuration = ControlServer.Configuration { peer in
            peer == Peer(pid: getpid(), uid: geteuid(), gid: getegid()) ? nil : .parent
        }
        try await withHarness(configuration) { harness in
            let raw = try harness.connect()
            let reply = try await raw.reply()
            #expect(reply.id == .null)
            #expect(reply.status == "permission_denied")
            #expect(await raw.line() == nil)
        }
    }

    @Test("no peer gets the role of a service")
    func neverService() async throws {
        try await withHarness(ControlServer.Configuration { _ in .service }) { harness in
            let client = try harness.client()
            #expect(try await client.call(Hello()).role == "parent")
        }
    }

    @Test("a connection can lower its role, and not raise it")
    func lower() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("test.parentOnly")).code == nil)
            let hello = try await raw.ask(request("rpc.hello", params: #"{"role":"kid"}"#))
            #expect(hello.result?["role"] == "kid")
            #expect(try await raw.ask(request("test.parentOnly")).status == "permission_denied")
            #expect(try await raw.ask(request("rpc.hello", params: #"{"role":"parent"}"#)).code == -32602)
            #expect(try await raw.ask(request("test.parentOnly")).status == "permission_denied")
            #expect(try await raw.ask(echo("kids may")).code == nil)
            let other = try harness.connect()
            #expect(try await other.ask(request("test.parentOnly")).code == nil)
        }
    }

    @Test(
        "roles that do not exist are refused",
        arguments: [#"{"role":"service"}"#, #"{"role":"king"}"#, #"{"role":1}"#, #"{"rôle":"kid"}"#])
    func strangeRoles(_ params: String) async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("rpc.hello", params: params)).code == -32602)
            #expect(try await raw.ask(request("test.parentOnly")).code == nil)
        }
    }

    @Test("a method that grants a role grants it when it succeeds, to its own connection")
    func grants() async throws {
        let configuration = ControlServer.Configuration(grants: ["test.unlock": .init(.parent)]) { _ in .kid }
        try await withHarness(configuration) { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("test.parentOnly")).status == "permission_denied")
            #expect(try await raw.ask(request("test.unlock", params: #"{"pin":"0"}"#)).status == "unauthenticated")
            #expect(try await raw.ask(request("test.parentOnly")).status == "permission_denied")
            #expect(try await raw.ask(request("test.unlock", params: #"{"pin":"1234"}"#)).code == nil)
            #expect(try await raw.ask(request("test.parentOnly")).code == nil)
            #expect(try await harness.connect().ask(request("test.parentOnly")).status == "permission_denied")
        }
    }

    @Test("what a parent observes does not go on when the connection is a kid's")
    func lowerWhileObserving() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            let job = try #require(try await raw.ask(request("test.work")).result?["job"]?.stringValue)
            let first = try await raw.ask(request("job.watch", id: "2", params: #"{"job":"\#(job)"}"#))
            #expect(first.method == "job.watch")
            await harness.server.lowerRoles(.to(.kid))
            harness.service.workGate.open()
            let reply = try await raw.reply()
            #expect(reply.id == 2 && reply.status == "permission_denied")
        }
    }

    @Test("lowering all roles reaches the connections that are open")
    func lowerAll() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("test.parentOnly")).code == nil)
            await harness.server.lowerRoles(.to(.kid))
            #expect(try await raw.ask(request("test.parentOnly")).status == "permission_denied")
        }
    }
}
