import Foundation
import ServiceMesh

/// `/api/reviews`: what was reviewed, for and from other machines of the same person, by the token that one of them was given.
extension Router {
    func reviews(after cursor: String?, _ member: Member) -> Intake {
        .ask(bodyBytes: 0) { _ in
            await Response.of {
                .json(200, try await member.call("hub.reviews", cursor.map { ["after": .string($0)] } ?? [:]))
            }
        }
    }

    func takingReviews(_ member: Member) -> Intake {
        // The daemon's line has room for it, with all that is put around it.
        .ask(bodyBytes: limits.bodyBytes / 2) { body in
            await Response.of {
                guard let changes = try? JSONDecoder().decode(JSONValue.self, from: body) else {
                    throw Refusal(400, .invalidArgument, "The body is JSON, as GET answers it.")
                }
                return .json(200, try await member.call("hub.takeReviews", ["changes": changes]))
            }
        }
    }
}
