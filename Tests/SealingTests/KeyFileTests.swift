import Foundation
@testable import Sealing
import ServiceMesh
import TestSupport
import Testing

/// A key file is used only where it is its owner's alone, and never replaced.
@Suite struct KeyFileTests {
    private func refusal(_ file: KeyFile) -> MeshError? {
        do {
            _ = try file.read()
            return nil
        } catch {
            return MeshError(describing: error)
        }
    }

    private func made(_ folder: TemporaryFolder) throws -> (KeyFile, WrappingKey) {
        let file = KeyFile(path: folder.file("config/smilepile/sealing.key"))
        return (file, try file.make())
    }

    @Test func aFileIsMadeOnceAndReadAgain() throws {
        let folder = try TemporaryFolder("key")
        let (file, key) = try made(folder)
        #expect(try file.read()?.id == key.id && file.make().id == key.id)
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("config/smilepile")) == ["sealing.key"])
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        #expect(text.hasPrefix("smilepile-key-1 ") && text.hasSuffix("\n") && text.utf8.count == 81)
        #expect(!text.contains(key.id))
    }

    @Test func whereThereIsNoneNothingIsMadeByReading() throws {
        let folder = try TemporaryFolder("key")
        let file = KeyFile(path: folder.file("none/sealing.key"))
        #expect(try file.read() == nil)
        #expect(!FileManager.default.fileExists(atPath: folder.file("none")))
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601, 0o777]) func othersMustNotReachIt(_ mode: Int) throws {
        let folder = try TemporaryFolder("key")
        let (file, key) = try made(folder)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let error = try #require(refusal(file))
        #expect(error.status == .failedPrecondition && error.message.contains("chmod 600 '\(file.path)'"))
        // Nor is it made anew.
        #expect(throws: MeshError.self) { try file.make() }
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file.path)
        #expect(try file.read()?.id == key.id)
    }

    @Test func itHasToBelongToItsUser() throws {
        let folder = try TemporaryFolder("key")
        let (file, _) = try made(folder)
        let other = KeyFile(path: file.path, owner: geteuid() + 1)
        let error = try #require(refusal(other))
        #expect(error.status == .failedPrecondition && error.message.contains("chown \(geteuid() + 1) '\(file.path)'"))
    }

    @Test func linksFoldersAndPipesAreNoKeyFiles() throws {
        let folder = try TemporaryFolder("key")
        let (file, _) = try made(folder)
        let link = folder.file("link.key")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
        #expect(refusal(KeyFile(path: link))?.message.contains("is a link") == true)
        let dangling = folder.file("dangling.key")
        try FileManager.default.createSymbolicLink(atPath: dangling, withDestinationPath: folder.file("nowhere"))
        // A link that leads nowhere is not "no file": making one would write to where it leads.
        #expect(throws: MeshError.self) { try KeyFile(path: dangling).make() }
        #expect(!FileManager.default.fileExists(atPath: folder.file("nowhere")))
        #expect(refusal(KeyFile(path: folder.path))?.message.contains("is no file") == true)
        let pipe = folder.file("pipe.key")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(refusal(KeyFile(path: pipe))?.message.contains("is no file") == true)
        let name = folder.file("second.key")
        try FileManager.default.linkItem(atPath: file.path, toPath: name)
        #expect(refusal(file)?.message.contains("has 2 names") == true)
    }

    @Test func otherLengthsAndContentsAreRefused() throws {
        let folder = try TemporaryFolder("key")
        let digits = String(repeating: "0f", count: 32)
        let wrong = [
            "", "\n", "smilepile-key-1 \(digits)", "smilepile-key-1 \(digits)\n\n", "smilepile-key-2 \(digits)\n",
            "smilepile-key-1 \(digits.dropLast())g\n", "smilepile-key-1 \(digits) ",
            "smilepile-key-1 " + String(repeating: " ", count: 64) + "\n", String(repeating: "x", count: 100_000),
        ]
        for (index, text) in wrong.enumerated() {
            let file = KeyFile(path: folder.file("\(index).key"))
            #expect(
                FileManager.default.createFile(
                    atPath: file.path, contents: Data(text.utf8), attributes: [.posixPermissions: 0o600]))
            let error = try #require(refusal(file), "\(text.prefix(90))")
            #expect(error.status == .failedPrecondition && error.message.contains("smilepile keys import"))
            #expect(throws: MeshError.self) { try file.make() }
            #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
        }
        let right = KeyFile(path: folder.file("right.key"))
        #expect(
            FileManager.default.createFile(
                atPath: right.path, contents: Data("smilepile-key-1 \(digits)\n".utf8),
                attributes: [.posixPermissions: 0o600]))
        #expect(try right.read() != nil)
    }

    @Test func itsUsualPlaceFollowsTheEnvironment() throws {
        let folder = try TemporaryFolder("key")
        #expect(KeyFile.usual([:]) == nil)
        #expect(KeyFile.usual(["HOME": "/home/ada"])?.path == "/home/ada/.config/smilepile/sealing.key")
        #expect(KeyFile.usual(["HOME": "relative"]) == nil)
        let both = ["HOME": "/home/ada", "XDG_CONFIG_HOME": "/etc/ada", "CREDENTIALS_DIRECTORY": folder.path]
        #expect(KeyFile.usual(both)?.path == "/etc/ada/smilepile/sealing.key")
        try Data().write(to: URL(fileURLWithPath: folder.file("smilepile-key")))
        let credential = try #require(KeyFile.usual(both))
        #expect(credential.path == folder.file("smilepile-key") && credential.isCredential)
        #expect(throws: MeshError.self) { try credential.make() }
        let named = both.merging(["SMILEPILE_KEY_FILE": "/media/stick/key"]) { $1 }
        #expect(KeyFile.usual(named)?.path == "/media/stick/key")
    }

    /// By systemd, with an access list for the service's user, which shows as the group's bits.
    @Test func aCredentialMayBeReadableByItsGroup() throws {
        let folder = try TemporaryFolder("key")
        let (file, key) = try made(folder)
        try FileManager.default.setAttributes([.posixPermissions: 0o440], ofItemAtPath: file.path)
        #expect(try KeyFile(path: file.path, isCredential: true).read()?.id == key.id)
        try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: file.path)
        #expect(refusal(KeyFile(path: file.path, isCredential: true)) != nil)
    }

    @Test func severalThatMakeItAtOnceHaveTheSameOne() async throws {
        let folder = try TemporaryFolder("key")
        let file = KeyFile(path: folder.file("sealing.key"))
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { try file.make().id } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(ids.count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["sealing.key"])
    }
}
