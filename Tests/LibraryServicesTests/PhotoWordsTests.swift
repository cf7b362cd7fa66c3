import CatalogueTestSupport
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import Testing
import TextFolding

/// Searches for several words, and the ids of what is found.
@Suite(.timeLimit(.minutes(2))) struct PhotoWordsTests {
    private func contains(_ photo: Photo, _ words: [String], _ categories: [Category]) -> Bool {
        let category = categories.first { $0.id == photo.categoryId }?.displayName ?? ""
        let fields = [photo.name, photo.caption ?? "", photo.sourceName ?? "", category].map(
            \.searchFolded.unicodeScalars)
        return words.map(\.searchFolded.unicodeScalars).allSatisfy { word in
            word.isEmpty || fields.contains { $0.contains(word) }
        }
    }

    private func ids(_ request: SelectPhotos, limit: Int, in mesh: Mesh) async throws -> [Int64] {
        var ids: [Int64] = []
        var after: Int64?
        repeat {
            let page = try await mesh.send(
                SelectPhotos(
                    request.filter, firstId: request.firstId, lastId: request.lastId, limit: limit, after: after))
            #expect(page.ids.count <= limit && (page.next == nil || page.next == page.ids.last))
            ids += page.ids
            after = page.next
        } while after != nil
        return ids
    }

    @Test func everyWordOccursSomewhereInAnyOrder() async throws {
        let test = try await TestLibrary("words")
        var sample = SampleCatalogue(seed: 11)
        let named = try await test.mesh.send(ListCategories()).categories
        let categories = named.map(\.id)
        #expect(try await test.add(sample.photos(4000, categories: categories)) == PhotosChanged(count: 4000))
        let all = try await test.mesh.send(SelectPhotos()).ids
        var photos: [Photo] = []
        for id in all { photos.append(try await test.mesh.send(GetPhoto(id: id))) }
        var found = 0
        for words in [
            ["sommer", "img"], ["IMG", "Sommer"], ["dsc", "zoo", "1"], ["é", "zoo"], ["om", "dsc"], ["sommer"],
            ["", "zoo"],
            ["zoo", "zoo"], ["sommer", "no such text"], ["100%", "großmutter"], ["_", "%"], ["o", "1"], [], [""],
            ["family"],
            ["sommer", "CARS"], ["port", "img_1"],
        ] {
            let expected = photos.filter { contains($0, words, named) }
            found += expected.isEmpty ? 0 : 1
            for category in [nil, categories[0]] {
                let meant = expected.filter { category == nil || $0.categoryId == category }.map(\.id)
                #expect(
                    try await test.mesh.send(CountPhotos(PhotoFilter(words: words, categoryId: category))).count
                        == meant.count)
                let page = try await test.mesh.send(
                    SearchPhotos(PhotoFilter(words: words, categoryId: category), limit: 1000))
                #expect(page.photos.count == min(1000, meant.count) && Set(page.photos.map(\.id)).isSubset(of: meant))
                for limit in [7, 10_000] where limit > 7 || meant.count < 1000 {
                    let selected = try await ids(
                        SelectPhotos(PhotoFilter(words: words, categoryId: category)), limit: limit, in: test.mesh)
                    #expect(selected == meant.sorted())
                }
            }
        }
        #expect(found >= 8)
        // A text and words together.
        let both = photos.filter { contains($0, ["sommer", "img"], named) }.map(\.id)
        #expect(!both.isEmpty)
        #expect(
            try await ids(SelectPhotos(PhotoFilter(text: "sommer", words: ["img"])), limit: 10_000, in: test.mesh)
                == both.sorted())
        await test.library.close()
    }

    @Test func selectionsTakeRangesOfIDsAndRefuseWhatCannotBe() async throws {
        let test = try await TestLibrary("select")
        let sample = SampleCatalogue()
        _ = try await test.add((1...9).map { sample.photo($0, category: 1, takenAt: Int64($0) * 1000) })
        _ = try await test.mesh.send(DeletePhotos(ids: [4]))
        #expect(try await ids(SelectPhotos(firstId: 3, lastId: 6), limit: 2, in: test.mesh) == [3, 5, 6])
        #expect(try await ids(SelectPhotos(firstId: 8), limit: 1, in: test.mesh) == [8, 9])
        #expect(try await ids(SelectPhotos(lastId: 1), limit: 1, in: test.mesh) == [1])
        #expect(try await ids(SelectPhotos(firstId: .min, lastId: .max), limit: 10_000, in: test.mesh).count == 8)
        let second = LocalDateTime(milliseconds: 2000)
        #expect(try await ids(SelectPhotos(PhotoFilter(to: second), firstId: 2), limit: 5, in: test.mesh) == [2])
        for wrong in [
            SelectPhotos(limit: 0), SelectPhotos(limit: 10_001), SelectPhotos(firstId: 2, lastId: 1),
            SelectPhotos(PhotoFilter(words: Array(repeating: "a", count: 17))),
            SelectPhotos(PhotoFilter(from: second, to: second.earlier)),
            SelectPhotos(PhotoFilter(words: [String(repeating: "x", count: 1001)])),
        ] {
            #expect(await status { _ = try await test.mesh.send(wrong) } == .invalidArgument)
        }
        // A kid's connection looks, as it may search.
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(try await test.mesh.send(SelectPhotos(lastId: 2), in: kid).ids == [1, 2])
        await test.library.close()
    }

    @Test func whatHasGoneIsPassedOverWhereThatIsWanted() async throws {
        let test = try await TestLibrary("gone")
        let sample = SampleCatalogue()
        _ = try await test.add((1...5).map { sample.photo($0, category: 1, takenAt: Int64($0) * 1000) })
        let target = try await test.mesh.send(ListCategories()).categories[1].id
        #expect(
            await status { _ = try await test.mesh.send(SetFavorite(ids: [1, 99], isFavorite: true)) } == .notFound)
        #expect(try await test.mesh.send(CountPhotos(PhotoFilter(favoritesOnly: true))).count == 0)
        let marked = SetFavorite(ids: [1, 99, 1], isFavorite: true, ignoreMissing: true)
        #expect(try await test.mesh.send(marked).count == 1)
        let moved = MovePhotos(ids: [98, 2], categoryId: target, ignoreMissing: true)
        #expect(try await test.mesh.send(moved).count == 1)
        #expect(
            await status {
                _ = try await test.mesh.send(MovePhotos(ids: [2], categoryId: 99, ignoreMissing: true))
            } == .notFound)
        #expect(try await test.mesh.send(DeletePhotos(ids: [3, 97], ignoreMissing: true)).count == 1)
        #expect(try await test.mesh.send(DeletePhotos(ids: [97], ignoreMissing: true)).count == 0)
        #expect(await status { _ = try await test.mesh.send(DeletePhotos(ids: [97])) } == .notFound)
        await test.library.close()
    }
}

extension LocalDateTime {
    fileprivate var earlier: LocalDateTime { LocalDateTime(milliseconds: milliseconds - 1) }
}
