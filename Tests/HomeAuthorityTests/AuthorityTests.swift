import Foundation
import ServiceMesh
import TestSupport
import Testing

@testable import HomeAuthority

/// What OpenSSL, another library than the one that makes them, says of the certificates.
@Suite struct AuthorityTests {
    private static let now: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("authority") }

    private func openssl(_ command: String) -> String {
        let output = try? Tool.shell.run(["-c", "{ openssl \(command); } 2>&1; echo \"status $?\""], in: folder.path)
        return String(decoding: output ?? [], as: UTF8.self)
    }

    private func write(_ name: String, _ data: Data) throws {
        try data.write(to: URL(fileURLWithPath: folder.file(name)))
    }

    private func made(_ names: [String] = HomeNames.all(of: "nas-2")) throws -> Authority {
        let authority = try Authority.make(names: names, now: Self.now)
        try write("ca.pem", try authority.certificatePEM())
        try write("ca-with-key.pem", try authority.pem())
        return authority
    }

    private func server(
        _ authority: Authority, addresses: [String] = ["192.168.1.5"], names: [String] = HomeNames.all(of: "nas-2")
    ) throws -> ServerCertificate {
        let made = try authority.serverCertificate(
            addresses: addresses.compactMap { PrivateAddress($0) }, names: names, now: Self.now)
        try write("server.pem", Data(made.certificate.utf8))
        try write("server.key", Data(made.key.utf8))
        return made
    }

    private func verify(_ options: String, file: String = "server.pem") -> String {
        openssl("verify -attime \(Self.now) -x509_strict -purpose sslserver -CAfile ca.pem \(options) \(file)")
    }

    @Test func anAuthoritySaysWhatItIsAndWhatItMaySpeakFor() throws {
        let authority = try made()
        let text = openssl("x509 -in ca.pem -noout -text").replacingOccurrences(
            of: "\n *", with: "\n", options: .regularExpression)
        for expected in [
            "Basic Constraints: critical\nCA:TRUE, pathlen:0", "Key Usage: critical\nCertificate Sign, CRL Sign",
            "Name Constraints: critical\nPermitted:", "ASN1 OID: prime256v1", "IP:10.0.0.0/255.0.0.0",
            "IP:172.16.0.0/255.240.0.0", "IP:192.168.0.0/255.255.0.0", "IP:169.254.0.0/255.255.0.0",
            "IP:127.0.0.0/255.0.0.0", "IP:100.64.0.0/255.192.0.0", "IP:FC00:0:0:0:0:0:0:0/FE00:0:0:0:0:0:0:0",
            "IP:FE80:0:0:0:0:0:0:0/FFC0:0:0:0:0:0:0:0", "IP:0:0:0:0:0:0:0:1/FFFF:FFFF", "DNS:local\n",
            "DNS:localhost\n",
            "DNS:nas-2\n", "ecdsa-with-SHA256",
        ] { #expect(text.contains(expected), "\(expected) is not in \(text)") }
        #expect(!text.contains("Excluded"))
        #expect(authority.begins == Self.now - Self.day && authority.ends - Self.now == 3_652 * Self.day)
        let printed = openssl("x509 -in ca.pem -noout -fingerprint -sha256")
        #expect(printed.contains("=" + authority.shownFingerprint + "\n"), "\(printed)")
        #expect(openssl("x509 -in ca.pem -noout -subject").contains("CN = \(authority.name)"))
        #expect(authority.name.hasPrefix("SmilePile nas-2 "))
    }

    @Test func itsServersAreBelievedUnderEachNameAndAddress() throws {
        let authority = try made()
        let server = try server(authority, addresses: ["192.168.1.5", "10.0.0.7", "fd00::5"])
        for name in ["nas-2", "nas-2.local", "smilepile.local", "localhost"] {
            #expect(verify("-verify_hostname \(name)").contains("OK"), "\(name)")
        }
        for address in ["192.168.1.5", "10.0.0.7", "fd00::5"] {
            #expect(verify("-verify_ip \(address)").contains("OK"), "\(address)")
        }
        #expect(verify("-verify_ip 192.168.1.6").contains("IP address mismatch"))
        let text = openssl("x509 -in server.pem -noout -text")
        #expect(text.contains("TLS Web Server Authentication") && text.contains("CA:FALSE"))
        #expect(server.ends - server.begins < 397 * Self.day && server.begins == Self.now - Self.day)
        #expect(server.ends - Self.now > 390 * Self.day)
        // Its key is its own, and the certificate's.
        #expect(openssl("pkey -in server.key -pubout") == openssl("x509 -in server.pem -noout -pubkey"))
        #expect(server.key != String(decoding: authority.key, as: UTF8.self))
        let again = try authority.serverCertificate(addresses: [], names: [], now: Self.now)
        #expect(again.key != server.key)
    }

    /// Where the authority's key is stolen: what a thief signs with it.
    @Test(arguments: [
        "DNS:example.com", "IP:8.8.8.8", "IP:2001:db8::1", "DNS:local.example.com", "DNS:nas-22", "DNS:com",
        "DNS:smilepile.local,DNS:example.com",
    ]) func whatIsOutsideOfAHomeIsRefused(_ name: String) throws {
        _ = try made()
        func sign(_ name: String) -> String {
            let extensions = "basicConstraints=CA:FALSE\\nsubjectAltName=\(name)\\nextendedKeyUsage=serverAuth\\n"
            return openssl(
                """
                req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /O=x -out r.pem &&
                printf '\(extensions)' > e && openssl x509 -req -in r.pem -CA ca-with-key.pem -CAkey ca-with-key.pem \
                -days 9000 -CAcreateserial -extfile e -out bad.pem
                """)
        }
        #expect(sign(name).contains("status 0"))
        let said = openssl("verify -attime \(Self.now + 10 * Self.day) -no_check_time -CAfile ca.pem bad.pem")
        #expect(said.contains("permitted subtree violation"), "\(said)")
        // It is not refused for another reason.
        #expect(sign("DNS:smilepile.local,IP:192.168.7.7").contains("status 0"))
        #expect(openssl("verify -no_check_time -CAfile ca.pem bad.pem").contains("bad.pem: OK"))
    }

    @Test func anAuthorityBelowItIsRefused() throws {
        _ = try made()
        let said = openssl(
            """
            req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout k.pem -subj /O=x -out r.pem &&
            printf 'basicConstraints=critical,CA:TRUE\\nkeyUsage=critical,keyCertSign\\n' > e &&
            openssl x509 -req -in r.pem -CA ca-with-key.pem -CAkey ca-with-key.pem -days 9000 -extfile e -out below.pem &&
            printf 'subjectAltName=DNS:x.local\\n' > e && openssl req -new -key k.pem -subj /O=y -out r2.pem &&
            openssl x509 -req -in r2.pem -CA below.pem -CAkey k.pem -days 9000 -extfile e -out leaf.pem &&
            openssl verify -no_check_time -CAfile ca.pem -untrusted below.pem leaf.pem
            """)
        #expect(said.contains("path length constraint exceeded"), "\(said)")
    }

    /// A machine that is called as an ending of the internet is must not get to speak for all below it.
    @Test func namesThatMayBeTheInternetsAreLeftOut() throws {
        let authority = try made(HomeNames.all(of: "Photos"))
        #expect(try !authority.permits("photos") && !authority.permits("shop.photos"))
        #expect(try authority.permits("photos.local") && authority.permits("smilepile.local"))
        let server = try server(authority, names: HomeNames.all(of: "Photos"))
        #expect(server.names.contains("photos"))
        #expect(verify("-verify_hostname photos.local").contains("OK"))
        #expect(verify("-verify_hostname photos").contains("hostname mismatch"))
        // Also where the machine has been called otherwise since.
        let renamed = try self.server(authority, names: HomeNames.all(of: "nas-3"))
        #expect(renamed.names.contains("nas-3"))
        #expect(verify("-verify_hostname nas-3.local").contains("OK"))
    }

    @Test func whatDevicesInstallIsTheCertificate() throws {
        let authority = try made()
        try write("ca.der", authority.certificate)
        #expect(openssl("x509 -inform der -in ca.der") == openssl("x509 -in ca.pem"))
        var uuids: Set<String> = []
        for language in InstallationProfile.Language.allCases {
            let profile = InstallationProfile.make(for: authority, in: language)
            #expect(profile == InstallationProfile.make(for: authority, in: language))
            let list = try PropertyListSerialization.propertyList(from: profile, format: nil) as? [String: Any]
            let payload = try #require((list?["PayloadContent"] as? [[String: Any]])?.first)
            #expect(payload["PayloadContent"] as? Data == authority.certificate)
            #expect(payload["PayloadType"] as? String == "com.apple.security.root")
            #expect(list?["PayloadType"] as? String == "Configuration")
            for uuid in [list?["PayloadUUID"], payload["PayloadUUID"]] {
                uuids.insert(try #require((uuid as? String).flatMap { UUID(uuidString: $0)?.uuidString }))
            }
        }
        #expect(uuids.count == 2)
    }
}
