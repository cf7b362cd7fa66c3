import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing
import TextFolding

/// Search over enough photos for each of its ways, beside the same search done by looking at all of them.
@Suite struct PhotoSearchTests {
    /// A photo and what a text search looks through.
    private struct Entry {
        let photo: Photo
        let fields: [String.UnicodeScalarView]

        init(_ photo: Photo, _ categories: [Category]) {
            self.photo = photo
            let category = categories.first { $0.id == photo.categoryId }?.displayName ?? ""
            fields = [photo.name, photo.caption ?? "", photo.sourceName ?? "", category].map(
                \.searchFolded.unicodeScalars)
        }
    }

    /// What the specification says, word for word and slowly.
    private func expected(_ request: SearchPhotos, of entries: [Entry]) -> [Int64] {
        let text = (request.filter.text?.searchFolded ?? "").unicodeScalars
        return
            entries.filter { entry in
                let photo = entry.photo
                return (request.filter.categoryId.map { $0 == photo.categoryId } ?? true)
                    && (request.filter.from.map { $0 <= photo.shownAt } ?? true)
                    && (request.filter.to.map { photo.shownAt <= $0 } ?? true)
                    && (request.filter.favoritesOnly ?? photo.isFavorite) == photo.isFavorite
                    && (text.isEmpty || entry.fields.contains { $0.contains(text) })
            }
            .map(\.photo)
            .sorted { ($0.shownAt.milliseconds, $0.id) > ($1.shownAt.milliseconds, $1.id) }
            .map(\.id)
    }

    private func found(_ request: SearchPhotos, limit: Int, in mesh: Mesh) async throws -> [Photo] {
        var found: [Photo] = []
        var next: String?
        repeat {
            let page = try await mesh.send(
                SearchPhotos(request.filter, limit: limit, after: next))
            #expect(page.photos.count <= limit && (page.next == nil || page.photos.count == limit))
            found += page.photos
            next = page.next
        } while next != nil
        return found
    }

    @Test func everyCombinationFindsWhatLookingAtAllFinds() async throws {
        let test = try await TestLibrary()
        let named = try await test.mesh.send(ListCategories()).categories
        let categories = named.map(\.id)
        var sample = SampleCatalogue(seed: 7)
        let added = sample.photos(6000, categories: Array(categories.prefix(3)))
        #expect(try await test.add(added) == PhotosChanged(count: 6000))
        // Not all where and as they were entered.
        for (category, remainder) in zip(categories, [3, 5, 8]) {
            let ids = (1...6000 as ClosedRange<Int64>).filter { $0 % 40 == remainder }
            _ = try await test.mesh.send(MovePhotos(ids: ids, categoryId: category))
            _ = try await test.mesh.send(SetFavorite(ids: ids, isFavorite: remainder != 5))
        }
        let all = try await found(SearchPhotos(), limit: 1000, in: test.mesh)
        #expect(all.count == 6000)
        let entries = all.map { Entry($0, named) }

        let texts = [
            nil, "SOMMER", "großmutter", "GROSSMUTTER 100%", "zirafa_zoo \"X\" *", "\"x\" *", "dsc12", "no such text",
            "%", "_", "*", "qx", "🐍q", "🐍", "q", "family", "AMI", "games", "zz", "\u{301}", "\"", "\" OR \"", "img_",
            "jpg", "0.jpg", "\u{0}",
        ]
        let moments: [Int64?] = [nil, .min, .max, 1_400_000_000_000, 1_200_000_000_000, 1 << 60]
        for text in texts {
            for turn in 0..<4 {
                let dates = [moments[sample.number(below: 6)], moments[sample.number(below: 6)]]
                let isOrdered = (dates[0] ?? .min) <= (dates[1] ?? .max)
                let request = SearchPhotos(
                    PhotoFilter(
                        text: text, categoryId: turn.isMultiple(of: 2) ? nil : categories[sample.number(below: 4)],
                        from: turn == 0 ? nil : dates[isOrdered ? 0 : 1].map(LocalDateTime.init(milliseconds:)),
                        to: turn == 0 ? nil : dates[isOrdered ? 1 : 0].map(LocalDateTime.init(milliseconds:)),
                        favoritesOnly: [nil, false, nil, true][turn]))
                let expected = expected(request, of: entries)
                let limit = [1000, 100, 37, 333][turn]
                let ids = try await found(request, limit: limit, in: test.mesh).map(\.id)
                #expect(ids == expected, "\(request)")
            }
        }
        await test.library.close()
    }

