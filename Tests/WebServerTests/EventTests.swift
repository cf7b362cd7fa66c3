import Foundation
import ServiceMesh
import Testing

@testable import WebServer

@Suite struct EventTests {
    private func target(_ observations: (id: String, method: String)...) -> String {
        let items = observations.map { one in
            "observe=" + PercentEncoding.encode("{\"id\":\"\(one.id)\",\"method\":\"\(one.method)\"}")
        }
        return "/events?" + items.joined(separator: "&")
    }

    private func open(_ site: Site, _ cookie: String, _ target: String, _ headers: [String] = []) async throws
        -> RawHTTP
    {
        let stream = try await site.connect()
        try await stream.send(site.request("GET", target, [cookie] + headers))
        let head = try await stream.head()
        #expect(head.status == 200 && head.header("content-type") == "text/event-stream")
        return stream
    }

    @Test func changesComeAsTheyHappen() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let stream = try await open(site, cookie, target(("a", "thing.observe"), ("b", "thing.observe")))
            var seen: [String] = []
            for _ in 0..<2 { seen.append(try await stream.event().data) }
            #expect(
                seen.sorted() == [
                    "{\"id\":\"a\",\"sequence\":1,\"value\":{\"is\":0}}",
                    "{\"id\":\"b\",\"sequence\":1,\"value\":{\"is\":0}}",
                ])
            site.daemon.change(to: 5)
            let third = try await stream.event()
            #expect(third.name == "change" && third.id == "3" && third.data.contains("\"value\":{\"is\":5}"))
        }
    }

    @Test func idsGoOnWhereTheBrowserWas() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let stream = try await open(site, cookie, target(("a", "thing.observe")), ["Last-Event-ID: 41"])
            #expect(try await stream.event().id == "42")
        }
    }

    @Test func whatMayNotBeObservedFailsAloneAndWhatEndsSaysSo() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let stream = try await open(
                site, cookie,
                target(("a", "thing.secret"), ("b", "thing.observe"), ("c", "thing.echo"), ("d", "thing.end")))
            var events: [String: String] = [:]
            for _ in 0..<4 {
                let event = try await stream.event()
                let id = try JSONDecoder().decode(JSONValue.self, from: Data(event.data.utf8))["id"]?.stringValue
                events[id ?? ""] = event.name + event.data
            }
            #expect(events["a"]?.hasPrefix("failed") == true && events["a"]?.contains("permission_denied") == true)
            #expect(events["b"]?.hasPrefix("change") == true)
            #expect(events["c"]?.contains("failed_precondition") == true)
            #expect(events["d"] == "ended{\"id\":\"d\",\"value\":7}")
            site.daemon.change(to: 9)
            #expect(try await stream.event().data.contains("{\"is\":9}"))
        }
    }

    @Test func aDaemonThatIsRestartedIsFoundAgain() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let stream = try await open(site, cookie, target(("a", "thing.observe"), ("b", "thing.observe")))
            for _ in 0..<2 { #expect(try await stream.event().name == "change") }
            site.daemon.stop()
            #expect(try await stream.event().name == "away")
            site.daemon.state.withLock { $0.value = 77 }
            site.daemon.start()
            #expect(try await stream.event().name == "back")
            var values: [String] = []
            for _ in 0..<2 { values.append(try await stream.event().data) }
            #expect(values.allSatisfy { $0.contains("{\"is\":77}") })
        }
    }

    @Test(arguments: [
        "/events", "/events?observe=x", "/events?observe=%7B%22id%22:%22a%22%7D", "/events?observe=%5B%5D",
        "/events?observe=%7B%22id%22:%22a%22,%22method%22:%22x%22%7D&observe=%7B%22id%22:%22a%22,%22method%22:%22y%22%7D",
    ])
    func whatIsNoObservationIsRefused(_ target: String) async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let reply = try await site.ask("GET", target, [cookie])
            #expect(reply.status == 400 && reply.errorStatus == "invalid_argument")
        }
    }

    @Test func aBrowserHasOnlySoMany() async throws {
        try await withSite { site in
            let cookie = try await site.pair()
            let many = target(
                ("1", "thing.observe"), ("2", "thing.observe"), ("3", "thing.observe"), ("4", "thing.observe"),
                ("5", "thing.observe"), ("6", "thing.observe"), ("7", "thing.observe"), ("8", "thing.observe"),
                ("9", "thing.observe"), ("10", "thing.observe"))
            var streams: [RawHTTP] = []
            for _ in 0..<4 { streams.append(try await open(site, cookie, many)) }
            let refused = try await site.ask("GET", many, [cookie])
            #expect(refused.status == 429 && refused.errorStatus == "resource_exhausted")
            // The others are as they were, and the page's questions have their place.
            #expect(try await streams[0].event().name == "change")
            #expect(
                try await site.rpc(cookie, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"thing.echo\",\"params\":{}}")
                    .status
                    == 200)
        }
    }
}
