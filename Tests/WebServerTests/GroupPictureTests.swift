import Foundation
import ServiceMesh
import Testing

@testable import WebServer

@Suite struct GroupPictureTests {
    private let id = "6f1c2d3e-4a5b-4c6d-8e7f-90a1b2c3d4e5"
    private let bytes = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 29) }

    private var path: String { "/group-photos/" + id }

    private func withPhoto(_ body: (Site, _ cookie: String) async throws -> Void) async throws {
        try await withSite { site in
            site.daemon.state.withLock { $0.groupPhotos[id] = bytes }
            try await body(site, try await site.pair())
        }
    }

    @Test func itComesAndIsKeptNowhere() async throws {
        try await withPhoto { site, cookie in
            for path in [path, path.uppercased().replacingOccurrences(of: "/GROUP-PHOTOS/", with: "/group-photos/")] {
                // An address with its id is no reason to keep it either.
                let reply = try await site.ask("GET", path + "?v=" + id.filter { $0 != "-" }, [cookie])
                #expect(reply.status == 200 && reply.body == bytes)
                #expect(reply.header("content-type") == "image/jpeg")
                #expect(reply.header("cache-control") == "no-store")
                #expect(reply.header("x-content-type-options") == "nosniff")
                #expect(reply.headers.contains { $0.0 == "content-security-policy" && $0.1.contains("sandbox") })
                #expect(reply.header("content-disposition") == nil)
            }
            let head = try await site.ask("HEAD", path, [cookie])
            #expect(head.status == 200 && head.header("content-length") == "60000" && head.body.isEmpty)
            let tag = try #require(head.header("etag"))
            let same = try await site.ask("GET", path, [cookie, "If-None-Match: \(tag)"])
            #expect(same.status == 304 && same.body.isEmpty && same.header("cache-control") == "no-store")
            let part = try await site.ask("GET", path, [cookie, "Range: bytes=10-19"])
            #expect(part.status == 206 && part.body == Array(bytes[10..<20]))
        }
    }

    @Test func theDaemonIsAskedEachTime() async throws {
        try await withPhoto { site, cookie in
            let tag = try #require(try await site.ask("GET", path, [cookie]).header("etag"))
            site.daemon.state.withLock { $0.groupPhotos = [:] }
            #expect(try await site.ask("GET", path, [cookie, "If-None-Match: \(tag)"]).status == 404)
        }
    }

    @Test func onlyAPairedParentGetsIt() async throws {
        try await withPhoto { site, cookie in
            #expect(try await site.ask("GET", path).status == 401)
            #expect(try await site.ask("GET", path, [cookie, "Sec-Fetch-Site: cross-site"]).status == 403)
            #expect(try await site.ask("GET", path, [cookie, "Host: evil.example"]).status == 421)
            #expect(try await site.ask("POST", path, [cookie, "Origin: \(site.origin)"]).status == 405)
            #expect(!site.daemon.calls.contains("group.open"))
            site.daemon.state.withLock { $0.isKids = true }
            let refused = try await site.ask("GET", path, [cookie])
            #expect(refused.status == 403 && refused.header("content-type")?.hasPrefix("application/json") == true)
        }
    }

    @Test(arguments: ["", "x", "..", "6f1c2d3e", "6f1c2d3e-4a5b-4c6d-8e7f-90a1b2c3d4e6", "%36", "photo/x"])
    func whatIsNotThereIsNotFound(_ id: String) async throws {
        try await withPhoto { site, cookie in
            let reply = try await site.ask("GET", "/group-photos/" + id, [cookie])
            #expect(reply.status == 404)
        }
    }
}
