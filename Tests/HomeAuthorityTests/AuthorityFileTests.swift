import Foundation
import ServiceMesh
import Synchronization
import TestSupport
import Testing

@testable import HomeAuthority

/// The authority's file is used only where it is its owner's alone, and is never replaced by accident.
@Suite struct AuthorityFileTests {
    private static let now: Int64 = 1_800_000_000
    private let folder: TemporaryFolder
    private let file: AuthorityFile

    init() throws {
        folder = try TemporaryFolder("authority")
        file = AuthorityFile(path: folder.file("config/smilepile/home-authority.pem"))
    }

    private func make(_ now: Int64 = Self.now) throws -> Authority {
        try file.make(names: HomeNames.all(of: "nas-2"), now: now).authority
    }

    private func refusal(_ body: () throws -> Void) -> String {
        do {
            try body()
            return ""
        } catch {
            let error = MeshError(describing: error)
            return error.status == .failedPrecondition ? error.message : "\(error)"
        }
    }

    @Test func itIsMadeOnceForItsOwnerAloneAndReadAgain() throws {
        #expect(try file.read() == nil)
        #expect(!FileManager.default.fileExists(atPath: folder.file("config")))
        let made = try make()
        #expect(try file.read() == made && make() == made)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("config/smilepile"))
        #expect(names == ["home-authority.pem"])
    }

    @Test func oneIsMadeWhereManyStartAtOnce() throws {
        let made = Mutex([(authority: Authority, isNew: Bool)]())
        let file = file
        DispatchQueue.concurrentPerform(iterations: 12) { _ in
            if let result = try? file.make(names: ["localhost"], now: Self.now) { made.withLock { $0.append(result) } }
        }
        let results = made.withLock { $0 }
        #expect(results.count == 12)
        #expect(Set(results.map(\.authority.fingerprint)).count == 1)
        #expect(results.count { $0.isNew } == 1)
    }

    @Test func whoeverIsSlowerTakesWhatIsThere() throws {
        var first: Authority?
        let slow = try file.make(names: ["localhost"], now: Self.now) { first = try make() }
        #expect(slow.authority == first && !slow.isNew)
        #expect(try file.read() == first)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.file("config/smilepile"))
        #expect(names == ["home-authority.pem"])
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601, 0o777]) func othersMustNotReachIt(_ mode: Int) throws {
        let made = try make()
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let said = refusal { _ = try file.read() }
        #expect(said.contains("chmod 600 '\(file.path)'"), "\(said)")
        // Nor is it made anew.
        #expect(throws: MeshError.self) { try make() }
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
        #expect(try file.read() == made)
    }

    @Test func itHasToBelongToItsUser() throws {
        _ = try make()
        let other = AuthorityFile(path: file.path, owner: geteuid() + 1)
        let said = refusal { _ = try other.read() }
        #expect(said.contains("chown \(geteuid() + 1) '\(file.path)'"), "\(said)")
    }

    @Test func whatIsNoAuthorityIsRefusedAndStays() throws {
        let good = try make()
        let pem = try String(contentsOfFile: file.path, encoding: .utf8)
        let other = try Authority.make(names: [], now: Self.now)
        let server = try good.serverCertificate(addresses: [], names: [], now: Self.now)
        let certificate = String(decoding: try good.certificatePEM(), as: UTF8.self)
        for text in [
            "", "nonsense", String(pem.dropLast(200)), certificate,
            String(decoding: other.key, as: UTF8.self) + certificate,
            // One that is no authority.
            server.key + server.certificate, String(repeating: "x", count: 20_000),
        ] {
            try Data(text.utf8).write(to: URL(fileURLWithPath: file.path))
            #expect(chmod(file.path, 0o600) == 0)
            #expect(refusal { _ = try file.read() }.contains(file.path), "\(text.prefix(40))")
            #expect(throws: MeshError.self) { try make() }
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
        }
    }

    @Test func aLinkAndAFolderAreRefused() throws {
        _ = try make()
        let link = AuthorityFile(path: folder.file("link"))
        #expect(symlink(file.path, link.path) == 0)
        #expect(refusal { _ = try link.read() }.contains("is a link"))
        let pipe = AuthorityFile(path: folder.file("pipe"))
        #expect(mkfifo(pipe.path, 0o600) == 0)
        #expect(refusal { _ = try pipe.read() }.contains("is no file"))
    }

    @Test func itLiesBesideTheSealingKey() {
        func path(_ environment: [String: String]) -> String? { AuthorityFile.usual(environment)?.path }
        #expect(path(["HOME": "/h"]) == "/h/.config/smilepile/home-authority.pem")
        #expect(path(["HOME": "/h", "XDG_CONFIG_HOME": "/c"]) == "/c/smilepile/home-authority.pem")
        #expect(path(["HOME": "/h", "SMILEPILE_KEY_FILE": "/k/sealing.key"]) == "/k/home-authority.pem")
        #expect(path(["SMILEPILE_AUTHORITY_FILE": "/a/b.pem", "SMILEPILE_KEY_FILE": "/k/s"]) == "/a/b.pem")
        #expect(path(["SMILEPILE_AUTHORITY_FILE": "b.pem"]) == nil)
    }
}
