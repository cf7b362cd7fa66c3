import Foundation
import ServiceMesh
import Testing

@testable import WebServer

private func head(
    _ method: String = "GET", _ target: String = "/", _ headers: [(String, String)] = []
) throws -> RequestHead {
    try RequestHead(method: method, target: target, headers: headers, client: "127.0.0.1")
}

@Suite struct RequestHeadTests {
    @Test(arguments: ["/", "/assets/app.js", "/photos/0a1b/thumbnail", "/a//b", "/../etc/passwd"])
    func plainPathsAreTakenAsTheyAre(_ path: String) throws {
        #expect(try head("GET", path + "?v=1").path == path)
    }

    @Test(arguments: [
        "", "*", "http://elsewhere/", "/%2e%2e/x", "/%252e", "/a b", "/a\\b", "/ä", "/a;b", "/a:b", "/a\u{0}",
    ])
    func otherPathsAreNotFound(_ path: String) {
        #expect { try head("GET", path) } throws: { ($0 as? Refusal)?.status == 404 }
    }

    @Test func aQueryIsDecodedOnce() throws {
        let head = try head("GET", "/events?observe=%7B%22a%22%7D&x=%2525&observe=2&y")
        #expect(head.query.map(\.name) == ["observe", "x", "observe", "y"])
        #expect(head.query.map(\.value) == ["{\"a\"}", "%25", "2", ""])
    }

    @Test(arguments: ["/?x=%", "/?x=%4", "/?x=%zz", "/?x=%ff", "/?x=%c3"])
    func aQueryThatIsNoTextIsRefused(_ target: String) {
        #expect { try head("GET", target) } throws: { ($0 as? Refusal)?.status == 400 }
    }

    @Test(arguments: ["Host", "ORIGIN", "Cookie", "content-length", "Range"])
    func whatCountsOnceMayNotComeTwice(_ name: String) {
        #expect { try head("GET", "/", [(name, "1"), (name.lowercased(), "1")]) } throws: {
            ($0 as? Refusal)?.status == 400
        }
    }

    @Test func chunksAreNotTaken() {
        #expect { try head("POST", "/rpc", [("Transfer-Encoding", "chunked")]) } throws: {
            ($0 as? Refusal)?.status == 411
        }
    }

    @Test(arguments: ["-1", "+1", "1, 1", "0x10", "", "99999999999999999999"])
    func aLengthIsANumber(_ text: String) {
        #expect { try head("POST", "/rpc", [("Content-Length", text)]) } throws: { ($0 as? Refusal)?.status == 400 }
    }

    @Test func aCookieIsFoundAmongOthersAndOnlyOnce() throws {
        #expect(try head("GET", "/", [("Cookie", "a=1; smile=tok; b=2")]).cookie("smile") == "tok")
        #expect(try head("GET", "/", [("Cookie", "xsmile=1; smile=tok")]).cookie("smile") == "tok")
        #expect(try head("GET", "/", [("Cookie", "smile=planted; smile=tok")]).cookie("smile") == nil)
        #expect(try head().cookie("smile") == nil)
    }
}

@Suite struct SafetyTests {
    private let safety = Safety(names: ["photos.house", "Wall"])

    private func hostStatus(_ host: String?) throws -> Int? {
        do throws(Refusal) {
            try safety.checkHost(head("GET", "/", host.map { [("Host", $0)] } ?? []))
            return nil
        } catch {
            return error.status
        }
    }

    private func head(_ method: String, _ path: String, _ headers: [(String, String)]) throws(Refusal) -> RequestHead {
        try RequestHead(method: method, target: path, headers: headers, client: "")
    }

    @Test(arguments: [
        "localhost", "LOCALHOST:8468", "127.0.0.1:1", "[::1]:8468", "192.168.1.5", "photos.house:443", "wall.", "wall",
    ])
    func ourNamesAreOurs(_ host: String) throws { #expect(try hostStatus(host) == nil) }

    @Test(arguments: ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "[evil]", "house", "::1"])
    func otherNamesAreRefused(_ host: String) throws { #expect([421, 400].contains(try hostStatus(host))) }

    @Test func aRequestNamesItsHost() throws {
        #expect(try hostStatus(nil) == 400)
        #expect(try hostStatus("") == 400)
        #expect(try hostStatus("a:b:c") == 400)
    }

    private func originStatus(_ method: String, _ headers: [(String, String)]) throws -> Int? {
        do throws(Refusal) {
            try safety.checkOrigin(head(method, "/rpc", [("Host", "localhost:8468")] + headers))
            return nil
        } catch {
            return error.status
        }
    }

    @Test func ourOwnPageMayChange() throws {
        #expect(try originStatus("POST", [("Origin", "http://localhost:8468")]) == nil)
        #expect(try originStatus("POST", [("Origin", "https://LOCALHOST:8468")]) == nil)
        #expect(try originStatus("POST", [("Sec-Fetch-Site", "same-origin")]) == nil)
        #expect(
            try originStatus("POST", [("Origin", "http://localhost:8468"), ("Sec-Fetch-Site", "same-origin")]) == nil)
    }

