import Files
import Foundation
import ServiceMesh
import TestSupport
import Testing

/// What all files with keys have in common. What such a file has to say is its own module's to test.
@Suite struct PrivateFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("private") }

    private func file(_ name: String, isCredential: Bool = false, owner: uid_t = geteuid()) -> PrivateFile {
        PrivateFile(
            path: folder.file(name), title: "The test's file", variable: "TEST_FILE", reason: "test_file",
            isCredential: isCredential, owner: owner)
    }

    private func write(_ text: String, to file: PrivateFile) throws {
        try file.write { descriptor in
            try Array(text.utf8).withUnsafeBytes { try FileSystem.write($0, to: descriptor, file.path) }
        } place: {
            try FileSystem.renameNew($0, to: file.path)
        }
    }

    private func text(_ file: PrivateFile) throws -> String? {
        try file.read { descriptor, status in
            var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
            let count = pread(descriptor, &bytes, bytes.count, 0)
            return String(decoding: bytes.prefix(count), as: UTF8.self)
        }
    }

    /// What is said against a file; nil where it is read.
    private func refusal(_ file: PrivateFile) throws -> String? {
        do {
            _ = try text(file)
            return nil
        } catch let error as MeshError {
            #expect(error.status == .failedPrecondition)
            #expect(error.details["reason"] == "test_file" && error.details["path"] == .string(file.path))
            #expect(error.message.hasPrefix("The test's file \(file.path) "))
            return error.message
        }
    }

    @Test func whatIsWrittenIsReadAndIsTheOwnersAlone() throws {
        let made = file("a/b/made.key")
        #expect(try text(made) == nil)
        #expect(!FileManager.default.fileExists(atPath: folder.file("a")))
        try write("it", to: made)
        #expect(try text(made) == "it")
        let attributes = try FileManager.default.attributesOfItem(atPath: made.path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        // What is there stays, and nothing is left beside it.
        #expect(throws: FileSystem.Failure.self) { try write("other", to: made) }
        #expect(try text(made) == "it")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("a/b")) == ["made.key"])
    }

    @Test(arguments: [0o640, 0o604, 0o620, 0o601, 0o777]) func othersMustNotReachIt(_ mode: Int) throws {
        let made = file("key")
        try write("it", to: made)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: made.path)
        #expect(try refusal(made)?.contains("chmod 600 '\(made.path)'") == true)
        // A service manager lets a group in, and nobody else.
        let isOfGroupAlone = mode & 0o007 == 0
        #expect(try (refusal(file("key", isCredential: true)) == nil) == isOfGroupAlone)
    }

    @Test func itHasToBelongToItsUser() throws {
        try write("it", to: file("key"))
        let (own, other) = (geteuid(), geteuid() + 1)
        #expect(try refusal(file("key", owner: other))?.contains("chown \(other) '\(folder.file("key"))'") == true)
        // Only root's is the service manager's.
        #expect(try (refusal(file("key", isCredential: true, owner: other)) == nil) == (own == 0))
    }

    @Test func linksFoldersAndPipesAreNone() throws {
        try write("it", to: file("key"))
        #expect(symlink(folder.file("key"), folder.file("link")) == 0)
        #expect(symlink(folder.file("nowhere"), folder.file("dangling")) == 0)
        #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
        #expect(mkdir(folder.file("folder"), 0o700) == 0)
        for name in ["link", "dangling"] { #expect(try refusal(file(name))?.contains("is a link") == true, "\(name)") }
        for name in ["pipe", "folder"] { #expect(try refusal(file(name))?.contains("is no file") == true, "\(name)") }
    }

    @Test func whereNoneCanBeMadeItIsSaidWhatElseCanBe() throws {
        #expect(symlink(folder.file("nowhere"), folder.file("gone")) == 0)
        let refused = #expect(throws: MeshError.self) { try write("it", to: file("gone/key")) }
        #expect(refused?.status == .failedPrecondition && refused?.details["reason"] == "test_file")
        #expect(refused?.message.contains("name another place in TEST_FILE") == true, "\(String(describing: refused))")
        #expect(!FileManager.default.fileExists(atPath: folder.file("nowhere")))
    }
}
