import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import TestSupport
import Testing
import ZipArchive

@testable import BackupFormats

/// A backup as a library makes it, with everything that it may have, opens in every reader of archives that Debian has, and
/// they all find what its manifest says.
@Suite(.serialized) struct BackupReadersTests {
    private static let readers: [(name: String, tool: Tool)] = [
        ("unzip", .unzip), ("7z", .sevenZip), ("bsdtar", .bsdtar), ("Python", .python), ("Java, as a stream", .java),
        ("Java, as a file", .java), ("Go", .go),
    ]

    /// The digests of all entries, by their names.
    private func read(_ archive: String, by reader: String, _ tool: Tool, in folder: TemporaryFolder) throws -> [String:
        String]
    {
        let out = folder.file("out")
        switch reader {
        case "unzip": try tool.run(["-q", archive, "-d", out])
        case "7z": try tool.run(["x", "-o" + out, archive])
        case "bsdtar":
            try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
            try tool.run(["-xf", archive, "-C", out])
        case "Python": return try Tool.digests(listed: tool.run(["-c", Programs.python, archive, ""]))
        case "Go":
            try Programs.go.write(toFile: folder.file("read.go"), atomically: false, encoding: .utf8)
            return try Tool.digests(listed: tool.run(["run", folder.file("read.go"), archive, ""]))
        default:
            try Programs.java.write(toFile: folder.file("Read.java"), atomically: false, encoding: .utf8)
            let way = reader.hasSuffix("stream") ? "stream" : "file"
            return try Tool.digests(
                listed: tool.run(["-Dfile.encoding=UTF-8", folder.file("Read.java"), way, archive, ""]))
        }
        return try Tool.digests(below: out)
    }

    @Test func everyReaderFindsWhatTheManifestSays() async throws {
        let test = try await TestLibrary("readers")
        _ = try await test.importSamples(3)
        // One with an original, a sidecar and a sealed field.
        let album = test.folder.file("wide")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: true)
        try SampleAlbum(width: 2112, height: 40).photo(9).write(to: URL(fileURLWithPath: album + "/wide é.jpg"))
        try Data("{}".utf8).write(to: URL(fileURLWithPath: album + "/wide é.jpg.json"))
        #expect(try await test.run(ImportPhotos(paths: [album])).state == .finished)
        let photo = try #require(try await test.allPhotos().first)
        _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, notes: "sealed"))
        let path = test.folder.file("backup.zip")
        #expect(try await test.run(CreateBackup(path: path)).state == .finished)

        let bytes = try Tool.unzip.run(["-p", path, "manifest.json"])
        let manifest = try BackupManifest.read(DocumentBytes(Data(bytes)), scratch: .memory)
        let files = try #require(manifest.files).compactMap { ($0.path, $0.sha256) }
        var expected = Dictionary(uniqueKeysWithValues: files)
        for folder in ["photos/", "originals/", "thumbnails/", "sealed.json"] {
            #expect(expected.keys.contains { $0.hasPrefix(folder) }, "\(folder)")
        }
        expected["manifest.json"] = ContentDigest(of: Data(bytes)).sha256.hex
        for (name, tool) in Self.readers where tool.isPresent {
            let folder = try TemporaryFolder("reader")
            #expect(try read(path, by: name, tool, in: folder) == expected, "\(name)")
        }
        await test.library.close()
    }
}