    @Test func pagesStayRightWhilePhotosComeAndGo() async throws {
        let test = try await TestLibrary()
        let sample = SampleCatalogue()
        _ = try await test.add((0..<30).map { sample.photo($0, caption: "beach", takenAt: Int64($0 / 3) * 1000) })
        let before = try await test.allPhotos().map(\.id)
        for text in [nil, "beach", "be"] {
            let first = try await test.mesh.send(SearchPhotos(PhotoFilter(text: text), limit: 10))
            let numbers = (0..<10).map { 100 + $0 + 100 * (text?.count ?? 0) }
            // Newer ones, older ones, and some of the very moment at which the page was cut.
            _ = try await test.add(numbers.map { sample.photo($0, caption: "other", takenAt: Int64($0 % 12) * 1000) })
            let second = try await test.mesh.send(SearchPhotos(PhotoFilter(text: text), limit: 1000, after: first.next))
            let seen = first.photos.map(\.id) + second.photos.map(\.id).filter(before.contains)
            #expect(seen == before, "\(text ?? "")")
            let others = try await test.mesh.send(SearchPhotos(PhotoFilter(text: "other"))).photos.map(\.id)
            _ = try await test.mesh.send(ForgetPhotos(ids: others))
        }
        await test.library.close()
    }

    /// Photos of one moment by the thousand, as a batch of scans brings them, are paged through like others.
    @Test func manyPhotosOfOneMomentArePagedThrough() async throws {
        let test = try await TestLibrary()
        let sample = SampleCatalogue()
        let photos = (0..<3000).map {
            sample.photo($0, caption: $0.isMultiple(of: 3) ? "scan" : nil, takenAt: $0 < 50 ? 5 : 7)
        }
        _ = try await test.add(photos)
        let all = try await found(SearchPhotos(), limit: 777, in: test.mesh)
        #expect(all.map(\.id) == Array((51...3000).reversed()) + Array((1...50).reversed()))
        let scans = try await found(SearchPhotos(PhotoFilter(text: "scan")), limit: 99, in: test.mesh)
        let entries = all.map { Entry($0, []) }
        #expect(scans.map(\.id) == expected(SearchPhotos(PhotoFilter(text: "scan")), of: entries))
        await test.library.close()
    }

    /// The index follows every kind of change; a check of its own compares it with the photos.
    @Test func theTextIndexFollowsEveryChange() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(6)
        let photos = try await test.allPhotos()
        func ids(_ text: String) async throws -> [Int64] {
            try await test.mesh.send(SearchPhotos(PhotoFilter(text: text))).photos.map(\.id)
        }
        _ = try await test.mesh.send(SetCaption(id: photos[0].id, caption: "old words"))
        _ = try await test.mesh.send(SetCaption(id: photos[0].id, caption: "new words\u{0}after"))
        #expect(try await ids("old words").isEmpty)
        #expect(try await ids("NEW WORDS") == [photos[0].id])
        #expect(try await ids("after") == [photos[0].id])
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        #expect(try await ids("new words").isEmpty)
        _ = try await test.mesh.send(RestorePhotos(ids: [photos[0].id]))
        #expect(try await ids("new words") == [photos[0].id])
        _ = try await test.mesh.send(ForgetPhotos(ids: [photos[1].id]))
        let category = try await test.mesh.send(AddCategory(displayName: "Moved"))
        _ = try await test.mesh.send(MovePhotos(ids: [photos[2].id, photos[3].id], categoryId: category.id))
        _ = try await test.mesh.send(SetFavorite(ids: [photos[2].id], isFavorite: true))
        _ = try await test.mesh.send(DeleteCategory(id: category.id, deletePhotos: true))
        await test.library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }

    @Test func aBatchIsAllOrNothing() async throws {
        let test = try await TestLibrary()
        let sample = SampleCatalogue()
        _ = try await test.add([sample.photo(700, takenAt: 1)])
        let batches: [([SourcedPhoto], MeshStatus)] = [
            ((0..<900).map { sample.photo($0, takenAt: 1) }, .alreadyExists),
            ([sample.photo(1, takenAt: 1), sample.photo(1, takenAt: 2)], .alreadyExists),
            ([sample.photo(1, takenAt: 1), sample.photo(2, category: 99, takenAt: 2)], .notFound),
            ([], .invalidArgument),
        ]
        for (photos, expected) in batches {
            #expect(await status { _ = try await test.add(photos) } == expected)
            #expect(try await test.allPhotos().count == 1)
        }
        let counts = try await test.mesh.send(ListCategories()).categories.map(\.photoCount)
        #expect(counts == [1, 0, 0, 0])
        await test.library.close()
    }
}
