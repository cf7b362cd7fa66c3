import Foundation
import HTTPClient
import LibraryModel
import ServiceMesh

/// Another machine of the same person over HTTP.
package final class HTTPReviewRemote: ReviewRemote {
    private let http: PeerHTTP

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in place of the machine's.
    ///   - questionTime: for an answer.
    /// - Throws: `invalid_argument` for a token that no header can have.
    package init(
        _ address: HubAddress, token: String, authorities: String? = nil, questionTime: Duration = .seconds(30)
    ) throws {
        http = try PeerHTTP(address, token: token, authorities: authorities, questionTime: questionTime)
    }

    package func close() async { await http.client.stop() }

    package func changes(after cursor: String) async throws -> ReviewChanges {
        let url = try http.base.appending(["api", "reviews"], query: cursor.isEmpty ? [] : [("after", cursor)])
        return try http.decode(ReviewChanges.self, try await ask(.get(url, headers: [http.token])))
    }

    package func take(_ changes: ReviewChanges) async throws {
        let url = try http.base.appending(["api", "reviews"], query: [])
        let body = HTTPRequest.Body.bytes(try JSONEncoder().encode(changes), type: .json)
        let answer = try await ask(.post(url, body: body, headers: [http.token]))
        // A page that anybody answers with is no receipt.
        _ = try http.decode(TakenReviews.self, answer)
    }

    private func ask(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = try await http.send(request)
        guard !Self.isRefusedForGood(answer) else {
            throw MeshError(
                short: .count,
                "The other machine takes no more reviews from this one. There, let this one in anew: smilepile swipe unshare and share"
            )
        }
        try PeerHTTP.require(answer, of: .hub)
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
