import BenchSupport
import Foundation
import LibraryModel
import ServiceMesh
import Synchronization

/// What a family does every day, in a catalogue of a million photos of which nearly all are reviewed: the pages of a review,
/// and decisions that are durable before they are answered. And sealed fields, in a library of their own.
struct DailyMeasurement: Measurement {
    static let name = "daily"
    static let summary = "a million photos, nearly all reviewed: pages of a review, durable decisions; sealed fields"
    static let options = [
        Arguments.Option("photos", "N", "rows in the catalogue (1000000)"),
        Arguments.Option("runs", "N", "of each page, medians are shown (50)"),
        Arguments.Option("notes", "N", "photos with sealed notes (100000)"),
        Arguments.Option("writes", "N", "decisions one at a time; 64 callers make ten times as many (1000)"),
    ]
    static let quick = ["--photos", "50000", "--runs", "20", "--writes", "128", "--notes", "5000"]

    /// Of so many photos one is not reviewed, and one is to go to the trash; of the newest ones none.
    static let every = 1000

    let photos: Int
    let notes: Int
    let runs: Int
    let writes: Int

    init(_ arguments: Arguments) throws {
        photos = try arguments.number("photos", in: 50_000...10_000_000) ?? 1_000_000
        notes = try arguments.number("notes", in: 1000...1_000_000) ?? 100_000
        runs = try arguments.number("runs", in: 3...100_000) ?? 50
        writes = try arguments.number("writes", in: 64...10_000_000) ?? 1000
    }

    func figures(in work: WorkFolder) async throws -> [Figure] {
        note("daily: making \(photos) photos")
        let library = try await BenchLibrary.open(at: work.newPath("reviewed"))
        let categories = try await fill(library)
        var figures: [Figure] = []
        for page in pages(category: categories[7], other: categories[9]) {
            figures.append(try await figure(page, library.mesh))
        }
        figures += try await durable(library.mesh)
        await library.close()
        // Each takes seconds, a page a millisecond.
        return figures + (try await SealedRows(notes: notes, runs: min(runs, 5)).figures(in: work))
    }

    // MARK: The library

    /// - Returns: its categories.
    private func fill(_ library: BenchLibrary) async throws -> [Int64] {
        var categories: [Int64] = []
        for name in GeneratedCatalogue.categories {
            categories.append(try await library.mesh.send(AddCategory(displayName: name)).id)
        }
        let context = CallContext.root(mesh: library.mesh, role: .service)
        for start in stride(from: 0, to: photos, by: FilledLibrary.batch) {
            let batch = (start..<min(start + FilledLibrary.batch, photos)).map { number in
                var row = GeneratedCatalogue.photo(number, categories: categories)
                row.photo.lastDecision = Self.decision(number, row.photo)
                row.photo.camera = Self.camera(number, row.photo)
                return row
            }
            _ = try await library.mesh.send(AddPhotos(photos: batch), in: context)
        }
        return categories
    }

    /// The second half of the years was reviewed without exception: whoever walks there meets nobody.
    private static func decision(_ number: Int, _ photo: Photo) -> SwipeAction? {
        let isOld = photo.shownAt.milliseconds < GeneratedCatalogue.firstDate + GeneratedCatalogue.span / 2
        guard isOld else { return number.isMultiple(of: 20) ? .favorite : .keep }
        // Categories repeat every twelve numbers, so these are in three of them.
        return number % every == 7 ? nil : number % every == 11 ? .trash : .keep
    }

    /// The one that took most has no photo in the newer half of the years, in a category, or among the favourites; one took a
    /// photo in ten thousand, ten of one make the rest, and of every fourth none is known.
    private static func camera(_ number: Int, _ photo: Photo) -> String? {
        if number.isMultiple(of: 10_000) { return "PENTAX K-1" }
        let isOld = photo.shownAt.milliseconds < GeneratedCatalogue.firstDate + GeneratedCatalogue.span / 2
        if isOld, !photo.isFavorite, number % 12 != 9 { return "Apple iPhone 12" }
        return number.isMultiple(of: 4) ? nil : "Canon EOS \(number % 10)D"
    }

    // MARK: Pages

    private struct Page {
        let name: String
        let filter: PhotoFilter
        /// How many it has at least, where there are so many photos.
        let found: Int
        /// Seconds.
        var must = 0.002
    }

