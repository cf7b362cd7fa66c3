import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// A real import of 12 MP photos: each becomes a 2048-pixel photo, a 300-pixel thumbnail and a 1024-pixel preview, with its original
/// beside them and without, durable and in the catalogue. Beside it `vipsthumbnail` makes the same three files of each, on all
/// cores, with the same effort at WebP, and `cp` the fourth; they promise nothing more.
///
/// While we import, a search is sent every 10 ms, and the memory of all our processes is watched.
struct ImportMeasurement: Measurement {
    static let name = "import"
    static let summary = "an import of 12 MP photos vs vipsthumbnail and cp; memory; searches meanwhile"
    static let options = [
        Arguments.Option("photos", "N", "how many (60)"),
        Arguments.Option("size", "WxH", "pixels of each (4000x3000)"),
        Arguments.Option("texture", "T", "the photos' noise; 24 makes 5 MB of 12 MP (24)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (3)"),
    ]
    static let quick = ["--photos", "12", "--runs", "1"]

    let photos: Int
    let size: (width: Int, height: Int)
    let texture: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        photos = try arguments.number("photos", in: 2...100_000) ?? 60
        size = try arguments.size("size") ?? (4000, 3000)
        texture = try arguments.number("texture", in: 0...127) ?? 24
        runs = try arguments.number("runs", in: 1...100) ?? 3
    }

    private static let must = (memory: Int64(150_000_000), latency: 0.020, hundred: 45.0)

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let album = try GeneratedAlbum.make(
            photos, pixels: "\(size.width)x\(size.height)", texture: texture, in: work)
        let bytes = try GeneratedAlbum.bytes(of: album)
        note("import: \(photos) photos, \(Format.megabytes(bytes)), \(runs) runs")
        let observed = Observed()
        var contenders: [Measuring.Contender] = Self.ways.map { way in
            { try await Self.importAll(of: album, originals: way.originals, observed, in: work) }
        }
        let files = try GeneratedAlbum.files(of: album)
        let peers = Self.ways.map { VipsThumbnails(files: files, copiesSources: $0.originals) }
        if Tool.vips.path != nil { contenders += peers.map { peer in { try peer.seconds(in: work) } } }
        let medians = try await Measuring.interleaved(runs: runs, contenders)
        return try await figures(medians, peers, observed)
    }

    private static let ways = [
        (originals: true, what: "originals kept", must: 1.8), (originals: false, what: "without originals", must: 1),
    ]

    private func figures(
        _ medians: [Double], _ peers: [VipsThumbnails], _ observed: Observed
    ) async throws -> [Figure] {
        let rate = Double(photos) / medians[0]
        let speeds = Self.ways.enumerated().map { index, way in
            let what = "import of \(photos) photos, \(way.what)"
            guard medians.count > Self.ways.count else {
                return Figure.missing(
                    what, ours: Format.rate(Double(photos) / medians[index], "photos"), .vips,
                    must: Format.ratio(way.must))
            }
            return .times(
                what, ours: medians[index], peer: medians[Self.ways.count + index], command: peers[index].commandLine,
                atLeast: way.must, show: { Format.rate(Double(photos) / $0, "photos") })
        }
        let hundred = 100 / rate
        let memory = await observed.memory.shares
        let latencies = await observed.latencies
        let (p50, p99) = (Measuring.percentile(latencies, 0.5), Measuring.percentile(latencies, 0.99))
        return speeds + [
            Figure(
                "import of 100 photos\(photos == 100 ? "" : ", at that rate")", ours: Format.seconds(hundred),
                must: "< \(Format.seconds(Self.must.hundred))", holds: hundred < Self.must.hundred),
            // What the machine has to have for them. Their VmHWM together count pages that they share as often as they share them,
            // and add up peaks of different moments.
            Figure(
                "peak memory of daemon + workers (Pss)", ours: Format.megabytes(memory),
                must: "< \(Format.megabytes(Self.must.memory))", holds: memory < Self.must.memory),
            Figure(
                "the peak of each (VmHWM), shared pages in each of them",
                ours: await observed.memory.parts.map(Format.megabytes).joined(separator: " + ")),
            Figure("search during the import, p50 of \(latencies.count)", ours: Format.seconds(p50)),
            Figure(
                "search during the import, p99", ours: Format.seconds(p99),
                must: "< \(Format.seconds(Self.must.latency))", holds: p99 < Self.must.latency),
        ]
    }

    private final class Observed: Sendable {
        let memory = MemoryPeak()
        private let found = Latencies()

        var latencies: [Double] { get async { await found.seconds } }
        func took(_ seconds: Double) async { await found.add(seconds) }

        private actor Latencies {
            private(set) var seconds: [Double] = []
            func add(_ value: Double) { seconds.append(value) }
        }
    }

    /// Seconds for the whole album into a new library.
    private static func importAll(
        of album: String, originals: Bool, _ observed: Observed, in work: WorkFolder
    ) async throws -> Double {
        let path = work.newPath("library")
        sync()
        ProcessFacts.forgetPeak()
        let library = try await BenchLibrary.open(at: path)
        let watching = Task { try await watch(library, observed) }
        let times = try await library.run(ImportPhotos(paths: [album], originals: originals))
        watching.cancel()
        // What it had asked by then is called off with it.
        do { try await watching.value } catch  where MeshError(describing: error).status == .cancelled {}
        await library.close()
        try FileManager.default.removeItem(atPath: path)
        return times.seconds
    }

    /// Sends a search every 10 ms, whether or not the one before is answered, and looks at memory every 50 ms.
    private static func watch(_ library: BenchLibrary, _ observed: Observed) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            var turn = 0
            while !Task.isCancelled {
                if turn.isMultiple(of: 5) {
                    await observed.memory.sample([getpid()] + (try await library.workers()))
                }
                turn += 1
                group.addTask {
                    let began = MonotonicClock.now()
                    _ = try await library.mesh.send(SearchPhotos(PhotoFilter(text: "sample"), limit: 20))
                    await observed.took(Double(MonotonicClock.now() - began) / 1e9)
                }
                // The measurement's own clock; nothing is decided by it.
                try? await Task.sleep(for: .milliseconds(10))
                // What has been answered is let go.
                if turn.isMultiple(of: 100) { try await group.waitForAll() }
            }
            try await group.waitForAll()
        }
    }
}

