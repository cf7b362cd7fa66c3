import Foundation
import ServiceMesh
import Testing

@testable import WebServer

/// What a monitor asks.
@Suite struct MetricsRouteTests {
    private let token = "0123456789abcdefghijABCDEFGHIJ-_0123456789a"

    private func bearer(_ token: String) -> [String] { ["Authorization: Bearer " + token] }

    @Test func figuresAreForWhoHasTheToken() async throws {
        try await withSite { site in
            site.daemon.state.withLock { $0.monitor = token }
            let page = try await site.ask("GET", "/metrics", bearer(token))
            #expect(page.status == 200 && page.text == "smilepile_photos 3\n")
            #expect(page.header("content-type") == "text/plain; version=0.0.4; charset=utf-8")
            #expect(page.header("cache-control") == "no-store")
            for headers in [[], bearer(String(token.reversed())), bearer("short"), ["Authorization: Basic " + token]] {
                let refused = try await site.ask("GET", "/metrics", headers)
                #expect(refused.status == 401 && refused.header("www-authenticate") == "Bearer", "\(headers)")
                #expect(!refused.text.contains("smilepile_photos"))
            }
            #expect(try await site.ask("POST", "/metrics", bearer(token)).status == 405)
            #expect(try await site.ask("GET", "/metrics/x", bearer(token)).status == 401)
            site.daemon.state.withLock { $0.monitor = nil }
            #expect(try await site.ask("GET", "/metrics", bearer(token)).status == 401)
        }
    }

    /// On its way the token could be read, where there is no TLS.
    @Test func noTokenIsTakenFromElsewhereWithoutTLS() async throws {
        try await withSite { site in
            site.daemon.state.withLock { $0.monitor = token }
            let connection = try await RawHTTP.connect(site.port, from: "127.0.0.2")
            try await connection.send(site.request("GET", "/metrics", bearer(token)))
            #expect(try await connection.reply().status == 403)
        }
    }

    @Test func whoGuessesIsKeptOutAndAMonitorNever() async throws {
        try await withSite { site in
            site.daemon.state.withLock { $0.monitor = token }
            let most = Int(HTTPLimits().strangersAtOnce)
            for _ in 0..<most + 10 { #expect(try await site.ask("GET", "/metrics", bearer(token)).status == 200) }
            var statuses: Set<Int> = []
            for _ in 0..<most * 2 { statuses.insert(try await site.ask("GET", "/metrics", bearer("x")).status) }
            #expect(statuses == [401, 429])
        }
    }
}
