import ControlSocket
import Foundation
import ServiceMesh

struct Header: Sendable, Equatable {
    let name: String
    let value: String

    init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// What is sent back. The headers of safety are not here: the server adds them to every response.
struct Response: Sendable {
    enum Body: Sendable {
        case none
        case bytes(Data)
        case permanent(PermanentBytes)
        /// A part of a file.
        case file(OwnedFile, from: UInt64, count: UInt64)
        /// As it was made, with all of its headers.
        case made(MadeResponse)
        /// So many bytes of which none is sent: of HEAD, where there is no file to take them from.
        case size(UInt64)
        /// Made while it is sent.
        case pages(PagedBody)
        /// As long as there is something to tell.
        case events(EventStream)
    }

    var status: Int
    var headers: [Header]
    var body: Body

    init(_ status: Int, headers: [Header] = [], body: Body = .none) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Nobody keeps an answer: it is one person's, and of one moment.
    static func json(_ status: Int, _ data: Data, headers: [Header] = []) -> Response {
        Response(
            status,
            headers: [Header("Content-Type", "application/json"), Header("Cache-Control", "no-store")] + headers,
            body: .bytes(data))
    }

    static func json(_ status: Int, _ value: JSONValue, headers: [Header] = []) -> Response {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // A value of ours has no number that JSON cannot say.
        return json(status, (try? encoder.encode(value)) ?? Data("{}".utf8), headers: headers)
    }

    /// The shape of the socket's errors.
    init(_ refusal: Refusal) {
        self = .json(refusal.status, ErrorObject.json(refusal.error), headers: refusal.headers)
    }
}
