import Foundation
import HTTPClient
import TestSupport
import Testing

/// Proxies, files of the user's and certificates.
@Suite(.timeLimit(.minutes(2))) struct SurroundingsTests {
    /// In a program of its own: the environment is everybody's.
    @Test func nothingOfTheEnvironmentIsUsedUnasked() async throws {
        await #expect(processExitsWith: .success) {
            let proxy = try ScriptedServer { request in ScriptedServer.answer("200 OK", "proxy \(request.target)") }
            let server = try ScriptedServer { request in
                ScriptedServer.answer("200 OK", "server \(request.headers["authorization"] ?? "nobody")")
            }
            let home = try TemporaryFolder("home")
            try Data("machine 127.0.0.1 login me password secret\n".utf8)
                .write(to: URL(fileURLWithPath: home.file(".netrc")))
            setenv("HOME", home.path, 1)
            for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
                setenv(name, "http://127.0.0.1:\(proxy.port)", 1)
            }
            for name in ["no_proxy", "NO_PROXY"] { unsetenv(name) }
            let url = try server.url("/x")
            let client = try HTTPClient()
            let answer = try await client.get(url)
            precondition(answer.data == Data("server nobody".utf8), String(decoding: answer.data, as: UTF8.self))
            precondition(proxy.connections == 0)
            await client.stop()
            // So that it is the client that makes the difference.
            let asking = try HTTPClient(proxy: .environment)
            let other = try await asking.get(url)
            precondition(other.data == Data("proxy \(url.text)".utf8), String(decoding: other.data, as: UTF8.self))
            await asking.stop()
        }
    }

    @Test func aCertificateThatNobodyVouchesFor() async throws {
        let server = try TLSServer()
        let client = try HTTPClient()
        let error = await failure { try await client.get(server.url) }
        #expect(error == .tls(.untrusted) && error?.isRetryable == false)
        await client.stop()
        // Somebody else's authority is no better.
        let stranger = try TLSServer()
        let other = try HTTPClient(authorities: stranger.certificate)
        #expect(await failure { try await other.get(server.url) } == .tls(.untrusted))
        await other.stop()
    }

    @Test func aCertificateOfOnesOwn() async throws {
        let server = try TLSServer()
        let client = try HTTPClient(authorities: server.certificate)
        let answer = try await client.get(server.url)
        #expect(answer.status == 200 && String(decoding: answer.data, as: UTF8.self).contains("TLSv1.3"))
        await client.stop()
    }

    @Test func aCertificateForAnotherName() async throws {
        let server = try TLSServer(name: "DNS:other.example")
        let client = try HTTPClient(authorities: server.certificate)
        #expect(await failure { try await client.get(server.url) } == .tls(.untrusted))
        await client.stop()
    }

    @Test func anOldVersionOfTLS() async throws {
        let server = try TLSServer(options: ["-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"])
        let client = try HTTPClient(authorities: server.certificate)
        #expect(await failure { try await client.get(server.url) } == .tls(.handshake))
        await client.stop()
    }

    @Test func noFileOfAuthorities() async throws {
        let server = try TLSServer()
        let client = try HTTPClient(authorities: server.certificate + ".absent")
        #expect(await failure { try await client.get(server.url) } == .tls(.noAuthorities))
        await client.stop()
    }

    @Test func aServerThatDoesNotSpeakTLS() async throws {
        let server = try ScriptedServer { peer in try peer.send("HTTP/1.1 400 Bad Request\r\n\r\n") }
        let client = try HTTPClient()
        let url = try HTTPURL("https://127.0.0.1:\(server.port)/")
        #expect(await failure { try await client.get(url) } == .tls(.handshake))
        await client.stop()
    }
}
