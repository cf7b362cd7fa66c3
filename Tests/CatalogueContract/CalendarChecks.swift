import LibraryModel
import LibraryStorage
import ServiceMesh

extension CatalogueContract {
    static let calendars: [ContractCheck] = [
        ContractCheck("months come newest first, as many as are wanted") { run in
            let dates: [Int64] = [.max, Sample.noon, Sample.noon + 1, Sample.noon - 40 * Sample.day, 0, -1, .min]
            try await run.album(dates.count) { number, family, _ in
                Sample.photo(number, in: family, takenAt: dates[number], isFavorite: number % 2 == 0)
            }
            try await run.read { t in
                for filter in [PhotoFilter(), PhotoFilter(text: "picture"), PhotoFilter(hasCamera: false)] {
                    let query = try PhotoQuery(filter)
                    let months = try t.photos.months(query, most: 100)
                    run.equal(months.map(\.count), [1, 2, 1, 1, 1, 1])
                    run.equal(Array(months[1...4].map(\.span.name)), ["2025-06", "2025-05", "1970-01", "1969-12"])
                    run.equal(try t.photos.months(query, most: 2), Array(months.prefix(2)))
                    run.equal(try t.photos.months(query, most: 0), [])
                    // A place in the list narrows no calendar.
                    let after = try PhotoQuery(filter, after: PhotoPlace(date: 0, id: 0).text)
                    run.equal(try t.photos.months(after, most: 100).map(\.count), months.map(\.count))
                }
                run.equal(
                    try t.photos.months(PhotoQuery(PhotoFilter(favoritesOnly: true)), most: 100).map(\.count),
                    [1, 1, 1, 1])
            }
        },
        ContractCheck("days have the places after which the next photos of a day stand") { run in
            let album = try await run.album(25) { number, family, _ in
                Sample.photo(
                    number, in: family, takenAt: number < 4 ? Sample.noon - Sample.day : Sample.noon + Int64(number / 2)
                )
            }
            let wanted = album.photos.filter { $0.shownAt.milliseconds >= Sample.noon }
                .sorted { PhotoPlace($0) > PhotoPlace($1) }
            try await run.read { t in
                for filter in [PhotoFilter(), PhotoFilter(text: "picture"), PhotoFilter(hasCamera: false)] {
                    let month = CalendarSpan.month(of: Sample.noon)
                    func days(_ distance: Int) throws -> [PhotoSpan] {
                        try t.photos.days(PhotoQuery(filter), of: month, anchorDistance: distance)
                    }
                    run.equal(try days(1000).map(\.span.name), ["2025-06-15", "2025-06-14"])
                    run.equal(try days(1000).map(\.count), [21, 4])
                    run.equal(try days(1000).flatMap(\.anchors), [])
                    run.equal(try days(10)[0].anchors, [PhotoPlace(wanted[9]), PhotoPlace(wanted[19])])
                    run.equal(try days(7)[0].anchors, [PhotoPlace(wanted[6]), PhotoPlace(wanted[13])])
                    run.equal(try days(21)[0].anchors, [])
                    run.equal(
                        try t.photos.days(PhotoQuery(filter), of: CalendarSpan.month(of: 0), anchorDistance: 10), [])
                }
            }
        },
        ContractCheck("months and days count their photos through every change") { run in
            let album = try await run.album(8) { number, family, cars in
                Sample.photo(
                    number, in: number < 5 ? family : cars, takenAt: Sample.noon - Int64(number / 2) * 20 * Sample.day,
                    isFavorite: number % 3 == 0)
            }
            var dated = album.photos[3]
            dated.takenAt = LocalDateTime(milliseconds: 0)
            let edited = dated
            let changes: [@Sendable (any CatalogueTransaction) throws -> Void] = [
                { _ in },
                { _ = try $0.photos.setFavorite(true, of: [album.photos[1]]) },
                { _ = try $0.photos.setFavorite(false, of: [album.photos[0], album.photos[6]]) },
                { _ = try $0.photos.move([album.photos[1]], to: album.cars) },
                { _ = try $0.photos.move([album.photos[0], album.photos[2]], to: album.cars) },
                { try $0.photos.update(edited) },
                { _ = try $0.trash.add([album.photos[1], album.photos[7]], at: Sample.time(1)) },
                { _ = try $0.trash.restore([album.ids[7]]) },
                { _ = try $0.photos.forget([album.ids[2]]) },
                { _ = try $0.photos.moveAll(from: album.cars, to: album.family) },
            ]
            for change in changes {
                try await run.write(change)
                try await run.read { t in
                    for filter in [
                        PhotoFilter(), PhotoFilter(favoritesOnly: true), PhotoFilter(favoritesOnly: false),
                        PhotoFilter(categoryId: album.cars),
                        PhotoFilter(categoryId: album.family, favoritesOnly: true),
                    ] {
                        let photos = try t.all(filter, limit: 100)
                        func count(_ span: (Int64) -> CalendarSpan) -> [String: Int] {
                            photos.reduce(into: [:]) { $0[span($1.shownAt.milliseconds).name, default: 0] += 1 }
                        }
                        func told(_ spans: [PhotoSpan]) -> [String: Int] {
                            Dictionary(spans.map { ($0.span.name, $0.count) }, uniquingKeysWith: +)
                        }
                        let months = try t.photos.months(PhotoQuery(filter), most: 100)
                        run.equal(told(months), count(CalendarSpan.month(of:)))
                        let days = try months.flatMap {
                            try t.photos.days(PhotoQuery(filter), of: $0.span, anchorDistance: 100)
                        }
                        run.equal(told(days), count(CalendarSpan.day(of:)))
                    }
                }
            }
        },
    ]
}
