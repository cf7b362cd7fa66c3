import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh

/// A catalogue of a million photos: how long a page and a search take, beside the same with ten thousand; how it is
/// filled, beside `sqlite3 .import`; durable decisions about its photos; and the daemon's start with it.
struct CatalogueMeasurement: Measurement {
    static let name = "catalogue"
    static let summary = "a million photos: pages, searches, filling, the daemon's start"
    static let options = [
        Arguments.Option("photos", "N", "rows in the large catalogue (1000000)"),
        Arguments.Option("import-rows", "N", "first rows that sqlite3 imports too, in steps of 50000 (all)"),
        Arguments.Option("runs", "N", "of each query, medians are shown (50)"),
        Arguments.Option("writes", "N", "durable writes one at a time; 64 callers make ten times as many (640)"),
    ]
    static let quick = ["--photos", "50000", "--runs", "20", "--writes", "128"]

    private static let small = 10_000

    let photos: Int
    let imported: Int
    let runs: Int
    let writes: Int

    init(_ arguments: Arguments) throws {
        photos = try arguments.number("photos", in: 10_000...10_000_000) ?? 1_000_000
        let rows = try arguments.number("import-rows", in: 50_000...10_000_000) ?? photos
        // Whole batches, or all.
        imported = rows < photos ? rows / FilledLibrary.batch * FilledLibrary.batch : photos
        runs = try arguments.number("runs", in: 3...100_000) ?? 50
        writes = try arguments.number("writes", in: 64...10_000_000) ?? 640
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        let few = try await FilledLibrary.make(Self.small, named: "few", in: work)
        note("catalogue: making \(photos) photos")
        let many = try await FilledLibrary.make(photos, named: "many", compared: imported, in: work)
        var figures = many.figures
        for query in CatalogueQuery.all { figures.append(try await figure(query, few, many)) }
        figures += try await durable(many.library.mesh)
        await few.library.close()
        await many.library.close()
        figures += try await DaemonStart.figures(library: many.path, photos: photos, in: work)
        return figures
    }

    /// One query on both catalogues, in turn.
    private func figure(_ query: CatalogueQuery, _ few: FilledLibrary, _ many: FilledLibrary) async throws -> Figure {
        var found: [Int] = []
        for library in [few, many] { found.append(try await query.run(library.library.mesh)) }
        let isRight = query.isRight(found[1], photos)
        if !isRight { note("catalogue: '\(query.name)' found \(found[1])") }
        let times = try await Measuring.interleaved(
            runs: runs,
            [few, many].map { library in
                { try await Measuring.seconds { _ = try await query.run(library.library.mesh) } }
            })
        return Figure(
            "\(query.name) (\(found[1]) found)", ours: Format.seconds(times[1]),
            peer: "\(Format.seconds(times[0])) with \(Self.small)", ratio: times[0] / times[1],
            must: query.must.map { "< \(Format.seconds($0))" }, holds: isRight && times[1] < query.must ?? .infinity)
    }

    /// Swipe decisions about this catalogue's photos.
    private func durable(_ mesh: Mesh) async throws -> [Figure] {
        let photos = try await mesh.send(SearchPhotos(limit: 1000)).photos
        let session = try await mesh.send(StartSwipeSession()).sessionID
        let swipe: @Sendable (Int) async throws -> Void = { number in
            let photo = photos[number % photos.count]
            _ = try await mesh.send(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: .keep))
        }
        let writes = writes
        let rates = try await Measuring.interleaved(
            runs: 3,
            [
                { try await DurableMeasurement.rate(writes * 10, callers: DurableMeasurement.callers, swipe) },
                { try await DurableMeasurement.rate(writes, callers: 1, swipe) },
            ])
        let ratio = rates[0] / rates[1]
        return [
            Figure(
                "durable decisions from \(DurableMeasurement.callers) callers vs one fsync each",
                ours: Format.rate(rates[0], "writes"), peer: Format.rate(rates[1], "writes"), ratio: ratio,
                must: Format.ratio(DurableMeasurement.must), holds: ratio >= DurableMeasurement.must)
        ]
    }
}
