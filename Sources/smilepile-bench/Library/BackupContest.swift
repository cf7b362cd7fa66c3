import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// The comparisons of ``BackupMeasurement`` on one library.
struct BackupContest: Sendable {
    let library: BenchLibrary
    let work: WorkFolder
    /// Of the library, that the peers are given.
    let folders: [String]
    /// Bytes in them.
    let bytes: Int64
    private let costs = Costs()

    init(_ library: BenchLibrary, in work: WorkFolder) throws {
        (self.library, self.work) = (library, work)
        let path = library.library.path
        folders = try StoredAlbum.folders(of: path)
        bytes = try folders.reduce(0) { try $0 + GeneratedAlbum.bytes(of: path + "/" + $1) }
    }

    /// A program that does the same, and how many times faster we must be.
    private struct Peer {
        let tool: Tool
        /// OUT is a path that nothing has yet.
        let command: [String]
        var must: Double?
        /// What it is given, where not all are given the same.
        var given = ""

        var name: String { tool.name + given }
        var line: String { command.joined(separator: " ") }
    }

    func create(runs: Int) async throws -> [Figure] {
        let what = "backup of \(Format.megabytes(bytes)), verified"
        // What ours holds is more than photos.
        let all =
            folders
            + (FileManager.default.fileExists(atPath: library.library.path + "/thumbnails") ? ["thumbnails"] : [])
        let storing = ["bsdtar", "--format", "zip", "--options", "zip:compression=store", "-cf", "OUT.zip"]
        let (seconds, figures) = try await compare(
            what, runs: runs,
            [
                Peer(tool: .zip, command: ["zip", "-0", "-r", "-q", "OUT.zip"] + folders, must: 1.8),
                Peer(
                    tool: .zip, command: ["zip", "-0", "-r", "-q", "OUT.zip"] + all, must: 1.8,
                    given: " of all that ours holds"),
                Peer(tool: .bsdtar, command: storing + folders, must: 1),
                // What is synced and read back is what ours is measured with.
                Peer(
                    tool: .bsdtar,
                    command: [
                        "sh", "-c", (storing + all + ["&& sync OUT.zip && unzip -tqq OUT.zip"]).joined(separator: " "),
                    ],
                    must: 1, given: " of all that ours holds, synced and tested"),
                Peer(tool: .sevenZip, command: ["7z", "a", "-tzip", "-mx=0", "-bd", "OUT.zip"] + folders),
            ]
        ) {
            let path = work.newPath("backup") + ".zip"
            defer { unlink(path) }
            return try await library.run(CreateBackup(path: path))
        }
        let hundred = seconds * 200e6 / Double(bytes)
        return figures + [
            Figure(
                "backup of 100 photos of 2 MB, at that rate", ours: Format.seconds(hundred), must: "< 30 s",
                holds: hundred < 30)
        ]
    }

    func restore(_ backup: String, runs: Int) async throws -> [Figure] {
        let shares = Shares()
        let (_, figures) = try await compare(
            "restore, verified, with thumbnails", runs: runs,
            [
                Peer(tool: .unzip, command: ["unzip", "-q", backup, "-d", "OUT"], must: 1.5),
                Peer(tool: .sevenZip, command: ["7z", "x", "-bd", "-oOUT", backup]),
            ]
        ) { try await restoreOnce(backup, shares) }
        return figures + [
            Figure(
                "  thumbnails' share of all processor time",
                ours: String(format: "%.0f %%", await shares.thumbnails * 100))
        ]
    }

    func verify(_ backup: String, runs: Int) async throws -> [Figure] {
        try await compare(
            "verification", runs: runs,
            [
                Peer(tool: .unzip, command: ["unzip", "-tqq", backup], must: 5),
                Peer(tool: .sevenZip, command: ["7z", "t", "-bd", backup]),
            ]
        ) { try await library.run(VerifyBackup(path: backup)) }.figures
    }