    @Test(arguments: [
        [("Origin", "http://evil.example")], [("Origin", "null")], [("Origin", "http://localhost")],
        [("Origin", "http://localhost:8469")], [("Origin", "http://localhost:8468.evil.example")], [],
        [("Sec-Fetch-Site", "none")], [("Sec-Fetch-Site", "cross-site"), ("Origin", "http://localhost:8468")],
        [("Sec-Fetch-Site", "same-site"), ("Origin", "http://localhost:8468")],
        [("Sec-Fetch-Site", "SAME-ORIGIN"), ("Origin", "http://localhost:8468")],
    ])
    func nobodyElseMayChange(_ headers: [(String, String)]) throws {
        #expect(try originStatus("POST", headers) == 403)
        #expect(try originStatus("DELETE", headers) == 403)
    }

    @Test func otherPagesMayNotEvenRead() throws {
        #expect(try originStatus("GET", []) == nil)
        #expect(try originStatus("GET", [("Sec-Fetch-Site", "none")]) == nil)
        #expect(try originStatus("GET", [("Sec-Fetch-Site", "same-site")]) == 403)
        #expect(try originStatus("GET", [("Sec-Fetch-Site", "cross-site")]) == 403)
        #expect(try originStatus("GET", [("Origin", "http://evil.example")]) == 403)
    }
}

