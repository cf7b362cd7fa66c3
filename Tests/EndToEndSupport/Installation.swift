import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh
import TestSupport

/// What one run of a program said and how it ended.
public struct Outcome: Sendable {
    public let status: Int32
    public let output: String
    public let errors: String
}

/// The real programs in a home of their own: an empty HOME, a runtime folder, a library. The daemon is stopped when
/// the value goes out of scope, whatever the test did.
public final class Installation: Sendable {
    public let folder: TemporaryFolder
    public let environment: [String: String]
    public let library: String

    /// Where the programs of this build are: beside the test program.
    public static let programs: String = {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? ""
        return URL(fileURLWithPath: own).deletingLastPathComponent().path
    }()

    public var socket: String { folder.file("run/smilepile/control.sock") }

    /// - Parameter timeZone: of every program that is run here, as `TZ` says it.
    public init(_ purpose: String = "e2e", timeZone: String = "UTC") throws {
        folder = try TemporaryFolder(purpose)
        library = folder.file("library")
        for name in ["home", "run"] {
            try FileManager.default.createDirectory(
                atPath: folder.file(name), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let own = ProcessInfo.processInfo.environment
        var environment = [
            "HOME": folder.file("home"), "XDG_RUNTIME_DIR": folder.file("run"), "LANG": "C.UTF-8", "TZ": timeZone,
            "PATH": own["PATH"] ?? "/usr/bin:/bin",
        ]
        // Where programs of a build that counts lines leave their counts; without it, wherever they happen to stand.
        environment["LLVM_PROFILE_FILE"] = own["SMILEPILE_TEST_PROFILES"]
        self.environment = environment
    }

    deinit {
        if let pid = daemonPID { kill(pid, SIGKILL) }
    }

    /// From the library's lock file; nil where nobody holds the lock. (A signal of 0 would also reach a zombie.)
    public var daemonPID: Int32? {
        let descriptor = open(library + "/library.lock", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard flock(descriptor, LOCK_SH | LOCK_NB) != 0 else { return nil }
        let text = try? String(contentsOfFile: library + "/library.lock", encoding: .utf8)
        return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    // MARK: Programs

    /// Runs `smilepile` to its end.
    @discardableResult
    public func smilepile(_ arguments: String...) async throws -> Outcome { try await run("smilepile", arguments) }

    public func run(_ program: String, _ arguments: [String]) async throws -> Outcome {
        try await start(program, arguments).outcome()
    }

    /// - Parameter more: of the environment, beside ``environment``.
    public func start(
        _ program: String, _ arguments: [String], with more: [String: String] = [:]
    ) throws -> RunningProgram {
        let path = program.hasPrefix("/") ? program : Self.programs + "/" + program
        return try RunningProgram(
            path, arguments, environment: environment.merging(more) { $1 }, logs: folder)
    }

    public func up() async throws {
        let started = try await smilepile("up", "--library", library)
        guard started.status == 0 else { throw MeshError(.unavailable, started.errors) }
    }

    /// Ends the daemon as a power cut would, and returns when it is gone.
    public func killDaemon() async throws {
        guard let pid = daemonPID else { throw MeshError(.unavailable, "the daemon does not run") }
        kill(pid, SIGKILL)
        await daemonIsGone()
    }

    /// Returns when no process serves the library any more: the kernel gives its lock free when it ends.
    public func daemonIsGone() async { await isFree(library + "/library.lock") }

    /// Returns when no page's program runs for the daemon any more.
    public func pageIsGone() async { await isFree(WebRecord.path(socket: socket)) }

    private func isFree(_ file: String) async {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                let descriptor = open(file, O_RDONLY | O_CLOEXEC)
                if descriptor >= 0 {
                    while flock(descriptor, LOCK_SH) != 0 && errno == EINTR {}
                    close(descriptor)
                }
                continuation.resume()
            }
        }
    }

    public func client() throws -> ControlClient { try ControlClient(path: socket) }

    // MARK: The library's files

    public func files(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: library + "/" + name).sorted()
    }

    public func allPhotos(_ client: ControlClient) async throws -> [Photo] {
        var photos: [Photo] = []
        var next: String?
        repeat {
            let page = try await client.call(SearchPhotos(limit: 1000, after: next))
            photos += page.photos
            next = page.next
        } while next != nil
        return photos
    }

    /// Rows, photo files and thumbnails agree one to one, and nothing is left in staging.
    public func isConsistent(_ client: ControlClient) async throws -> Bool {
        let photos = try await allPhotos(client)
        return try files("photos") == photos.map(\.fileName).sorted()
            && files("thumbnails") == photos.map { "thumb_" + $0.fileName }.sorted()
            && files("staging").isEmpty
    }
}

/// A program at work. Its output goes to files, so that it never waits for a reader.
public final class RunningProgram: Sendable {
    public let pid: Int32
    private let output: String
    private let errors: String
    private let ended: Task<Int32, Never>

    init(_ path: String, _ arguments: [String], environment: [String: String], logs: TemporaryFolder) throws {
        let name = UUID().uuidString
        (output, errors) = (logs.file(name + ".out"), logs.file(name + ".err"))
        for file in [output, errors] { _ = FileManager.default.createFile(atPath: file, contents: nil) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: output))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: errors))
        let (ends, end) = AsyncStream.makeStream(of: Int32.self)
        process.terminationHandler = { process in
            end.yield(process.terminationStatus)
            end.finish()
        }
        try process.run()
        pid = process.processIdentifier
        ended = Task {
            for await status in ends { return status }
            return -1
        }
    }

    public func outcome() async throws -> Outcome {
        let status = await ended.value
        return Outcome(
            status: status, output: try String(contentsOfFile: output, encoding: .utf8),
            errors: try String(contentsOfFile: errors, encoding: .utf8))
    }
}
