import BenchSupport
import Foundation

/// Requests on the daemon's socket, one at a time, beside `redis-server` on a Unix socket: each server in a process of
/// its own, the same client for both.
struct SocketMeasurement: Measurement {
    static let name = "socket"
    static let summary = "requests one at a time on the daemon's socket vs redis-server"
    static let options = [
        Arguments.Option("requests", "N", "in each run (20000)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (5)"),
    ]
    static let quick = ["--requests", "3000", "--runs", "3"]

    private static let must = 0.5
    private static let ping = Array(#"{"jsonrpc":"2.0","id":1,"method":"rpc.ping"}"#.utf8) + [0x0A]
    private static let list = Array(#"{"jsonrpc":"2.0","id":1,"method":"category.list"}"#.utf8) + [0x0A]
    private static let redisPing = Array("*1\r\n$4\r\nPING\r\n".utf8)

    let requests: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        requests = try arguments.number("requests", in: 20...100_000_000) ?? 20_000
        runs = try arguments.number("runs", in: 1...1000) ?? 5
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let folder = work.newPath("socket")
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let log = try work.newLog()
        let daemon = try Self.daemon(folder)
        let ours = try daemon.start(log: log)
        defer { ours.stop() }
        let socket = try LineSocket.waiting(for: folder + "/control.sock", of: ours)
        for request in [Self.ping, Self.list] {
            let answer = String(decoding: try socket.ask(request), as: UTF8.self)
            guard answer.contains(#""result""#) else { throw LineSocket.Failure(description: answer) }
        }
        note("socket: \(requests) requests, \(runs) runs")
        let requests = requests
        var contenders: [Measuring.Contender] = [
            { try socket.rate(Self.ping, requests: requests) }, { try socket.rate(Self.list, requests: requests) },
        ]
        let redis = try Self.redis(folder)?.start(log: log)
        defer { redis?.stop() }
        if let redis {
            let peer = try LineSocket.waiting(for: folder + "/redis.sock", of: redis)
            contenders.append { try peer.rate(Self.redisPing, requests: requests) }
        }
        let rates = try await Measuring.interleaved(runs: runs, contenders)
        return [
            figure("rpc.ping vs redis PING, one at a time", rates[0], peer: rates.dropFirst(2).first, must: Self.must),
            figure("category.list vs redis PING, one at a time", rates[1], peer: rates.dropFirst(2).first, must: nil),
        ]
    }

    private func figure(_ what: String, _ ours: Double, peer: Double?, must: Double?) -> Figure {
        guard let peer else {
            return .missing(what, ours: Format.rate(ours, "requests"), .redis, must: must.map(Format.ratio))
        }
        return Figure(
            what, ours: Format.rate(ours, "requests"), peer: Format.rate(peer, "requests"), command: Self.redisCommand,
            ratio: ours / peer, must: must.map(Format.ratio), holds: must.map { ours / peer >= $0 })
    }

    /// The daemon beside this program, with a library of its own.
    private static func daemon(_ folder: String) throws -> Command {
        let program = try Programs.beside("smilepiled")
        return Command([program, "--library", folder + "/library", "--socket", folder + "/control.sock"])
    }

    private static let redisCommand = "redis-server --port 0 --unixsocket SOCKET --save '' --appendonly no"

    private static func redis(_ folder: String) -> Command? {
        guard Tool.redis.path != nil else { return nil }
        return Command([
            "redis-server", "--port", "0", "--unixsocket", folder + "/redis.sock", "--save", "", "--appendonly", "no",
            "--dir", folder,
        ])
    }
}
