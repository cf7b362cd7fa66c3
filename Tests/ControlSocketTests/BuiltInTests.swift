import ControlSocket
import Foundation
import ServiceMesh
import Testing

@Suite("The socket's own methods", .timeLimit(.minutes(2)))
struct BuiltInTests {
    private func discover(_ harness: Harness) async throws -> [String: JSONValue] {
        let reply = try await harness.connect().ask(request("rpc.discover"))
        let methods = try #require(reply.result?["methods"]?.arrayValue)
        return Dictionary(uniqueKeysWithValues: methods.map { ($0["name"]?.stringValue ?? "", $0) })
    }

    @Test("rpc.discover has every message that can come from outside, and the socket's own")
    func discoverAll() async throws {
        try await withHarness { harness in
            let methods = try await discover(harness)
            let expected = Set(harness.mesh.descriptions.map(\.name) + ["rpc.discover", "rpc.hello", "rpc.ping"])
            #expect(Set(methods.keys) == expected)
            #expect(methods["test.servicesOnly"] == nil)
            for (name, method) in methods {
                #expect(method["summary"]?.stringValue?.isEmpty == false, "\(name)")
                #expect(["nobody", "kid", "parent"].contains(method["role"]?.stringValue))
                #expect(MessageKind.allCases.map(\.rawValue).contains(method["kind"]?.stringValue ?? ""))
                #expect(method["params"]?["type"] == "object", "\(name)")
                #expect(method["result"]?["type"] == "object", "\(name)")
                #expect((method["update"] != nil) == (method["kind"] == "observation"), "\(name)")
            }
        }
    }

    @Test("the schema of params says what is required, and a call that follows it works")
    func schema() async throws {
        try await withHarness { harness in
            let echo = try #require(try await discover(harness)["test.echo"])
            #expect(
                echo["params"] == [
                    "type": "object", "properties": ["text": ["type": "string"]], "required": ["text"],
                    "additionalProperties": false,
                ])
            #expect(echo["result"]?["required"] == ["text"])
        }
    }

    @Test("what the socket's own methods answer is what their schemas say", arguments: ["rpc.hello", "rpc.ping"])
    func ownSchemas(_ method: String) async throws {
        try await withHarness { harness in
            let schema = try #require(try await discover(harness)[method]?["result"])
            let result = try #require(try await harness.connect().ask(request(method)).result)
            try follows(result, schema)
        }
    }

    /// Every property is described, of the type that it says, and what is required is there.
    private func follows(_ value: JSONValue, _ schema: JSONValue) throws {
        switch schema["type"]?.stringValue {
        case "object":
            guard case .object(let members) = value, case .object(let properties)? = schema["properties"] else {
                Issue.record("\(value) is no object")
                return
            }
            #expect(Set(members.keys).isSubset(of: properties.keys))
            let required = (schema["required"]?.arrayValue ?? []).compactMap(\.stringValue)
            #expect(Set(required).isSubset(of: members.keys))
            for (name, member) in members { try follows(member, try #require(properties[name])) }
        case "string": #expect(value.stringValue != nil)
        case "integer": #expect(value.integerValue != nil)
        default: Issue.record("a schema without a type: \(schema)")
        }
    }

    @Test("rpc.hello tells version, limits, process and library")
    func hello() async throws {
        let limits = ControlLimits(lineBytes: 1234, resultBytes: 2345, requestsInFlight: 3, connections: 4)
        let configuration = ControlServer.Configuration(version: "9.8", library: "/photos", limits: limits)
        try await withHarness(configuration) { harness in
            let client = try harness.client()
            let hello = try await client.call(Hello())
            #expect(hello.version == "9.8")
            #expect(hello.library == "/photos")
            #expect(hello.pid == getpid())
            #expect(hello.role == "parent")
            #expect(hello.limits.lineBytes == 1234)
            #expect(hello.limits.resultBytes == 2345)
            #expect(hello.limits.requestsInFlight == 3)
            #expect(hello.limits.connections == 4)
            #expect(try await client.call(Hello()).methodsVersion == hello.methodsVersion)
        }
    }

    @Test("the methods' version is the same for the same methods, and another for others")
    func methodsVersion() async throws {
        func version(_ services: [any MeshService]) async throws -> String {
            let harness = try await Harness(services: services)
            let version = try await harness.client().call(Hello()).methodsVersion
            await harness.stop()
            return version
        }
        #expect(try await version([TestService()]) == version([TestService()]))
        #expect(try await version([TestService()]) != version([]))
    }

    @Test("rpc.ping answers with nothing, and takes nothing")
    func ping() async throws {
        try await withHarness { harness in
            let raw = try harness.connect()
            await raw.send(request("rpc.ping"))
            #expect(await raw.line() == #"{"jsonrpc":"2.0","id":1,"result":{}}"#)
            #expect(try await raw.ask(request("rpc.ping", params: #"{"a":1}"#)).code == -32602)
            #expect(try await raw.ask(request("rpc.discover", params: #"{"a":1}"#)).code == -32602)
        }
    }
}
