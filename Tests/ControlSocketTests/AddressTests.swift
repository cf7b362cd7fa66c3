import CLinux
import ControlSocket
import Foundation
import ServiceMesh
import ServiceMeshTesting
import TestSupport
import Testing

@Suite("Where the socket is", .timeLimit(.minutes(2)))
struct AddressTests {
    @Test(
        "the first that is named counts",
        arguments: [
            ("/o.sock", ["SMILEPILE_SOCKET": "/e.sock", "XDG_RUNTIME_DIR": "/run/user/5"], 5, "/o.sock"),
            (nil, ["SMILEPILE_SOCKET": "/e.sock", "XDG_RUNTIME_DIR": "/run/user/5"], 5, "/e.sock"),
            ("", ["SMILEPILE_SOCKET": "", "XDG_RUNTIME_DIR": "/run/user/5/"], 5, "/run/user/5/smilepile/control.sock"),
            (nil, ["XDG_RUNTIME_DIR": "/run/user/0"], 0, "/run/user/0/smilepile/control.sock"),
            (nil, [:], 0, "/run/smilepile/control.sock"),
            (nil, ["RUNTIME_DIRECTORY": "/run/smilepile"], 998, "/run/smilepile/control.sock"),
            (
                nil, ["XDG_RUNTIME_DIR": "relative", "HOME": "/home/a"], 5,
                "/home/a/.local/state/smilepile/control.sock"
            ),
            (nil, ["XDG_STATE_HOME": "/s", "HOME": "/home/a"], 5, "/s/smilepile/control.sock"),
        ] as [(String?, [String: String], UInt32, String)])
    func resolve(_ option: String?, _ environment: [String: String], _ uid: UInt32, _ expected: String) {
        #expect(ControlAddress.resolve(option: option, environment: environment, uid: uid) == expected)
    }

    @Test("a runtime folder that others can write in is passed over, with a warning")
    func unsafeRuntimeFolder() throws {
        let folder = try TemporaryFolder("runtime")
        let environment = ["XDG_RUNTIME_DIR": folder.path, "XDG_STATE_HOME": "/s"]
        let inFolder = folder.path + "/smilepile/control.sock"
        for (mode, uid, isUsed) in [
            (0o700, geteuid(), true), (0o755, geteuid(), true), (0o770, geteuid(), false), (0o777, geteuid(), false),
            (0o1777, geteuid(), false), (0o700, geteuid() + 1, false),
        ] {
            #expect(chmod(folder.path, mode_t(mode)) == 0)
            let found = ControlAddress.resolve(environment: environment, uid: uid)
            #expect((found == inFolder) == isUsed, "\(String(mode, radix: 8)), \(uid): \(found)")
            #expect((ControlAddress.warning(environment, uid: uid) == nil) == isUsed)
        }
        #expect(ControlAddress.warning(["XDG_RUNTIME_DIR": folder.path + "/none"]) == nil)
    }

    @Test("secrets are told to this user's daemon and to root's")
    func whoIsTrusted() {
        func isTrusted(_ peer: UInt32, by user: UInt32) -> Bool { Peer(pid: 1, uid: peer, gid: 0).isTrusted(by: user) }
        #expect(isTrusted(1000, by: 1000) && isTrusted(0, by: 1000) && isTrusted(1000, by: 0))
        #expect(!isTrusted(1001, by: 1000) && !isTrusted(65_534, by: 1000))
    }

    private func mode(_ path: String) throws -> UInt32 {
        var facts = stat()
        try #require(lstat(path, &facts) == 0)
        return facts.st_mode & 0o7777
    }

    @Test("the socket has mode 0600 whatever the umask allows, its folder 0700")
    func modes() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("new/deeper/c.sock")
        let socket = try ListeningSocket(at: path)
        #expect(try mode(path) == 0o600)
        #expect(try mode(folder.file("new/deeper")) == 0o700)
        #expect(try mode(folder.file("new")) == 0o700)
        socket.withdraw()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a path that is too long is refused with a sentence")
    func tooLong() throws {
        let folder = try TemporaryFolder("socket")
        let longest = folder.file(
            String(repeating: "s", count: ControlAddress.maximumPathBytes - folder.path.utf8.count - 1))
        #expect(longest.utf8.count == 107)
        _ = try ListeningSocket(at: longest)
        let error = #expect(throws: ControlError.self) { try ListeningSocket(at: longest + "s") }
        #expect(error?.description.contains("108 bytes") == true)
        #expect(throws: ControlError.self) { try ControlClient(path: longest + "s") }
        #expect(throws: ControlError.self) { try ListeningSocket(at: "") }
    }

