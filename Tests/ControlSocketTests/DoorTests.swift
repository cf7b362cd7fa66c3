import Foundation
import ServiceMesh
import Synchronization
import TestSupport
import Testing

@testable import ControlSocket

/// The entrance for a program that asks on behalf of others: whoever comes in there is nobody until a service knows who they are.
@Suite("What comes in through the door", .timeLimit(.minutes(2)))
struct DoorTests {
    /// The roles that names have.
    private final class Names: Sendable {
        let roles = Mutex<[String: Role]>(["ada": .parent, "ben": .kid])
    }

    private func configuration(
        _ names: Names, limits: ControlLimits = ControlLimits()
    ) -> ControlServer.Configuration {
        var configuration = ControlServer.Configuration(
            limits: limits, grants: ["test.unlock": .init(.parent, total: .seconds(3600))])
        configuration.identifications = [
            "test.identify": ControlServer.Identification(
                name: { try? JSONDecoder().decode(Text.self, from: $0).text },
                standing: { name in names.roles.withLock { $0[name] }.map { .init($0) } })
        ]
        return configuration
    }

    private func role(_ raw: RawClient) async throws -> String? {
        try await raw.ask(request("rpc.hello")).result?["role"]?.stringValue
    }

    private func identify(_ raw: RawClient, as name: String) async throws {
        let reply = try await raw.ask(request("test.identify", params: #"{"name":"\#(name)"}"#))
        #expect(reply.code == nil)
    }

    @Test("it may do nothing but say who it is for, and is that one's from then on")
    func becomes() async throws {
        try await withHarness(configuration(Names())) { harness in
            let raw = try harness.knock()
            #expect(try await role(raw) == "nobody")
            for method in ["test.echo", "test.parentOnly", "test.unlock"] {
                #expect(try await raw.ask(request(method, params: "{}")).status == "permission_denied", "\(method)")
            }
            let refused = try await raw.ask(request("test.identify", params: #"{"name":"nobody"}"#))
            #expect(refused.status == "unauthenticated")
            #expect(try await role(raw) == "nobody")
            try await identify(raw, as: "ada")
            #expect(try await role(raw) == "parent")
            #expect(try await raw.ask(request("test.parentOnly")).status == nil)
            // Once: who is somebody is not made somebody else.
            try await identify(raw, as: "ben")
            #expect(try await role(raw) == "parent")
        }
    }

    @Test("a name that has no role leaves it nobody's, and one that has little gives little")
    func littleRoles() async throws {
        try await withHarness(configuration(Names())) { harness in
            let (stranger, kid) = (try harness.knock(), try harness.knock())
            try await identify(stranger, as: "who was forgotten")
            #expect(try await role(stranger) == "nobody")
            try await identify(kid, as: "ben")
            #expect(try await role(kid) == "kid")
            #expect(try await kid.ask(request("test.parentOnly")).status == "permission_denied")
            // A PIN is for those who are somebody.
            #expect(try await kid.ask(request("test.unlock", params: #"{"pin":"1234"}"#)).code == nil)
            #expect(try await role(kid) == "parent")
        }
    }

    @Test("saying who it is for changes nothing for a connection of the other entrance")
    func elsewhere() async throws {
        try await withHarness(configuration(Names())) { harness in
            let raw = try harness.connect()
            #expect(try await raw.ask(request("rpc.hello", params: #"{"role":"kid"}"#)).code == nil)
            try await identify(raw, as: "ada")
            #expect(try await role(raw) == "kid")
        }
    }

    @Test("who is forgotten is nobody at once, also what was granted; others stay who they are")
    func forgetting() async throws {
        let names = Names()
        try await withHarness(configuration(names)) { harness in
            let (ada, other, ben) = (try harness.knock(), try harness.knock(), try harness.knock())
            try await identify(ada, as: "ada")
            try await identify(other, as: "ada")
            try await identify(ben, as: "ben")
            #expect(try await ada.ask(request("test.unlock", params: #"{"pin":"1234"}"#)).code == nil)
            await other.send(request("test.observe", id: "7"))
            #expect(try await other.reply().method == "test.observe")
            names.roles.withLock { $0["ada"] = nil }
            await harness.server.lowerRoles(.forgetting("ada"))
            let ended = try await other.reply()
            #expect(ended.id == 7 && ended.status == "permission_denied")
            for raw in [ada, other] { #expect(try await role(raw) == "nobody") }
            #expect(try await role(ben) == "kid")
            // Nor does it come back over the same connection.
            names.roles.withLock { $0["ada"] = .parent }
            try await identify(ada, as: "ada")
            #expect(try await role(ada) == "nobody")
        }
    }

    @Test("a PIN gives no more than the ceiling of whom it is for, and the greeting tells that")
    func ceiling() async throws {
        var configuration = configuration(Names())
        configuration.identifications = [
            "test.identify": ControlServer.Identification(
                name: { try? JSONDecoder().decode(Text.self, from: $0).text },
                standing: { _ in .init(.kid, ceiling: .looker) })
        ]
        try await withHarness(configuration) { harness in
            let raw = try harness.knock()
            try await identify(raw, as: "grandma")
            #expect(try await role(raw) == "kid")
            #expect(try await raw.ask(request("rpc.hello")).result?["ceiling"] == "looker")
            #expect(try await raw.ask(request("test.unlock", params: #"{"pin":"1234"}"#)).code == nil)
            #expect(try await role(raw) == "looker")
            let refused = try await raw.ask(request("test.parentOnly"))
            #expect(refused.status == "permission_denied")
            #expect(refused.json["error"]?["data"]?["neededRole"] == "parent")
            // Who is at this machine has the parent's.
            let own = try harness.connect()
            #expect(try await own.ask(request("rpc.hello")).result?["ceiling"] == "parent")
        }
    }

    @Test(
        "whose rights have changed has to come anew: what looks ends, what writes is answered, and then the connection ends"
    )
    func renewing() async throws {
        let names = Names()
        try await withHarness(configuration(names)) { harness in
            let (ada, idle, ben) = (try harness.knock(), try harness.knock(), try harness.knock())
            for raw in [ada, idle] { try await identify(raw, as: "ada") }
            try await identify(ben, as: "ben")
            await ada.send(request("test.observe", id: "7"))
            #expect(try await ada.reply().method == "test.observe")
            await ada.send(request("test.holdWrite", id: "8"))
            await harness.service.gate.arrived()
            names.roles.withLock { $0["ada"] = .kid }
            await harness.server.lowerRoles(.renewing("ada"))
            let ended = try await ada.reply()
            #expect(ended.id == 7 && ended.status == "unavailable")
            // It is not read any more, with whatever role.
            await ada.send(request("rpc.ping", id: "9"))
            harness.service.gate.open()
            let held = try await ada.reply()
            #expect(held.id == 8 && held.code == nil)
            for raw in [ada, idle] { #expect(await raw.line() == nil) }
            #expect(try await role(ben) == "kid")
            let anew = try harness.knock()
            try await identify(anew, as: "ada")
            #expect(try await role(anew) == "kid")
        }
    }

    /// The reply is on its way while the device is forgotten, or children get the machine.
    @Test("who is on the way in gets what they would get now")
    func meanwhile() async throws {
        let names = Names()
        try await withHarness(configuration(names)) { harness in
            for (now, expected) in [(Role?.none, "nobody"), (.kid, "kid")] {
                names.roles.withLock { $0["ada"] = .parent }
                let gate = Gate()
                await harness.service.hold(gate)
                let raw = try harness.knock()
                await raw.send(request("test.identify", id: "1", params: #"{"name":"ada"}"#))
                await gate.arrived()
                names.roles.withLock { $0["ada"] = now }
                await harness.server.lowerRoles(now == nil ? .forgetting("ada") : .to(.kid))
                gate.open()
                #expect(try await raw.reply().code == nil)
                #expect(try await role(raw) == expected)
            }
        }
    }

    @Test("it does not take the last places")
    func places() async throws {
        let limits = ControlLimits(connections: 8)
        try await withHarness(configuration(Names(), limits: limits)) { harness in
            var inside: [RawClient] = []
            for _ in 0..<limits.doorConnections { inside.append(try harness.knock()) }
            for raw in inside { #expect(try await role(raw) == "nobody") }
            let late = try harness.knock()
            #expect(try await late.reply().status == "resource_exhausted")
            let own = try harness.connect()
            #expect(try await role(own) == "parent")
            // Its place is free again when one goes.
            inside.removeFirst()
            var next = try harness.knock()
            while try await next.ask(request("rpc.hello")).status == "resource_exhausted" { next = try harness.knock() }
        }
    }
}
