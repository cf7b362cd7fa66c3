import Foundation
import QRCodes
import ServiceMesh
import Testing

@testable import WebServer

/// Codes that are drawn for whoever is paired, and kept nowhere.
@Suite struct QRCodeTests {
    private let address = "https://photos.example:8468/#pair=AAAAAAAAAAAAAAAAAAAAAA"

    private func draw(_ body: String, _ cookie: String, at site: Site) async throws -> RawReply {
        try await site.ask(
            "POST", "/qr", ["Origin: \(site.origin)", "Content-Type: application/json", cookie], body: body)
    }

    @Test func aTextIsDrawnAsItsModules() async throws {
        try await withSite { site in
            let reply = try await draw("{\"text\":\"\(address)\"}", try await site.pair(), at: site)
            #expect(reply.status == 200 && reply.header("cache-control") == "no-store")
            #expect(!reply.text.contains("AAAA"))
            let drawn = try JSONDecoder().decode([String: [String]].self, from: Data(reply.body))["rows"]
            let code = try #require(QRCode(address))
            let expected = (0..<code.width).map { row in
                (0..<code.width).map { code.isDark(column: $0, row: row) ? "1" : "0" }.joined()
            }
            #expect(drawn == expected)
            #expect(expected[0].hasPrefix("11111110") && expected[0].hasSuffix("01111111"))
        }
    }

    @Test func whatCannotBeDrawnIsRefused() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            for body in ["", "{}", "[]", "{\"text\":7}", "{\"text\":\"\"}"] {
                let reply = try await draw(body, cookie, at: site)
                #expect(reply.status == 400 && reply.errorStatus == "invalid_argument", "\(body)")
            }
            let long = String(repeating: "x", count: 2_048)
            #expect(try await draw("{\"text\":\"\(long)\"}", cookie, at: site).status == 413)
            let most = String(repeating: "x", count: 2_000)
            #expect(try await draw("{\"text\":\"\(most)\"}", cookie, at: site).status == 200)
            let form = try await site.ask(
                "POST", "/qr", ["Origin: \(site.origin)", "Content-Type: text/plain", cookie], body: "{}")
            #expect(form.status == 415)
        }
    }
}