    private func pages(category: Int64, other: Int64) -> [Page] {
        // Half of the photos are old, and what is not reviewed is in three categories.
        let marked = photos / Self.every / 2
        return [
            Page(
                name: "page of what is not reviewed", filter: PhotoFilter(reviewed: false),
                found: min(100, marked * 8 / 10)),
            Page(
                name: "page of what is not reviewed in a category",
                filter: PhotoFilter(categoryId: category, reviewed: false), found: min(100, marked / 4)),
            Page(
                name: "page of what is to go to the trash", filter: PhotoFilter(decision: .trash),
                found: min(100, marked * 8 / 10)),
            Page(name: "page of what is reviewed", filter: PhotoFilter(reviewed: true), found: 100),
        ]
            + [
                ("page of the camera of most photos", PhotoFilter(camera: "iphone 12"), 100),
                ("page of a camera of few", PhotoFilter(camera: "pentax"), min(100, photos / 10_000)),
                ("page of ten cameras of one make", PhotoFilter(camera: "canon"), 100),
                ("page of photos without a camera", PhotoFilter(hasCamera: false), 100),
                (
                    "page of the camera of most, in a category without",
                    PhotoFilter(categoryId: other, camera: "iphone 12"), 0
                ),
                (
                    "page of the camera of most, of favourites without",
                    PhotoFilter(favoritesOnly: true, camera: "iphone 12"), 0
                ),
                (
                    "page of the camera of most, of a year without",
                    PhotoFilter(
                        from: LocalDateTime(
                            milliseconds: GeneratedCatalogue.firstDate + GeneratedCatalogue.span * 3 / 4),
                        camera: "iphone 12"), 0
                ),
                (
                    "page of one make, of a category's favourites",
                    PhotoFilter(categoryId: category, favoritesOnly: true, camera: "canon"), 100
                ),
                ("page of one make with a word", PhotoFilter(text: "kasekuchen", camera: "canon"), 100),
                (
                    "page of one make that is not reviewed",
                    PhotoFilter(reviewed: false, camera: "canon"), 1
                ),
            ].map { Page(name: $0, filter: $1, found: $2, must: $1.text == nil ? 0.01 : 0.05) }
    }

    private func figure(_ page: Page, _ mesh: Mesh) async throws -> Figure {
        let found = try await mesh.send(SearchPhotos(page.filter)).photos.count
        let times = try await Measuring.interleaved(
            runs: runs, [{ try await Measuring.seconds { _ = try await mesh.send(SearchPhotos(page.filter)) } }])
        return Figure(
            "\(page.name) (\(found) found)", ours: Format.seconds(times[0]), must: "< \(Format.seconds(page.must))",
            holds: times[0] < page.must && found >= page.found)
    }

    // MARK: Decisions

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                defer { count += 1 }
                return count
            }
        }
    }

    private func durable(_ mesh: Mesh) async throws -> [Figure] {
        let photos = try await mesh.send(SearchPhotos(limit: 1000)).photos
        let session = try await mesh.send(StartSwipeSession()).sessionID
        let actions = SwipeAction.allCases
        let made = Counter()
        let swipe: @Sendable (Int) async throws -> Void = { _ in
            let number = made.next()
            let photo = photos[number % photos.count]
            // Another one than the photo had, so that each changes what it says as well.
            let action = actions[number / photos.count % actions.count]
            _ = try await mesh.send(
                RecordSwipe(
                    sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: action)
            )
        }
        let (single, many) = (writes, writes * 10)
        // What is shown after many decisions is measured between them and the single ones, which then find nothing left.
        let rates = try await Measuring.interleaved(
            runs: 3,
            [
                { try await DurableMeasurement.rate(many, callers: DurableMeasurement.callers, swipe) },
                {
                    try await Measuring.seconds {
                        _ = try await mesh.send(SearchPhotos(PhotoFilter(decision: .trash), limit: 100))
                    }
                },
                { try await DurableMeasurement.rate(single, callers: 1, swipe) },
            ])
        let ratio = rates[0] / rates[2]
        return [
            Figure(
                "durable decisions from \(DurableMeasurement.callers) callers vs one fsync each",
                ours: Format.rate(rates[0], "writes"), peer: Format.rate(rates[2], "writes"), ratio: ratio,
                must: Format.ratio(DurableMeasurement.must), holds: ratio >= DurableMeasurement.must),
            Figure("then, until a list shows the \(many)", ours: Format.seconds(rates[1])),
        ]
    }
}
