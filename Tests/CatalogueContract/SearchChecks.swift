import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    /// Pages, ids, counts and calendars of photos that pass a filter.
    static let searches: [ContractCheck] = [
        ContractCheck("lists are newest first by the date that is shown, then by id") { run in
            let dates: [Int64?] = [5, nil, 7, 5, .max, .min, nil, 5, 0, -1]
            let album = try await run.album(dates.count) { number, family, _ in
                Sample.photo(number, in: family, takenAt: dates[number], createdAt: [6, 5][number % 2])
            }
            let wanted = album.photos.sorted { PhotoPlace($0) > PhotoPlace($1) }.map(\.id)
            for limit in [1, 2, 3, dates.count - 1, dates.count, 1000] {
                run.equal(try await run.read { try $0.all(limit: limit).map(\.id) }, wanted)
            }
        },
        ContractCheck("a page has its limit, and no next where nothing follows") { run in
            try await run.album(4)
            try await run.read { t in
                func page(_ limit: Int?, after: String? = nil) throws -> PhotoPage {
                    try t.photos.page(PhotoQuery(PhotoFilter(), after: after, limit: limit))
                }
                run.equal(try page(1).photos.count, 1)
                run.equal(try page(3).photos.count, 3)
                run.expect(try page(3).next != nil)
                run.equal(try page(4).photos.count, 4)
                run.expect(try page(4).next == nil, "four of four, and a next page")
                run.expect(try page(1000).next == nil)
                let last = try page(3, after: page(3).next)
                run.equal(last.photos.count, 1)
                run.expect(last.next == nil)
                run.equal(try page(10, after: PhotoPlace(date: .min, id: .min).text).photos, [])
                run.equal(try page(10, after: PhotoPlace(date: .max, id: .max).text).photos.count, 4)
            }
        },
        ContractCheck("pages stay right while photos come and go") { run in
            let album = try await run.album(10) { number, family, _ in
                Sample.photo(number, in: family, takenAt: Int64(100 - number))
            }
            let first = try await run.read { try $0.photos.page(PhotoQuery(PhotoFilter(), limit: 4)) }
            run.equal(first.photos.map(\.id), Array(album.ids.prefix(4)))
            try await run.write { t in
                try t.photos.insert([Sample.photo(50, in: album.family, takenAt: 1000)])
                // The last one of the page as well.
                _ = try t.trash.add([album.photos[3], album.photos[5]], at: Sample.time(1))
                try t.photos.insert([Sample.photo(51, in: album.family, takenAt: 95)])
            }
            let second = try await run.read {
                try $0.photos.page(PhotoQuery(PhotoFilter(), after: first.next, limit: 4))
            }
            run.equal(second.photos.map(\.name), ["picture 4", "picture 51", "picture 6", "picture 7"])
        },
        ContractCheck("photos that are filtered are those that pass, in pages, ids, counts and calendars") { run in
            let album = try await many(run)
            // Of whoever sees all, and of those who see some categories, none, and one that is not there.
            let scopes: [CategoryScope?] =
                [nil]
                + [[], [album.cars], [album.family, album.cars], [album.cars, .max], [.max]].map { CategoryScope($0) }
            for (filter, scope) in filters(album).flatMap({ filter in scopes.map { (filter, $0) } }) {
                try await run.read { t in
                    let wanted = album.photos.filter {
                        scope.has($0.categoryId) && passes($0, filter, in: album)
                    }.sorted { PhotoPlace($0) > PhotoPlace($1) }
                    let query = try PhotoQuery(filter).within(scope)
                    let found = try t.all(filter, in: scope, limit: 7)
                    if found != wanted {
                        run.fail(
                            "\(filter) in \(String(describing: scope)): \(found.map(\.name)) is not \(wanted.map(\.name))",
                            #fileID, #line)
                    }
                    run.equal(try t.photos.count(query), wanted.count)
                    run.equal(
                        try t.photos.ids(PhotoIDQuery(SelectPhotos(filter)).within(scope)).ids,
                        wanted.map(\.id).sorted())
                    let months = try t.photos.months(query, most: 10_000)
                    let byMonth = Dictionary(grouping: wanted) { CalendarSpan.month(of: $0.shownAt.milliseconds) }
                    run.equal(months.map(\.span), byMonth.keys.sorted { $0.start > $1.start })
                    run.equal(months.map(\.count), months.map { byMonth[$0.span]?.count ?? 0 })
                    for month in months {
                        let days = try t.photos.days(query, of: month.span, anchorDistance: 1000)
                        let byDay = Dictionary(grouping: byMonth[month.span] ?? []) {
                            CalendarSpan.day(of: $0.shownAt.milliseconds)
                        }
                        run.equal(days.map(\.span), byDay.keys.sorted { $0.start > $1.start })
                        run.equal(days.map(\.count), days.map { byDay[$0.span]?.count ?? 0 })
                    }
                }
            }
        },
        ContractCheck("where there is nothing, nothing passes") { run in
            func expectNone(_ filters: [PhotoFilter]) async throws {
                try await run.read { t in
                    for filter in filters {
                        let query = try PhotoQuery(filter)
                        run.equal(try t.photos.page(query), PhotoPage(photos: [], next: nil))
                        run.equal(try t.photos.count(query), 0)
                        run.equal(try t.photos.ids(PhotoIDQuery(SelectPhotos(filter))).ids, [])
                        run.equal(try t.photos.months(query, most: 9), [])
                        run.equal(try t.photos.days(query, of: CalendarSpan.month(of: 0), anchorDistance: 9), [])
                    }
                    run.equal(try t.photos.cameras(limit: 9), CameraList(cameras: [], count: 0, withoutCamera: 0))
                    run.equal(try t.photos.sealed(SealedPhotoQuery(ListSealedPhotos())).total, 0)
                    run.equal(try t.trash.page(TrashQuery(ListTrash())), TrashPage(photos: [], next: nil))
                }
            }
            // Without a category, and with two.
            try await expectNone(filters(Album(family: 1, cars: 2, photos: [])))
            try await expectNone(filters(try await run.album()))
        },
        ContractCheck("signs that mean something to a database are literal in texts") { run in
            let names = [
                "100%", "1000", "a_b", "axb", "a\\b", "say \"x\"", "say x", "it's", "its", "star*", "star", "NEAR(a b)",
                "(a OR b)", "a:b", "\u{1F40D} snake", "-minus", "^caret", "nul",
            ]
            try await run.album(names.count) { number, family, _ in
                var new = Sample.photo(number, in: family, name: names[number])
                new.photo.path = "photos/\(1000 + number).jpg"
                return new
            }
            let texts = [
                "%", "100%", "_", "a_b", "\\", "\"", "say \"x\"", "'", "it's", "*", "star*", "near(", "(a or b)", ":",
                "a:b",
                "\u{1F40D}", "-", "-m", "^", "' or 1=1 --", "a b", "or", ".jpg",
            ]
            try await run.read { t in
                for text in texts {
                    let wanted = names.indices.filter { names[$0].lowercased().contains(text) }
                    let found = try t.all(PhotoFilter(text: text), limit: 100).map(\.name)
                    run.equal(Set(found), Set(wanted.map { names[$0] }))
                    run.equal(try t.photos.count(PhotoQuery(PhotoFilter(text: text))), wanted.count)
                }
            }
        },
        ContractCheck("case and diacritics are ignored, in each field for itself") { run in
            try await run.album(3) { number, family, _ in
                Sample.photo(
                    number, in: family, name: ["Stra\u{df}e", "E\u{301}t\u{e9}", "end"][number],
                    caption: [nil, "S\u{d6}MMER", "start"][number])
            }
            try await run.read { t in
                func found(_ text: String, _ words: [String]? = nil) throws -> [String] {
                    try t.all(PhotoFilter(text: text, words: words), limit: 10).map(\.caption).map { $0 ?? "-" }
                }
                run.equal(try found("STRASSE"), ["-"])
                run.equal(try found("ete"), ["S\u{d6}MMER"])
                run.equal(try found("\u{c9}T\u{c9}"), ["S\u{d6}MMER"])
                run.equal(try found("sommer", ["ete"]), ["S\u{d6}MMER"])
                run.equal(try found("", ["sommer", "ete"]), ["S\u{d6}MMER"])
                run.equal(try found("", ["ete", "strasse"]), [])
                // The end of the name and the beginning of the caption are no text together.
                run.equal(try found("endstart"), [])
                run.equal(try found("end start"), [])
                run.equal(try found("", ["start", "end"]), ["start"])
            }
        },
        ContractCheck("photos are found by their source, their category and their whole path") { run in
            let album = try await run.album(3) { number, family, cars in
                var new = Sample.photo(number, in: number == 2 ? cars : family)
                new.photo.kind = number % 11 < 3 ? .film : number % 11 == 5 ? .moving : nil
                new.photo.sourceName = number == 0 ? "\u{17b}aba 7.HEIC" : nil
                return new
            }
            func found(_ text: String, _ words: [String]? = nil) async throws -> [Int] {
                try await run.read { t in
                    try t.all(PhotoFilter(text: text, words: words), limit: 2).compactMap {
                        album.ids.firstIndex(of: $0.id)
                    }
                    .sorted()
                }
            }
            run.equal(try await found("zaba"), [0])
            run.equal(try await found("amily"), [0, 1])
            run.equal(try await found("picture", ["cars"]), [2])
            run.equal(try await found("zaba", ["cars"]), [])
            run.equal(try await found("photos/IMG_1.jpg"), [1])
            run.equal(try await found("photos/IMG_1"), [])
            run.equal(try await found("IMG_1.jpg"), [])
            try await run.write { t in
                _ = try t.categories.update(id: album.cars, to: Sample.details("\u{d6}l 100%"))
                _ = try t.photos.move([album.photos[1], album.photos[2]], to: album.cars)
            }
            run.equal(try await found("cars"), [])
            run.equal(try await found("ol 100%"), [1, 2])
        },
        ContractCheck("texts are found as they are after every change") { run in
            let album = try await run.album(3)
            func found(_ text: String) async throws -> Int {
                try await run.read { try $0.photos.count(PhotoQuery(PhotoFilter(text: text))) }
            }
            run.equal(try await found("picture"), 3)
            var renamed = album.photos[0]
            renamed.name = "\u{17d}irafa"
            let new = renamed
            try await run.write { try $0.photos.update(new) }
            run.equal(try await found("picture"), 2)
            run.equal(try await found("zirafa"), 1)
            try await run.write { _ = try $0.trash.add([album.photos[0], album.photos[1]], at: Sample.time(1)) }
            run.equal(try await found("zirafa"), 0)
            run.equal(try await found("picture"), 1)
            try await run.write { _ = try $0.trash.restore([album.ids[0]]) }
            run.equal(try await found("zirafa"), 1)
            try await run.write { _ = try $0.photos.forget([album.ids[0]]) }
            run.equal(try await found("zirafa"), 0)
        },
        ContractCheck("texts are found with the mark and the category that photos have by now") { run in
            let album = try await run.album(6)
            func found(_ filter: PhotoFilter) async throws -> [Int] {
                try await run.read { t in
                    try t.all(filter, limit: 2).compactMap { album.ids.firstIndex(of: $0.id) }.sorted()
                }
            }
            for text in ["picture", "pi"] {
                try await run.write { _ = try $0.photos.setFavorite(true, of: Array(album.photos[1...3])) }
                run.equal(try await found(PhotoFilter(text: text, favoritesOnly: true)), [1, 2, 3])
                run.equal(try await found(PhotoFilter(text: text, favoritesOnly: false)), [0, 4, 5])
                try await run.write { _ = try $0.photos.move(Array(album.photos[3...4]), to: album.cars) }
                run.equal(try await found(PhotoFilter(text: text, categoryId: album.cars)), [3, 4])
                run.equal(
                    try await found(PhotoFilter(text: text, categoryId: album.family, favoritesOnly: true)), [1, 2])
                try await run.write { t in
                    _ = try t.photos.moveAll(from: album.cars, to: album.family)
                    _ = try t.photos.setFavorite(false, of: album.photos)
                }
                run.equal(try await found(PhotoFilter(text: text, categoryId: album.family)), Array(0...5))
                run.equal(try await found(PhotoFilter(text: text, categoryId: album.cars)), [])
                run.equal(try await found(PhotoFilter(text: text, favoritesOnly: true)), [])
            }
        },
        ContractCheck("ids come ascending, in pages and between two of them") { run in
            let album = try await run.album(20) { number, family, _ in
                Sample.photo(number, in: family, takenAt: Int64(number * 7 % 20))
            }
            let ids = album.ids.sorted()
            try await run.read { t in
                for limit in [1, 3, 20, 10_000] {
                    var found: [Int64] = []
                    var next: Int64?
                    repeat {
                        let page = try t.photos.ids(PhotoIDQuery(SelectPhotos(limit: limit, after: next)))
                        run.expect(page.ids.count <= limit)
                        found += page.ids
                        next = page.next
                    } while next != nil && found.count < 100
                    run.equal(found, ids)
                }
                func between(_ first: Int64?, _ last: Int64?) throws -> [Int64] {
                    let query = try PhotoIDQuery(SelectPhotos(firstId: first, lastId: last))
                    let page = try t.photos.ids(query)
                    return page.ids
                }
                run.equal(try between(ids[3], ids[5]), Array(ids[3...5]))
                run.equal(try between(ids[19], nil), [ids[19]])
                run.equal(try between(nil, ids[0]), [ids[0]])
                run.equal(try between(.min, .max), ids)
                run.equal(try between(.max, .max), [])
                run.equal(try between(.min, .min), [])
            }
        },
        ContractCheck("photos with sealed fields are listed in the order of all lists") { run in
            let album = try await run.album(6) { number, family, _ in
                Sample.photo(number, in: family, takenAt: [3, 3, 9, nil, 1, 2][number], createdAt: 4)
            }
            try await run.write { t in
                for photo in album.photos.dropLast() {
                    try t.sealedFields.set([.notes: Sample.sealed(1), .tags: Sample.sealed(1)], of: photo.uuid)
                }
                _ = try t.trash.add([album.photos[4]], at: Sample.time(1))
            }
            let wanted = album.photos.prefix(4).sorted { PhotoPlace($0) > PhotoPlace($1) }.map(\.id)
            try await run.read { t in
                for limit in [1, 2, 4, 1000] {
                    var found: [Int64] = []
                    var next: String?
                    repeat {
                        let page = try t.photos.sealed(SealedPhotoQuery(ListSealedPhotos(limit: limit, after: next)))
                        run.equal(page.total, 4)
                        run.expect(page.photos.count <= limit)
                        found += page.photos.map(\.id)
                        next = page.next
                    } while next != nil && found.count < 100
                    run.equal(found, wanted)
                }
            }
        },
    ]

    // MARK: Any filter

    private static func many(_ run: ContractRun) async throws -> Album {
        let dates: [Int64?] = [
            Sample.noon, nil, Sample.noon, .max, .min, 0, -1, Sample.noon - Sample.day, Sample.noon + 1, 1 << 60,
            -1 << 60,
        ]
        let decisions: [SwipeAction?] = [nil, .keep, .favorite, nil, .trash]
        let cameras = [nil, "Apple iPhone 12", "\u{d6}lympus OM-1", "Apple iPad", nil, "Canon", "canon"]
        let captions = [nil, "at the sea", "Gro\u{df}mutter 100%", ""]
        return try await run.album(120) { number, family, cars in
            var new = Sample.photo(
                number, in: number % 3 == 0 ? cars : family, takenAt: dates[number % dates.count],
                createdAt: Sample.noon + Int64(number % 4), name: number % 2 == 0 ? "S\u{f6}mmer \(number)" : "picture",
                caption: captions[number % 4], isFavorite: number % 5 == 1, camera: cameras[number % 7])
            new.photo.lastDecision = decisions[number * 3 % 5]
            new.photo.sourceName = number % 6 == 0 ? "\u{17b}aba \(number).HEIC" : nil
            return new
        }
    }

    private static func filters(_ album: Album) -> [PhotoFilter] {
        let noon = LocalDateTime(milliseconds: Sample.noon)
        let moments = [LocalDateTime.init(milliseconds:)(.min), noon, LocalDateTime(milliseconds: .max)]
        var filters = [PhotoFilter()]
        filters += [album.family, album.cars, 99, .max, .min].map { PhotoFilter(categoryId: $0) }
        for moment in moments {
            filters += [PhotoFilter(from: moment), PhotoFilter(to: moment), PhotoFilter(from: moment, to: moment)]
        }
        for flag in [true, false] {
            filters += [
                PhotoFilter(favoritesOnly: flag), PhotoFilter(reviewed: flag), PhotoFilter(hasCamera: flag),
                PhotoFilter(categoryId: album.family, favoritesOnly: flag),
                PhotoFilter(favoritesOnly: flag, reviewed: flag), PhotoFilter(reviewed: flag, hasCamera: flag),
                PhotoFilter(text: "sommer", categoryId: album.cars, favoritesOnly: flag),
                PhotoFilter(from: noon, favoritesOnly: flag, hasCamera: flag),
            ]
        }
        for kind in PhotoKind.allCases {
            filters += [
                PhotoFilter(kind: kind), PhotoFilter(categoryId: album.cars, favoritesOnly: false, kind: kind),
                PhotoFilter(favoritesOnly: true, kind: kind), PhotoFilter(reviewed: true, kind: kind),
                PhotoFilter(text: "sommer", kind: kind), PhotoFilter(from: noon, camera: "apple", kind: kind),
                PhotoFilter(decision: .keep, hasCamera: false, kind: kind),
            ]
        }
        filters += SwipeAction.allCases.map { PhotoFilter(decision: $0) }
        filters += SwipeAction.allCases.map {
            PhotoFilter(categoryId: album.family, favoritesOnly: false, decision: $0)
        }
        filters += ["apple", "APPLE 12", "olympus", "canon", "none", "i"].map { PhotoFilter(camera: $0) }
        filters += ["apple", "canon"].map { PhotoFilter(categoryId: album.cars, reviewed: true, camera: $0) }
        filters += [
            "s\u{f6}mmer", "sea", "100%", "o", "zz", "img_1", "\u{df}", "heic", "amil", "ca", "photos/IMG_7.jpg",
        ].map { PhotoFilter(text: $0) }
        filters += [
            PhotoFilter(words: ["sommer", "sea"]), PhotoFilter(text: "picture", words: ["grossmutter", "family"]),
            PhotoFilter(text: "sea", from: noon, to: LocalDateTime(milliseconds: Sample.noon + 2), reviewed: false),
            PhotoFilter(
                text: "o", categoryId: album.family, from: noon, favoritesOnly: true, decision: .keep, camera: "apple"),
        ]
        return filters
    }

    /// What a filter means, in Swift.
    private static func passes(_ photo: Photo, _ filter: PhotoFilter, in album: Album) -> Bool {
        guard let query = try? PhotoQuery(filter) else { return false }
        if let category = filter.categoryId, photo.categoryId != category { return false }
        if let from = filter.from, photo.shownAt < from { return false }
        if let to = filter.to, photo.shownAt > to { return false }
        if let flag = filter.favoritesOnly, photo.isFavorite != flag { return false }
        if let flag = filter.reviewed, (photo.lastDecision != nil) != flag { return false }
        if let decision = filter.decision, photo.lastDecision != decision { return false }
        if let flag = filter.hasCamera, (photo.camera != nil) != flag { return false }
        if filter.camera != nil, photo.camera.map({ query.filter.camera.passes($0) }) != true { return false }
        switch filter.kind {
        case .film?, .moving?: if photo.kind != filter.kind { return false }
        case .picture?: if photo.isFilm { return false }
        case nil: break
        }
        if query.words?.texts.count == 1, let path = query.words?.texts[0].path { return photo.path == path }
        let category = photo.categoryId == album.family ? "Family" : "Cars"
        let fields = [photo.name, photo.caption ?? "", photo.sourceName ?? "", category].map { folded($0) }
        return query.words?.folded.allSatisfy { word in fields.contains { $0.contains(word) } } ?? true
    }

    /// As a search folds its own text.
    private static func folded(_ text: String) -> String { (try? SearchText(text))?.folded ?? "" }
}