@Suite struct ByteRangeTests {
    @Test(arguments: [
        ("bytes=0-0", ByteRange.part(0..<1)), ("bytes=2-4", .part(2..<5)), ("bytes=8-", .part(8..<10)),
        ("bytes=8-99", .part(8..<10)), ("bytes=-3", .part(7..<10)), ("bytes=-99", .part(0..<10)),
        ("bytes=0-18446744073709551615", .part(0..<10)), ("bytes=10-", .unsatisfiable), ("bytes=10-11", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=18446744073709551615-18446744073709551615", .unsatisfiable),
        ("bytes=4-2", .whole), ("bytes=0-1,3-4", .whole), ("lines=0-1", .whole), ("bytes=a-b", .whole),
        ("bytes=-", .whole), ("bytes=1", .whole), ("bytes=99999999999999999999-", .whole), ("bytes=1-2-3", .whole),
        ("bytes=+1-2", .whole), ("bytes=1-99999999999999999999", .whole),
    ])
    func ranges(_ text: String, _ expected: ByteRange) { #expect(ByteRange.parse(text, size: 10) == expected) }

    @Test func nothingIsInAnEmptyFile() {
        #expect(ByteRange.parse("bytes=0-", size: 0) == .unsatisfiable)
        #expect(ByteRange.parse("bytes=-1", size: 0) == .unsatisfiable)
    }
}

@Suite struct FileNameTests {
    @Test(arguments: [
        ("a/b\\c.jpg", "abc.jpg"), ("../../x.jpg", "x.jpg"), ("a\r\nSet-Cookie: x.jpg", "aSet-Cookie: x.jpg"),
        ("\u{202E}gpj.exe", "gpj.exe"), ("Größe.jpg", "Größe.jpg"), ("...", ""), ("\u{0}\u{7F}", ""),
    ])
    func namesAreMadeSafe(_ name: String, _ safe: String) { #expect(FileName.safe(name) == safe) }

    @Test func aHeaderHasNothingThatEndsItsText() {
        let header = FileName.attachment("a\"b;ü\r\n%.jpg", "x.jpg")
        #expect(header == "attachment; filename=\"a_b;__.jpg\"; filename*=UTF-8''a%22b%3B%C3%BC%25.jpg")
        #expect(FileName.attachment("/", "x.jpg").contains("filename=\"x.jpg\""))
    }

    @Test func percentEncodingGoesBothWays() {
        #expect(PercentEncoding.decode(PercentEncoding.encode("Ferien 2025/ü%.jpg")) == "Ferien 2025/ü%.jpg")
    }
}

@Suite struct RequestRateTests {
    @Test func aClientHasItsOwnAndGetsThemBack() {
        let rate = RequestRate(perSecond: 2, atOnce: 3)
        #expect((0..<5).map { _ in rate.take("a", now: 0) } == [true, true, true, false, false])
        #expect(rate.take("b", now: 0))
        #expect(!rate.take("a", now: 400_000_000))
        #expect(rate.take("a", now: 1_000_000_000))
        #expect(rate.take("a", now: 1_000_000_000))
        #expect(!rate.take("a", now: 1_000_000_000))
    }

    @Test func howManyAreRememberedIsBounded() {
        let rate = RequestRate(perSecond: 0.001, atOnce: 1)
        for client in 0..<10_000 { #expect(rate.take("\(client)", now: 0)) }
        #expect(rate.clients <= 4_097)
    }
}

@Suite struct EventStreamTests {
    private func event(_ value: Int) -> EventStream.Event {
        EventStream.Event(name: "change") { Array("{\"v\":\(value),\"o\":\($0)}".utf8) }
    }

    private func read(_ stream: EventStream, room count: Int = 4096) -> (EventStream.Reading, String) {
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 1)
        defer { room.deallocate() }
        let reading = stream.read(into: room, now: 0) { {} }
        guard case .bytes(let count) = reading else { return (reading, "") }
        return (reading, String(decoding: room.prefix(count), as: UTF8.self))
    }

    @Test func theNewestOfAKindIsSentAndSaysWhatWasLeftOut() {
        let stream = EventStream(after: 41, now: 0)
        #expect(read(stream).1 == "retry: 1000\n\n")
        for value in 1...1_000 { stream.send(event(value), key: "a") }
        stream.send(event(7), key: "b")
        #expect(read(stream).1 == "id: 42\nevent: change\ndata: {\"v\":1000,\"o\":true}\n\n")
        #expect(read(stream).1 == "id: 43\nevent: change\ndata: {\"v\":7,\"o\":false}\n\n")
        #expect(read(stream).0 == .nothing)
        stream.send(event(8), key: "a")
        #expect(read(stream).1.contains("\"o\":false"))
        stream.end()
        #expect(read(stream).0 == .end)
    }

    @Test func aSmallRoomGetsItInPieces() {
        let stream = EventStream(after: 0, now: 0)
        stream.send(event(5), key: "a")
        stream.end()
        var text = ""
        while case (.bytes, let piece) = read(stream, room: 3) { text += piece }
        #expect(text == "retry: 1000\n\nid: 1\nevent: change\ndata: {\"v\":5,\"o\":false}\n\n")
    }

    @Test func lineEndsInAValueAreSpace() {
        let stream = EventStream(after: 0, now: 0)
        _ = read(stream)
        stream.send(EventStream.Event(name: "change") { _ in Array("{\n\r\n}".utf8) }, key: "a")
        #expect(read(stream).1 == "id: 1\nevent: change\ndata: {   }\n\n")
    }

    @Test func silenceIsBrokenByAComment() {
        let stream = EventStream(after: 0, now: 0)
        _ = read(stream)
        stream.keepAlive(now: 14, after: 15)
        #expect(read(stream).0 == .nothing)
        stream.keepAlive(now: 15, after: 15)
        #expect(read(stream).1 == ": still here\n\n")
    }

    @Test func whoeverHasGoneIsToldOf() {
        let stream = EventStream(after: 0, now: 0)
        let told = Told()
        stream.onLeave { told.note() }
        stream.leave()
        stream.leave()
        #expect(told.count == 1)
        stream.onLeave { told.note() }
        #expect(told.count == 2)
    }
}

private final class Told: @unchecked Sendable {
    // Sendable because the test calls it from one thread.
    var count = 0
    func note() { count += 1 }
}

@Suite struct ListeningAddressTests {
    @Test(arguments: [
        ("127.0.0.1:80", "127.0.0.1:80"), ("127.0.0.1", "127.0.0.1:8468"), (":9000", "0.0.0.0:9000"),
        ("[::1]:80", "[::1]:80"), ("[::]", "[::]:8468"), ("::1", "[::1]:8468"),
    ])
    func addresses(_ text: String, _ shown: String) { #expect(ListeningAddress(text)?.description == shown) }

    @Test(arguments: ["photos.house", "localhost:80", "1.2.3", "127.0.0.1:99999", "127.0.0.1:-1", "[::1", "[::1]x", ""])
    func otherTextIsNone(_ text: String) { #expect(ListeningAddress(text) == nil || text == "") }

    @Test func whoReachesIt() throws {
        #expect(ListeningAddress("127.1.2.3:1")?.isLoopback == true)
        #expect(ListeningAddress("[::1]:1")?.isLoopback == true)
        #expect(ListeningAddress("0.0.0.0:1")?.isLoopback == false)
        #expect(ListeningAddress("192.168.1.2")?.isLoopback == false)
    }
}
