import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing

/// Names, texts, numbers and dates that nobody means well: a typed error or the right answer, and never a trap.
@Suite(.timeLimit(.minutes(2))) struct HostileValueTests {
    private let sample = SampleCatalogue()
    private static let long = String(repeating: "x", count: 10_000)
    /// One character of 20,001 bytes.
    private static let tower = "a" + String(repeating: "\u{301}", count: 10_000)

    /// Texts that are strange, and still names.
    private static let strange = [
        "שלום עולם", "مرحبا", "\u{202E}backwards\u{202C}", "👨‍👩‍👧‍👦🏳️‍🌈", "🇩🇪", "%", "_", "'; DROP TABLE photos; --",
        "\"x\" OR \"y\" *", "*",
        "\\", "../../etc/passwd", "\u{FFFD}", "\u{FFFF}", "\u{10FFFF}", "ﷺ", "İ", "ẞ", "a\u{200B}b",
        "a\u{301}\u{302}\u{303}",
        "null", "NaN",
    ]

    @Test func namesOfCategories() async throws {
        let test = try await TestLibrary()
        for name in [
            "\u{200D}", " \u{FEFF}\u{200E} ", "\u{3164}\u{2063}", Self.long, Self.tower, "a\u{0}b", "\u{0}",
            " \u{2003}\u{3000}\t", "\u{7F}x", "x\u{85}y", "\u{1B}[2J",
        ] {
            let requests: [(String, () async throws -> Void)] = [
                ("add", { _ = try await test.mesh.send(AddCategory(displayName: name)) }),
                (
                    "addAll",
                    { _ = try await test.mesh.send(AddCategories(categories: [NewCategory(displayName: name)])) }
                ),
                ("edit", { _ = try await test.mesh.send(EditCategory(id: 1, displayName: name)) }),
            ]
            for (request, send) in requests {
                #expect(await status(send) == .invalidArgument, "\(request) \(name.prefix(20).debugDescription)")
            }
            #expect(await status { _ = try await test.mesh.send(GetCategory(displayName: name)) } == .notFound)
            #expect(try await !test.mesh.send(CheckCategoryName(displayName: name)).isTaken)
        }
        for name in Self.strange {
            let added = try await test.mesh.send(AddCategory(displayName: name))
            #expect(added.displayName == name, "\(name)")
            #expect(try await test.mesh.send(GetCategory(displayName: name)) == added, "\(name)")
            #expect(try await test.mesh.send(CheckCategoryName(displayName: name)).categoryId == added.id)
            let found = try await test.mesh.send(ListCategories(text: name)).categories
            #expect(found.contains(added), "\(name)")
            #expect(await status { _ = try await test.mesh.send(AddCategory(displayName: name)) } == .alreadyExists)
        }
        let all = try await test.mesh.send(ListCategories(order: .displayName)).categories
        #expect(all.count == 4 + Self.strange.count)
        #expect(try await test.mesh.send(ListCategories(text: "%")).categories.map(\.displayName) == ["%"])
        #expect(try await test.mesh.send(ListCategories(text: "_")).categories.map(\.displayName) == ["_"])
        // What cannot be searched for stands for what cannot be shown.
        for text in ["\u{0}", "\u{FFFF}"] {
            let found = try await test.mesh.send(ListCategories(text: text)).categories.map(\.displayName)
            #expect(found == ["\u{FFFD}", "\u{FFFF}"])
        }
        #expect(await status { _ = try await test.mesh.send(ListCategories(text: Self.long)) } == .invalidArgument)
        #expect(await status { _ = try await test.mesh.send(ListCategories(text: Self.tower)) } == .invalidArgument)
        await test.library.close()
    }

    @Test func namesAndCaptionsOfPhotos() async throws {
        let test = try await TestLibrary()
        _ = try await test.add([sample.photo(1, takenAt: 1), sample.photo(2, takenAt: 2)])
        for name in [Self.long, Self.tower, "a\u{0}b", "x\ny"] {
            #expect(await status { _ = try await test.mesh.send(EditPhoto(id: 1, name: name)) } == .invalidArgument)
        }
        // A caption may have 2,000 characters, of some length each.
        for caption in [Self.long, Self.tower + Self.tower] {
            #expect(
                await status { _ = try await test.mesh.send(EditPhoto(id: 1, caption: caption)) } == .invalidArgument)
            #expect(
                await status { _ = try await test.mesh.send(SetCaption(id: 1, caption: caption)) } == .invalidArgument)
        }
        for text in Self.strange {
            let edited = try await test.mesh.send(EditPhoto(id: 1, name: text, caption: text))
            #expect(edited.name == text && edited.caption == text)
            #expect(try await test.mesh.send(GetPhoto(id: 1)) == edited)
            let found = try await test.mesh.send(SearchPhotos(PhotoFilter(text: text))).photos.map(\.id)
            // `_`, and letters without their marks, may be in the other one's path as well.
            #expect(found.contains(1), "\(text.debugDescription): \(found)")
            #expect(found == [1] || ["_", "İ", "a\u{301}\u{302}\u{303}"].contains(text), "\(text.debugDescription)")
            #expect(
                try await test.mesh.send(CountPhotos(PhotoFilter(text: text))).count == found.count,
                "\(text.debugDescription)")
        }
        await test.library.close()
    }

    @Test func textsOfSearches() async throws {
        let test = try await TestLibrary()
        _ = try await test.add([
            sample.photo(1, caption: "100% of_it 'quoted' \"x\" *", takenAt: 1), sample.photo(2, takenAt: 2),
        ])
        let texts: [(String, [Int64])] = [
            ("%", [1]), ("0% o", [1]), ("_it", [1]), ("'quoted'", [1]), ("\"x\"", [1]), ("*", [1]), ("\" *", [1]),
            ("%%", []), ("''", []), ("\u{0}", []), ("a\u{0}b", []), ("\\", []), (") OR (1=1", []), ("NOT", []),
            ("x\" NEAR \"y", []), ("\u{301}", [2, 1]), ("   ", []), ("\u{10FFFF}", []), ("\u{FFFF}", []),
        ]
        for (text, expected) in texts {
            #expect(
                try await test.mesh.send(SearchPhotos(PhotoFilter(text: text))).photos.map(\.id) == expected, "\(text)")
            #expect(try await test.mesh.send(CountPhotos(PhotoFilter(text: text))).count == expected.count, "\(text)")
        }
        for text in [Self.long, Self.tower] {
            #expect(
                await status { _ = try await test.mesh.send(SearchPhotos(PhotoFilter(text: text))) } == .invalidArgument
            )
            #expect(
                await status { _ = try await test.mesh.send(CountPhotos(PhotoFilter(text: text))) } == .invalidArgument)
            #expect(
                await status { _ = try await test.mesh.observe(ObservePhotos(PhotoFilter(text: text))) { _ in } }
                    == .invalidArgument)
            #expect(
                await status { _ = try await test.mesh.observe(ObserveCategories(text: text)) { _ in } }
                    == .invalidArgument)
        }
        await test.library.close()
    }

    @Test func datesAtTheEndsOfANumber() async throws {
        let test = try await TestLibrary()
        let dates: [Int64] = [.min, .min + 1, -1, 0, 1, .max - 1, .max]
        _ = try await test.add(dates.enumerated().map { sample.photo($0.offset, takenAt: $0.element) })
        func ids(_ from: Int64?, _ to: Int64?, after: String? = nil) async throws -> [Int64] {
            let request = SearchPhotos(
                PhotoFilter(
                    from: from.map(LocalDateTime.init(milliseconds:)), to: to.map(LocalDateTime.init(milliseconds:))),
                after: after)
            let found = try await test.mesh.send(request).photos.map(\.id)
            if after == nil {
                let count = CountPhotos(request.filter)
                #expect(try await test.mesh.send(count).count == found.count)
            }
            return found
        }
        let all: [Int64] = [7, 6, 5, 4, 3, 2, 1]
        #expect(try await ids(nil, nil) == all)
        #expect(try await ids(.min, .max) == all)
        #expect(try await ids(.max, nil) == [7])
        #expect(try await ids(.max, .max) == [7])
        #expect(try await ids(nil, .min) == [1])
        #expect(try await ids(.min, .min) == [1])
        #expect(try await ids(.min + 1, .max - 1) == [6, 5, 4, 3, 2])
        #expect(await status { _ = try await ids(.max, .min) } == .invalidArgument)
        // Page by page over all of them, and from cursors that nobody was given.
        var (seen, next): ([Int64], String?) = ([], nil)
        repeat {
            let page = try await test.mesh.send(SearchPhotos(limit: 1, after: next))
            seen += page.photos.map(\.id)
            next = page.next
        } while next != nil
        #expect(seen == all)
        #expect(try await ids(nil, nil, after: "\(Int64.max).\(Int64.max)") == all)
        #expect(try await ids(nil, nil, after: "\(Int64.min).\(Int64.min)").isEmpty)
        #expect(try await ids(.max, .max, after: "\(Int64.min).0").isEmpty)
        for cursor in [
            "9223372036854775808.1", "1.-9223372036854775809", "", ".", "1.", "1e3.1", "٣.٤", "1.2\u{0}", "0x1.1",
        ] {
            #expect(await status { _ = try await ids(nil, nil, after: cursor) } == .invalidArgument, "\(cursor)")
            #expect(await status { _ = try await test.mesh.send(ListTrash(after: cursor)) } == .invalidArgument)
            #expect(await status { _ = try await test.mesh.send(ListSealedPhotos(after: cursor)) } == .invalidArgument)
        }
        for cursor in ["\(Int64.max).\(Int64.max)", "\(Int64.min).\(Int64.min)"] {
            #expect(try await test.mesh.send(ListTrash(after: cursor)).photos.isEmpty)
            #expect(try await test.mesh.send(ListSealedPhotos(after: cursor)).photos.isEmpty)
        }
        // As JSON too, where no year is there to write them with.
        for photo in try await test.allPhotos() {
            #expect(try JSONDecoder().decode(Photo.self, from: JSONEncoder().encode(photo)) == photo)
        }
        // A person's date is one that a calendar has.
        let years = LocalDateTime.years
        for date in [years.lowerBound, years.upperBound] {
            let edited = try await test.mesh.send(EditPhoto(id: 4, takenAt: LocalDateTime(milliseconds: date)))
            #expect(edited.takenAt?.milliseconds == date)
        }
        for date in [Int64.min, years.lowerBound - 1, years.upperBound + 1, .max] {
            let request = EditPhoto(id: 4, takenAt: LocalDateTime(milliseconds: date))
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        await test.library.close()
    }

    @Test func numbersAtTheirEnds() async throws {
        let test = try await TestLibrary()
        _ = try await test.add([sample.photo(1, takenAt: 1)])
        let before = try await test.allPhotos()
        for id in [Int64.min, -1, 0, .max] {
            let requests: [(String, () async throws -> Void)] = [
                ("photo.get", { _ = try await test.mesh.send(GetPhoto(id: id)) }),
                ("photo.edit", { _ = try await test.mesh.send(EditPhoto(id: id, name: "x")) }),
                ("photo.edit category", { _ = try await test.mesh.send(EditPhoto(id: 1, categoryId: id)) }),
                ("photo.move", { _ = try await test.mesh.send(MovePhotos(ids: [1], categoryId: id)) }),
                ("photo.favorite", { _ = try await test.mesh.send(SetFavorite(ids: [1, id], isFavorite: true)) }),
                ("photo.delete", { _ = try await test.mesh.send(DeletePhotos(ids: [1, id])) }),
                ("photo.delete category", { _ = try await test.mesh.send(DeletePhotos(categoryId: id)) }),
                ("photo.forget", { _ = try await test.mesh.send(ForgetPhotos(ids: [1, id])) }),
                ("trash.restore", { _ = try await test.mesh.send(RestorePhotos(ids: [id])) }),
                ("trash.purge", { _ = try await test.mesh.send(PurgeTrash(ids: [id])) }),
                ("category.get", { _ = try await test.mesh.send(GetCategory(id: id)) }),
                ("category.edit", { _ = try await test.mesh.send(EditCategory(id: id, displayName: "x")) }),
                ("category.delete", { _ = try await test.mesh.send(DeleteCategory(id: id)) }),
                ("category.delete to", { _ = try await test.mesh.send(DeleteCategory(id: 1, moveTo: id)) }),
            ]
            for (name, send) in requests { #expect(await status(send) == .notFound, "\(name) \(id)") }
            #expect(try await test.mesh.send(SearchPhotos(PhotoFilter(categoryId: id))).photos.isEmpty)
            #expect(try await test.mesh.send(CountPhotos(PhotoFilter(categoryId: id))).count == 0)
        }
        for limit in [Int.min, -1, 0, 1001, .max] {
            for send in [
                { _ = try await test.mesh.send(SearchPhotos(limit: limit)) },
                { _ = try await test.mesh.send(ListTrash(limit: limit)) },
                { _ = try await test.mesh.send(ListSealedPhotos(limit: limit)) },
                { _ = try await test.mesh.send(ListStoredFiles(limit: limit)) },
            ] as [() async throws -> Void] {
                #expect(await status(send) == .invalidArgument, "\(limit)")
            }
        }
        for path in ["", "/", "photos/\u{0}", Self.long, "/" + Self.long + "\u{0}"] {
            #expect(await status { _ = try await test.mesh.send(GetPhoto(path: path)) } == .notFound)
            #expect(await status { _ = try await test.mesh.send(DeletePhotos(paths: [path])) } == .notFound)
        }
        #expect(try await test.allPhotos() == before)
        await test.library.close()
    }
}
