import Foundation
import QRCodes
import ServiceMesh

/// `POST /qr`: a text as a QR code. It is for addresses with a one-time code in them, so it comes in a body, which no log,
/// history or cache has, and nothing of it is kept.
extension Router {
    private struct Request: Decodable {
        let text: String
    }

    func drawing(_ head: RequestHead, _ visitor: Visitor) -> Intake {
        .ask(bodyBytes: 2_048) { body in
            await Response.of {
                // A device that was forgotten is told so here too.
                _ = try await visitor.session()
                guard let request = try? JSONDecoder().decode(Request.self, from: body),
                    let code = QRCode(request.text)
                else {
                    throw Refusal(400, .invalidArgument, "A code is drawn of {\"text\":…}, 1 to some 2,000 bytes.")
                }
                let rows = (0..<code.width).map { row in
                    String((0..<code.width).map { code.isDark(column: $0, row: row) ? "1" : "0" })
                }
                return .json(200, .object(["rows": .array(rows.map(JSONValue.string))]))
            }
        }
    }
}
