import Foundation
import LibraryModel
import ServiceMesh
import Testing

@testable import CommandLineInterface
@testable import Commands

@Suite("Watching")
struct WatchTests {
    private static let over = CommandFailure.refused(MeshError(.unavailable, "The daemon is shutting down."))

    private func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private func page(_ photos: [Photo], next: String? = nil, total: Int? = nil) throws -> String {
        try json(ObservedPhotos(photos: photos, next: next, total: total ?? photos.count))
    }

    private func watch(_ updates: [String], _ method: String, _ arguments: String...) async -> Stage {
        let stage = Stage()
        stage.updates(method, updates)
        stage.fail(method, Self.over)
        #expect(await stage.program.run(["watch"] + arguments) == .notRunning)
        return stage
    }

    @Test("Photos: the total, then what came, went and changed, and the total again")
    func photos() async throws {
        let stage = await watch(
            [
                try page([Sample.photo(2), Sample.photo(1)]),
                try page([Sample.photo(3, name: "new\u{1B}[31m"), Sample.photo(2), Sample.photo(1)]),
                try page([Sample.photo(3), Sample.photo(2, caption: "Sea")]),
            ], "photo.observe", "photos")
        #expect(
            stage.results == """
                photos: 2
                + 3  new␛[31m
                photos: 3
                - 1  beach
                ~ 3  beach: called 'beach'
                ~ 2  beach: caption 'Sea'
                photos: 2

                """)
        #expect(stage.messages.contains("The daemon is not running"))
    }

    @Test("A page is a window: what moves over its edge neither came nor went")
    func window() async throws {
        let stage = await watch(
            [
                try page([Sample.photo(5), Sample.photo(4)], next: "c", total: 4),
                try page([Sample.photo(6), Sample.photo(5)], next: "c", total: 5),
                try page([Sample.photo(5), Sample.photo(4)], next: "c", total: 4),
            ], "photo.observe", "photos")
        #expect(stage.results == "photos: 4\n+ 6  beach\nphotos: 5\n- 6  beach\nphotos: 4\n")
    }

    @Test("With --json each line is one object that holds the value as it came")
    func lines() async throws {
        let stage = await watch(
            [#"{"photos":[],"total":0,"later":1}"#, #"{"photos":[],"total":1}"#], "photo.observe", "photos", "--json")
        let lines = stage.results.split(separator: "\n").map(String.init)
        #expect(lines[0] == #"{"sequence":1,"overflowed":false,"value":{"photos":[],"total":0,"later":1}}"#)
        #expect(lines[1] == #"{"sequence":2,"overflowed":false,"value":{"photos":[],"total":1}}"#)
        #expect(lines.count == 3 && lines[2].contains("\"exitCode\":3"))
    }

    @Test("A connection that broke is made again, with a word about it and a mark")
    func again() async throws {
        let stage = Stage()
        stage.updates("photo.observe", [try page([Sample.photo(1)])])
        stage.fail("photo.observe", .connectionLost("the daemon closed it."))
        stage.fail("photo.observe", Self.over)
        #expect(await stage.run("watch", "photos", "--json") == .notRunning)
        let lines = stage.results.split(separator: "\n")
        #expect(lines[0].contains(#""overflowed":false"#) && lines[1].contains(#""overflowed":true"#))
        #expect(stage.messages.contains("was made again"))
        #expect(stage.methods.count == 2)
    }

    @Test("One that breaks before it brought anything is not made again and again")
    func brokenAtOnce() async throws {
        let stage = Stage()
        stage.fail("photo.observe", .connectionLost("the daemon closed it."))
        #expect(await stage.run("watch", "photos") == .failed)
        #expect(stage.methods == ["photo.observe"])
    }

    @Test("One that a dying daemon still took into its queue is followed by the one that tells")
    func dying() async throws {
        let stage = Stage()
        let display = WatchDisplay(session: stage.session(), report: PhotosReport())
        display.begin()
        #expect(!display.mayConnectAgain)
        try display.show(ObservedUpdate(sequence: 1, value: Data(try page([]).utf8), overflowed: false))
        #expect(display.mayConnectAgain)
        display.begin()
        #expect(display.mayConnectAgain && stage.messages.isEmpty)
        display.begin()
        #expect(!display.mayConnectAgain)
        try display.show(ObservedUpdate(sequence: 1, value: Data(try page([]).utf8), overflowed: false))
        #expect(display.mayConnectAgain && stage.messages.contains("was made again"))
    }

    @Test("Filters go into the request, and belong to photos alone")
    func filters() async throws {
        let stage = Stage()
        try stage.answer("category.list", Sample.categories)
        stage.fail("photo.observe", Self.over)
        _ = await stage.run(
            "watch", "photos", "--category", "family", "--favorites", "--text", "sea", "--limit", "7")
        let params = stage.params("photo.observe")
        #expect(params == ["categoryId": 1, "favoritesOnly": true, "text": "sea", "limit": 7])
        #expect(await Stage().run("watch", "categories", "--favorites") == .usage)
        #expect(await Stage().run("watch", "photoss") == .usage)
    }

    @Test("Ctrl-C ends it with 130")
    func interrupted() async throws {
        let stage = Stage(gate: { await Self.untilCancelled() })
        stage.updates("photo.observe", [try page([])])
        stage.fail("photo.observe", .refused(MeshError(.cancelled, "The request was cancelled.")))
        let (interrupts, press) = AsyncStream<Void>.makeStream()
        press.yield()
        let observed = try WatchedObservation(ObservePhotos(), PhotosReport())
        let watcher = Watcher(session: stage.session(interrupts: interrupts), observed: observed)
        #expect(try await watcher.run() == .cancelled)
    }

    private static func untilCancelled() async {
        let (silence, feed) = AsyncStream<Void>.makeStream()
        for await _ in silence {}
        feed.finish()
    }

    @Test("Categories, events, decisions, the trash, settings and jobs in short lines")
    func others() async throws {
        let (family, cars) = (Sample.category(1, "Family", photos: 3), Sample.category(2, "Cars"))
        #expect(
            await watch(
                [
                    try json(CategoryList(categories: [family])),
                    try json(CategoryList(categories: [Sample.category(1, "Family", photos: 4), cars])),
                    try json(CategoryList(categories: [cars])),
                ], "category.observe", "categories"
            ).results == """
                  #1  Family: 3 photos
                categories: 1
                ~ #1  Family: 4 photos
                + #2  Cars: 0 photos
                categories: 2
                - #1  Family: 4 photos
                categories: 1

                """)
        let totals = LibraryTotals(photos: 3, categories: 4, trashed: 1, pendingSwipes: 0)
        #expect(
            await watch([try json(LibraryEvent(changed: [.photos, .trash], totals: totals))], "event.subscribe").results
                == "photos, trash  (photos: 3, categories: 4, trash: 1, pending swipes: 0)\n")
        let action = PhotoAction(
            id: 7, sessionID: "s", photoIdentifier: "u", contentDigest: "d", action: .keep,
            timestamp: Timestamp(milliseconds: 0), isProcessed: false)
        #expect(
            await watch(
                [try json(PendingSwipes(actions: [action])), try json(PendingSwipes(actions: []))],
                "swipe.observePending", "swipe"
            ).results == "+ 7  keep u\npending: 1\n- 7\npending: 0\n")
        var moved = Sample.photo(12, name: "sea\u{1B}[2J", caption: "a")
        moved.categoryId = 3
        let one = [ObservedPhoto(photo: nil), ObservedPhoto(photo: Sample.photo(12)), ObservedPhoto(photo: moved)]
        let date = LocalDate.text(moved.createdAt)
        #expect(
            try await watch((one + [ObservedPhoto(photo: nil)]).map { try json($0) }, "photo.observeOne", "photo", "12")
                .results == """
                    not in the library
                    + 12  beach  \(date): category #1
                    ~ called 'sea␛[2J'
                    ~ moved to category #3
                    ~ caption 'a'
                    ~ 12  sea␛[2J  \(date): category #3, caption 'a'
                    - 12: not in the library any more

                    """)
        let trashed = TrashedPhoto(
            photo: Sample.photo(1), categoryName: "Family", deletedAt: Timestamp(milliseconds: 5),
            purgeAfter: Timestamp(milliseconds: 6))
        #expect(
            await watch(
                [
                    try json(ObservedTrash(photos: [], next: nil, total: 0)),
                    try json(ObservedTrash(photos: [trashed], next: nil, total: 1)),
                ], "trash.observe", "trash"
            ).results == "trash: 0\n+ 1  beach\ntrash: 1\n")
        #expect(
            await watch(
                [
                    #"{"swipeThreshold":0.3,"autoProcessActions":false}"#,
                    #"{"swipeThreshold":0.5,"autoProcessActions":false}"#,
                ],
                "settings.observe", "settings"
            ).results == "autoProcessActions: false\nswipeThreshold: 0.3\nswipeThreshold: 0.5\n")
        let job = try Sample.job("library.import", state: .running, done: 3, total: 9)
        let ended = try Sample.importJob()
        #expect(
            await watch([#"{"jobs":[\#(job)]}"#, #"{"jobs":[\#(ended)]}"#], "job.observe", "jobs").results == """
                + import-3f9a2c  importing  3/9
                jobs running: 1
                ~ import-3f9a2c  finished  2 imported
                jobs running: 0

                """)
    }
}
