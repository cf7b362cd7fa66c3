import Foundation
import HTTPClient
import LibraryModel
import ServiceMesh

/// Another machine of the same person over HTTP.
package final class HTTPReviewRemote: ReviewRemote {
    /// Bytes of an answer.
    private static let answerBytes = 1 << 20

    private let url: HTTPURL
    private let token: HTTPHeader
    private let client: HTTPClient
    private let questionTime: Duration

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in place of the machine's.
    ///   - questionTime: for an answer.
    /// - Throws: `invalid_argument` for a token that no header can have.
    package init(
        _ address: HubAddress, token: String, authorities: String? = nil, questionTime: Duration = .seconds(30)
    ) throws {
        url = try HTTPURL(address.text)
        self.token = try HTTPHeader("Authorization", "Bearer " + token)
        client = try HTTPClient(authorities: authorities)
        self.questionTime = questionTime
    }

    package func close() async { await client.stop() }

    package func changes(after cursor: String) async throws -> ReviewChanges {
        let url = try url.appending(["api", "reviews"], query: cursor.isEmpty ? [] : [("after", cursor)])
        let answer = try await ask(.get(url, headers: [token]))
        do {
            return try JSONDecoder().decode(ReviewChanges.self, from: answer.data)
        } catch {
            throw HTTPGroupRemote.stranger
        }
    }

    package func take(_ changes: ReviewChanges) async throws {
        let url = try url.appending(["api", "reviews"], query: [])
        let body = HTTPRequest.Body.bytes(try JSONEncoder().encode(changes), type: .json)
        let answer = try await ask(.post(url, body: body, headers: [token]))
        // A page that anybody answers with is no receipt.
        guard (try? JSONDecoder().decode(TakenReviews.self, from: answer.data)) != nil else {
            throw HTTPGroupRemote.stranger
        }
    }

    private func ask(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = try await client.send(
            request, receiving: .memory(atMost: Self.answerBytes), within: questionTime)
        guard !Self.isRefusedForGood(answer) else {
            throw MeshError(
                short: .count,
                "The other machine takes no more reviews from this one. There, let this one in anew: smilepile swipe unshare and share"
            )
        }
        try HTTPGroupRemote.require(answer)
        return answer
    }

    /// Whether it has taken as much as it takes of one machine, which no waiting ends.
    private static func isRefusedForGood(_ answer: HTTPResponse) -> Bool {
        struct Refused: Decodable {
            struct Problem: Decodable {
                let data: [String: JSONValue]
            }
            let error: Problem
        }
        guard answer.status == 507, let refused = try? JSONDecoder().decode(Refused.self, from: answer.data) else {
            return false
        }
        return refused.error.data["reason"]?.stringValue == Shortage.count.rawValue
    }
}
