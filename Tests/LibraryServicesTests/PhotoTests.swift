import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

@Suite struct PhotoTests {
    private func names(_ test: TestLibrary, _ request: SearchPhotos) async throws -> [String] {
        try await test.mesh.send(request).photos.map(\.name)
    }

    @Test func pagesCoverEverythingOnceNewestFirst() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(11, album: SampleAlbum(width: 32, height: 24))
        var seen: [Photo] = []
        var next: String?
        repeat {
            let page = try await test.mesh.send(SearchPhotos(limit: 3, after: next))
            #expect(page.photos.count <= 3)
            seen += page.photos
            next = page.next
        } while next != nil
        #expect(seen.count == 11 && Set(seen.map(\.id)).count == 11)
        #expect(seen.map(\.shownAt) == seen.map(\.shownAt).sorted(by: >))
        await test.library.close()
    }

    @Test func textIsLiteralAndIgnoresCaseAndDiacritics() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(5, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        let captions = ["Été 100% bleu", "snake_case", "it's \"quoted\" 🐍", "Straße", nil]
        for (photo, caption) in zip(photos, captions) {
            _ = try await test.mesh.send(SetCaption(id: photo.id, caption: caption))
        }
        func found(_ text: String) async throws -> [String?] {
            try await test.mesh.send(SearchPhotos(PhotoFilter(text: text))).photos.map(\.caption)
        }
        #expect(try await found("ETE") == ["Été 100% bleu"])
        #expect(try await found("0% b") == ["Été 100% bleu"])
        #expect(try await found("%") == ["Été 100% bleu"])
        #expect(try await found("e_c") == ["snake_case"])
        #expect(try await found("\"quoted\" 🐍") == ["it's \"quoted\" 🐍"])
        #expect(try await found("STRASSE") == ["Straße"])
        #expect(try await found("sample-000").count == 5)
        #expect(try await found("no such thing").isEmpty)
        await test.library.close()
    }

    @Test func filtersCombine() async throws {
        let test = try await TestLibrary()
        let album = SampleAlbum(width: 32, height: 24)
        _ = try await test.importSamples(9, album: album)
        let photos = try await test.allPhotos()
        let categories = try await test.mesh.send(ListCategories()).categories
        let moved = photos.filter { ["sample-0002", "sample-0003", "sample-0004"].contains($0.name) }
        #expect(
            try await test.mesh.send(MovePhotos(ids: moved.map(\.id), categoryId: categories[2].id))
                == PhotosChanged(count: 3))
        let favorites = photos.filter { ["sample-0003", "sample-0007"].contains($0.name) }
        _ = try await test.mesh.send(SetFavorite(ids: favorites.map(\.id), isFavorite: true))
        #expect(
            try await names(test, SearchPhotos(PhotoFilter(favoritesOnly: true))) == ["sample-0007", "sample-0003"])
        #expect(
            try await names(test, SearchPhotos(PhotoFilter(categoryId: categories[2].id, favoritesOnly: true))) == [
                "sample-0003"
            ])
        let from = LocalDateTime(milliseconds: try #require(album.expected(3).takenAt))
        let to = LocalDateTime(milliseconds: try #require(album.expected(5).takenAt))
        #expect(
            try await names(test, SearchPhotos(PhotoFilter(from: from, to: to))) == [
                "sample-0005", "sample-0004", "sample-0003",
            ])
        #expect(
            try await names(
                test, SearchPhotos(PhotoFilter(text: "e-0004", categoryId: categories[2].id, from: from, to: to)))
                == ["sample-0004"])
        await test.library.close()
    }

    @Test func wrongRequestsSayWhatIsWrong() async throws {
        let test = try await TestLibrary()
        let bad = [
            SearchPhotos(limit: 0), SearchPhotos(limit: 1001), SearchPhotos(after: "x"), SearchPhotos(after: "1.2.3"),
            SearchPhotos(PhotoFilter(from: LocalDateTime(milliseconds: 2), to: LocalDateTime(milliseconds: 1))),
        ]
        for request in bad {
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        #expect(await status { _ = try await test.mesh.send(GetPhoto(id: 7)) } == .notFound)
        #expect(
            await status { _ = try await test.mesh.send(SetFavorite(ids: [], isFavorite: true)) } == .invalidArgument)
        await test.library.close()
    }

    @Test func severalIDsAreAllOrNone() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(3, album: SampleAlbum(width: 32, height: 24))
        let ids = try await test.allPhotos().map(\.id)
        #expect(await status { _ = try await test.mesh.send(DeletePhotos(ids: ids + [999])) } == .notFound)
        #expect(try await test.allPhotos().count == 3)
        #expect(try await test.mesh.send(DeletePhotos(ids: ids)) == PhotosChanged(count: 3))
        #expect(try await test.allPhotos().isEmpty)
        await test.library.close()
    }

    @Test func theTrashGivesBackAndPurgesForGood() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(4, album: SampleAlbum(width: 32, height: 24))
        let before = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: before.map(\.id)))
        #expect(try test.files("photos").count == 4)
        _ = try await test.mesh.send(RestorePhotos(ids: before.prefix(2).map(\.id)))
        #expect(try await test.allPhotos() == Array(before.prefix(2)))
        // Nothing is old enough yet.
        #expect(try await test.mesh.send(PurgeTrash()) == PhotosChanged(count: 0))
        #expect(try await test.mesh.send(PurgeTrash(ids: [before[2].id])) == PhotosChanged(count: 1))
        #expect(try await test.mesh.send(PurgeTrash(all: true)) == PhotosChanged(count: 1))
        #expect(try test.files("photos") == before.prefix(2).map(\.fileName).sorted())
        #expect(try test.files("thumbnails").count == 2)
        await test.library.close()
    }

    @Test func aPhotoImportedAgainIsNotRestoredTwice() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(4, album: SampleAlbum(width: 32, height: 24))
        let photos = try await test.allPhotos()
        let ids = photos.map(\.id)
        _ = try await test.mesh.send(DeletePhotos(ids: [ids[1]]))
        let again = try await test.importing(test.folder.file("album"))
        #expect(again.outcomes["imported"] == 1)
        let back = try #require(try await test.allPhotos().first { !ids.contains($0.id) })
        _ = try await test.mesh.send(DeletePhotos(ids: [ids[0], ids[2], ids[3]]))
        // One that is not in the trash is a mistake, and then nothing is restored.
        #expect(await status { _ = try await test.mesh.send(RestorePhotos(ids: ids + [back.id])) } == .notFound)
        #expect(try await test.allPhotos() == [back])
        // The others come back.
        let staying = [StayingPhoto(id: ids[1], sameAs: back.id)]
        #expect(
            try await test.mesh.send(RestorePhotos(ids: ids)) == RestoredPhotos(count: 3, staying: staying))
        #expect(Set(try await test.allPhotos().map(\.id)) == Set(ids).subtracting([ids[1]]).union([back.id]))
        #expect(try await test.mesh.send(ListTrash()).photos.map(\.photo.id) == [ids[1]])
        #expect(try await test.mesh.send(RestorePhotos(ids: [ids[1]])) == RestoredPhotos(count: 0, staying: staying))
        await test.library.close()
    }

    @Test func forgettingLeavesTheFile() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 32, height: 24))
        let photo = try await test.allPhotos()[0]
        #expect(try await test.mesh.send(ForgetPhotos(ids: [photo.id])).paths == [photo.path])
        #expect(try test.files("photos") == [photo.fileName] && test.files("thumbnails").isEmpty)
        await test.library.close()
        // The next start does not take it for a leftover either.
        let library = try await PhotoLibrary.open(at: test.path)
        #expect(try test.files("photos") == [photo.fileName])
        await library.close()
    }

    @Test func aKidMayLookAndNothingElse() async throws {
        let test = try await TestLibrary()
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        _ = try await test.mesh.send(ListCategories(), in: kid)
        _ = try await test.mesh.send(SearchPhotos(), in: kid)
        #expect(
            await status { _ = try await test.mesh.send(AddCategory(displayName: "x"), in: kid) } == .permissionDenied)
        #expect(await status { _ = try await test.mesh.send(ListTrash(), in: kid) } == .permissionDenied)
        #expect(
            await status { _ = try await test.mesh.send(FindSourceDigests(sourceSize: 1)) } == .permissionDenied)
        await test.library.close()
    }
}
