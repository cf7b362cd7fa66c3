import BenchSupport
import Foundation

/// A further backup into a folder that has the others' files, beside a further run of restic and of rsync.
///
/// Ours reads back what it has copied, and its documents; theirs look at sizes and times, and read nothing back.
struct FolderBackupMeasurement: Measurement {
    static let name = "backup-folder"
    static let summary = "a backup folder's next run, with 100 new photos, vs restic backup and rsync -a"
    static let options = [
        Arguments.Option("photos", "N", "in the library, tiny ones; 100 are new each time (20000)"),
        Arguments.Option("runs", "N", "further runs of each contender, medians are shown (3)"),
    ]
    static let quick = ["--photos", "2000", "--runs", "1"]

    private static let new = 100
    /// Seconds, of 100,000 photos.
    private static let longest = 10.0

    let photos: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        photos = try arguments.number("photos", in: 200...10_000_000) ?? 20_000
        runs = try arguments.number("runs", in: 1...100) ?? 3
    }

    private struct Peer {
        let tool: Tool
        let prepare: [String]?
        let command: [String]
        var environment: [String: String] = [:]
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        note("backup-folder: making \(photos) photos")
        let library = try await ScaledLibrary.make(photos, .day, in: work)
        defer { library.end() }
        let folder = work.newPath("folder")
        let copy = work.newPath("copy")
        let restic = work.newPath("restic")
        try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
        let kinds = ["photos", "thumbnails", "originals"]
        let peers = [
            Peer(
                tool: .restic, prepare: ["restic", "init", "-q", "--repo", restic],
                command: ["restic", "backup", "-q", "--repo", restic] + kinds,
                environment: ["RESTIC_PASSWORD": "no secret", "RESTIC_CACHE_DIR": work.newPath("cache")]),
            Peer(tool: .rsync, prepare: nil, command: ["rsync", "-a"] + kinds + [copy]),
        ]
        let there = peers.filter { $0.tool.path != nil }
        for case let (peer, prepare?) in there.map({ ($0, $0.prepare) }) {
            try Command(prepare, in: library.path, environment: peer.environment).run(in: work)
        }
        let backUp = {
            try Measuring.blockingSeconds {
                try library.daemon.run(
                    ["backup", "create", folder, "--incremental"], in: work)
            }
        }
        let contenders =
            [backUp]
            + there.map { peer in
                {
                    try Measuring.blockingSeconds {
                        try Command(peer.command, in: library.path, environment: peer.environment).run(in: work)
                    }
                }
            }
        note("backup-folder: the first of each")
        let first = try contenders.map { try $0() }
        var further = contenders.map { _ in [Double]() }
        for run in 1...runs {
            note("backup-folder: run \(run) with \(Self.new) new photos")
            try library.writeSources(Self.new)
            try library.daemon.run(["import", library.sources], in: work)
            for (place, contender) in contenders.enumerated() { further[place].append(try contender()) }
        }
        let medians = further.map(Measuring.median)
        func figures(_ what: String, _ seconds: [Double], atLeast must: [String: Double]) -> [Figure] {
            zip(there, seconds.dropFirst()).map { peer, theirs in
                .times(
                    "\(what), vs \(peer.tool.name)", ours: seconds[0], peer: theirs,
                    command: peer.command.joined(separator: " "), atLeast: must[peer.tool.name])
            } + peers.filter { $0.tool.path == nil }.map { .missing(what, ours: Format.seconds(seconds[0]), $0.tool) }
        }
        let limit = Self.longest * Double(photos) / 100_000
        return figures("the first backup of \(photos) photos into a folder", first, atLeast: [:])
            + figures("the next one, \(Self.new) are new", medians, atLeast: [Tool.restic.name: 1])
            + [
                Figure(
                    "the next one, at the rate of 10 s for 100,000", ours: Format.seconds(medians[0]),
                    must: "< \(Format.seconds(limit))", holds: medians[0] < limit)
            ]
    }
}
