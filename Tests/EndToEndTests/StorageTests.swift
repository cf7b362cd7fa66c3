import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

@Suite(.serialized) struct StorageTests {
    @Test func aCheckFindsAFlippedByte() async throws {
        let place = try Installation("e2e-storage")
        try SampleAlbum(width: 640, height: 480).write(count: 4, to: place.folder.file("album"))
        try await place.up()
        #expect(try await place.smilepile("import", place.folder.file("album")).status == 0)
        let sound = try await place.smilepile("storage", "check")
        #expect(sound.status == 0 && sound.output.contains("all is as it should be"), "\(sound.output)")

        let photo = try #require(try await place.allPhotos(place.client()).first)
        let path = place.library + "/" + photo.path
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        #expect(try await place.smilepile("storage", "check", "--quick").status == 0)
        let damaged = try await place.smilepile("storage", "check")
        #expect(damaged.status == 5, "\(damaged.errors)")
        #expect(damaged.output.contains("damaged  \(photo.path): its bytes are not those"), "\(damaged.output)")

        try Data("x".utf8).write(to: URL(fileURLWithPath: place.library + "/thumbnails/thumb_old.jpg"))
        #expect(try await place.smilepile("storage", "clean").output.hasPrefix("Removed 1 thumbnail"))
        let usage = try await place.smilepile("storage")
        #expect(usage.output.contains("in 4 files"), "\(usage.output)")
        #expect(try await place.smilepile("storage", "--json").output.contains("\"totalBytes\":"))
        #expect(try await place.smilepile("down").status == 0)
    }
}
