import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// Swipe decisions, each durable before it is answered: one at a time, and from 64 callers at once, whose commits
/// share their fsyncs. Beside them a bare append with fdatasync, one at a time: what the disk itself takes.
struct DurableMeasurement: Measurement {
    static let name = "durable"
    static let summary = "durable swipe decisions from 64 callers vs one at a time"
    static let options = [
        Arguments.Option("writes", "N", "one at a time in each run; 64 callers make ten times as many (1000)"),
        Arguments.Option("runs", "N", "runs of each contender, medians are shown (5)"),
    ]
    static let quick = ["--writes", "200", "--runs", "3"]

    static let callers = 64
    static let must = 10.0

    let writes: Int
    let runs: Int

    init(_ arguments: Arguments) throws {
        writes = try arguments.number("writes", in: 64...10_000_000) ?? 1000
        runs = try arguments.number("runs", in: 1...1000) ?? 5
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let album = try GeneratedAlbum.make(16, pixels: "320x240", texture: 24, in: work)
        let library = try await BenchLibrary.open(at: work.newPath("library"))
        _ = try await library.run(ImportPhotos(paths: [album]))
        let mesh = library.mesh
        let photos = try await mesh.send(SearchPhotos()).photos
        let session = try await mesh.send(StartSwipeSession()).sessionID
        let swipe: @Sendable (Int) async throws -> Void = { number in
            let photo = photos[number % photos.count]
            _ = try await mesh.send(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: .keep))
        }
        note("durable: \(writes) writes one at a time, \(writes * 10) from \(Self.callers) callers, \(runs) runs")
        let (single, many) = (writes, writes * 10)
        let bare = work.newPath("appended")
        let rates = try await Measuring.interleaved(
            runs: runs,
            [
                { try await Self.rate(many, callers: Self.callers, swipe) },
                { try await Self.rate(single, callers: 1, swipe) },
                { try Self.bareRate(single, path: bare) },
            ])
        await library.close()
        let ratio = rates[0] / rates[1]
        return [
            Figure(
                "durable writes from \(Self.callers) callers vs one at a time", ours: Format.rate(rates[0], "writes"),
                peer: Format.rate(rates[1], "writes"), ratio: ratio, must: Format.ratio(Self.must),
                holds: ratio >= Self.must),
            Figure(
                "durable writes from \(Self.callers) callers vs append + fdatasync",
                ours: Format.rate(rates[0], "writes"), peer: Format.rate(rates[2], "writes"),
                ratio: rates[0] / rates[2]),
        ]
    }

    static func rate(
        _ writes: Int, callers: Int, _ write: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let each = writes / callers
        let seconds = try await Measuring.seconds {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for caller in 0..<callers {
                    group.addTask { for number in 0..<each { try await write(caller + number) } }
                }
                try await group.waitForAll()
            }
        }
        return Double(each * callers) / seconds
    }

    /// One fsync for each write, without a database: 4 KiB at the end of a file.
    private static func bareRate(_ writes: Int, path: String) throws -> Double {
        let file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw BenchLibrary.Failed(description: "\(path) cannot be made.") }
        defer { close(file) }
        let block = [UInt8](repeating: 1, count: 4096)
        let seconds = try Measuring.blockingSeconds {
            for _ in 0..<writes {
                guard write(file, block, block.count) == block.count, fdatasync(file) == 0 else {
                    throw BenchLibrary.Failed(description: "\(path) cannot be written.")
                }
            }
        }
        return Double(writes) / seconds
    }
}
