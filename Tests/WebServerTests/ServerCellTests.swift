import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

/// What keeps a web program in that somebody has taken over. The attempts are made by `server-cell-probe`, which enters the
/// real cell by the same function and has the descriptors that the real program has.
@Suite(.timeLimit(.minutes(3))) struct ServerCellTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("cell") }

    /// Things in the world that would show that an attempt was made with success.
    private final class World: Sendable {
        let secret: String
        let fresh: String
        let program: String
        let mark: String
        let stream: String
        let datagram: String
        /// In the abstract namespace.
        let abstract: String
        let bus: String
        let victim: Process
        private let daemon: Process?
        private let listeners: [Int32]

        init(_ folder: TemporaryFolder, hasBus: Bool) throws {
            secret = folder.file("secret")
            try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
            fresh = folder.file("fresh")
            mark = folder.file("mark")
            program = folder.file("program.sh")
            try Data("#!/bin/sh\n: > '\(mark)'\n".utf8).write(to: URL(fileURLWithPath: program))
            try #require(chmod(program, 0o755) == 0)
            stream = folder.file("stream")
            datagram = folder.file("datagram")
            abstract = "smilepile-test-" + UUID().uuidString
            listeners = [
                try Self.listener(SOCK_STREAM, Array(stream.utf8)), try Self.listener(SOCK_DGRAM, Array(datagram.utf8)),
                try Self.listener(SOCK_STREAM, [0] + Array(abstract.utf8)),
            ]
            victim = try Self.start("/bin/sleep", ["1000"])
            bus = folder.file("bus")
            daemon = hasBus ? try Self.startBus(folder, bus) : nil
        }

        deinit {
            for listener in listeners { close(listener) }
            for process in [victim, daemon].compactMap({ $0 }) {
                // Foundation starts it with most signals blocked.
                kill(process.processIdentifier, SIGKILL)
                process.waitUntilExit()
            }
        }

        private static func listener(_ kind: __socket_type, _ name: [UInt8]) throws -> Int32 {
            let listener = socket(AF_UNIX, Int32(kind.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            try #require(name.count < MemoryLayout.size(ofValue: address.sun_path))
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = MemoryLayout<sa_family_t>.size + name.count
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, socklen_t(length)) == 0 }
            }
            try #require(isBound && (kind == SOCK_DGRAM || listen(listener, 8) == 0))
            return listener
        }

        private static func start(_ program: String, _ arguments: [String]) throws -> Process {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            return process
        }

        private static func startBus(_ folder: TemporaryFolder, _ path: String) throws -> Process {
            let file = folder.file("bus.conf")
            let text = """
                <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
                  "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
                <busconfig><type>session</type><listen>unix:path=\(path)</listen>
                <policy context="default"><allow send_destination="*"/><allow own="*"/></policy></busconfig>
                """
            try Data(text.utf8).write(to: URL(fileURLWithPath: file))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
            process.arguments = ["--config-file=\(file)", "--nofork", "--print-address=1"]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            // It says where it listens when it does.
            try #require(!output.fileHandleForReading.availableData.isEmpty)
            return process
        }

        /// What was touched.
        var traces: [String] {
            func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
            var found: [String] = []
            for (listener, name) in zip(listeners, ["a stream socket", "a datagram socket", "an abstract socket"]) {
                var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
                if poll(&waiting, 1, 0) != 0 { found.append(name) }
            }
            if text(secret) != "secret" { found.append("a file") }
            if access(fresh, F_OK) == 0 { found.append("a new file") }
            if access(mark, F_OK) == 0 { found.append("a program") }
            let state = text("/proc/\(victim.processIdentifier)/status")
            if !state.contains("(sleeping)") || !state.contains("TracerPid:\t0\n") { found.append("a process") }
            return found
        }
    }

    private static let attempts = [
        "read a file", "write a file", "make a file", "look at a file", "remove a file", "rename a file",
        "make a folder",
        "change a file's mode", "change the folder", "change the root", "change the root by pivot", "open by structure",
        "open by handle", "open a file system", "open a tree", "mount", "watch files",
        "make a socket", "make a datagram socket", "make an internet socket", "make an internet datagram socket",
        "make a netlink socket", "make a packet socket", "make a pair of sockets", "connect to a socket",
        "connect its own socket", "connect to an abstract socket", "connect to a bus", "connect to a port",
        "send to an address", "send many messages", "bind a name", "listen",
        "say who gets signals", "say by structure who gets signals", "choose the signal", "have signals sent",
        "have signals sent by ioctl", "lock a file", "take a lease", "notice changes of a folder",
        "change a pipe's size",
        "execute a program", "execute by descriptor", "fork", "clone by structure", "signal a process",
        "signal a thread",
        "signal by descriptor", "queue a signal", "trace a process", "be traced", "read a process", "compare processes",
        "take another's descriptor", "raise its files", "raise its memory", "become dumpable", "map code",
        "turn data into code", "make a file in memory", "make a ring", "load a program into the kernel",
        "handle page faults", "watch processors", "read the kernel's log", "share memory by key",
        "queue messages by key",
        "keep a key", "leave its namespaces", "enter other namespaces", "change its user", "change its priority",
        "change its name", "set the clock",
    ]

    private func argument(of attempt: String, _ world: World) -> String {
        switch attempt {
        case "make a file", "make a folder": world.fresh
        case "execute a program": world.program
        case "connect to a socket", "connect its own socket": world.stream
        case "send to an address", "send a message to an address": world.datagram
        case "connect to an abstract socket": world.abstract
        case "connect to a bus": world.bus
        case "connect to a port": "9"
        case _ where attempt.contains("signal") || attempt.contains("process"): "\(world.victim.processIdentifier)"
        default: world.secret
        }
    }

    /// - Returns: how each ended (0: as it wanted; else an error number), and what the kernel did not grant.
    private func outcomes(
        of attempts: [String], _ world: World, without walls: String = ""
    ) throws -> (missing: String, of: [String: Int32]) {
        let probe = Bundle.main.bundleURL.deletingLastPathComponent().appendingPathComponent("server-cell-probe").path
        let lines = attempts.map { "\($0)\t\(argument(of: $0, world))\n" }.joined()
        let program = try #require(
            [probe, Self.besideTests].first { FileManager.default.isExecutableFile(atPath: $0) }, "build it first")
        let printed = try Tool.shell.run(
            ["-c", "exec \"$0\" \"$@\"", program] + (walls.isEmpty ? [] : [walls]), input: Array(lines.utf8))
        var found: [String: Int32] = [:]
        var missing = ""
        for line in String(decoding: printed, as: UTF8.self).split(separator: "\n") {
            let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
            if parts[0] == "missing" { missing = parts[1] } else { found[parts[0]] = Int32(parts[1]) }
        }
        return (missing, found)
    }

    private static let besideTests = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent(".build/debug/server-cell-probe").path

    private static let hasBus = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

    /// On this kernel, and on one that has no Landlock, as a container or an old one.
    @Test(arguments: ["", "landlock"])
    func whateverAServerTriesIsRefused(walls: String) throws {
        let world = try World(folder, hasBus: Self.hasBus)
        let (missing, outcomes) = try outcomes(of: Self.attempts, world, without: walls)
        #expect(missing.contains("Landlock") == (walls == "landlock"), "\(missing)")
        #expect(Self.attempts.count >= 60)
        for attempt in Self.attempts {
            let refusals: Set<Int32> = attempt == "clone by structure" ? [ENOSYS] : [EPERM]
            let outcome = try #require(outcomes[attempt], "\(attempt): the probe ended there")
            #expect(refusals.contains(outcome), "\(attempt): \(outcome)")
        }
        #expect(world.traces == [])
    }

    /// No filter sees the address in a message. What the program has takes none.
    @Test func aMessageWithAnAddressGoesToWhomTheSocketIsConnected() throws {
        let world = try World(folder, hasBus: false)
        _ = try outcomes(of: ["send a message to an address"], world)
        #expect(world.traces == [])
    }

    /// Otherwise the tests above would show nothing: what is refused there can be done.
    @Test func withoutTheCellTheAttemptsSucceed() throws {
        let world = try World(folder, hasBus: Self.hasBus)
        var attempts = [
            "read a file", "look at a file", "make a socket", "make a datagram socket", "make an internet socket",
            "make a pair of sockets", "connect to a socket", "connect to an abstract socket", "say who gets signals",
            "say by structure who gets signals", "choose the signal", "have signals sent", "map code", "make a file",
            "make a folder", "write a file", "remove a file", "become dumpable", "change its priority",
        ]
        if Self.hasBus { attempts.append("connect to a bus") }
        for attempt in attempts {
            try? FileManager.default.removeItem(atPath: world.fresh)
            let outcome = try outcomes(of: [attempt], world, without: "cell").of[attempt]
            #expect(outcome == 0, "\(attempt): \(outcome.map(String.init) ?? "ended")")
        }
        #expect(Set(world.traces).isSuperset(of: ["a stream socket", "an abstract socket"]))
    }
}
