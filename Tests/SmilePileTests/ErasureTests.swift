import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// After erasing, no file of the library knows the child.
@Suite(.timeLimit(.minutes(2))) struct ErasureTests {
    /// Four photos, imported from a folder that is called after Ylva: two of hers, the second of them in the trash, one of
    /// Aske's, one of nobody's.
    private func library() async throws -> (test: TestLibrary, photos: [Photo]) {
        let test = try await TestLibrary("erasure")
        let album = test.folder.file("Ylva 2019")
        try SampleAlbum(width: 320, height: 240).write(count: 4, to: album)
        let first = try #require(try FileManager.default.contentsOfDirectory(atPath: album).sorted().first)
        try Data(#"{"title": "\#(first)", "description": "Ylvas erster Schritt"}"#.utf8).write(
            to: URL(fileURLWithPath: album + "/\(first).json"))
        #expect(try await test.importing(album).outcomes == ["imported": 4])
        let photos = try await test.allPhotos().sorted { $0.name < $1.name }
        // The sidecar's caption is no sealed field, and where the samples were taken is not what is counted here.
        for photo in photos {
            _ = try await test.mesh.send(SetCaption(id: photo.id, caption: nil))
            _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, clear: [.location]))
        }
        _ = try await test.mesh.send(
            SetPhotoDetail(
                id: photos[0].id, childName: "Ylva", childAge: "neunzehn Monate", notes: "fiel ins Watt",
                tags: ["Nordsee", "Gummistiefel"], milestone: "lief allein", location: "Westerhever",
                metadata: "Blende acht"))
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[1].id, childName: " YLVA", notes: "im Papierkorb"))
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[2].id, childName: "Aske", notes: "mit Ylva im Garten"))
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[1].id]))
        return (test, photos)
    }

    private func files(_ test: TestLibrary) throws -> [String: Data] {
        var contents: [String: Data] = [:]
        let found = try #require(FileManager.default.enumerator(atPath: test.path))
        for case let path as String in found {
            contents[path] = FileManager.default.contents(atPath: test.path + "/" + path)
        }
        return contents
    }

    /// Files that have one of these in them, whatever its case.
    private func finding(_ texts: [Data], in test: TestLibrary) throws -> [String] {
        try files(test).filter { file in
            let folded = Data(file.value.map { (0x41...0x5A).contains($0) ? $0 + 0x20 : $0 })
            return texts.contains { folded.range(of: $0) != nil || file.value.range(of: $0) != nil }
        }.map(\.key).sorted()
    }

    private let plaintexts = [
        "ylva", "neunzehn", "fiel ins", "nordsee", "gummistiefel", "lief allein", "westerhever", "blende",
        "papierkorb",
    ].map { Data($0.utf8) }

    @Test func noFileKnowsAnErasedChild() async throws {
        let (test, photos) = try await library()
        // The receipt says the folder, and the sidecar the name: a search that found nothing would prove nothing.
        #expect(try finding(plaintexts, in: test).contains { $0.hasPrefix("catalogue.sqlite") })
        #expect(try finding(plaintexts, in: test).contains { $0.hasPrefix("originals/") })
        let sealed = try await test.library.catalogue.read { try $0.sealedFields.page(after: nil, limit: 100) }
        let hers = sealed.filter { [photos[0].uuid, photos[1].uuid].contains($0.name.uuid) }.map { Data($0.sealed) }
        #expect(hers.count == 9)
        #expect(!(try finding(hers, in: test)).isEmpty)

        let job = try await test.run(ErasePhotoDetails(childName: "ylva", files: true))
        #expect(job.state == .finished && job.receipt?["ending"] == "complete", "\(job)")
        #expect(job.receipt?["photos"] == 2 && job.receipt?["values"] == 9 && job.receipt?["mentions"] == 0)
        #expect(job.receipt?["photosWithFiles"] == 1 && job.receipt?["isLogEmpty"] == true)
        #expect(try finding(plaintexts, in: test).isEmpty)
        #expect(try finding(hers, in: test).isEmpty)

        // What is about another child stays, though it says the name: that is his.
        #expect(try await test.mesh.send(GetPhotoDetail(id: photos[2].id)).notes == "mit Ylva im Garten")
        #expect(try await test.mesh.send(GetPhotoDetail(id: photos[0].id)) == PhotoDetail(photoId: photos[0].id))
        _ = try await test.mesh.send(RestorePhotos(ids: [photos[1].id]))
        #expect(try await test.mesh.send(GetPhotoDetail(id: photos[1].id)) == PhotoDetail(photoId: photos[1].id))
        let again = try await test.run(ErasePhotoDetails(childName: "Ylva"))
        #expect(again.receipt?["values"] == 0 && again.receipt?["blanked"] == 0)
        await test.library.close()
        #expect(try finding(plaintexts, in: test).isEmpty)
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }

    /// A name can be changed by a person; what its source was called cannot.
    @Test func sourcesThatAreCalledAfterTheChildAreForgotten() async throws {
        let test = try await TestLibrary("erasure")
        let album = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: 3, to: album)
        let names = ["Ylva am Meer.jpg", "Ylva im Gras.jpg", "Ylvara.jpg"]
        for (file, name) in zip(try FileManager.default.contentsOfDirectory(atPath: album).sorted(), names) {
            try FileManager.default.moveItem(atPath: album + "/" + file, toPath: album + "/" + name)
        }
        _ = try await test.importing(album)
        let photos = try await test.allPhotos().sorted { $0.name < $1.name }
        #expect(photos.map(\.sourceName) == names)
        for photo in photos { _ = try await test.mesh.send(EditPhoto(id: photo.id, name: "am Wasser")) }
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[0].id, childName: "Ylva"))
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[1].id]))
        let job = try await test.run(ErasePhotoDetails(childName: "Ylva"))
        // "Ylvara" is found by a search, and is another name.
        #expect(job.receipt?["mentions"] == 1)
        _ = try await test.mesh.send(RestorePhotos(ids: [photos[1].id]))
        let after = try await test.allPhotos().sorted { $0.id < $1.id }
        #expect(Set(after.map(\.sourceName)) == [nil, "Ylvara.jpg"])
        let found = try await test.mesh.send(SearchPhotos(PhotoFilter(text: "ylva"))).photos
        #expect(found.map(\.sourceName) == ["Ylvara.jpg"])
        await test.library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }

    @Test func receiptsKeepTheirFormAndTheOtherLines() async throws {
        let (test, _) = try await library()
        let other = test.folder.file("Ylvara")
        try SampleAlbum(width: 330, height: 240).write(count: 1, to: other)
        let kept = try await test.importing(other)
        let imports = try await test.mesh.send(ListJobs()).jobs.filter {
            $0.method == "library.import" && $0.id != kept.id
        }
        let before = try #require(imports.first)
        let lines = try await test.lines(before.id)
        #expect(lines.allSatisfy { $0.item.contains("Ylva 2019") })
        _ = try await test.run(ErasePhotoDetails(childName: "Ylva"))
        let after = try await test.mesh.send(GetJob(job: before.id))
        #expect(after.outcomes == before.outcomes && after.receipt == before.receipt)
        #expect(try await test.lines(before.id).map(\.item) == lines.map { _ in "(erased)" })
        // A longer word is another one.
        #expect(try await test.lines(kept.id)[0].item.contains("Ylvara/"))
        await test.library.close()
    }

    @Test func photosThatAreNamedNeedNoKey() async throws {
        let (test, photos) = try await library()
        await test.library.close()
        try FileManager.default.removeItem(atPath: test.keyFile)
        let library = try await test.reopened()
        let refused = await status { _ = try await library.mesh.send(ErasePhotoDetails(childName: "Ylva")) }
        #expect(refused == .failedPrecondition)
        let started = try await library.mesh.send(ErasePhotoDetails(ids: [photos[0].id]))
        let job = try await library.mesh.send(WaitForJob(job: started.job))
        #expect(job.state == .finished && job.receipt?["values"] == 7 && job.receipt?["photosWithFiles"] == 0)
        #expect(try await library.mesh.send(GetPhoto(id: photos[0].id)).sidecars.count == photos[0].sidecars.count)
        #expect(try await library.mesh.send(GetKeyStatus()).values == 4)
        await library.close()
    }

    @Test func whoIsMeantHasToBeSaid() async throws {
        let (test, photos) = try await library()
        for wrong in [ErasePhotoDetails(ids: []), ErasePhotoDetails(childName: " ")] {
            #expect(await status { _ = try await test.mesh.send(wrong) } == .invalidArgument)
        }
        #expect(await status { _ = try await test.mesh.send(ErasePhotoDetails(ids: [photos[0].id, 99])) } == .notFound)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(
            await status { _ = try await test.mesh.send(ErasePhotoDetails(ids: [1]), in: kid) } == .permissionDenied)
        #expect(try await test.mesh.send(GetKeyStatus()).values == 11)
        await test.library.close()
    }
}