    @Test("a folder in which others may write is refused, unless it is sticky")
    func openFolder() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("open/c.sock")
        try FileManager.default.createDirectory(atPath: folder.file("open"), withIntermediateDirectories: false)
        chmod(folder.file("open"), 0o777)
        let error = #expect(throws: ControlError.self) { try ListeningSocket(at: path) }
        #expect(error?.description.contains("chmod 700") == true)
        chmod(folder.file("open"), 0o1777)
        #expect(throws: Never.self) { try ListeningSocket(at: path) }
        chmod(folder.file("open"), 0o755)
        #expect(throws: Never.self) { try ListeningSocket(at: path) }
    }

    @Test("a folder that belongs to someone else is refused", .enabled(if: geteuid() == 0, "only root can give away"))
    func foreignFolder() throws {
        let folder = try TemporaryFolder("socket")
        try FileManager.default.createDirectory(atPath: folder.file("theirs"), withIntermediateDirectories: false)
        chown(folder.file("theirs"), 12345, 12345)
        let error = #expect(throws: ControlError.self) { try ListeningSocket(at: folder.file("theirs/c.sock")) }
        #expect(error?.description.contains("another user") == true)
    }

    @Test("a name that a dead process left is taken over")
    func stale() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("c.sock")
        let dead = clinux_unix_socket()
        #expect(clinux_unix_bind(dead, path, 0o600) == 0)
        close(dead)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(throws: Never.self) { try ListeningSocket(at: path) }
    }

    @Test("a name where someone answers is refused with their process")
    func served() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("c.sock")
        let first = try ListeningSocket(at: path)
        #expect(throws: ControlError.alreadyServed(path: path, pid: getpid())) { try ListeningSocket(at: path) }
        first.withdraw()
        #expect(throws: Never.self) { try ListeningSocket(at: path) }
    }

    @Test("a file that is no socket is left alone")
    func file() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("c.sock")
        try Data("precious".utf8).write(to: URL(fileURLWithPath: path))
        #expect(throws: ControlError.self) { try ListeningSocket(at: path) }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
    }

    @Test("who withdraws takes away only its own name")
    func foreignName() throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("c.sock")
        let first = try ListeningSocket(at: path)
        unlink(path)
        let second = try ListeningSocket(at: path)
        first.withdraw()
        #expect(FileManager.default.fileExists(atPath: path))
        second.withdraw()
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("a socket that was handed over is served, and its name stays")
    func inherited() async throws {
        let folder = try TemporaryFolder("socket")
        let path = folder.file("c.sock")
        let descriptor = clinux_unix_socket()
        #expect(clinux_unix_bind(descriptor, path, 0o600) == 0)
        #expect(listen(descriptor, 5) == 0)
        let mesh = try Mesh(services: [TestService()], journal: MemoryJobJournal())
        try await mesh.start()
        let listener = try ListeningSocket(inherited: descriptor)
        #expect(listener.path == path)
        let server = try ControlServer(mesh: mesh, listener: listener)
        #expect(try await ControlClient(path: path).call(Echo(text: "handed over")).text == "handed over")
        await server.close()
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test("a descriptor that does not listen is not taken over")
    func notAListener() throws {
        let descriptor = clinux_unix_socket()
        defer { close(descriptor) }
        #expect(throws: ControlError.self) { try ListeningSocket(inherited: descriptor) }
    }

    @Test(
        "socket activation is for the process that it names",
        arguments: [
            [:], ["LISTEN_FDS": "1"], ["LISTEN_PID": "1", "LISTEN_FDS": "1"], ["LISTEN_PID": "77", "LISTEN_FDS": "0"],
            ["LISTEN_PID": "77", "LISTEN_FDS": "x"],
        ] as [[String: String]])
    func notActivated(_ environment: [String: String]) throws {
        #expect(try ListeningSocket.inherited(environment: environment, pid: 77) == nil)
    }
}
