import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing

@Suite struct TimelineTests {
    private static let day: Int64 = 86_400_000

    /// Photos of these dates, entered in one go.
    private func library(_ dates: [String], favorites: Set<Int> = []) async throws -> TestLibrary {
        let test = try await TestLibrary("timeline")
        let categories = try await test.mesh.send(ListCategories()).categories.map(\.id)
        try await test.add(
            dates.enumerated().map { index, date in
                var new = TimelinePhotos.photo(index, taken: LocalDateTime(date), category: categories[index % 2])
                new.photo.isFavorite = favorites.contains(index)
                return new
            })
        return test
    }

    @Test func everyMonthAndDayIsCountedAndBeginsWhereItSays() async throws {
        var dates: [String] = []
        for (month, count) in [("2024-02", 29), ("2024-12", 3), ("2025-01", 40), ("1999-12", 2), ("1969-12", 5)] {
            for index in 0..<count { dates.append("\(month)-\(index % 9 + 10)T10:00:\(10 + index)") }
        }
        // The edges of a day.
        dates += ["2024-12-31T23:59:59.999", "2025-01-01T00:00:00", "2024-02-29T12:00:00"]
        let test = try await library(dates, favorites: [3, 30, 31, 60])
        let categories = try await test.mesh.send(ListCategories()).categories.map(\.id)
        for filter in [
            PhotoFilter(), PhotoFilter(categoryId: categories[0]),
            PhotoFilter(favoritesOnly: true),
            PhotoFilter(text: "number"), PhotoFilter(text: "er 3"),
            PhotoFilter(text: "7"),
            PhotoFilter(text: "number", categoryId: categories[1]),
            PhotoFilter(reviewed: false),
            PhotoFilter(reviewed: true), PhotoFilter(text: "nowhere"),
            PhotoFilter(from: LocalDateTime("2024-02-15"), to: LocalDateTime("2025-01-12T10:00:30")),
        ] {
            try await check(filter, test)
        }
        await test.library.close()
    }

    /// Against the list itself.
    private func check(_ filter: PhotoFilter, _ test: TestLibrary) async throws {
        let all = try await test.mesh.send(
            SearchPhotos(filter, limit: 1000)
        ).photos
        func expected(_ length: Int) -> [String: Int] {
            Dictionary(all.map { (String($0.shownAt.description.prefix(length)), 1) }, uniquingKeysWith: +)
        }
        let timeline = try await test.mesh.send(GetTimeline(filter))
        let months = try #require(timeline.months)
        #expect(timeline.count == all.count && timeline.days == nil)
        #expect(Dictionary(uniqueKeysWithValues: months.map { ($0.date, $0.count) }) == expected(7))
        #expect(months.map(\.date) == months.map(\.date).sorted(by: >))
        var days: [TimelineSpan] = []
        for month in months {
            #expect(month.anchors == nil)
            let found = try await test.mesh.send(GetTimeline(filter, month: month.date))
            #expect(found.count == all.count && found.months == nil)
            days += found.days ?? []
        }
        #expect(Dictionary(uniqueKeysWithValues: days.map { ($0.date, $0.count) }) == expected(10))
        for span in months + days {
            let page = try await test.mesh.send(
                SearchPhotos(filter, limit: 2, after: span.after))
            #expect(page.photos == Array(all.dropFirst(span.offset).prefix(2)), "\(span)")
        }
    }

