import BenchSupport
import Foundation
import LibraryModel

/// A further backup of a library that has not changed, on a file system whose files can share blocks (XFS, in a file that is
/// mounted), beside a further run of restic and borg, which keep what they have and look for what is new.
///
/// Ours is a whole archive each time, and is read back; theirs compare sizes and times, and read nothing.
struct RepeatedBackupMeasurement: Measurement {
    static let name = "backup-again"
    static let summary = "a second backup where files share blocks vs restic's and borg's second run (needs root)"
    static let options = [
        Arguments.Option("megabytes", "N", "of photos, about (500)"),
        Arguments.Option("photos", "N", "that they are in (one for each 2 megabytes)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (3)"),
    ]
    static let quick = ["--megabytes", "40", "--runs", "1"]

    let megabytes: Int
    let photos: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        megabytes = try arguments.number("megabytes", in: 4...100_000) ?? 500
        photos = try arguments.number("photos", in: 1...1_000_000) ?? megabytes / 2
        runs = try arguments.number("runs", in: 1...100) ?? 3
    }

    private struct Peer {
        let tool: Tool
        let prepare: [String]
        /// NUMBER is another one each time.
        let command: [String]
        let environment: [String: String]
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let what = "a second backup of \(megabytes) MB where files share blocks"
        guard Tool.xfs.path != nil else { return [.missing(what, ours: "not measured", .xfs)] }
        guard geteuid() == 0 else { return [Figure(what, ours: "not measured", peer: "mounting needs root")] }
        let place = try work.mountShared(megabytes: 6 * megabytes + 600)
        let library = try await StoredAlbum.import(photos, megabytes: megabytes, at: place + "/library", in: work)
        let path = library.library.path
        let folders = try StoredAlbum.folders(of: path)
        let restic = place + "/restic"
        let borg = place + "/borg"
        let peers = [
            Peer(
                tool: .restic, prepare: ["restic", "init", "-q", "--repo", restic],
                command: ["restic", "backup", "-q", "--repo", restic] + folders,
                environment: ["RESTIC_PASSWORD": "no secret", "RESTIC_CACHE_DIR": work.newPath("cache")]),
            Peer(
                tool: .borg, prepare: ["borg", "init", "-e", "none", borg],
                command: ["borg", "create", borg + "::NUMBER"] + folders,
                environment: ["BORG_BASE_DIR": work.newPath("base")]),
        ]
        let there = peers.filter { $0.tool.path != nil }
        let room = Room(place)
        var number = 0
        func backUp() async throws -> Double {
            number += 1
            let target = "\(place)/backup-\(number).zip"
            return try await room.taken(by: "smilepile") {
                try await library.run(CreateBackup(path: target)).seconds
            }
        }
        func backUp(_ peer: Peer) async throws -> Double {
            number += 1
            let command = peer.command.map { $0.replacingOccurrences(of: "NUMBER", with: "\(number)") }
            return try await room.taken(by: peer.tool.name) {
                try Measuring.blockingSeconds {
                    _ = try Command(command, in: path, environment: peer.environment).run(in: work)
                }
            }
        }
        note("backup-again: the first of each")
        _ = try await backUp()
        for peer in there {
            try Command(peer.prepare, in: path, environment: peer.environment).run(in: work)
            _ = try await backUp(peer)
        }
        let first = room.medians
        room.forget()
        note("backup-again: \(runs) more of each")
        let medians = try await Measuring.interleaved(
            runs: runs, [{ try await backUp() }] + there.map { peer in { try await backUp(peer) } })
        await library.close()
        let more = room.medians
        return zip(there, medians.dropFirst()).map { peer, seconds in
            Figure.times(
                "\(what), vs \(peer.tool.name)", ours: medians[0], peer: seconds,
                command: peer.command.joined(separator: " "))
        }
            + peers.filter { $0.tool.path == nil }.map { .missing(what, ours: Format.seconds(medians[0]), $0.tool) }
            + [("the first one", first), ("each further one", more)].map { which, taken in
                Figure(
                    "  room that \(which) took", ours: Format.megabytes(taken["smilepile"] ?? 0),
                    peer: there.map { "\($0.tool.name) \(Format.megabytes(taken[$0.tool.name] ?? 0))" }
                        .joined(separator: ", "))
            }
    }

    /// Room that runs take on one file system, in bytes.
    private final class Room {
        private let place: String
        private var seen: [String: [Double]] = [:]

        init(_ place: String) { self.place = place }

        var medians: [String: Int64] { seen.mapValues { Int64(Measuring.median($0)) } }

        func forget() { seen = [:] }

        func taken(by name: String, _ run: () async throws -> Double) async throws -> Double {
            sync()
            let before = try used()
            let seconds = try await run()
            sync()
            seen[name, default: []].append(Double(try used() - before))
            return seconds
        }

        private func used() throws -> Int64 {
            var facts = statvfs()
            guard statvfs(place, &facts) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
            return Int64(facts.f_blocks - facts.f_bfree) * Int64(facts.f_frsize)
        }
    }
}

extension WorkFolder {
    /// A file system with reflinks, in a file of this folder; it goes with the folder.
    fileprivate func mountShared(megabytes: Int) throws -> String {
        let image = newPath("image")
        let place = newPath("shared")
        try Command(["truncate", "-s", "\(megabytes)M", image]).run(in: self)
        try Command(["mkfs.xfs", "-q", "-m", "reflink=1", image]).run(in: self)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
        try Command(["mount", "-o", "loop", image, place]).run(in: self)
        willUnmount(place)
        return place
    }
}
