import Foundation
import ServiceMesh

/// A line from the daemon, read only as far as the accounts need it: most results are large and of no further use.
///
/// It knows the order in which the daemon writes a line's members. A line in another order is not understood, and
/// shows as a failure.
enum AccountedReply {
    case result(id: Int, Data)
    case error(id: Int?, ReplyFault)
    /// A change that is observed.
    case update
    case senseless

    init(_ line: ArraySlice<UInt8>) {
        if line.starts(with: Self.updateHead) {
            self = .update
            return
        }
        guard line.starts(with: Self.head) else {
            self = .senseless
            return
        }
        let rest = line.dropFirst(Self.head.count)
        let token = rest.prefix { $0 != UInt8(ascii: ",") }
        let id = Int(String(decoding: token, as: UTF8.self))
        let body = rest.dropFirst(token.count)
        if let id, body.starts(with: Self.resultHead) {
            self = .result(id: id, Data(body.dropFirst(Self.resultHead.count).dropLast()))
        } else if body.starts(with: Self.errorHead), id != nil || token.elementsEqual("null".utf8),
            let fault = try? JSONDecoder().decode(
                ReplyFault.self, from: Data(body.dropFirst(Self.errorHead.count).dropLast()))
        {
            self = .error(id: id, fault)
        } else {
            self = .senseless
        }
    }

    private static let head = Array(#"{"jsonrpc":"2.0","id":"#.utf8)
    private static let updateHead = Array(#"{"jsonrpc":"2.0","method":"#.utf8)
    private static let resultHead = Array(#","result":"#.utf8)
    private static let errorHead = Array(#","error":"#.utf8)
}

/// An error as it stands on the wire.
package struct ReplyFault: Decodable {
    package struct Facts: Decodable {
        package let status: MeshStatus
    }

    let code: Int
    package let message: String
    package let data: Facts

    /// Whether the request never came to its service's door: its params did not fit, or its connection had too many
    /// running already. `mesh.stats` does not know of it.
    var isBeforeTheMesh: Bool {
        code == -32602 || code == -32601
            || (data.status == .resourceExhausted && message.contains("requests of this connection are running"))
    }
}
