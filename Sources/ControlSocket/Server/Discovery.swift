import Foundation
import ServiceMesh
import Synchronization

/// What `rpc.discover` answers, made when it is first asked for and kept: the methods do not change while the
/// daemon runs.
final class Discovery: Sendable {
    private struct Made {
        let reply: Data
        let fingerprint: String
        let names: [String]
    }

    private let mesh: Mesh
    private let made = Mutex<Made?>(nil)

    init(mesh: Mesh) { self.mesh = mesh }

    /// The JSON of a ``DiscoverReply``.
    var reply: Data { contents.reply }

    /// The same for the same methods with the same schemas, also in another process.
    var fingerprint: String { contents.fingerprint }

    /// A sentence for a method that does not exist, with those that may have been meant.
    func explainUnknown(_ method: String) -> String {
        let shown = method.prefix(80)
        let near = EditDistance.nearest(to: String(shown), among: contents.names)
        guard !near.isEmpty else { return "There is no method '\(shown)'. rpc.discover lists them all." }
        return "There is no method '\(shown)'. Did you mean \(near.joined(separator: " or "))?"
    }

    private var contents: Made {
        made.withLock { made in
            if let made { return made }
            let fresh = make()
            made = fresh
            return fresh
        }
    }

    private func make() -> Made {
        let methods = (mesh.descriptions + Self.builtIns).sorted { $0.name < $1.name }
        let encoder = JSONEncoder()
        // Sorted, so that the fingerprint does not depend on a dictionary's order.
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let reply = (try? encoder.encode(DiscoverReply(methods: methods))) ?? Data("{\"methods\":[]}".utf8)
        // FNV-1a: to notice a change, not to withstand an attack.
        let hash = reply.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return Made(reply: reply, fingerprint: String(hash, radix: 16), names: methods.map(\.name))
    }

    /// The socket's own methods, in the mesh's form.
    private static let builtIns: [MessageDescription] = {
        let integer: JSONValue = ["type": "integer"]
        let text: JSONValue = ["type": "string"]
        func object(_ properties: [String: JSONValue], required: [String]) -> JSONValue {
            var schema: [String: JSONValue] = [
                "type": "object", "properties": .object(properties), "additionalProperties": false,
            ]
            if !required.isEmpty { schema["required"] = .array(required.map { .string($0) }) }
            return .object(schema)
        }
        let nothing = object([:], required: [])
        let limits = ["connections", "lineBytes", "requestsInFlight", "resultBytes"]
        let greeting = object(
            [
                "version": text, "methodsVersion": text, "library": text, "role": text, "ceiling": text,
                "pid": integer,
                "limits": object(Dictionary(uniqueKeysWithValues: limits.map { ($0, integer) }), required: limits),
            ],
            required: ["library", "limits", "methodsVersion", "pid", "role", "version"])
        let listing = object(["methods": ["type": "array", "items": ["type": "object"]]], required: ["methods"])
        return [
            describe(Hello.self, object(["role": ["enum": ["kid", "looker", "parent"]]], required: []), greeting),
            describe(Ping.self, nothing, nothing),
            describe(Discover.self, nothing, listing),
        ].compactMap { $0 }
    }()

    /// By way of JSON, which is how a description is made outside the mesh.
    private static func describe<M: Message>(
        _ message: M.Type, _ params: JSONValue, _ result: JSONValue
    ) -> MessageDescription? {
        let whole: JSONValue = .object([
            "name": .string(M.method), "summary": .string(M.summary), "role": .string("\(M.access)"),
            "kind": .string(M.kind.rawValue), "params": params, "result": result,
        ])
        guard let encoded = try? JSONEncoder().encode(whole) else { return nil }
        return try? JSONDecoder().decode(MessageDescription.self, from: encoded)
    }
}
