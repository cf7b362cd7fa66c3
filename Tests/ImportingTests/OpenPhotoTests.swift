import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

@Suite struct OpenPhotoTests {
    private func bytes(of opened: OpenedPhoto) throws -> Data {
        let content = try #require(opened.content)
        var bytes = [UInt8](repeating: 0, count: Int(opened.size) + 1)
        let count = content.withDescriptor { pread($0, &bytes, bytes.count, 0) }
        #expect(Int64(count) == opened.size)
        return Data(bytes.prefix(max(0, count)))
    }

    @Test func eachOfAPhotosFilesComesOpenToBeRead() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 2600, height: 1950))
        let photo = try await test.allPhotos()[0]
        let original = try #require(photo.originalPath)
        #expect(original != photo.path)
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        for (kind, path) in [
            (PhotoFileKind.thumbnail, photo.thumbnailPath), (.preview, photo.previewPath), (.photo, photo.path),
            (.original, original),
        ] {
            let opened = try await test.mesh.send(OpenPhoto(id: photo.id, kind), in: kid)
            #expect(opened.uuid == photo.uuid && opened.contentDigest == photo.contentDigest)
            #expect(opened.mediaType == (kind == .preview ? "image/webp" : "image/jpeg"))
            #expect(try bytes(of: opened) == test.bytes(path))
            // Not to be written through.
            var byte: UInt8 = 0
            #expect(opened.content?.withDescriptor { write($0, &byte, 1) } == -1)
        }
        let byUUID = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .photo))
        #expect(byUUID.id == photo.id)
        await test.library.close()
    }

    @Test func aMissingThumbnailIsMadeAndOtherMissingFilesAreNotFound() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1)
        let photo = try await test.allPhotos()[0]
        try FileManager.default.removeItem(atPath: test.path + "/" + photo.thumbnailPath)
        let thumbnail = try await test.mesh.send(OpenPhoto(id: photo.id, .thumbnail))
        #expect(try bytes(of: thumbnail) == test.bytes(photo.thumbnailPath))
        try FileManager.default.removeItem(atPath: test.path + "/" + photo.path)
        #expect(await status { _ = try await test.mesh.send(OpenPhoto(id: photo.id, .photo)) } == .notFound)
        await test.library.close()
    }

    @Test func whatIsInTheTrashIsOpenedForParents() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(2)
        let photos = try await test.allPhotos()
        let (photo, other) = (photos[0], photos[1])
        let kinds = PhotoFileKind.allCases.filter { ![.film, .raw].contains($0) }
        let wanted = try kinds.map { kind in
            // It is too small for a preview.
            try test.bytes(
                [.photo, .preview].contains(kind)
                    ? photo.path : kind == .thumbnail ? photo.thumbnailPath : #require(photo.originalPath))
        }
        #expect(await status { _ = try await test.mesh.send(OpenTrashedPhoto(uuid: photo.uuid, .photo)) } == .notFound)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id, other.id]))
        for (kind, bytes) in zip(kinds, wanted) {
            let opened = try await test.mesh.send(OpenTrashedPhoto(uuid: photo.uuid.uppercased(), kind))
            #expect(try self.bytes(of: opened) == bytes)
            #expect(opened.uuid == photo.uuid && opened.contentDigest == photo.contentDigest)
        }
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        #expect(
            await status { _ = try await test.mesh.send(OpenTrashedPhoto(uuid: photo.uuid, .thumbnail), in: kid) }
                == .permissionDenied)
        try FileManager.default.removeItem(atPath: test.path + "/" + other.thumbnailPath)
        // In its place comes the photo, as long as there is one.
        let large = try await test.mesh.send(OpenTrashedPhoto(uuid: other.uuid, .thumbnail))
        #expect(try self.bytes(of: large) == test.bytes(other.path))
        try FileManager.default.removeItem(atPath: test.path + "/" + other.path)
        #expect(
            await status { _ = try await test.mesh.send(OpenTrashedPhoto(uuid: other.uuid, .thumbnail)) } == .notFound)
        _ = try await test.mesh.send(PurgeTrash(ids: [photo.id]))
        #expect(await status { _ = try await test.mesh.send(OpenTrashedPhoto(uuid: photo.uuid, .photo)) } == .notFound)
        await test.library.close()
    }

    @Test func whatIsInTheTrashIsNotFound() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1)
        let photo = try await test.allPhotos()[0]
        let before = try await test.mesh.send(OpenPhoto(id: photo.id, .photo))
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        for kind in PhotoFileKind.allCases {
            #expect(await status { _ = try await test.mesh.send(OpenPhoto(id: photo.id, kind)) } == .notFound)
            #expect(await status { _ = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, kind)) } == .notFound)
        }
        // What was opened before goes on to be read.
        #expect(try bytes(of: before).count == Int(photo.fileSize))
        await test.library.close()
    }

    @Test func anOriginalThatTheLibraryDoesNotHaveIsNotFound() async throws {
        let test = try await TestLibrary()
        let source = test.folder.file("album")
        try SampleAlbum(width: 2600, height: 1950).write(count: 1, to: source)
        _ = try await test.importing(source, originals: false)
        let photo = try await test.allPhotos()[0]
        let error = await #expect(throws: MeshError.self) {
            try await test.mesh.send(OpenPhoto(id: photo.id, .original))
        }
        #expect(error?.status == .notFound && error?.message.contains("Import its file again") == true)
        await test.library.close()
    }

    /// A catalogue may come from anywhere.
    @Test func aPathThatLeadsElsewhereIsNotOpened() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1)
        let photo = try await test.allPhotos()[0]
        let secret = test.folder.file("secret.jpg")
        try Data("secret".utf8).write(to: URL(fileURLWithPath: secret))
        // A link in the place of a photo leads out of the library.
        try FileManager.default.removeItem(atPath: test.path + "/" + photo.path)
        try FileManager.default.createSymbolicLink(atPath: test.path + "/" + photo.path, withDestinationPath: secret)
        #expect(await status { _ = try await test.mesh.send(OpenPhoto(id: photo.id, .photo)) } != nil)
        await test.library.close()
    }
}