    /// Runs ours and each peer that is installed, in turn.
    /// - Returns: our seconds, and a line for each peer, then what it cost beside time.
    private func compare(
        _ what: String, runs: Int, _ peers: [Peer], ours: @escaping () async throws -> BenchLibrary.JobTimes
    ) async throws -> (seconds: Double, figures: [Figure]) {
        await costs.forget()
        let there = peers.filter { $0.tool.path != nil }
        let contenders: [Measuring.Contender] =
            [{ try await costing(ours) }] + there.map { peer in { try await costing(peer) } }
        let medians = try await Measuring.interleaved(runs: runs, contenders)
        var figures = zip(there, medians.dropFirst()).map { peer, seconds in
            Figure.times(
                "\(what), vs \(peer.name)", ours: medians[0], peer: seconds, command: peer.line,
                atLeast: peer.must)
        }
        figures += peers.filter { $0.tool.path == nil }.map { peer in
            .missing(
                "\(what), vs \(peer.name)", ours: Format.seconds(medians[0]), peer.tool,
                must: peer.must.map(Format.ratio))
        }
        for (phase, seconds) in await costs.phases {
            figures.append(Figure("  of which \(phase)", ours: Format.seconds(seconds)))
        }
        let processor = await costs.processor
        figures.append(
            Figure(
                "  processor time, all cores", ours: Format.seconds(processor[Costs.ours] ?? 0),
                peer: there.map { "\($0.name) \(Format.seconds(processor[$0.name] ?? 0))" }
                    .joined(separator: ", ")))
        figures.append(Figure("  most memory of the process", ours: Format.megabytes(await costs.memory)))
        return (medians[0], figures)
    }

    private func costing(_ run: () async throws -> BenchLibrary.JobTimes) async throws -> Double {
        sync()
        ProcessFacts.forgetPeak()
        let before = ProcessFacts.processorSeconds(getpid())
        let times = try await run()
        await costs.saw(
            Costs.ours, ProcessFacts.processorSeconds(getpid()) - before, phases: times.phases,
            memory: ProcessFacts.peakMemory(getpid()))
        return times.seconds
    }

    private func costing(_ peer: Peer) async throws -> Double {
        let path = work.newPath("peer")
        defer {
            try? work.discard(path)
            unlink(path + ".zip")
        }
        sync()
        let command = Command(
            peer.command.map { $0.replacingOccurrences(of: "OUT", with: path) }, in: library.library.path)
        let before = ProcessFacts.processorSecondsOfEndedChildren()
        let seconds = try Measuring.blockingSeconds { _ = try command.run(in: work) }
        await costs.saw(peer.name, ProcessFacts.processorSecondsOfEndedChildren() - before)
        return seconds
    }

    private static let passphrase = "no secret in a benchmark"

    private func restoreOnce(_ backup: String, _ shares: Shares) async throws -> BenchLibrary.JobTimes {
        let path = work.newPath("restored")
        let target = try await BenchLibrary.open(at: path)
        // A restore without the keys of what is sealed leaves that out, and says so.
        let keys = try await library.mesh.send(ExportKeys(passphrase: Self.passphrase))
        _ = try await target.mesh.send(ImportKeys(text: keys.text, passphrase: Self.passphrase))
        sync()
        let before = ProcessFacts.processorSeconds(getpid())
        let times = try await target.run(RestoreBackup(path: backup, mode: .replace))
        let own = ProcessFacts.processorSeconds(getpid()) - before
        let workers = try await target.workers().reduce(0) { $0 + ProcessFacts.processorSeconds($1) }
        await shares.saw(thumbnails: workers / (own + workers))
        await target.close()
        try work.discard(path)
        return times
    }

    /// Where the time of the latest restore went.
    private actor Shares {
        /// 0…1, of the processor time of all processes.
        private(set) var thumbnails = 0.0

        func saw(thumbnails: Double) { self.thumbnails = thumbnails }
    }

    /// What contenders took beside time.
    private actor Costs {
        static let ours = "smilepile"

        private var seen: [String: [Double]] = [:]
        /// Of our latest run.
        private(set) var phases: [(name: String, seconds: Double)] = []
        /// The most of all runs, in bytes.
        private(set) var memory: Int64 = 0

        /// Medians of seconds on a core, by who took them.
        var processor: [String: Double] { seen.mapValues(Measuring.median) }

        func forget() { (seen, phases, memory) = ([:], [], 0) }

        func saw(
            _ name: String, _ seconds: Double, phases: [(name: String, seconds: Double)]? = nil, memory: Int64 = 0
        ) {
            seen[name, default: []].append(seconds)
            if let phases { self.phases = phases }
            self.memory = max(self.memory, memory)
        }
    }
}
