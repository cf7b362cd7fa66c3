import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// More names on the command line than a line on the socket carries.
@Suite(.serialized, .timeLimit(.minutes(5))) struct ManyFilesTests {
    @Test func makeOneJobWithOneReceipt() async throws {
        let place = try Installation("many-files")
        let album = place.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 1, to: album)
        let photo = try #require(try FileManager.default.contentsOfDirectory(atPath: album).first)
        // Names as long as they may be, so that some hundred of them are more than a megabyte.
        var folder = album
        for letter in ["a", "b", "c"] { folder += "/" + String(repeating: letter, count: 250) }
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let names = (0..<1300).map { "\(folder)/\(String(repeating: "0", count: 200))\($0).jpg" }
        for name in names { try #require(link(album + "/" + photo, name) == 0) }
        try #require(names.joined().utf8.count > 1 << 20)

        try await place.up()
        let imported = try await place.run("smilepile", ["import", "--json"] + names)
        #expect(imported.status == 0, "\(imported.errors.suffix(500))")
        let client = try place.client()
        let jobs = try await client.call(ListJobs()).jobs
        #expect(jobs.map(\.outcomes) == [["imported": 1, "duplicate": 1299]])
        #expect(try await place.allPhotos(client).count == 1)
    }
}
