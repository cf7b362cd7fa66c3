import Foundation
import HTTPClient
import ServiceMesh
import TestSupport
import Testing

/// What requests are made of, and what is refused before anything is sent.
@Suite struct ValueTests {
    @Test(arguments: [
        ("http://hub", "http://hub/", "hub", 80), ("https://hub.example", "https://hub.example/", "hub.example", 443),
        ("HTTPS://Hub.Example:8443/A/b?C=d", "https://hub.example:8443/A/b?C=d", "hub.example", 8_443),
        ("http://127.0.0.1:1/", "http://127.0.0.1:1/", "127.0.0.1", 1),
        ("http://[::1]:65535/x", "http://[::1]:65535/x", "[::1]", 65_535),
        ("https://[2001:db8::1]", "https://[2001:db8::1]/", "[2001:db8::1]", 443),
        ("http://hub?x=/@:", "http://hub/?x=/@:", "hub", 80),
        ("http://hub/a@b:c/%2e%2E/..;x", "http://hub/a@b:c/%2e%2E/..;x", "hub", 80),
        ("http://my_hub-1.local.", "http://my_hub-1.local./", "my_hub-1.local.", 80),
        ("http://3com.example/", "http://3com.example/", "3com.example", 80),
    ])
    func addresses(text: String, sent: String, host: String, port: Int) throws {
        let url = try HTTPURL(text)
        #expect(url.text == sent && url.host == host && url.port == port)
        #expect(url.description == "\(url.scheme)://\(host):\(port)")
    }

    @Test(
        arguments: [
            ("", .notHTTP), ("hub", .notHTTP), ("file:///etc/passwd", .notHTTP), ("ftp://hub/", .notHTTP),
            ("http:/hub", .notHTTP), ("http:hub", .notHTTP), ("//hub", .notHTTP), ("httpx://hub", .notHTTP),
            ("http://", .noHost), ("http:///etc", .noHost), ("http://:80/", .noHost), ("http://?x", .noHost),
            ("http://me:secret@hub/", .hasCredentials), ("http://me@hub", .hasCredentials),
            ("http://hub:80@other/", .hasCredentials), ("http://@hub", .hasCredentials),
            ("http://hub:0/", .badPort), ("http://hub:65536/", .badPort), ("http://hub:/", .badPort),
            ("http://hub:8x/", .badPort), ("http://hub:+80/", .badPort), ("http://hub:080000/", .badPort),
            ("http://[::1/", .badHost), ("http://[::1]x/", .badHost), ("http://[nonsense]/", .badHost),
            ("http://[]/", .badHost), ("http://[fe80::1%25eth0]/", .badHost), ("http://.hub/", .badHost),
            ("http://hub..example/", .badHost), ("http://hub,other/", .badHost), ("http://127.1/", .badHost),
            ("http://2130706433/", .badHost), ("http://0x7f.1/", .badHost), ("http://127.0.0.256/", .badHost),
            ("http://127.0.0.0x1/", .badHost), ("http://%6cocalhost/", .badHost), ("http://hub:80:80/", .badPort),
            ("http://hub/a b", .badCharacter), ("http://hub/\r\nX: y", .badCharacter), ("http://hub/\0", .badCharacter),
            ("http://hub\\@other/", .badCharacter), ("http://hub/\u{7F}", .badCharacter),
            (" http://hub", .badCharacter),
            ("http://bücher.example/", .badCharacter), ("http://hub/ü", .badCharacter),
            ("http://hub/{1,2}", .badCharacter),
            ("http://hub/%", .badEscape), ("http://hub/%2", .badEscape), ("http://hub/%zz", .badEscape),
            ("http://hub/#part", .hasFragment), ("http://hub#@other/", .hasFragment),
            ("http://" + String(repeating: "a", count: 64) + "/", .badHost),
            ("http://hub/" + String(repeating: "a", count: 4_096), .tooLong),
        ] as [(String, HTTPURL.Fault)])
    func noAddresses(text: String, fault: HTTPURL.Fault) {
        #expect(throws: HTTPClientError.badURL(fault)) { try HTTPURL(text) }
    }

