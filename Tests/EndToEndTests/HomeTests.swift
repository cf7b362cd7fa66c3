import EndToEndSupport
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

/// A home's address: the real programs, on addresses of the loopback range; curl stands for a phone.
@Suite(.serialized, .timeLimit(.minutes(4))) struct HomeTests {
    private struct Started: Decodable {
        struct Home: Decodable {
            let addresses, doors: [String]
            let fingerprint: String
        }
        let address: String
        let pairing: String
        let pid: Int32
        let started: Bool
        let home: Home
    }

    private func start(_ place: Installation, _ arguments: String...) async throws -> Started {
        let outcome = try await place.run("smilepile", ["web", "start", "--json"] + arguments)
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Started.self, from: Data(outcome.output.utf8))
    }

    private func withHome(_ body: (Installation, Started) async throws -> Void) async throws {
        let place = try Installation("home")
        try await place.up()
        let started = try await start(place, "--home", "--listen", "127.0.0.1:0")
        do {
            try await body(place, started)
        } catch {
            _ = try await place.smilepile("web", "stop")
            throw error
        }
        _ = try await place.smilepile("web", "stop")
    }

    /// - Returns: the status, or 000 where there was none, and the body.
    private func curl(_ place: Installation, _ arguments: String...) async throws -> (status: String, body: String) {
        let file = place.folder.file(UUID().uuidString)
        let outcome = try await place.run(
            "/usr/bin/curl",
            ["--silent", "--max-time", "30", "--output", file, "--write-out", "%{http_code}"] + arguments)
        return (outcome.output, (try? String(contentsOfFile: file, encoding: .utf8)) ?? "")
    }

    /// As a device gets the certificate: from the door, without TLS.
    private func install(_ place: Installation, _ started: Started) async throws -> String {
        let door = try #require(started.home.doors.first)
        let (der, pem) = (place.folder.file("installed.crt"), place.folder.file("installed.pem"))
        _ = try await place.run("/usr/bin/curl", ["--silent", "--output", der, door + "/smilepile.crt"])
        let read = try await place.run(
            "/usr/bin/openssl", ["x509", "-inform", "der", "-in", der, "-noout", "-fingerprint", "-sha256"])
        #expect(read.output.contains("=" + started.home.fingerprint))
        _ = try await place.run("/usr/bin/openssl", ["x509", "-inform", "der", "-in", der, "-out", pem])
        return pem
    }

    @Test func aDeviceInstallsTheCertificateIsPairedAndIsBelieved() async throws {
        try await withHome { place, started in
            let authority = try await install(place, started)
            let address = try #require(started.home.addresses.first)
            #expect(started.address == address && started.pairing.hasPrefix(address + "/#pair="))
            #expect(try await curl(place, address + "/").status == "000")
            #expect(try await curl(place, "--cacert", authority, address + "/").status == "200")
            let code = try #require(started.pairing.split(separator: "=").last)
            let jar = place.folder.file("jar")
            let paired = try await curl(
                place, "--cacert", authority, "--cookie-jar", jar, "--header", "Origin: \(address)", "--header",
                "Content-Type: application/json", "--data", "{\"code\":\"\(code)\",\"name\":\"phone\"}",
                address + "/pair")
            #expect(paired.status == "200")
            #expect(try String(contentsOfFile: jar, encoding: .utf8).contains("__Host-smilepile-"))
            let told = try await curl(place, "--cacert", authority, "--cookie", jar, address + "/whereabouts")
            #expect(told.body.contains(address) && told.body.contains(started.home.fingerprint))
            // By its names too.
            let port = try #require(address.split(separator: ":").last)
            for name in ["smilepile.local", "localhost"] {
                let reply = try await curl(
                    place, "--cacert", authority, "--resolve", "\(name):\(port):127.0.0.1", "https://\(name):\(port)/")
                #expect(reply.status == "200", "\(name)")
            }
            let other = try await curl(
                place, "--cacert", authority, "--header", "Host: evil.example", address + "/whereabouts")
            #expect(other.status == "421")

            let status = try await place.smilepile("web", "status")
            for expected in [address, started.home.doors[0], started.home.fingerprint, "SmilePile"] {
                #expect(status.output.contains(expected), "\(status.output)")
            }
        }
    }

    @Test func whatStartsAgainHasTheSameAuthorityAndAnotherCertificate() async throws {
        try await withHome { place, started in
            let authority = try await install(place, started)
            #expect(try await start(place, "--home").started == false)
            let port = try #require(started.home.addresses.first?.split(separator: ":").last)
            func certificate() async throws -> String {
                try await place.run(
                    "/bin/bash",
                    ["-c", "openssl s_client -connect 127.0.0.1:\(port) </dev/null 2>/dev/null | openssl x509"]
                ).output
            }
            let before = try await certificate()
            #expect(before.contains("BEGIN CERTIFICATE"))
            // Killed at once: nothing that it has left behind holds the port.
            kill(started.pid, SIGKILL)
            await place.pageIsGone()
            let again = try await start(place, "--home", "--listen", "127.0.0.1:\(port)")
            #expect(again.started && again.home.fingerprint == started.home.fingerprint)
            #expect(try await curl(place, "--cacert", authority, "https://127.0.0.1:\(port)/").status == "200")
            #expect(try await certificate() != before)
            let file = place.folder.file("home/.config/smilepile/home-authority.pem")
            #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
            #expect(try await place.smilepile("web", "stop").status == 0)
            #expect(try await curl(place, "--cacert", authority, "https://127.0.0.1:\(port)/").status == "000")
        }
    }

    /// The program that talks to the network has the server's key, and nothing of the authority's.
    @Test func theAuthoritysKeyIsInAnotherProcessThatEndsWithThePage() async throws {
        try await withHome { place, started in
            let keepers = try await place.run("/usr/bin/pgrep", ["--parent", String(started.pid)]).output
                .split(separator: "\n").compactMap { Int32($0) }
            func line(_ pid: Int32) -> String {
                ((try? String(contentsOfFile: "/proc/\(pid)/cmdline", encoding: .utf8)) ?? "")
                    .replacingOccurrences(of: "\0", with: " ")
            }
            let keeper = try #require(keepers.first { line($0).contains("--keep-home") })
            let status = try String(contentsOfFile: "/proc/\(keeper)/status", encoding: .utf8)
            #expect(status.contains("NoNewPrivs:\t1"))
            let own = try String(contentsOfFile: "/proc/\(started.pid)/status", encoding: .utf8)
            #expect(own.contains("Seccomp:\t2"))
            kill(started.pid, SIGKILL)
            try await poll(for: "the keeper's end") { line(keeper).isEmpty }
        }
    }

    @Test func ctrlCEndsItCleanly() async throws {
        let place = try Installation("home")
        try await place.up()
        let program = try place.start("smilepile-web", ["--home", "--listen", "127.0.0.1:0", "--socket", place.socket])
        try await poll(for: "the page") { try await place.smilepile("web", "status").output.contains("SHA-256") }
        kill(program.pid, SIGINT)
        let outcome = try await program.outcome()
        #expect(outcome.status == 0 && outcome.errors.hasSuffix("stopped\n"), "\(outcome.errors)")
    }

    // MARK: What does not begin

    private func refusal(_ place: Installation, _ arguments: String...) async throws -> String {
        let outcome = try await place.run("smilepile", ["web", "start"] + arguments)
        #expect(outcome.status != 0)
        for noise in ["NSCocoa", "Usage", "--access-log", "Foundation"] { #expect(!outcome.errors.contains(noise)) }
        return outcome.errors
    }

    @Test func everyFailureSaysItsOwnReason() async throws {
        let place = try Installation("home")
        try await place.up()
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(listener) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        inet_pton(AF_INET, "127.0.0.1", &address.sin_addr)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let port = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> UInt16 in
                bind(listener, pointer, length)
                listen(listener, 1)
                getsockname(listener, pointer, &length)
                return UInt16(
                    bigEndian: UnsafeRawPointer(pointer).assumingMemoryBound(to: sockaddr_in.self).pointee.sin_port)
            }
        }
        let inUse = "cannot listen on 127.0.0.1:\(port): another program listens there already"
        #expect(try await refusal(place, "--listen", "127.0.0.1:\(port)").contains(inUse))
        #expect(try await refusal(place, "--home", "--listen", "127.0.0.1:\(port)").contains(inUse))
        // 169.254.254.253 is listened on, and nothing is sent there.
        for home in [["--home"], ["--insecure-http"]] {
            let said = try await refusal(place, home[0], "--listen", "169.254.254.253:8468")
            #expect(said.contains("this machine does not have that address"), "\(said)")
        }
        #expect(try await refusal(place, "--home", "--listen", "8.8.8.8:1").contains("private addresses"))
        #expect(try await refusal(place, "--listen", "192.168.1.5").contains("--home"))
        #expect(try await refusal(place, "--listen", "photos.house").contains("--listen takes an address in digits"))
        let none = place.folder.file("none.pem")
        let missing = try await refusal(place, "--tls-cert", none, "--tls-key", none)
        #expect(missing.contains("\(none) cannot be read: no such file or directory"), "\(missing)")
        try Data("x".utf8).write(to: URL(fileURLWithPath: none))
        #expect(try await refusal(place, "--tls-cert", none, "--tls-key", none).contains("The key is none"))
        #expect(try await refusal(place, "--tls-cert", none).contains("belong together"))
        #expect(try await refusal(place, "--home", "--tls-cert", none, "--tls-key", none).contains("--home brings"))
        let file = place.folder.file("home/.config/smilepile/home-authority.pem")
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: file).deletingLastPathComponent().path, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: file))
        #expect(chmod(file, 0o644) == 0)
        #expect(try await refusal(place, "--home", "--listen", "127.0.0.1:0").contains("chmod 600 '\(file)'"))
        #expect(chmod(file, 0o600) == 0)
        #expect(try await refusal(place, "--home", "--listen", "127.0.0.1:0").contains("holds no authority"))
    }
}
