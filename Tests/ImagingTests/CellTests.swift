import Foundation
import Glibc
import TestSupport
import Testing

@testable import Imaging
@testable import PhotoConversion

/// What keeps workers in. The attempts are made by a live worker: `cell-probe`, started by the pool as any other, which
/// enters the same cell by the same function and then does what its "photo" says.
@Suite struct CellTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("cell") }

    enum Refusal: Equatable {
        /// By an error number.
        case refused(Int32)
        /// By the end of the process.
        case fatal
        case done
        /// The attempt is none of this processor.
        case unknown
    }

    private func attempt(_ what: String, _ argument: String, in pool: ImageWorkerPool) async throws -> Refusal {
        let source = try folder.write(Array("\(what)\n\(argument)".utf8), "attempt")
        switch await answer(to: source, from: pool) {
        case .workerCrashed("signal \(SIGSYS)"): return .fatal
        case .damaged("done"): return .done
        case .damaged(let words): return .refused(try #require(Int32(words.split(separator: " ").last ?? "")))
        case .unsupported: return .unknown
        case let other: throw other
        }
    }

    private func answer(to source: String, from pool: ImageWorkerPool) async -> ImagingError {
        do throws(ImagingError) {
            _ = try await convert(pool, source, folder)
            return .io("a photo was made of an attempt")
        } catch {
            return error
        }
    }

    private func probe() throws -> String {
        URL(fileURLWithPath: try workerExecutable()).deletingLastPathComponent().appendingPathComponent("cell-probe")
            .path
    }

    /// A worker on a kernel that refuses `walls`.
    private func without(_ walls: String, _ program: String) throws -> String {
        let path = folder.file("on-an-older-kernel.sh")
        try Data("#!/bin/sh\nexec '\(probe())' \(walls) '\(program)'\n".utf8).write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o700) == 0)
        return path
    }

    /// Things in the world that would show that an attempt was made with success.
    private final class World: Sendable {
        let secret: String
        let fresh: String
        let program: String
        let socket: String
        let mark: String
        let victim: Process
        private let listener: Int32

        init(_ folder: TemporaryFolder) throws {
            secret = try folder.write(Array("secret".utf8), "secret")
            fresh = folder.file("fresh")
            mark = folder.file("mark")
            program = folder.file("program.sh")
            try Data("#!/bin/sh\n: > '\(mark)'\n".utf8).write(to: URL(fileURLWithPath: program))
            try #require(chmod(program, 0o755) == 0)
            socket = folder.file("socket")
            let listener = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            let path = Array(socket.utf8)
            try #require(path.count < MemoryLayout.size(ofValue: address.sun_path))
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
            let isBound = withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
                }
            }
            try #require(isBound && listen(listener, 8) == 0)
            self.listener = listener
            victim = Process()
            victim.executableURL = URL(fileURLWithPath: "/bin/sleep")
            victim.arguments = ["1000"]
            try victim.run()
        }

        deinit {
            close(listener)
            // Foundation starts it with most signals blocked.
            kill(victim.processIdentifier, SIGKILL)
            victim.waitUntilExit()
        }

        /// Whether nothing of it was touched.
        var isUntouched: Bool {
            var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
            func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
            let state = text("/proc/\(victim.processIdentifier)/status")
            return text(secret) == "secret"
                && access(fresh, F_OK) != 0 && access(mark, F_OK) != 0
                && poll(&waiting, 1, 0) == 0
                && state.contains("(sleeping)") && state.contains("TracerPid:\t0\n")
        }
    }

    /// What is fatal, and what libraries do in passing and are refused.
    private static let fatal = [
        "remove a file", "rename a file", "make a folder", "change a file's mode", "change the folder",
        "change the root", "make a socket", "connect to a socket", "connect its own socket", "connect to a port",
        "send elsewhere", "execute a program", "fork", "start a thread", "clone by structure", "signal a process",
        "signal a thread", "signal by descriptor", "queue a signal", "end itself by SIGKILL", "trace a process",
        "be traced", "read a process", "raise its memory", "raise its files", "map code", "turn data into code",
        "make a file in memory", "make a ring", "load a program into the kernel", "handle page faults",
        "leave its namespaces", "mount", "change its user", "watch files", "keep a key", "duplicate a descriptor",
    ]
    private static let fatalOnThisProcessor = ["read a file by 32-bit calls", "read a file by x32 calls"]
    private static let refused = [
        "read a file", "write a file", "make a file", "look at a file", "become dumpable",
    ]

    private func argument(of attempt: String, _ world: World) -> String {
        switch attempt {
        case "make a file", "make a folder": world.fresh
        case "execute a program": world.program
        case "connect to a socket", "connect its own socket": world.socket
        case "connect to a port": "9"
        case _ where attempt.contains("signal") || attempt.contains("process"): "\(world.victim.processIdentifier)"
        default: world.secret
        }
    }

    @Test func whateverALiveWorkerTriesIsRefusedOrItsEnd() async throws {
        let world = try World(folder)
        let pool = ImageWorkerPool(executable: try probe(), workers: 1)
        for what in Self.fatal {
            let outcome = try await attempt(what, argument(of: what, world), in: pool)
            #expect(outcome == .fatal, "\(what): \(outcome)")
        }
        for what in Self.fatalOnThisProcessor {
            let outcome = try await attempt(what, world.secret, in: pool)
            #expect(outcome == .fatal || outcome == .unknown, "\(what): \(outcome)")
        }
        for what in Self.refused {
            let outcome = try await attempt(what, argument(of: what, world), in: pool)
            #expect(outcome == .refused(EPERM), "\(what): \(outcome)")
        }
        #expect(world.isUntouched)
        await pool.shutDown()
    }

    /// Otherwise the test above would show nothing: what is refused there can be done.
    @Test func withoutTheWallsTheAttemptsSucceed() async throws {
        let world = try World(folder)
        let pool = ImageWorkerPool(executable: try without("seccomp,landlock", probe()), workers: 1)
        for what in [
            "read a file", "look at a file", "make a socket", "connect to a socket", "map code", "turn data into code",
            "make a file in memory", "become dumpable", "duplicate a descriptor", "make a file", "make a folder",
            "write a file", "remove a file", "signal a process",
        ] {
            try? FileManager.default.removeItem(atPath: world.fresh)
            let outcome = try await attempt(what, argument(of: what, world), in: pool)
            #expect(outcome == .done, "\(what): \(outcome)")
        }
        #expect(!world.isUntouched)
        await pool.shutDown()
    }

    /// Each wall by itself: with one of them taken away the others still hold.
    @Test func withoutSeccompLandlockStillHolds() async throws {
        let world = try World(folder)
        let pool = ImageWorkerPool(executable: try without("seccomp", probe()), workers: 1)
        let cell = try #require(await pool.cell())
        #expect(!cell.seccomp)
        #expect(cell.missing == ["seccomp (Invalid argument)"])
        let version = try #require(cell.landlock, "this kernel has no Landlock to test")
        var attempts = [
            "read a file", "write a file", "make a file", "remove a file", "make a folder", "execute a program",
        ]
        // Signals came with its sixth version.
        if version >= 6 { attempts.append("signal a process") }
        for what in attempts {
            let outcome = try await attempt(what, argument(of: what, world), in: pool)
            #expect(outcome == .refused(EACCES) || outcome == .refused(EPERM), "\(what): \(outcome)")
        }
        #expect(world.isUntouched)
        await pool.shutDown()
    }

    @Test func withoutLandlockSeccompStillHolds() async throws {
        let world = try World(folder)
        let pool = ImageWorkerPool(executable: try without("landlock", probe()), workers: 1)
        let cell = try #require(await pool.cell())
        #expect(cell.seccomp && cell.landlock == nil)
        #expect(cell.missing == ["Landlock (Function not implemented)"])
        #expect(try await attempt("read a file", world.secret, in: pool) == .refused(EPERM))
        #expect(try await attempt("make a socket", "", in: pool) == .fatal)
        await pool.shutDown()
    }

    /// The real worker: photos are converted behind what is left.
    @Test(arguments: ["seccomp", "landlock", "seccomp,landlock"])
    func aWorkerOnAKernelThatRefusesStillWorks(_ walls: String) async throws {
        let photo = try folder.write(Pictures.file(.jpeg, PixelSize(width: 640, height: 480)), "photo.jpg")
        let pool = ImageWorkerPool(executable: try without(walls, workerExecutable()), workers: 1)
        #expect(try await convert(pool, photo, folder).width == 640)
        let cell = try #require(pool.statistics.cell)
        #expect(cell.missing.count == walls.split(separator: ",").count)
        #expect(cell.noNewPrivileges && cell.descriptors == 12)
        await pool.shutDown()
    }

    /// What the kernel says of the real worker, beside what it says of itself.
    @Test func theRealWorkerIsInItsCell() async throws {
        let pool = ImageWorkerPool(executable: try workerExecutable(), workers: 1)
        let cell = try #require(await pool.cell())
        let pid = try #require(pool.statistics.livePIDs.last, "behind what it is a copy of")
        #expect(cell.missing.isEmpty && cell.seccomp && cell.noNewPrivileges)
        #expect(cell.ownMemoryBytes == Int(ImageLimits.workerMemory))
        func file(_ name: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: "/proc/\(pid)/\(name)")), as: UTF8.self)
        }
        let status = try file("status").split(separator: "\n")
        for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "Seccomp_filters:\t1", "Threads:\t1"] {
            #expect(status.contains { $0 == line }, "\(line)")
        }
        let limits = try file("limits").split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true)
        }
        func limit(_ name: String) -> [Substring]? {
            let words = name.split(separator: " ")
            return limits.first { $0.starts(with: words) }.map { Array($0.dropFirst(words.count).prefix(2)) }
        }
        #expect(limit("Max cpu time") == ["300", "305"])
        #expect(limit("Max file size") == ["536870912", "536870912"])
        #expect(limit("Max core file size") == ["0", "0"])
        #expect(limit("Max processes") == ["0", "0"])
        #expect(limit("Max open files") == ["12", "12"])
        let memory = try #require(limit("Max address space")?.compactMap { UInt64($0) })
        #expect(memory.count == 2 && memory[1] == memory[0] + ImageLimits.sharedMemory)
        // What is not to be dumped is for the superuser alone to look into.
        if geteuid() == 0 {
            #expect(try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/cwd") == "/")
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").sorted()
            #expect(names == ["0", "1", "2"])
            let open = try names.map {
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\($0)")
            }
            #expect(open[0].hasPrefix("socket:") && open[1] == "/dev/null" && open[2] == "/dev/null")
            let environment = Set(
                try file("environ").split(separator: "\0").compactMap { $0.split(separator: "=").first })
            #expect(environment.contains("SWIFT_BACKTRACE"))
            #expect(
                environment.isSubset(of: [
                    "SWIFT_BACKTRACE", "LD_LIBRARY_PATH", "ASAN_OPTIONS", "TSAN_OPTIONS",
                    "UBSAN_OPTIONS",
                ]))
        } else {
            #expect(access("/proc/\(pid)/environ", R_OK) != 0 || open("/proc/\(pid)/environ", O_RDONLY) < 0)
        }
        await pool.shutDown()
    }
}
