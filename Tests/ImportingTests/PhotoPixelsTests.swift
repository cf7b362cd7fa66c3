import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

@Suite struct PhotoPixelsTests {
    private func library() async throws -> (TestLibrary, Photo) {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1, album: SampleAlbum(width: 1600, height: 1200))
        return (test, try await test.allPhotos()[0])
    }

    @Test func aPhotoComesAsPixelsWithinTheRoomThatThereIs() async throws {
        let (test, photo) = try await library()
        let kid = CallContext.root(mesh: test.mesh, role: .kid)
        for (width, height, expected) in [
            (400, 300, (400, 300)), (400, 4, (5, 4)), (10, 2048, (10, 7)), (1, 1, (1, 1)), (2048, 2048, (489, 366)),
        ] as [(Int, Int, (Int, Int))] {
            let pixels = try await test.mesh.send(GetPhotoPixels(id: photo.id, width: width, height: height), in: kid)
            #expect(pixels.width == expected.0 && pixels.height == expected.1)
            #expect(pixels.contentDigest == photo.contentDigest)
            #expect(Data(base64Encoded: pixels.rgb)?.count == pixels.width * pixels.height * 3)
            #expect(pixels.rgb.utf8.count < 1 << 20)
        }
        let byUUID = try await test.mesh.send(GetPhotoPixels(uuid: photo.uuid, width: 40, height: 30))
        let rgb = try #require(Data(base64Encoded: byUUID.rgb))
        // Not one colour: something was decoded.
        #expect(Set(rgb).count > 20)
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func sizesThatNoScreenHasAndPhotosThatAreNotThereAreRefused() async throws {
        let (test, photo) = try await library()
        for (width, height) in [(0, 10), (10, -1), (2049, 10), (Int.max, Int.max)] {
            let request = GetPhotoPixels(id: photo.id, width: width, height: height)
            #expect(await status { _ = try await test.mesh.send(request) } == .invalidArgument)
        }
        #expect(await status { _ = try await test.mesh.send(GetPhotoPixels(id: 99, width: 9, height: 9)) } == .notFound)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        let trashed = GetPhotoPixels(uuid: photo.uuid, width: 9, height: 9)
        #expect(await status { _ = try await test.mesh.send(trashed) } == .notFound)
        _ = try await test.mesh.send(RestorePhotos(ids: [photo.id]))
        try Data("no picture".utf8).write(to: URL(fileURLWithPath: test.path + "/" + photo.path))
        #expect(
            await status { _ = try await test.mesh.send(GetPhotoPixels(id: photo.id, width: 9, height: 9)) }
                == .dataLoss)
        await test.library.close()
    }
}
