import Foundation
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Starting the daemon")
struct DaemonTests {
    /// A program in the daemon's place. Another process writes it: were it open for writing here, any program that
    /// another test starts in that moment would inherit it, and the system runs no file that somebody writes to.
    private func program(_ script: String, in folder: TemporaryFolder) throws -> String {
        let path = folder.file("smilepiled")
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/bin/sh")
        writer.arguments = ["-c", "printf '#!/bin/sh\n%s\n' \"$1\" > \"$2\" && chmod 755 \"$2\"", "sh", script, path]
        try writer.run()
        writer.waitUntilExit()
        try #require(writer.terminationStatus == 0)
        return path
    }

    private func launch(
        _ script: String, in folder: TemporaryFolder, library: String? = nil, stage: Stage = Stage()
    ) throws -> DaemonLaunch {
        var session = stage.session()
        session.socketPath = folder.file("control.sock")
        let log = try DaemonLog.open(environment: ["XDG_STATE_HOME": folder.file("state")])
        return DaemonLaunch(
            library: library, session: session, log: log, program: try program(script, in: folder))
    }

    /// Runs what blocks on a thread of its own.
    private func blocking<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            Thread { continuation.resume(returning: work()) }.start()
        }
    }

    @Test("Waits for READY=1, shows STATUS, and leaves the daemon alone in its own session with its log")
    func ready() async throws {
        let folder = try TemporaryFolder("launch")
        // It tells what it was given through one pipe and ends when the other is closed.
        let told = folder.file("told")
        let hold = folder.file("hold")
        for pipe in [told, hold] { try #require(mkfifo(pipe, 0o600) == 0) }
        let stage = Stage(environment: ["PATH": "/usr/bin:/bin", "LISTEN_FDS": "3", "WATCHDOG_USEC": "1"])
        let launch = try launch(
            """
            echo to-the-log
            read session < /proc/self/stat
            printf '%s\\n' "$NOTIFY_SOCKET" "$*" "${LISTEN_FDS-none} ${WATCHDOG_USEC-none}" "$session" > \(told)
            cat \(hold) > /dev/null
            """, in: folder, library: "/srv/my photos", stage: stage)
        async let started: Void = launch.untilReady()
        let lines = await blocking {
            let said = FileHandle(forReadingAtPath: told)?.readDataToEndOfFile() ?? Data()
            return String(decoding: said, as: UTF8.self).split(separator: "\n").map(String.init)
        }
        let sender = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(sender) }
        for text in ["STATUS=Opening the library\u{1B}[2J", "EXTEND=1\nREADY=1\nSTATUS=x"] {
            let bytes = Array(text.utf8)
            let sent = UnixAddress.with(lines.first ?? "") { sendto(sender, bytes, bytes.count, 0, $0, $1) }
            #expect(sent == bytes.count)
        }
        let wasReady = (try? await started) != nil
        // Before the checks that may end this test, so that the program in the daemon's place ends too.
        #expect(await blocking { close(open(hold, O_WRONLY)) } == 0)
        #expect(wasReady)

        try #require(lines.count == 4)
        #expect(lines[1] == "--library /srv/my photos --socket \(folder.file("control.sock"))")
        #expect(lines[2] == "none none")
        // Fields 1, 2, 6: the process, its name in brackets, its session.
        let fields = lines[3].split(separator: " ")
        #expect(fields[0] == fields[5], "a session of its own")
        #expect(stage.messages.hasPrefix("Opening the library␛[2J\n"))
        #expect(launch.log.lastLines(5) == ["to-the-log"])
    }

    @Test("The daemon inherits nothing: who waits for the end of a pipe that we were given does not wait for it")
    func inheritsNothing() async throws {
        let folder = try TemporaryFolder("launch")
        // Open across exec, as a descriptor is that a shell passed on.
        let given = open("/dev/null", O_RDONLY)
        defer { close(given) }
        try #require(given > 2)
        let launch = try launch(
            "test \"$(readlink /proc/$$/fd/\(given))\" = /dev/null && echo inherited; exit 7", in: folder)
        await #expect(throws: CommandFailure.self) { try await launch.untilReady() }
        #expect(!launch.log.lastLines(5).contains("inherited"))
    }

    @Test("A daemon that ends instead of being ready: how it ended, what it said, where the log is")
    func failed() async throws {
        let folder = try TemporaryFolder("launch")
        let launch = try launch("echo 'The library is kept by process 12.' >&2; exit 7", in: folder)
        do {
            try await launch.untilReady()
            Issue.record("it was ready")
        } catch CommandFailure.local(let message) {
            #expect(message.contains("ended with code 7"))
            #expect(message.contains("The library is kept by process 12."))
            #expect(message.contains(folder.file("state/smilepile/daemon.log")))
        }
        let killed = try self.launch("kill -9 $$", in: folder)
        do {
            try await killed.untilReady()
            Issue.record("it was ready")
        } catch CommandFailure.local(let message) {
            #expect(message.contains("ended by signal 9"), "\(message)")
            #expect(message.contains("It said nothing."), "\(message)")
        }
    }

    @Test(
        "A reason is what a line of the log says, without when and who",
        arguments: [
            ("2026-11-28T23:50:54.157Z The port is taken.", "The port is taken."),
            ("smilepile-web: --listen takes an address.", "--listen takes an address."),
            ("Usage and examples: smilepile-web --help", ""), ("Just so.", "Just so."), ("", ""),
            ("2026-11-28 at home", "2026-11-28 at home"), ("\u{1B}[31mred", "␛[31mred"),
        ])
    func reason(_ line: String, _ said: String) { #expect(DaemonLaunch.sentence(line) == said) }

    @Test("The socket on which the daemon says that it is ready goes away with its folder", arguments: [true, false])
    func leavesNothing(canStart: Bool) async throws {
        let folder = try TemporaryFolder("launch")
        let runtime = folder.file("runtime")
        try FileManager.default.createDirectory(atPath: runtime, withIntermediateDirectories: true)
        let stage = Stage(environment: ["PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": runtime])
        let seen = folder.file("seen")
        var launch = try launch("ls \(runtime) > \(seen); exit 7", in: folder, stage: stage)
        if !canStart { launch.program = folder.file("nowhere") }
        await #expect(throws: CommandFailure.self) { try await launch.untilReady() }
        if canStart {
            #expect(try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n").count == 1)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: runtime).isEmpty)
    }

    @Test("Only one at a time has the turn to start a daemon; the next one says that it waits, and gets it")
    func turns() async throws {
        let folder = try TemporaryFolder("turn")
        var first = await StartTurn.take(in: folder.path) { Issue.record("nobody had it") }
        try #require(first != nil)
        let (waiting, waits) = AsyncStream.makeStream(of: Void.self)
        async let second = StartTurn.take(in: folder.path) { waits.yield() }
        var steps = waiting.makeAsyncIterator()
        await steps.next()
        first = nil
        #expect(await second != nil)
        #expect(await StartTurn.take(in: folder.file("nowhere"), ifBusy: {}) == nil)
    }

    @Test("A program that cannot be started is named")
    func missing() async throws {
        let folder = try TemporaryFolder("launch")
        var launch = try launch("", in: folder)
        launch.program = folder.file("nowhere")
        await #expect(
            throws: CommandFailure.local("\(folder.file("nowhere")) cannot be started: No such file or directory.")
        ) {
            try await launch.untilReady()
        }
    }

    @Test("The log is for this user alone, and what earlier runs wrote is not taken for this one's")
    func log() throws {
        let folder = try TemporaryFolder("log")
        let environment = ["XDG_STATE_HOME": folder.path]
        let first = try DaemonLog.open(environment: environment)
        let mode = try FileManager.default.attributesOfItem(atPath: first.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try "one\ntwo\n".write(toFile: first.path, atomically: false, encoding: .utf8)
        #expect(first.lastLines(1) == ["two"])
        #expect(try DaemonLog.open(environment: environment).lastLines(5).isEmpty)
        try String(repeating: "x", count: 8_000_001).write(toFile: first.path, atomically: false, encoding: .utf8)
        _ = try DaemonLog.open(environment: environment)
        #expect(FileManager.default.fileExists(atPath: first.path + ".1"))
        #expect(try FileManager.default.attributesOfItem(atPath: first.path)[.size] as? Int == 0)
    }

    @Test("No signal is sent to a process that is not smilepiled")
    func strangers() {
        for pid in [getpid(), getppid(), 1, 0, -1] {
            #expect(throws: CommandFailure.self) { try DaemonWatch(socket: "/nowhere", pid: pid) }
        }
    }

    @Test("Stopping what does not run, and starting what runs, is done already")
    func already() async throws {
        let program = Program(
            environment: [:], currentFolder: "/", console: Stage().console,
            connect: { throw CommandFailure.notRunning(socket: $0) })
        #expect(await program.run(["down"]) == .done)
        #expect(await program.run(["ping"]) == .notRunning)
        let stage = Stage()
        let hello =
            #"{"version":"1.2.3","methodsVersion":"1","library":"/srv/photos","pid":4711,"role":"parent","#
            + #""limits":{"lineBytes":1,"resultBytes":1,"requestsInFlight":1,"connections":1}}"#
        stage.answer("rpc.hello", hello)
        #expect(await stage.run("up", "--json", "--socket", "/s") == .done)
        #expect(try stage.json() == ["pid": 4711, "library": "/srv/photos", "socket": "/s", "started": false])
        #expect(await stage.run("up", "--library", "/srv/other") == .failed)
        #expect(stage.messages.contains("keeps another library: /srv/photos"))
    }
}
