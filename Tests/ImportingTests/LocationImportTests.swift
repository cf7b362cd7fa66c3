import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Where a picture was taken goes into its sealed location and nowhere else.
@Suite(.timeLimit(.minutes(2))) struct LocationImportTests {
    /// A folder that is imported, with `count` JPEGs.
    private func album(_ test: TestLibrary, _ count: Int = 1) throws -> String {
        let path = test.folder.file("album")
        try SampleAlbum(width: 320, height: 240).write(count: count, to: path)
        return path
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jpg") }.sorted()
    }

    /// Puts an EXIF block with 54° 19' 16.8" N, 10° 8' 5.6" E behind the beginning of a JPEG.
    private func locate(_ path: String) throws {
        func word(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }
        func long(_ value: Int) -> [UInt8] { word(value >> 16) + word(value & 0xFFFF) }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            word(tag) + word(type) + long(count) + value
        }
        func angle(_ degrees: Int, _ minutes: Int, _ tenths: Int) -> [UInt8] {
            long(degrees) + long(1) + long(minutes) + long(1) + long(tenths) + long(10)
        }
        // The main directory at 8 has one entry and ends at 26; that of the position has four, and its angles follow.
        let values = 26 + 2 + 4 * 12 + 4
        let block =
            Array("MM".utf8) + word(42) + long(8) + word(1) + entry(0x8825, 4, 1, long(26)) + long(0) + word(4)
            + entry(1, 2, 2, Array("N\0\0\0".utf8)) + entry(2, 5, 3, long(values))
            + entry(3, 2, 2, Array("E\0\0\0".utf8)) + entry(4, 5, 3, long(values + 24)) + long(0)
            + angle(54, 19, 168) + angle(10, 8, 56)
        let segment = Array("Exif\0\0".utf8) + block
        var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        bytes.insert(contentsOf: [0xFF, 0xE1] + word(segment.count + 2) + segment, at: 2)
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    /// Puts a document of Google Takeout beside a picture.
    private func describe(_ path: String) throws {
        let title = URL(fileURLWithPath: path).lastPathComponent
        let time = #""photoTakenTime": {"timestamp": "1560000000"}"#
        let place = #""geoData": {"latitude": 48.15, "longitude": -11.5}"#
        try Data("{\"title\": \"\(title)\", \(time), \(place)}".utf8).write(to: URL(fileURLWithPath: path + ".json"))
    }

    @Test func theCamerasPositionIsSealed() async throws {
        let test = try await TestLibrary("location")
        let album = try album(test, 2)
        let names = try names(album)
        try locate(album + "/" + names[0])
        // The picture itself says more than what stands beside it.
        try describe(album + "/" + names[0])
        let preview = try await test.importing(album, dryRun: true)
        #expect(preview.outcomes == ["imported": 2] && !FileManager.default.fileExists(atPath: test.keyFile))
        let job = try await test.importing(album)
        #expect(job.outcomes == ["imported": 2])
        #expect(try await test.lines(job.id).allSatisfy { !($0.detail ?? "").contains("54.3") })
        let sealed = try await test.mesh.send(ListSealedPhotos()).photos
        #expect(sealed.count == 1)
        let detail = try await test.mesh.send(GetPhotoDetail(id: sealed[0].id))
        #expect(detail == PhotoDetail(photoId: sealed[0].id, location: "54.32133, 10.13489"))
        #expect(try await test.mesh.send(SearchPhotoDetails(text: "54.321")).photos.map(\.id) == [sealed[0].id])
        // Nor does the catalogue say it.
        await test.library.close()
        let catalogue = try test.bytes("catalogue.sqlite")
        #expect(catalogue.range(of: Data("54.32133".utf8)) == nil)
    }

    @Test func aSidecarsPositionIsSealed() async throws {
        let test = try await TestLibrary("location")
        // The second sample says of itself when it was taken, but not where.
        let album = try album(test, 2)
        try FileManager.default.removeItem(atPath: album + "/" + names(album)[0])
        try describe(album + "/" + names(album)[0])
        let job = try await test.importing(album)
        #expect(job.outcomes == ["imported": 1])
        let photo = try #require(try await test.mesh.send(ListSealedPhotos()).photos.first)
        #expect(try await test.mesh.send(GetPhotoDetail(id: photo.id)).location == "48.15000, -11.50000")
        await test.library.close()
    }

    /// A photo is worth more than its place.
    @Test func withoutAKeyThePhotoIsImportedAndItsLineSaysSo() async throws {
        let test = try await TestLibrary("location")
        let album = try album(test)
        try locate(album + "/" + names(album)[0])
        try FileManager.default.createDirectory(
            atPath: test.folder.file("config"), withIntermediateDirectories: true)
        try Data("no key".utf8).write(to: URL(fileURLWithPath: test.keyFile))
        chmod(test.keyFile, 0o600)
        let job = try await test.importing(album)
        #expect(job.outcomes == ["imported": 1])
        let detail = try #require(try await test.lines(job.id).first?.detail)
        #expect(detail.contains("where it was taken is not kept: The key file \(test.keyFile)"), "\(detail)")
        #expect(try await test.mesh.send(ListSealedPhotos()).total == 0)
        #expect(try String(contentsOfFile: test.keyFile, encoding: .utf8) == "no key")
        await test.library.close()
    }

    /// A key that has changed between sealing and entering: the photo is not entered with what may never open.
    @Test func aPlaceUnderAnOldKeyIsSealedAgain() async throws {
        let test = try await TestLibrary("location")
        _ = try await test.importSamples(1)
        let photo = try #require(try await test.allPhotos().first)
        let position = try #require(GeoPosition(latitude: 1, longitude: 2))
        let service = CallContext.root(mesh: test.mesh, role: .service)
        func seal() async throws -> SealedLocation {
            try await test.mesh.send(
                SealLocation(uuid: "0b1c2d3e-0000-4000-8000-000000000001", position: position), in: service)
        }
        var new = photo
        new.uuid = "0b1c2d3e-0000-4000-8000-000000000001"
        new.path = "photos/IMG_20250101_000000_00000001.jpg"
        let digest = String(repeating: "ab", count: 32)
        func add(_ location: SealedLocation) async throws -> Photo {
            try await test.mesh.send(
                AddPhoto(
                    SourcedPhoto(photo: new, sourceDigest: digest, sourceSize: 5), sealedLocation: location.sealed),
                in: service)
        }
        let before = try await seal()
        #expect(try await test.run(RotateKeys()).state == .finished)
        #expect(await status { _ = try await add(before) } == .unavailable)
        #expect(try await test.allPhotos().count == 1)
        let added = try await add(seal())
        #expect(try await test.mesh.send(GetPhotoDetail(id: added.id)).location == "1.00000, 2.00000")
        let parent = CallContext.root(mesh: test.mesh, role: .parent)
        let refused = await status {
            _ = try await test.mesh.send(SealLocation(uuid: "x", position: position), in: parent)
        }
        #expect(refused == .permissionDenied)
        await test.library.close()
    }

    @Test func whatIsNoPlaceOnEarthIsNone() {
        #expect(GeoPosition(latitude: 90.1, longitude: 0) == nil && GeoPosition(latitude: 0, longitude: -180.1) == nil)
        #expect(GeoPosition(latitude: .nan, longitude: 0) == nil && GeoPosition(latitude: 1, longitude: nil) == nil)
        #expect(GeoPosition(latitude: -90, longitude: 180)?.text == "-90.00000, 180.00000")
    }
}
