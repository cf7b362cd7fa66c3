import Foundation
import Synchronization
import TestSupport
import Testing
import WebPage

@testable import WebServer

/// The door of plain HTTP beside a home's page: three things, for everybody, and nothing else.
@Suite(.timeLimit(.minutes(2))) struct HomeDoorTests {
    private static let fingerprint = Array(repeating: "AB", count: 32).joined(separator: ":")

    private func withDoor(
        _ body: (HomeDoor, UInt16) async throws -> Void
    ) async throws {
        let listener = try WebListener(try #require(ListeningAddress("127.0.0.1:0")))
        let page = DoorPage(
            name: "SmilePile <nas>", fingerprint: Self.fingerprint, port: 8468, otherwise: "192.168.1.5")
        let content = HomeDoor.Content(
            certificate: Data([0x30, 1, 2, 3]), profile: { Data("profile \($0)".utf8) }, style: DoorPage.style,
            page: { page.html(language: $0, host: $1) })
        let door = try HomeDoor(on: [listener], names: ["smilepile.local", "NAS"], content: content)
        do {
            try await body(door, listener.address.port)
        } catch {
            await door.stop()
            throw error
        }
        await door.stop()
    }

    private func ask(
        _ port: UInt16, _ method: String, _ target: String, host: String? = nil, _ headers: [String] = [],
        body: String = ""
    ) async throws -> RawReply {
        let connection = try await RawHTTP.connect(port)
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")"] + headers
        if !body.isEmpty { lines.append("Content-Length: \(body.utf8.count)") }
        try await connection.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
        return try await connection.reply(hasBody: method != "HEAD")
    }

    @Test func itHasAPageACertificateAndAProfile() async throws {
        try await withDoor { _, port in
            let page = try await ask(port, "GET", "/")
            #expect(page.status == 200 && page.header("content-type") == "text/html; charset=utf-8")
            #expect(page.text.contains("SmilePile &lt;nas&gt;") && !page.text.contains("<nas>"))
            #expect(page.text.contains("AB:AB:AB:AB:AB:AB:AB:AB</span>"))
            let certificate = try await ask(port, "GET", "/smilepile.crt")
            #expect(certificate.status == 200 && certificate.body == [0x30, 1, 2, 3])
            #expect(certificate.header("content-type") == "application/x-x509-ca-cert")
            let profile = try await ask(port, "GET", "/smilepile.mobileconfig", ["Accept-Language: de-CH"])
            #expect(profile.status == 200 && profile.text == "profile de")
            #expect(profile.header("content-type") == "application/x-apple-aspen-config")
            for path in ["/", "/smilepile.crt", "/smilepile.mobileconfig"] {
                let head = try await ask(port, "HEAD", path)
                #expect(head.status == 200 && head.body.isEmpty && head.header("content-length") != "0")
            }
        }
    }

    @Test func everyAnswerIsKeptIn() async throws {
        try await withDoor { _, port in
            for path in ["/", "/smilepile.crt", "/smilepile.mobileconfig", "/nothing"] {
                let reply = try await ask(port, "GET", path)
                let policy = reply.header("content-security-policy") ?? ""
                #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(reply.header("x-content-type-options") == "nosniff")
                #expect(reply.header("referrer-policy") == "no-referrer")
                #expect(reply.header("set-cookie") == nil && reply.header("location") == nil)
            }
            // The style is the one that the policy allows, and there is nothing else to allow.
            let page = try await ask(port, "GET", "/").text
            let style = try #require(page.firstRange(of: "<style>")).upperBound
            let end = try #require(page.firstRange(of: "</style>")).lowerBound
            let digest = try Tool.shell.run(
                ["-c", "openssl dgst -sha256 -binary | base64"], input: Array(page[style..<end].utf8))
            let policy = try await ask(port, "GET", "/").header("content-security-policy") ?? ""
            #expect(policy.contains("sha256-" + String(decoding: digest, as: UTF8.self).dropLast()))
            for word in ["<script", "<img", "src=", "style=", "url(", "@import", "<form", "<iframe"] {
                #expect(!page.contains(word), "\(word)")
            }
        }
    }

    @Test(arguments: [
        "/index.html", "/pair", "/rpc", "/photos/x/photo", "/smilepile.crt/", "//smilepile.crt", "/smilepile.key",
        "/whereabouts", "/api/groups", "/../smilepile.crt", "/%73milepile.crt", "/assets/main.js", "/favicon.ico",
    ]) func thereIsNothingElse(_ path: String) async throws {
        try await withDoor { _, port in
            let reply = try await ask(port, "GET", path)
            #expect(reply.status == 404, "\(reply.status)")
        }
    }

    @Test func itTakesNothingIn() async throws {
        try await withDoor { _, port in
            for method in ["POST", "PATCH", "DELETE"] {
                #expect(try await ask(port, method, "/", body: "x").status == 405)
                #expect(try await ask(port, method, "/smilepile.crt").status == 405)
                #expect(try await ask(port, method, "/upload").status == 404)
            }
            #expect(try await ask(port, "PUT", "/").status == 405)
            #expect(try await ask(port, "GET", "/", ["Transfer-Encoding: chunked"]).status == 411)
            #expect(try await ask(port, "GET", "/", ["Host: x"]).status == 400)
            let long = try await ask(port, "GET", "/", ["X: " + String(repeating: "x", count: 20_000)])
            #expect([413, 431].contains(long.status))
            // A large body is not waited for.
            let connection = try await RawHTTP.connect(port)
            try await connection.send("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000000\r\n\r\n")
            #expect(try await connection.reply().status == 405)
        }
    }

    @Test func itIsAskedByItsOwnNames() async throws {
        try await withDoor { _, port in
            for host in [
                "smilepile.local", "SMILEPILE.local:8469", "nas", "localhost", "192.168.1.9:8469", "[fd00::1]:8469",
            ] {
                let reply = try await ask(port, "GET", "/", host: host)
                #expect(reply.status == 200, "\(host)")
            }
            for host in ["evil.example", "smilepile.local.evil.example", "nas.evil", "192.168.1.9.evil.example"] {
                #expect(try await ask(port, "GET", "/", host: host).status == 421, "\(host)")
            }
            // It leads back to where it was reached, and away from what only this machine reaches.
            func link(_ host: String) async throws -> Bool? {
                let text = try await ask(port, "GET", "/", host: host).text
                return host.hasPrefix("l") || host.hasPrefix("127")
                    ? text.contains("href=\"https://192.168.1.5:8468/\"")
                    : text.contains("href=\"https://\(host):8468/\"")
            }
            for host in ["smilepile.local", "192.168.1.9", "[fd00::1]", "localhost", "127.0.0.1"] {
                #expect(try await link(host) == true, "\(host)")
            }
        }
    }

    @Test(arguments: [
        ("de", "de"), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr,de;q=0.7,en;q=0.3", "de"), ("en,de;q=0.5", "en"),
        ("en-GB", "en"), ("fr", "en"), ("", "en"), ("deutsch", "en"), (";,;", "en"),
    ]) func itSpeaksTheLanguageThatIsWished(_ accepted: String, _ language: String) async throws {
        try await withDoor { _, port in
            let reply = try await ask(port, "GET", "/", ["Accept-Language: \(accepted)"])
            #expect(reply.header("content-language") == language)
            #expect(reply.text.contains("<html lang=\"\(language)\">"))
            #expect(reply.header("vary") == "Accept-Language")
        }
    }

    @Test func aThousandConnectionsKeepNobodyOut() async throws {
        try await withDoor { _, port in
            var held: [RawHTTP] = []
            for _ in 0..<1_000 {
                let connection = try await RawHTTP.connect(port)
                try await connection.send("GET / HT")
                held.append(connection)
            }
            #expect(try await ask(port, "GET", "/smilepile.crt").status == 200)
            withExtendedLifetime(held) {}
        }
    }

    @Test func itListensElsewhereAndGivesSomethingElse() async throws {
        try await withDoor { door, port in
            let other = try WebListener(try #require(ListeningAddress("127.0.0.1:0")))
            door.listen(on: [other])
            door.change(
                to: HomeDoor.Content(
                    certificate: Data([7]), profile: { _ in Data() }, style: "sha256-x",
                    page: { _, _ in Data("new".utf8) }))
            #expect(try await ask(other.address.port, "GET", "/").text == "new")
            // Closed by the thread that waited there, which has looked at its sockets before it took that connection.
            await #expect(throws: (any Error).self) { _ = try await RawHTTP.connect(port) }
        }
    }
}
