import Foundation
import HTTPClient
import LibraryModel
import ServiceMesh

/// Another machine over HTTP, whatever it is asked for: who asks, and what its answers are taken for.
struct PeerHTTP: Sendable {
    /// Bytes of an answer that is no picture.
    static let answerBytes = 1 << 20

    let base: HTTPURL
    let token: HTTPHeader
    let client: HTTPClient
    private let questionTime: Duration

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in place of the machine's.
    ///   - questionTime: for an answer that is no picture.
    /// - Throws: `invalid_argument` for a token that no header can have.
    init(_ address: HubAddress, token: String, authorities: String?, questionTime: Duration) throws {
        base = try HTTPURL(address.text)
        self.token = try HTTPHeader("Authorization", "Bearer " + token)
        client = try HTTPClient(authorities: authorities)
        self.questionTime = questionTime
    }

    /// - Throws: what the machine's refusal is taken for.
    func ask(_ request: HTTPRequest, of subject: Subject = .hub) async throws -> HTTPResponse {
        let answer = try await send(request)
        try Self.require(answer, of: subject)
        return answer
    }

    /// As ``ask(_:of:)``, where a refusal is looked at first.
    func send(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await client.send(request, receiving: .memory(atMost: Self.answerBytes), within: questionTime)
    }

    func decode<Value: Decodable>(_ type: Value.Type, _ answer: HTTPResponse) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: answer.data)
        } catch {
            throw Self.stranger
        }
    }

    // MARK: Answers

    /// Not `unavailable`: it answers, and will not answer otherwise in a second.
    static let stranger = MeshError(
        .failedPrecondition,
        "What answers at this address is no SmilePile that lets others in. Check the address, and what stands in front of it."
    )

    /// What an answer is about.
    enum Subject {
        /// Everything: without it there is nothing to go on with.
        case hub
        /// One group or photo. Who says in a hub's way that it cannot be had now is the hub, which may have the others.
        case part
        /// A photo's picture, which a hub may keep elsewhere than all else: whatever is wrong there says nothing of the others.
        case picture
    }

    static func require(_ answer: HTTPResponse, of subject: Subject) throws {
        if answer.isSuccess {
            // Of a network that one has to sign in to, which says so to everything. No worker has to find out that it is no
            // picture, which would be for good.
            let type = answer.headers.first { $0.name == "content-type" }?.value.lowercased()
            guard type?.hasPrefix("text/html") == true else { return }
            if subject == .picture { throw HubDeclined(stranger) }
            throw stranger
        }
        let status = (try? JSONDecoder().decode(Refused.self, from: answer.data))?.error.data.status
        let refusal = refusal(answer.status, status.flatMap(MeshStatus.init(rawValue:)))
        if subject == .picture && refusal.status == .permissionDenied { throw HubDeclined(stranger) }
        if refusal.isRetryable && (subject == .picture || subject == .part && status != nil) {
            throw HubDeclined(refusal)
        }
        throw refusal
    }

    /// Whoever refuses has to be the hub, by how it says so: a proxy in front of it, or a router's page, answers with the
    /// same numbers, and what waits here must not get lost for that.
    private static func refusal(_ number: Int, _ status: MeshStatus?) -> MeshError {
        switch (number, status) {
        case (401, .unauthenticated):
            MeshError(
                .unauthenticated,
                "The other machine does not know this token, or not any more. Ask for a new invitation.")
        case (401, _):
            MeshError(
                .permissionDenied,
                "The other machine, or what stands in front of it, does not let this one in. Ask for a new invitation."
            )
        case (404, .notFound): MeshError(.notFound, "The other machine does not have it, or not any more.")
        case (409, .alreadyExists): MeshError(.alreadyExists, "Another photo of that day was there before.")
        case (400, .invalidArgument), (413, _?), (415, .invalidArgument):
            MeshError(.invalidArgument, "The other machine does not take it (\(number)).")
        case (408, _), (409, _?), (429, _), (500...599, _):
            MeshError(.unavailable, "The other machine cannot do it now (\(number)). It is tried again.")
        default: stranger
        }
    }

    private struct Refused: Decodable {
        struct Problem: Decodable {
            struct Details: Decodable {
                let status: String
            }
            let data: Details
        }
        let error: Problem
    }
}