    @Test func morePath() throws {
        let hub = try HTTPURL("https://hub:8443/base")
        let url = try hub.appending(["a/b", "ü ?#%"], query: [("k&=", "v+ \r\n"), ("", "")])
        #expect(url.text == "https://hub:8443/base/a%2Fb/%C3%BC%20%3F%23%25?k%26%3D=v%2B%20%0D%0A&=")
        #expect(try HTTPURL("http://hub").appending(["x"]).text == "http://hub/x")
        #expect(url.description == "https://hub:8443", "a query may hold a secret")
        for segment in ["", ".", ".."] {
            #expect(throws: HTTPClientError.badURL(.badCharacter)) { try hub.appending(["a", segment]) }
        }
        #expect(throws: HTTPClientError.badURL(.badCharacter)) { try url.appending(["a"]) }
        #expect(throws: HTTPClientError.badURL(.tooLong)) {
            try hub.appending([String(repeating: "ü", count: 1_000)])
        }
    }

    @Test(
        arguments: [
            ("", "x", .badName), ("A:", "x", .badName), ("A B", "x", .badName), ("A\r\nB", "x", .badName),
            ("Ä", "x", .badName), (String(repeating: "a", count: 129), "x", .badName),
            ("A", "x\r\nB: y", .badValue), ("A", "x\ny", .badValue), ("A", "x\ry", .badValue), ("A", "x\0y", .badValue),
            ("A", "\u{7F}", .badValue), ("A", String(repeating: "a", count: 8_193), .badValue),
            ("Host", "x", .ownedByClient), ("content-LENGTH", "1", .ownedByClient),
            ("Transfer-Encoding", "chunked", .ownedByClient), ("Range", "bytes=0-", .ownedByClient),
            ("Accept-Encoding", "gzip", .ownedByClient), ("Connection", "close", .ownedByClient),
        ] as [(String, String, HTTPHeader.Fault)])
    func noHeaders(name: String, value: String, fault: HTTPHeader.Fault) {
        #expect(throws: HTTPClientError.badHeader(fault)) { try HTTPHeader(name, value) }
    }

    @Test func headers() throws {
        let header = try HTTPHeader("Authorization", " \tBearer ünïcode\tx ")
        #expect(header.value == "Bearer ünïcode\tx")
        #expect("\(header)" == "Authorization", "the value may be a secret")
    }

    @Test func formsHaveNoLineEndsInTheirHeads() throws {
        let file = OwnedFile(owning: -1)
        for name in ["", "a\r\nb", "a\0b", String(repeating: "a", count: 300)] {
            #expect(throws: HTTPClientError.badHeader(.badName)) { try FormField(name, "x") }
            #expect(throws: HTTPClientError.badHeader(.badName)) {
                try FormFile("photo", fileName: name, type: .jpeg, file: file, count: 0)
            }
        }
        for numbers: (Int64, Int64) in [(-1, 1), (0, -1), (1, .max)] {
            #expect(throws: HTTPClientError.disk(EINVAL)) {
                try FormFile("photo", fileName: "x", type: .jpeg, file: file, from: numbers.0, count: numbers.1)
            }
        }
        for type in ["", "jpeg", "image/jpeg\r\nX: y", "image/ü", String(repeating: "a/", count: 100)] {
            #expect(throws: HTTPClientError.badHeader(.badValue)) { try ContentType(type) }
        }
    }

    @Test func tooManyHeaders() async throws {
        let server = try ScriptedServer { _ in ScriptedServer.answer() }
        var limits = HTTPClientLimits()
        limits.requestHeaders = 2
        let client = try HTTPClient(limits: limits)
        let header = try HTTPHeader("X", "y")
        #expect(
            await failure { try await client.get(server.url(), headers: [header, header, header]) }
                == .badHeader(.tooMany))
        #expect(try await client.get(server.url(), headers: [header, header]).status == 200)
        await client.stop()
    }

    @Test func everyErrorSaysWhatToDo() {
        let errors: [HTTPClientError] =
            HTTPURL.Fault.allCases.map { .badURL($0) } + HTTPHeader.Fault.allCases.map { .badHeader($0) }
            + HTTPClientError.TLSFault.allCases.map { .tls($0) }
            + HTTPClientError.AnswerFault.allCases.map { .badAnswer($0) }
            + [
                .cannotResolve, .cannotConnect, .timedOut, .interrupted, .tooLarge, .redirected(status: 301),
                .cannotResume, .busy, .cancelled, .stopped, .disk(EIO), .disk(ENOSPC), .fileChanged, .unexpected(1),
            ]
        #expect(Set(errors.map(\.description)).count == errors.count)
        #expect(errors.allSatisfy { $0.description.hasSuffix(".") })
        let retryable = errors.filter(\.isRetryable)
        #expect(
            Set(retryable)
                == [
                    .cannotResolve, .cannotConnect, .timedOut, .interrupted, .busy, .stopped, .disk(EIO), .fileChanged,
                ])
    }
}
