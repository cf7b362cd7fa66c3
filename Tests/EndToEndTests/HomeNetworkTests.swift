import EndToEndSupport
import Foundation
import ServiceMesh
import TestSupport
import Testing

/// A home's network of two machines, each a namespace of this one's kernel: the machine with the photos and a phone. Nothing leaves it.
@Suite(.serialized, .timeLimit(.minutes(4)), .enabled(if: HomeNetwork.isPossible, "network namespaces take root"))
struct HomeNetworkTests {
    private struct Home: Decodable {
        struct Facts: Decodable {
            let addresses, doors: [String]
        }
        let home: Facts
        let pairing: String
    }

    private func withNetwork(_ body: (Installation, HomeNetwork) async throws -> Void) async throws {
        let place = try Installation("network")
        let network = try HomeNetwork()
        try await place.up()
        do {
            try await body(place, network)
        } catch {
            _ = try await place.smilepile("web", "stop")
            throw error
        }
        _ = try await place.smilepile("web", "stop")
    }

    private func start(_ place: Installation, _ network: HomeNetwork) async throws -> Home {
        let outcome = try await place.run(
            "/usr/sbin/ip", network.inHome([Installation.programs + "/smilepile", "web", "start", "--home", "--json"]))
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Home.self, from: Data(outcome.output.utf8))
    }

    private func curl(_ place: Installation, _ network: HomeNetwork, _ arguments: String...) async throws -> String {
        try await place.run(
            "/usr/sbin/ip",
            network.onPhone(
                [
                    "/usr/bin/curl", "--silent", "--max-time", "20", "--output", place.folder.file("got"),
                    "--write-out", "%{http_code}",
                ]
                    + arguments)
        ).output
    }

    @Test func aPhoneGetsTheCertificateAndTheAddressesThatItReaches() async throws {
        try await withNetwork { place, network in
            // One of the internet, and one of containers inside: neither is a home's.
            network.ip("-n", network.home, "addr", "add", "203.0.113.1/24", "dev", "home0")
            network.ip("-n", network.phone, "addr", "add", "203.0.113.2/24", "dev", "phone0")
            network.ip("-n", network.home, "link", "add", "docker0", "type", "bridge")
            network.ip("-n", network.home, "addr", "add", "172.17.0.1/16", "dev", "docker0")
            network.ip("-n", network.home, "link", "set", "docker0", "up")
            let started = try await start(place, network)
            #expect(started.home.addresses == ["https://10.77.0.1:8468"])
            #expect(started.home.doors == ["http://10.77.0.1:8469"])
            #expect(started.pairing.hasPrefix("https://10.77.0.1:8468/#pair="))

            #expect(try await curl(place, network, "http://10.77.0.1:8469/") == "200")
            #expect(try await curl(place, network, "http://10.77.0.1:8469/rpc") == "404")
            #expect(try await curl(place, network, "http://10.77.0.1:8469/smilepile.crt") == "200")
            let pem = place.folder.file("ca.pem")
            _ = try await place.run(
                "/usr/bin/openssl", ["x509", "-inform", "der", "-in", place.folder.file("got"), "-out", pem])
            #expect(try await curl(place, network, "https://10.77.0.1:8468/") == "000")
            #expect(try await curl(place, network, "--cacert", pem, "https://10.77.0.1:8468/") == "200")
            for port in [8468, 8469] {
                #expect(try await curl(place, network, "--insecure", "http://203.0.113.1:\(port)/") == "000")
            }

            // Another address while it runs: the same authority, and another certificate.
            network.ip("-n", network.phone, "addr", "add", "192.168.77.2/24", "dev", "phone0")
            network.ip("-n", network.home, "addr", "add", "192.168.77.1/24", "dev", "home0")
            try await poll(for: "the new address") {
                try await place.smilepile("web", "status").output.contains("https://192.168.77.1:8468")
            }
            #expect(try await curl(place, network, "--cacert", pem, "https://192.168.77.1:8468/") == "200")
            #expect(try await curl(place, network, "--cacert", pem, "https://10.77.0.1:8468/") == "200")
            network.ip("-n", network.home, "addr", "del", "10.77.0.1/24", "dev", "home0")
            try await poll(for: "the old address to go") {
                try await !place.smilepile("web", "status").output.contains("10.77.0.1")
            }
            #expect(try await curl(place, network, "--cacert", pem, "https://192.168.77.1:8468/") == "200")
            #expect(try await curl(place, network, "http://192.168.77.1:8469/") == "200")
        }
    }

    @Test func withoutANetworkItServesItselfAndSaysWhatToDo() async throws {
        try await withNetwork { place, network in
            network.ip("-n", network.home, "link", "set", "home0", "down")
            network.ip("-n", network.home, "addr", "flush", "dev", "home0")
            let outcome = try await place.run(
                "/usr/sbin/ip", network.inHome([Installation.programs + "/smilepile", "web", "--home"]))
            #expect(
                outcome.status == 0 && outcome.output.hasPrefix("http://127.0.0.1:8468/#pair="), "\(outcome.errors)")
            #expect(outcome.errors.contains("no address in a home's network"))
            // Until there is one.
            network.ip("-n", network.home, "addr", "add", "10.77.0.1/24", "dev", "home0")
            network.ip("-n", network.home, "link", "set", "home0", "up")
            try await poll(for: "the address") {
                try await place.smilepile("web", "status").output.contains("https://10.77.0.1:8468")
            }
            #expect(try await curl(place, network, "http://10.77.0.1:8469/") == "200")
            let again = try await place.smilepile("web")
            #expect(again.output.hasPrefix("https://10.77.0.1:8468/#pair="))
            #expect(again.errors.contains("http://10.77.0.1:8469"))
        }
    }
}

/// Two namespaces with a cable between them, which go with the value.
final class HomeNetwork: Sendable {
    let home = "smilepile-home-\(getpid())"
    let phone = "smilepile-phone-\(getpid())"

    /// Whether this user may make some.
    static let isPossible: Bool = {
        let name = "smilepile-try-\(getpid())"
        defer { _ = run(["netns", "del", name]) }
        return geteuid() == 0 && run(["netns", "add", name])
    }()

    init() throws {
        ip("netns", "add", home)
        ip("netns", "add", phone)
        ip("link", "add", "home0", "netns", home, "type", "veth", "peer", "name", "phone0", "netns", phone)
        ip("-n", home, "addr", "add", "10.77.0.1/24", "dev", "home0")
        ip("-n", phone, "addr", "add", "10.77.0.2/24", "dev", "phone0")
        for (name, device) in [(home, "lo"), (home, "home0"), (phone, "lo"), (phone, "phone0")] {
            ip("-n", name, "link", "set", device, "up")
        }
    }

    deinit {
        ip("netns", "del", home)
        ip("netns", "del", phone)
    }

    func inHome(_ command: [String]) -> [String] { ["netns", "exec", home] + command }
    func onPhone(_ command: [String]) -> [String] { ["netns", "exec", phone] + command }

    func ip(_ arguments: String...) {
        if !Self.run(arguments) { Issue.record("ip \(arguments.joined(separator: " ")) failed") }
    }

    private static func run(_ arguments: [String]) -> Bool {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/sbin/ip")
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }
}
