import Foundation
import TestSupport
import Testing

@testable import HomeAuthority

/// What a server shows stays right, whatever the clock, the addresses and the authority's file do.
@Suite struct HomeCertificatesTests {
    private static let now: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400
    private static let names = HomeNames.all(of: "nas-2")
    private let folder: TemporaryFolder
    private let file: AuthorityFile
    private let one: [PrivateAddress]

    init() throws {
        folder = try TemporaryFolder("home")
        file = AuthorityFile(path: folder.file("home-authority.pem"))
        one = [try #require(PrivateAddress("192.168.1.5"))]
    }

    private func begin(_ now: Int64 = Self.now) throws -> HomeCertificates {
        try HomeCertificates(file: file, addresses: one, names: Self.names, now: now)
    }

    @Test func aCertificateIsRenewedInItsLastThirtyDays() throws {
        var home = try begin()
        let (authority, first) = (home.authority, home.server)
        #expect(home.notes.count == 1)
        for days: Int64 in [0, 1, 100, 365] {
            #expect(try !home.look(addresses: one, names: Self.names, now: Self.now + days * Self.day))
        }
        let late = Self.now + 367 * Self.day
        #expect(try home.look(addresses: one, names: Self.names, now: late))
        #expect(home.server != first && home.server.ends > late + 390 * Self.day && home.authority == authority)
        #expect(home.notes.isEmpty)
        #expect(try !home.look(addresses: one, names: Self.names, now: late))
    }

    @Test func anotherAddressOrNameIsAnotherCertificate() throws {
        var home = try begin()
        let two = one + [try #require(PrivateAddress("10.1.2.3"))]
        #expect(try home.look(addresses: two, names: Self.names, now: Self.now))
        // The order says which is likelier, and nothing of the certificate.
        #expect(try !home.look(addresses: two.reversed(), names: Self.names, now: Self.now))
        #expect(try home.look(addresses: two, names: HomeNames.all(of: "nas-3"), now: Self.now))
        #expect(try home.look(addresses: [], names: HomeNames.all(of: "nas-3"), now: Self.now))
    }

    @Test func aClockThatIsSetBackOrForthByAYearHasAGoodCertificate() throws {
        var home = try begin()
        let year = 366 * Self.day
        // Behind: before the authority was made, and so before everything.
        #expect(try !home.look(addresses: one, names: Self.names, now: Self.now - year))
        #expect(home.server.begins == Self.now - Self.day)
        let early = try begin(Self.now - year)
        #expect(early.server.begins >= early.authority.begins && early.authority == home.authority)
        #expect(early.notes.contains { $0.contains("clock") })
        // Ahead: what was shown has ended there.
        #expect(try home.look(addresses: one, names: Self.names, now: Self.now + 400 * Self.day))
        // And back: it is of the future there.
        #expect(try home.look(addresses: one, names: Self.names, now: Self.now))
        #expect(home.server.begins == Self.now - Self.day)
    }

    @Test func anExpiredAuthorityIsMadeAnewAndSaid() throws {
        var home = try begin()
        let old = home.authority
        // Its last certificate ends with it, and is shown until then.
        let nearly = old.ends - 10 * Self.day
        #expect(try home.look(addresses: one, names: Self.names, now: nearly))
        #expect(home.server.ends == old.ends)
        #expect(try !home.look(addresses: one, names: Self.names, now: nearly + 5 * Self.day))
        #expect(try home.look(addresses: one, names: Self.names, now: old.ends))
        #expect(home.authority != old && home.authority.ends > old.ends)
        #expect(home.server.authority == home.authority.fingerprint)
        #expect(home.notes.contains { $0.contains("has expired") && $0.contains("each device has to install") })
        #expect(try file.read() == home.authority)
        let kept = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("expired") }
        let path = folder.file(try #require(kept.first))
        #expect(try AuthorityFile(path: path).read() == old)
        // The same at a start.
        #expect(try begin(home.authority.ends + 1).authority != home.authority)
    }

    @Test func anAuthorityThatIsPutBackIsTaken() throws {
        var home = try begin()
        let other = try Authority.make(names: Self.names, now: Self.now)
        try other.pem().write(to: URL(fileURLWithPath: file.path))
        #expect(chmod(file.path, 0o600) == 0)
        #expect(try home.look(addresses: one, names: Self.names, now: Self.now))
        #expect(home.authority == other && home.server.authority == other.fingerprint)
        #expect(home.notes.contains { $0.contains("has changed") })
        // Gone, or spoilt, it goes on in memory: there is nothing else that devices know.
        #expect(chmod(file.path, 0o644) == 0)
        #expect(try !home.look(addresses: one, names: Self.names, now: Self.now))
        #expect(home.notes.contains { $0.contains("chmod 600") })
        #expect(unlink(file.path) == 0)
        #expect(try !home.look(addresses: one, names: Self.names, now: Self.now))
        #expect(home.authority == other && home.notes.isEmpty)
    }
}
