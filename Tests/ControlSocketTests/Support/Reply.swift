import Foundation
import ServiceMesh

/// One line from the server, for looking into.
struct Reply: Sendable {
    let json: JSONValue

    init(_ line: String) throws {
        json = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
    }

    var id: JSONValue? { json["id"] }
    /// The id for a set of ids.
    var idText: String { id.map { "\($0)" } ?? "none" }
    var result: JSONValue? { json["result"] }
    var code: Int64? { json["error"]?["code"]?.integerValue }
    var message: String { json["error"]?["message"]?.stringValue ?? "" }
    var status: String? { json["error"]?["data"]?["status"]?.stringValue }
    var method: String? { json["method"]?.stringValue }
}