/// `vipsthumbnail` making the three sizes of every photo, and `cp` of the sources where that is asked for: one process for each core, each with its share of the files and
/// one thread, which is faster here than one process with many threads.
struct VipsThumbnails: Sendable {
    private let shares: [[String]]
    private let copiesSources: Bool

    init(files: [String], copiesSources: Bool) {
        self.copiesSources = copiesSources
        let cores = max(1, ProcessInfo.processInfo.activeProcessorCount)
        shares = (0..<cores).map { core in files.indices.filter { $0 % cores == core }.map { files[$0] } }
    }

    var commandLine: String {
        "VIPS_CONCURRENCY=1, \(shares.count) processes at once, each with its share of FILES: "
            + "vipsthumbnail -s 2048 -o 'photos/%s.jpg[Q=90]' FILES; "
            + "vipsthumbnail -s 300 -o 'thumbnails/%s.jpg[Q=85]' FILES; "
            + "vipsthumbnail -s 1024 -o 'previews/%s.webp[\(Self.preview)]' FILES"
            + (copiesSources ? "; cp FILES originals" : "")
    }

    private static let preview = "Q=82,effort=2"

    func seconds(in work: WorkFolder) throws -> Double {
        let folder = work.newPath("vips")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (photos, thumbnails, originals) = (folder + "/photos", folder + "/thumbnails", folder + "/originals")
        let previews = folder + "/previews"
        for path in [photos, thumbnails, previews, originals] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        let shares = shares.filter { !$0.isEmpty }
        func commands(_ side: Int, _ output: String) -> [Command] {
            shares.map { files in
                Command(
                    ["vipsthumbnail", "-s", "\(side)", "-o", output] + files, environment: ["VIPS_CONCURRENCY": "1"])
            }
        }
        sync()
        return try Measuring.blockingSeconds {
            _ = try Command.run(commands(2048, photos + "/%s.jpg[Q=90]"), in: work)
            _ = try Command.run(commands(300, thumbnails + "/%s.jpg[Q=85]"), in: work)
            _ = try Command.run(commands(1024, previews + "/%s.webp[\(Self.preview)]"), in: work)
            if copiesSources { _ = try Command.run(shares.map { Command(["cp"] + $0 + [originals]) }, in: work) }
        }
    }
}
