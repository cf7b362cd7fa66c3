import Executors
import Foundation
import TestSupport
import Testing

@testable import WebServer

/// TLS with an identity that changes while the server runs; curl is who connects.
@Suite(.timeLimit(.minutes(2))) struct TLSTests {
    private static let threads = BlockingPool(name: "tls-tests", threads: 1)
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("tls") }

    /// A certificate of its own making, for 127.0.0.1.
    private func identity(_ name: String) throws -> (key: String, certificate: String) {
        _ = try Tool.shell.run(
            [
                "-c",
                """
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout \(name).key -out \(name).pem \
                -days 2 -subj /CN=\(name) -addext subjectAltName=IP:127.0.0.1 2>/dev/null
                """,
            ], in: folder.path)
        func text(_ file: String) throws -> String { try String(contentsOfFile: folder.file(file), encoding: .utf8) }
        return (try text(name + ".key"), try text(name + ".pem"))
    }

    private func curl(_ authority: String, _ address: String, _ port: UInt16) -> String {
        let output = try? Tool.shell.run(
            [
                "-c",
                "curl --silent --max-time 20 --cacert \(authority).pem --output /dev/null --write-out '%{http_code}' "
                    + "https://\(address):\(port)/ || true",
            ], in: folder.path)
        return String(decoding: output ?? [], as: UTF8.self)
    }

    @Test func whatIsShownChangesForWhoConnectsFromThenOn() async throws {
        let (one, other) = (try identity("one"), try identity("other"))
        let listener = try WebListener(try #require(ListeningAddress("127.0.0.1:0")))
        let daemon = try FakeDaemon()
        let server = try WebServer(on: [listener], tls: try TLSIdentity(key: one.key, certificate: one.certificate)) {
            try daemon.connect()
        }
        let port = listener.address.port
        #expect(curl("one", "127.0.0.1", port) == "401")
        #expect(curl("other", "127.0.0.1", port) == "000")
        server.show(try TLSIdentity(key: other.key, certificate: other.certificate))
        #expect(curl("other", "127.0.0.1", port) == "401")
        #expect(curl("one", "127.0.0.1", port) == "000")
        // Another address, and the first one no more.
        let second = try WebListener(try #require(ListeningAddress("127.0.0.2:0")))
        server.listen(on: [listener, second])
        #expect(curl("other", "127.0.0.1", port) == "401")
        server.listen(on: [second])
        // The certificate is not for this address, but something listens there.
        _ = try await RawHTTP.connect(second.address.port, host: "127.0.0.2")
        await #expect(throws: (any Error).self) { _ = try await RawHTTP.connect(port) }
        await server.stop()
        await #expect(throws: (any Error).self) {
            _ = try await RawHTTP.connect(second.address.port, host: "127.0.0.2")
        }
    }

    @Test func whoIsConnectedStaysSo() async throws {
        let (one, other) = (try identity("one"), try identity("other"))
        let listener = try WebListener(try #require(ListeningAddress("127.0.0.1:0")))
        let daemon = try FakeDaemon()
        let server = try WebServer(on: [listener], tls: try TLSIdentity(key: one.key, certificate: one.certificate)) {
            try daemon.connect()
        }
        // One connection that asks, waits for a word, and asks again.
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        client.arguments = [
            "s_client", "-quiet", "-connect", "127.0.0.1:\(listener.address.port)", "-CAfile", folder.file("one.pem"),
        ]
        let (input, output) = (Pipe(), Pipe())
        (client.standardInput, client.standardOutput) = (input, output)
        client.standardError = FileHandle.nullDevice
        try client.run()
        let request = Data("GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".utf8)
        let status = "HTTP/1.1 401"
        // A reply may come in several pieces.
        func replies(_ count: Int, after text: String) async throws -> String {
            try await Self.threads.run {
                var text = text
                while text.components(separatedBy: status).count <= count {
                    let more = output.fileHandleForReading.availableData
                    if more.isEmpty { break }
                    text += String(decoding: more, as: UTF8.self)
                }
                return text
            }
        }
        try input.fileHandleForWriting.write(contentsOf: request)
        let first = try await replies(1, after: "")
        #expect(first.hasPrefix(status))
        server.show(try TLSIdentity(key: other.key, certificate: other.certificate))
        server.listen(on: [])
        try input.fileHandleForWriting.write(contentsOf: request)
        #expect(try await replies(2, after: first).components(separatedBy: status).count == 3)
        try input.fileHandleForWriting.close()
        await server.stop()
        client.waitUntilExit()
    }

    @Test func anIdentityThatIsNoneIsRefused() throws {
        let (one, other) = (try identity("one"), try identity("other"))
        func reason(_ key: String, _ certificate: String) -> String {
            do {
                _ = try TLSIdentity(key: key, certificate: certificate)
                return ""
            } catch {
                return "\(error)"
            }
        }
        #expect(reason(one.key, one.certificate + other.certificate) == "")
        #expect(reason(one.key, other.certificate).contains("is not the certificate's"))
        #expect(reason("x", one.certificate).contains("The key is none"))
        #expect(reason(one.key, "x").contains("The certificate is none"))
        #expect(reason("", "").contains("The key is none"))
    }
}
