import ServiceMesh
import Testing

@testable import WebServer

/// Where others reach the page, for those that are in.
@Suite struct WhereaboutsTests {
    @Test func whoIsPairedIsToldWhereOthersReachThePage() async throws {
        let daemon = try FakeDaemon()
        let whereabouts = Whereabouts()
        let site = try Site(daemon, whereabouts: whereabouts)
        let cookie = try await site.pair()
        #expect(try await site.ask("GET", "/whereabouts", [cookie]).text == "{\"addresses\":[],\"doors\":[]}")
        whereabouts.change(
            to: .init(addresses: ["https://192.168.1.5:8468"], doors: ["http://192.168.1.5:8469"], fingerprint: "AB:CD")
        )
        let told = try await site.ask("GET", "/whereabouts", [cookie])
        #expect(
            told.text
                == "{\"addresses\":[\"https://192.168.1.5:8468\"],\"doors\":[\"http://192.168.1.5:8469\"],\"fingerprint\":\"AB:CD\"}"
        )
        #expect(told.header("cache-control") == "no-store")
        #expect(try await site.ask("GET", "/whereabouts").status == 401)
        // Nor a browser whose device is forgotten, or never was.
        let stranger = (cookie.split(separator: "=").first ?? "") + "=" + String(repeating: "x", count: 43)
        #expect(try await site.ask("GET", "/whereabouts", [String(stranger)]).status == 401)
        #expect(try await site.ask("POST", "/whereabouts", [cookie, "Origin: \(site.origin)"]).status == 405)
        await site.server.stop()
    }
}
