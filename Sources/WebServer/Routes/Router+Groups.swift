import Foundation
import ServiceMesh

/// `GET /group-photos/{id}`: a photo that somebody has sent to a group, for as long as the daemon has it.
extension Router {
    func groupPhoto(_ head: RequestHead, id: String, _ visitor: Visitor) throws -> Intake {
        guard UUID(uuidString: id) != nil else { throw Refusal.notFound }
        return .ask(bodyBytes: 0) { _ in
            await Response.of {
                let connection = try await visitor.session().connection()
                let id = id.lowercased()
                let (reply, file) = try await connection.open(
                    method: "group.open", params: try JSONEncoder().encode(["photoId": id]))
                let size = try JSONDecoder().decode(GroupPictureFacts.self, from: reply).photo.fileSize
                // One id has one picture for all its days, and the daemon makes all of them in one format.
                let facts = PictureFacts(mediaType: "image/jpeg", size: size, contentDigest: id, name: nil)
                // With `max-age` until its end it would lie in a browser's folder for as long as that has room, days
                // after it was to be gone.
                return PictureResponse.make(facts, file, kind: "group", named: id, caching: .never, for: head)
            }
        }
    }
}

/// What the daemon says about a group's photo that it hands over.
private struct GroupPictureFacts: Decodable {
    struct Photo: Decodable {
        /// Bytes.
        let fileSize: UInt64
    }

    let photo: Photo
}
