import BenchSupport
import ControlSocket
import Foundation
import LibraryModel
import ServiceMesh

/// The daemon and the web program that stand beside this one, serving a library.
final class WebPrograms {
    let library: WebLibrary
    let socket: String
    private(set) var address = ""
    private let folder: String
    private let work: WorkFolder
    private var daemon: Process?
    private var web: Process?
    private var webLog: FileHandle?

    private init(_ library: WebLibrary, folder: String, in work: WorkFolder) {
        self.library = library
        self.folder = folder
        self.work = work
        socket = folder + "/control.sock"
    }

    static func start(_ library: WebLibrary, in work: WorkFolder) async throws -> WebPrograms {
        let folder = work.newPath("programs")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let programs = WebPrograms(library, folder: folder, in: work)
        do {
            try programs.startDaemon()
            try programs.startWeb()
        } catch {
            programs.end()
            throw error
        }
        return programs
    }

    private func startDaemon() throws {
        let daemon = try Command(
            [try Programs.beside("smilepiled"), "--library", library.path, "--socket", socket],
            environment: ["SMILEPILE_KEY_FILE": BenchLibrary.keyFile(of: library.path)]
        ).start(log: try work.newLog())
        self.daemon = daemon
        _ = try LineSocket.waiting(for: socket, of: daemon)
    }

    private func startWeb() throws {
        let log = try work.newLog()
        let web = try Command(
            [try Programs.beside("smilepile-web"), "--listen", "127.0.0.1:0", "--socket", socket]
        ).start(log: log)
        self.web = web
        for _ in 0..<1000 {
            try log.seek(toOffset: 0)
            let said = String(decoding: try log.readToEnd() ?? Data(), as: UTF8.self)
            // "serving SOCKET at http://127.0.0.1:PORT, listening on …"
            if let found = said.range(of: "http://127.0.0.1:") {
                let port = said[found.upperBound...].prefix { $0.isNumber }
                address = String(said[found] + port)
                return
            }
            guard web.isRunning else { break }
            // A server does not tell us when it is ready.
            usleep(10_000)
        }
        throw LineSocket.Failure(description: "The web program does not start.")
    }

    /// A daemon that has read nothing of its library yet.
    func restartDaemon() throws {
        if let daemon {
            kill(daemon.processIdentifier, SIGTERM)
            daemon.waitUntilExit()
            StartedProcesses.remove(daemon.processIdentifier)
        }
        daemon = nil
        try startDaemon()
    }

    func client() throws -> ControlClient { try ControlClient(path: socket) }

    /// A code with which one browser may pair.
    func invitation() async throws -> String { try await client().call(InviteDevice()).code }

    /// Pairs without a browser.
    /// - Returns: the cookie, `NAME=TOKEN`.
    func pair() async throws -> String {
        let paired = try await client().call(PairDevice(code: try await invitation(), name: "smilepile-bench"))
        return "smilepile-\(address.split(separator: ":").last ?? "")=\(paired.token)"
    }

    /// The daemon and the web program.
    var processes: [Int32] { [daemon, web].compactMap { $0?.processIdentifier } }

    func end() {
        for process in [web, daemon].compactMap({ $0 }) where process.isRunning { process.stop() }
        (web, daemon) = (nil, nil)
    }
}
