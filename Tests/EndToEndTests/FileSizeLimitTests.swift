import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// A daemon whose files may have so many bytes and no more, as on a stick with FAT.
@Suite(.timeLimit(.minutes(5))) struct FileSizeLimitTests {
    private static let limit = 6_000_000

    @Test func aFileThatIsTooLargeIsNeitherDamagedNorTheEndOfAnything() async throws {
        let place = try Installation("file-size")
        let up = try await place.run(
            "/usr/bin/prlimit",
            ["--fsize=\(Self.limit)", Installation.programs + "/smilepile", "up", "--library", place.library])
        #expect(up.status == 0, "\(up)")

        let album = place.folder.file("album")
        try SampleAlbum(width: 1600, height: 1200).write(count: 20, to: album)
        // The photo made of it is small. The file itself, which is kept beside the photo, is not.
        try Self.bitmap(width: 2000, height: 1500).write(to: URL(fileURLWithPath: album + "/large.bmp"))
        let imported = try await place.smilepile("import", album)
        #expect(imported.status == 5 && imported.output.contains("Imported 20 of 21 photos"), "\(imported)")
        #expect(imported.output.contains("large.bmp") && imported.output.contains("too large for"), "\(imported)")
        #expect(!imported.output.contains("damaged"), "\(imported)")
        #expect(try await place.smilepile("import", album, "--no-originals").status == 0)

        // Said before the first byte, with what there is to do.
        let backup = place.folder.file("backup.zip")
        let refused = try await place.smilepile("backup", "create", backup)
        #expect(refused.status != 0 && refused.errors.contains("files of at most 6 MB"), "\(refused)")
        #expect(refused.errors.contains("--category"), "\(refused)")
        let left = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
        #expect(left.allSatisfy { !$0.contains("backup") })
        #expect(try await place.smilepile("photos", "favorite", "1").status == 0)
    }

    /// The catalogue meets the limit, in its log: changes are refused, none is lost, and with room they go on.
    @Test func aCatalogueThatMayNotGrowSaysSoAndGoesOnOnceItMay() async throws {
        let place = try Installation("catalogue-size")
        #expect(try await place.smilepile("up", "--library", place.library).status == 0)
        let album = place.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 1, to: album)
        #expect(try await place.smilepile("import", album).status == 0)
        let client = try place.client()
        defer { client.close() }
        let photo = try #require(try await client.call(SearchPhotos()).photos.first)
        let daemon = try await client.call(GetLibraryStatus()).pid
        let log = try FileManager.default.attributesOfItem(atPath: place.library + "/catalogue.sqlite-wal")[.size]
        let limit = (try #require(log as? Int)) + 20_000
        func prlimit(_ bytes: String) async throws {
            #expect(try await place.run("/usr/bin/prlimit", ["--pid", "\(daemon)", "--fsize=\(bytes)"]).status == 0)
        }
        try await prlimit("\(limit):")
        var (last, refusal): (String?, MeshError?) = (nil, nil)
        for number in 0..<1_000 where refusal == nil {
            do {
                _ = try await client.call(SetCaption(id: photo.id, caption: "\(number)"))
                last = "\(number)"
            } catch let error as MeshError {
                refusal = error
            }
        }
        let said = try #require(refusal)
        #expect(said.message.contains("too large for its file system"), "\(said)")
        #expect(try await client.call(GetPhoto(id: photo.id)).caption == last)
        try await prlimit("unlimited:")
        _ = try await client.call(SetCaption(id: photo.id, caption: "with room"))
        #expect(try await client.call(GetPhoto(id: photo.id)).caption == "with room")
        #expect(try await place.smilepile("down").status == 0)
    }

    /// A Windows bitmap of 24 bits, all grey.
    private static func bitmap(width: Int, height: Int) -> Data {
        func little(_ value: Int, _ bytes: Int) -> [UInt8] { (0..<bytes).map { UInt8(value >> (8 * $0) & 0xff) } }
        let size = width * 3 * height
        let file = Array("BM".utf8) + little(54 + size, 4) + little(0, 4) + little(54, 4)
        let shape = little(width, 4) + little(height, 4) + little(1, 2) + little(24, 2)
        let picture = little(40, 4) + shape + little(0, 24)
        return Data(file + picture) + Data(repeating: 0x77, count: size)
    }
}
