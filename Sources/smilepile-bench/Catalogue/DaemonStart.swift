import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// The daemon with a large catalogue: from its start to its first answer, and its memory once it has nothing to do.
enum DaemonStart {
    private static let ping = Array(#"{"jsonrpc":"2.0","id":1,"method":"rpc.ping"}"#.utf8) + [0x0A]
    private static let page =
        Array(#"{"jsonrpc":"2.0","id":1,"method":"photo.search","params":{"categoryId":5}}"#.utf8) + [0x0A]
    private static let mustStart = 0.3
    private static let mustMemory: Int64 = 60_000_000

    static func figures(library: String, photos: Int, in work: WorkFolder) async throws -> [Figure] {
        let program = try Programs.beside("smilepiled")
        let folder = work.newPath("daemon")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let path = folder + "/control.sock"
        let log = try work.newLog()
        var times: [Double] = []
        var memory: [Double] = []
        var searches: [Figure] = []
        for run in 0..<5 {
            let began = MonotonicClock.now()
            let daemon = try Command([program, "--library", library, "--socket", path]).start(log: log)
            defer { daemon.stop() }
            let socket = try answering(at: path, daemon)
            try socket.ask(ping)
            times.append(Double(MonotonicClock.now() - began) / 1e9)
            let answer = String(decoding: try socket.ask(page), as: UTF8.self)
            guard answer.contains(#""result""#) else { throw LineSocket.Failure(description: answer) }
            memory.append(Double(ProcessFacts.residentMemory(daemon.processIdentifier)))
            if run == 4 { searches = try commandLine(socket: path, photos: photos, in: work) }
            kill(daemon.processIdentifier, SIGTERM)
            daemon.waitUntilExit()
        }
        let start = Measuring.median(times)
        let bytes = Int64(Measuring.median(memory))
        return [
            Figure(
                "daemon's start to its first answer, \(photos) photos", ours: Format.seconds(start),
                must: "< \(Format.seconds(mustStart))", holds: start < mustStart),
            Figure(
                "daemon's memory after a page of 100", ours: Format.megabytes(bytes),
                must: "< \(Format.megabytes(mustMemory))", holds: bytes < mustMemory),
        ] + searches
    }

    /// Searches as a person makes them, from the start of the program to its end.
    private static func commandLine(socket: String, photos: Int, in work: WorkFolder) throws -> [Figure] {
        let program = try Programs.beside("smilepile")
        let special = min(100, (photos + 9999) / 10_000)
        return try [("kasekuchen", 100), ("100 % CAFÉ_", special), ("é_", special), ("qx", 0)].map { text, expected in
            let command = Command([program, "photos", "search", text, "--json", "--socket", socket])
            var found = 0
            let times = try (0..<5).map { _ in
                try Measuring.blockingSeconds {
                    let page = try command.run(in: work)
                    found = try JSONDecoder().decode(PhotoPage.self, from: Data(page.utf8)).photos.count
                }
            }
            return Figure(
                "smilepile photos search '\(text)' (\(found) found)", ours: Format.seconds(Measuring.median(times)),
                must: "\(expected) found", holds: found == expected)
        }
    }

    /// As ``LineSocket/waiting(for:of:)``, but to the millisecond.
    private static func answering(at path: String, _ process: Process) throws -> LineSocket {
        for _ in 0..<60_000 {
            if let socket = try? LineSocket(path: path) { return socket }
            guard process.isRunning else { break }
            // What is measured is when it answers; a millisecond is how exactly.
            usleep(1000)
        }
        throw LineSocket.Failure(description: "The daemon did not start.")
    }
}
