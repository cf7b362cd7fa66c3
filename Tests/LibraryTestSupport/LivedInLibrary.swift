import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

extension TestLibrary {
    /// A library that somebody has lived in.
    package static func livedIn() async throws -> TestLibrary {
        let test = try await TestLibrary("lived")
        _ = try await test.importSamples(6, album: SampleAlbum(width: 64, height: 48))
        let categories = try await test.mesh.send(ListCategories()).categories
        let sea = try await test.mesh.send(AddCategory(displayName: "Sea", colorHex: "#112233"))
        _ = try await test.mesh.send(DeleteCategory(id: categories[2].id))
        _ = try await test.mesh.send(
            EditCategory(id: categories[1].id, displayName: "Wheels", colorHex: "#445566"))
        let ids = try await test.mesh.send(ListCategories()).categories.map(\.id)
        _ = try await test.mesh.send(ReorderCategories(ids: ids.reversed()))
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(MovePhotos(ids: [photos[0].id], categoryId: sea.id))
        _ = try await test.mesh.send(SetCaption(id: photos[1].id, caption: "waves"))
        _ = try await test.mesh.send(SetFavorite(ids: [photos[2].id], isFavorite: true))
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[3].id, notes: "first steps", location: "here"))
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[5].id]))
        _ = try await test.mesh.send(ChangeSettings(swipeThreshold: 0.7, enableHapticFeedback: false))
        try await test.review(photos[0])
        return test
    }

    /// Somebody decides to keep a photo, and does not end the review.
    package func review(_ photo: Photo) async throws {
        let session = try await mesh.send(StartSwipeSession())
        _ = try await mesh.send(
            RecordSwipe(
                sessionID: session.sessionID, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest,
                action: .keep))
    }

    /// A backup of which nothing is to be said.
    package func backUp(_ name: String = "b.zip") async throws -> (path: String, job: JobSnapshot) {
        let path = folder.file(name)
        let job = try await run(CreateBackup(path: path))
        #expect(job.state == .finished && !job.needsAttention, "\(job)")
        return (path, job)
    }

    /// What a job says of things with one outcome.
    package func details(_ job: JobSnapshot, _ outcome: String) async throws -> [String: String] {
        let lines = try await lines(job.id).filter { $0.outcome == outcome }
        return Dictionary(lines.map { ($0.item, $0.detail ?? "") }, uniquingKeysWith: { $0 + "; " + $1 })
    }
}
