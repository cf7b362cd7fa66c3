import CatalogueTestSupport
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing

/// What the specification's methods for photos do, method by method (Methods.md names the tests).
@Suite(.timeLimit(.minutes(2))) struct PhotoMethodTests {
    private let sample = SampleCatalogue()

    /// Photos 1…9 in categories 1, 2, 3, 1, …; photo `n` was taken at `n` seconds.
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary("methods")
        _ = try await test.add(
            (1...9).map { sample.photo($0, category: Int64(($0 - 1) % 3 + 1), takenAt: Int64($0) * 1000) })
        return test
    }

    private func ids(_ test: TestLibrary, _ request: SearchPhotos = SearchPhotos()) async throws -> [Int64] {
        try await test.mesh.send(request).photos.map(\.id)
    }

    private func seconds(_ number: Int64) -> LocalDateTime { LocalDateTime(milliseconds: number * 1000) }

    @Test func onePhotoIsEnteredAndItsIDIsTold() async throws {
        let test = try await library()
        let new = sample.photo(10, category: 2, takenAt: 4500)
        let service = CallContext.root(mesh: test.mesh, role: .service)
        let request = AddPhoto(new)
        let added = try await test.mesh.send(request, in: service)
        #expect(added.id == 10 && added.uuid == new.photo.uuid && added.categoryId == 2)
        #expect(try await test.mesh.send(GetPhoto(id: 10)) == added)
        #expect(try await ids(test) == [9, 8, 7, 6, 5, 10, 4, 3, 2, 1])
        // The old one would be replaced there; here the picture that is in the library stays as it is.
        #expect(await status { _ = try await test.mesh.send(request, in: service) } == .alreadyExists)
        // No client of the socket enters rows.
        #expect(await status { _ = try await test.mesh.send(request) } == .permissionDenied)
        await test.library.close()
    }

    @Test func manyAreEnteredInOneTransaction() async throws {
        let test = try await library()
        let more = (20..<30).map { sample.photo($0, category: 4, takenAt: Int64($0) * 1000) }
        #expect(try await test.add(more) == PhotosChanged(count: 10))
        #expect(try await ids(test, SearchPhotos(PhotoFilter(categoryId: 4))) == Array((10...19).reversed()))
        let repeated = [sample.photo(40, takenAt: 1), sample.photo(41, takenAt: 1), sample.photo(25, takenAt: 1)]
        #expect(await status { _ = try await test.add(repeated) } == .alreadyExists)
        #expect(try await test.mesh.send(CountPhotos()).count == 19)
        await test.library.close()
    }

    @Test func editingChangesWhatIsGivenAndKeepsTheRest() async throws {
        let test = try await library()
        let before = try await test.mesh.send(GetPhoto(id: 5))
        let renamed = try await test.mesh.send(EditPhoto(id: 5, name: "  Am Meer "))
        #expect(renamed.name == "Am Meer" && renamed.categoryId == before.categoryId && renamed.path == before.path)
        let all = try await test.mesh.send(
            EditPhoto(id: 5, caption: "Été", categoryId: 4, isFavorite: true, takenAt: seconds(100)))
        #expect(all == (try await test.mesh.send(GetPhoto(id: 5))))
        #expect(all.name == "Am Meer" && all.caption == "Été" && all.categoryId == 4 && all.isFavorite)
        #expect(all.uuid == before.uuid && all.contentDigest == before.contentDigest && all.id == 5)
        // Lists, counts and the text index follow.
        #expect(try await ids(test) == [5, 9, 8, 7, 6, 4, 3, 2, 1])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "ete"))) == [5])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "MEER", categoryId: 4, favoritesOnly: true))) == [5])
        #expect(try await test.mesh.send(GetCategory(id: 4)).photoCount == 1)
        let bare = try await test.mesh.send(EditPhoto(id: 5, name: "", caption: " "))
        #expect(bare.caption == nil && bare.displayName == before.fileName.dropLast(4))
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "ete"))).isEmpty)
        await test.library.close()
    }

    @Test func severalAreEditedAlikeOrNoneIs() async throws {
        let test = try await library()
        let edited = try await test.mesh.send(EditPhotos(ids: [5, 2, 5], caption: " By the sea ")).photos
        #expect(edited.map(\.id) == [5, 2] && edited.map(\.caption) == ["By the sea", "By the sea"])
        #expect(try await test.mesh.send(GetPhoto(id: 2)) == edited[1])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "sea"))).sorted() == [2, 5])
        let shifted = try await test.mesh.send(EditPhotos(ids: [2, 99, 3], shift: 3_600_000, ignoreMissing: true))
        #expect(shifted.photos.map(\.id) == [2, 3] && shifted.photos.allSatisfy { $0.dateSource == .person })
        #expect(shifted.photos[0].takenAt?.milliseconds == edited[1].shownAt.milliseconds + 3_600_000)
        let before = try await test.allPhotos()
        let wrong: [(EditPhotos, MeshStatus)] = [
            (EditPhotos(ids: [1, 99], caption: "x"), .notFound), (EditPhotos(ids: [], caption: "x"), .invalidArgument),
            (EditPhotos(ids: [1]), .invalidArgument), (EditPhotos(ids: Array(1...101), caption: "x"), .invalidArgument),
            (EditPhotos(ids: [1], takenAt: seconds(1), shift: 1), .invalidArgument),
            (EditPhotos(ids: [1, 2], caption: String(repeating: "x", count: 2001)), .invalidArgument),
            // Of the second the date would leave the calendar.
            (EditPhotos(ids: [1, 2], shift: .max), .invalidArgument),
        ]
        for (request, expected) in wrong {
            #expect(await status { _ = try await test.mesh.send(request) } == expected, "\(request)")
        }
        #expect(try await test.allPhotos() == before)
        await test.library.close()
    }

    @Test func wrongEditsChangeNothing() async throws {
        let test = try await library()
        let before = try await test.mesh.send(GetPhoto(id: 5))
        let wrong: [(EditPhoto, MeshStatus)] = [
            (EditPhoto(id: 5), .invalidArgument), (EditPhoto(id: 99, name: "x"), .notFound),
            (EditPhoto(id: 5, name: "x", categoryId: 99), .notFound),
            (EditPhoto(id: 5, name: "a\u{0}b"), .invalidArgument),
            (EditPhoto(id: 5, name: String(repeating: "x", count: 501)), .invalidArgument),
            (EditPhoto(id: 5, name: "x", caption: String(repeating: "x", count: 2001)), .invalidArgument),
        ]
        for (request, expected) in wrong {
            #expect(await status { _ = try await test.mesh.send(request) } == expected, "\(request)")
        }
        #expect(try await test.mesh.send(GetPhoto(id: 5)) == before)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(
            await status { _ = try await test.mesh.send(EditPhoto(id: 5, name: "x"), in: kid) } == .permissionDenied)
        await test.library.close()
    }

    @Test func aPhotoIsFoundByIDUUIDAndPath() async throws {
        let test = try await library()
        let photo = try await test.mesh.send(GetPhoto(id: 3))
        #expect(photo.shownAt == seconds(3))
        #expect(try await test.mesh.send(GetPhoto(uuid: photo.uuid)) == photo)
        #expect(try await test.mesh.send(GetPhoto(uuid: photo.uuid.uppercased())) == photo)
        #expect(try await test.mesh.send(GetPhoto(path: photo.path)) == photo)
        for request in [
            GetPhoto(id: 99), GetPhoto(uuid: "no"), GetPhoto(path: "photos/no.jpg"), GetPhoto(path: "/" + photo.path),
        ] {
            #expect(await status { _ = try await test.mesh.send(request) } == .notFound)
        }
        await test.library.close()
    }

    @Test func aPhotoIsValidWithAPathAndACategory() async throws {
        let test = try await library()
        let photos = try await test.allPhotos()
        #expect(photos.count == 9 && photos.allSatisfy(\.isValid))
        var photo = photos[0]
        photo.path = ""
        #expect(!photo.isValid)
        for (category, isValid) in [(1, true), (0, false), (-1, false)] as [(Int64, Bool)] {
            photo = photos[0]
            photo.categoryId = category
            #expect(photo.isValid == isValid)
        }
        await test.library.close()
    }

    @Test func photosGoToTheTrashByIDUUIDAndPath() async throws {
        let test = try await library()
        let photos = try await test.allPhotos()
        let (first, second, third) = (photos[0], photos[1], photos[2])
        #expect(try await test.mesh.send(DeletePhotos(ids: [first.id, first.id])).count == 1)
        #expect(
            try await test.mesh.send(DeletePhotos(uuids: [second.uuid, second.uuid.uppercased()])).count == 1)
        #expect(try await test.mesh.send(DeletePhotos(paths: [third.path])).count == 1)
        #expect(try await ids(test) == photos.dropFirst(3).map(\.id))
        #expect(Set(try await test.mesh.send(ListTrash()).photos.map(\.photo.id)) == [first.id, second.id, third.id])
        // All or none, however they are named.
        for request in [
            DeletePhotos(ids: [photos[3].id, first.id]), DeletePhotos(uuids: [photos[3].uuid, second.uuid]),
            DeletePhotos(paths: [photos[3].path, third.path]), DeletePhotos(categoryId: 99),
        ] {
            #expect(await status { _ = try await test.mesh.send(request) } == .notFound)
        }
        for request in [DeletePhotos(ids: []), DeletePhotos(uuids: []), DeletePhotos(paths: [])] {
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        #expect(try await test.allPhotos().count == 6)
        _ = try await test.mesh.send(RestorePhotos(ids: [first.id, second.id, third.id]))
        #expect(try await test.allPhotos() == photos)
        await test.library.close()
    }

    @Test func aCategoryIsEmptiedAndStays() async throws {
        let test = try await library()
        #expect(try await test.mesh.send(DeletePhotos(categoryId: 2)) == PhotosChanged(count: 3))
        #expect(try await test.mesh.send(DeletePhotos(categoryId: 2)) == PhotosChanged(count: 0))
        #expect(try await ids(test) == [9, 7, 6, 4, 3, 1])
        #expect(try await test.mesh.send(GetCategory(id: 2)).photoCount == 0)
        #expect(try await test.mesh.send(ListTrash()).photos.count == 3)
        await test.library.close()
    }

    @Test func forgettingTakesPhotosOutOfTheLibraryOnly() async throws {
        let test = try await library()
        let photo = try await test.mesh.send(GetPhoto(id: 4))
        #expect(try await test.mesh.send(ForgetPhotos(ids: [4])).paths == [photo.path])
        #expect(try await ids(test) == [9, 8, 7, 6, 5, 3, 2, 1])
        #expect(try await test.mesh.send(ListTrash()).photos.isEmpty)
        #expect(await status { _ = try await test.mesh.send(ForgetPhotos(ids: [4, 5])) } == .notFound)
        #expect(try await test.mesh.send(CountPhotos()).count == 8)
        await test.library.close()
    }

    @Test func allPhotosComeNewestFirst() async throws {
        let test = try await library()
        #expect(try await ids(test) == [9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(try await test.allPhotos().map(\.id) == [9, 8, 7, 6, 5, 4, 3, 2, 1])
        await test.library.close()
    }

    @Test func aCategorysPhotosComeNewestFirst() async throws {
        let test = try await library()
        #expect(try await ids(test, SearchPhotos(PhotoFilter(categoryId: 1))) == [7, 4, 1])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(categoryId: 3))) == [9, 6, 3])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(categoryId: 4))).isEmpty)
        await test.library.close()
    }

    @Test func countsFollowEveryFilter() async throws {
        let test = try await library()
        _ = try await test.mesh.send(SetFavorite(ids: [1, 4, 9], isFavorite: true))
        let requests: [(CountPhotos, Int)] = [
            (CountPhotos(), 9), (CountPhotos(PhotoFilter(categoryId: 1)), 3),
            (CountPhotos(PhotoFilter(categoryId: 4)), 0),
            (CountPhotos(PhotoFilter(categoryId: 99)), 0), (CountPhotos(PhotoFilter(favoritesOnly: true)), 3),
            (CountPhotos(PhotoFilter(categoryId: 1, favoritesOnly: true)), 2),
            (CountPhotos(PhotoFilter(text: "dsc4")), 1),
            (CountPhotos(PhotoFilter(text: "ds")), 9), (CountPhotos(PhotoFilter(from: seconds(2), to: seconds(5))), 4),
            (
                CountPhotos(
                    PhotoFilter(text: "dsc", categoryId: 1, from: seconds(2), to: seconds(7), favoritesOnly: true)), 1
            ),
        ]
        for (request, expected) in requests {
            #expect(try await test.mesh.send(request) == PhotoCount(count: expected), "\(request)")
            #expect(try await test.mesh.send(SearchPhotos(request.filter)).photos.count == expected, "\(request)")
        }
        let turned = CountPhotos(PhotoFilter(from: seconds(2), to: seconds(1)))
        #expect(await status { _ = try await test.mesh.send(turned) } == .invalidArgument)
        await test.library.close()
    }

    @Test func favoritesAreMarkedAndListed() async throws {
        let test = try await library()
        #expect(try await test.mesh.send(SetFavorite(ids: [2, 8], isFavorite: true)).count == 2)
        #expect(try await test.mesh.send(SetFavorite(ids: [2, 3], isFavorite: true)).count == 1)
        #expect(try await ids(test, SearchPhotos(PhotoFilter(favoritesOnly: true))) == [8, 3, 2])
        #expect(try await test.mesh.send(SetFavorite(ids: [8], isFavorite: false)).count == 1)
        #expect(try await ids(test, SearchPhotos(PhotoFilter(favoritesOnly: true))) == [3, 2])
        // `false` is a filter too; null is none.
        #expect(try await ids(test, SearchPhotos(PhotoFilter(favoritesOnly: false))) == [9, 8, 7, 6, 5, 4, 1])
        #expect(try await test.mesh.send(CountPhotos(PhotoFilter(favoritesOnly: false))).count == 7)
        #expect(try await ids(test, SearchPhotos()).count == 9)
        #expect(await status { _ = try await test.mesh.send(SetFavorite(ids: [99], isFavorite: true)) } == .notFound)
        await test.library.close()
    }

    @Test func textIsLookedForWherePeopleLook() async throws {
        let test = try await library()
        let path = try await test.mesh.send(GetPhoto(id: 6)).path
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: path))) == [6])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: String(path.dropFirst(7).dropLast(4))))).isEmpty)
        _ = try await test.mesh.send(SetCaption(id: 2, caption: "Ein großer Bär"))
        _ = try await test.mesh.send(SetCaption(id: 7, caption: "bar 100%"))
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "BÄR"))) == [7, 2])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "GROSSER"))) == [2])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "0%"))) == [7])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "dsc"))) == [9, 8, 7, 6, 5, 4, 3, 2, 1])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "bar", categoryId: 2))) == [2])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(text: "bar", categoryId: 3))).isEmpty)
        await test.library.close()
    }

    @Test func dateRangesAreInclusive() async throws {
        let test = try await library()
        #expect(try await ids(test, SearchPhotos(PhotoFilter(from: seconds(3), to: seconds(5)))) == [5, 4, 3])
        let inside = SearchPhotos(
            PhotoFilter(from: LocalDateTime(milliseconds: 3001), to: LocalDateTime(milliseconds: 4999)))
        #expect(try await ids(test, inside) == [4])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(from: seconds(5), to: seconds(5)))) == [5])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(from: seconds(8)))) == [9, 8])
        #expect(try await ids(test, SearchPhotos(PhotoFilter(to: seconds(2)))) == [2, 1])
        #expect(
            try await ids(test, SearchPhotos(PhotoFilter(categoryId: 1, from: seconds(1), to: seconds(4)))) == [4, 1])
        // Without a date of its own, a photo has that of its entry.
        let undated = sample.photo(50, takenAt: nil)
        _ = try await test.add([undated])
        let added = LocalDateTime(utc: undated.photo.createdAt)
        #expect(try await ids(test, SearchPhotos(PhotoFilter(from: added, to: added))) == [10])
        await test.library.close()
    }

    @Test func everyFilterAtOnce() async throws {
        let test = try await library()
        for id in [1, 2, 4, 7] as [Int64] { _ = try await test.mesh.send(SetCaption(id: id, caption: "Strand \(id)")) }
        _ = try await test.mesh.send(SetFavorite(ids: [1, 2, 4, 9], isFavorite: true))
        let all = SearchPhotos(
            PhotoFilter(text: "strand", categoryId: 1, from: seconds(2), to: seconds(8), favoritesOnly: true))
        #expect(try await ids(test, all) == [4])
        let anyCategory = SearchPhotos(
            PhotoFilter(text: "strand", from: seconds(2), to: seconds(8), favoritesOnly: true))
        #expect(try await ids(test, anyCategory) == [4, 2])
        let notOnlyFavorites = SearchPhotos(
            PhotoFilter(text: "strand", categoryId: 1, from: seconds(2), to: seconds(8)))
        #expect(try await ids(test, notOnlyFavorites) == [7, 4])
        await test.library.close()
    }
}