    /// A scanner dates a box of pictures with one moment.
    @Test(arguments: [nil, "number"] as [String?]) func aDayOfManyHasPlacesWithinIt(_ text: String?) async throws {
        let many =
            Array(repeating: "2025-06-15T12:00:00", count: 1_500)
            + Array(repeating: "2025-06-15T11:00:00", count: 1_500)
        let test = try await library(["2025-06-16", "2025-06-15T13:00:00"] + many + ["2025-06-14", "2025-05-31"])
        let filter = PhotoFilter(text: text)
        let found = try await test.mesh.send(GetTimeline(filter, month: "2025-06"))
        let days = try #require(found.days)
        #expect(days.map(\.date) == ["2025-06-16", "2025-06-15", "2025-06-14"] && days.map(\.count) == [1, 3_001, 1])
        #expect(days.map(\.offset) == [0, 1, 3_002] && days.map(\.anchors?.count) == [0, 3, 0])
        let all = try await test.allPhotos()
        for (number, anchor) in try #require(days[1].anchors).enumerated() {
            let page = try await test.mesh.send(SearchPhotos(filter, limit: 3, after: anchor))
            #expect(page.photos == Array(all.dropFirst(1 + (number + 1) * 1_000).prefix(3)))
        }
        await test.library.close()
    }

    @Test func whatIsKeptIsForgottenWithEachChange() async throws {
        let test = try await library(["2025-06-15", "2025-06-16", "2025-07-01"])
        let before = try await test.mesh.send(GetTimeline())
        #expect(before.months?.map(\.count) == [1, 2])
        #expect(try await test.mesh.send(GetTimeline()) == before)
        let newest = try await test.allPhotos()[0]
        _ = try await test.mesh.send(DeletePhotos(ids: [newest.id]))
        #expect(try await test.mesh.send(GetTimeline()).months?.map(\.count) == [2])
        _ = try await test.mesh.send(RestorePhotos(ids: [newest.id]))
        #expect(try await test.mesh.send(GetTimeline()) == before)
        #expect(try await test.mesh.send(GetTimeline(PhotoFilter(favoritesOnly: true))).count == 0)
        _ = try await test.mesh.send(SetFavorite(ids: [newest.id], isFavorite: true))
        #expect(try await test.mesh.send(GetTimeline(PhotoFilter(favoritesOnly: true))).count == 1)
        await test.library.close()
    }

    @Test func monthsThatAreNoneAreRefusedAndOddYearsAreCounted() async throws {
        let test = try await TestLibrary("timeline")
        for month in [
            "2025", "2025-13", "2025-6", "2025-00", "", "-", "2025-06-15", "x-06", "+2025-06", "99999999999-01",
        ] {
            #expect(
                await status { _ = try await test.mesh.send(GetTimeline(month: month)) } == .invalidArgument, "\(month)"
            )
        }
        #expect(try await test.mesh.send(GetTimeline()) == PhotoTimeline(count: 0, months: []))
        #expect(try await test.mesh.send(GetTimeline(month: "2025-06")) == PhotoTimeline(count: 0, days: []))
        let category = try await test.mesh.send(ListCategories()).categories[0].id
        let odd = [Int64.max, .min, .max - 1, 0, -1, 253_402_300_800_000, -62_198_755_200_000]
        try await test.add(
            odd.enumerated().map { index, date in
                TimelinePhotos.photo(index, taken: LocalDateTime(milliseconds: date), category: category)
            })
        let timeline = try await test.mesh.send(GetTimeline())
        let months = try #require(timeline.months)
        #expect(timeline.count == odd.count)
        #expect(months.map(\.date).contains("1970-01") && months.map(\.date).contains("10000-01"))
        #expect(months.map(\.date).contains("-0001-01"))
        for month in months where month.date.utf8.count <= 12 {
            let days = try await test.mesh.send(GetTimeline(month: month.date)).days ?? []
            #expect(days.reduce(0) { $0 + $1.count } == month.count, "\(month)")
        }
        await test.library.close()
    }
}

enum TimelinePhotos {
    static func photo(_ index: Int, taken: LocalDateTime?, category: Int64) -> SourcedPhoto {
        let digits = String(index)
        let digest = String(repeating: "0", count: 64 - digits.count) + digits
        let photo = Photo(
            id: 0, uuid: "00000000-0000-4000-8000-" + digest.suffix(12),
            path: "photos/IMG_20250615_100000_\(digest.suffix(8)).jpg", categoryId: category, name: "number \(index)",
            caption: nil, isFromAssets: false, createdAt: Timestamp(milliseconds: 0), fileSize: 1000, width: 4,
            height: 3,
            isFavorite: false, takenAt: taken, contentDigest: digest, mediaType: "image/jpeg")
        return SourcedPhoto(photo: photo, sourceDigest: digest, sourceSize: 1000)
    }
}
