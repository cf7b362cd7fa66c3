import Foundation
import LibraryModel
import LibraryTestSupport
@testable import BackupFormats
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// What a backup holds of a photo beside what is shown: its original, sidecars, thumbnail.
@Suite(.timeLimit(.minutes(3))) struct BackedUpFileTests {
    private typealias Object = EditedBackup.Object

    private let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")!
    private let xmp = Data(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"/></rdf:RDF></x:xmpmeta>
        """.utf8)

    /// Four JPEGs, one of them with a sidecar, and a PNG that is kept beside its photo.
    private func library() async throws -> (test: TestLibrary, path: String) {
        let test = try await TestLibrary("files")
        let album = test.folder.file("album")
        try SampleAlbum(width: 400, height: 300).write(count: 4, to: album)
        let first = try #require(try FileManager.default.contentsOfDirectory(atPath: album).sorted().first)
        try xmp.write(to: URL(fileURLWithPath: album + "/" + first + ".xmp"))
        try png.write(to: URL(fileURLWithPath: album + "/pixel.png"))
        #expect(try await test.importing(album).outcomes == ["imported": 5])
        let path = test.folder.file("b.zip")
        let job = try await test.run(CreateBackup(path: path))
        #expect(job.state == .finished && !job.needsAttention && job.receipt?["originalsLeftOut"] == 0, "\(job)")
        return (test, path)
    }

    private func names(_ path: String) throws -> [String] {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        return try ZipReader(descriptor: file.fileDescriptor).entries.map(\.name)
    }

    private func folder(_ name: String) -> String { String(name.prefix { $0 != "/" }) }

    /// With the keys of the library that wrote the backups, so that nothing is to be told.
    private func empty(like old: TestLibrary) async throws -> TestLibrary {
        let new = try await TestLibrary("restored")
        let keys = try await old.mesh.send(ExportKeys(passphrase: "correct horse"))
        _ = try await new.mesh.send(ImportKeys(text: keys.text, passphrase: "correct horse"))
        return new
    }

    @Test func everyFileComesBackByteForByte() async throws {
        let (old, path) = try await library()
        let entries = try names(path)
        #expect(entries.prefix(4) == ["manifest.json", "backup_metadata.json", "metadata.json", "sealed.json"])
        let order = entries.dropFirst(4).map(folder)
        #expect(
            order == Array(repeating: "photos", count: 5) + Array(repeating: "originals", count: 2)
                + Array(repeating: "thumbnails", count: 5), "\(entries)")
        #expect(try await old.run(VerifyBackup(path: path)).state == .finished)
        let new = try await empty(like: old)
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && !job.needsAttention, "\(job)")
        #expect(try await new.allPhotos() == old.allPhotos())
        for photo in try await old.allPhotos() {
            for file in photo.filePaths where file != photo.previewPath {
                #expect(try new.bytes(file) == old.bytes(file), "\(file)")
            }
        }
        #expect(try new.files("originals") == old.files("originals") && new.files("originals").count == 2)
        #expect(try await new.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try new.files("staging").isEmpty)
        await old.library.close()
        await new.library.close()
    }

    @Test func aBackupWithoutOriginalsSaysSo() async throws {
        let (old, _) = try await library()
        let path = old.folder.file("small.zip")
        let made = try await old.run(CreateBackup(path: path, withoutOriginals: true))
        #expect(made.state == .finished && made.receipt?["originalsLeftOut"] == 2, "\(made)")
        #expect(try !names(path).contains { $0.hasPrefix("originals/") })
        let new = try await empty(like: old)
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["photosAdded"] == 5, "\(job)")
        let photos = try await new.allPhotos()
        #expect(photos.count { $0.originalPath == nil } == 1 && photos.allSatisfy { $0.sidecars.isEmpty })
        #expect(try new.files("originals").isEmpty)
        await old.library.close()
        await new.library.close()
    }

    // MARK: Previews

    @Test func previewsAreInNoBackupAndMadeAgain() async throws {
        let old = try await TestLibrary("previews")
        _ = try await old.importSamples(2, album: SampleAlbum(width: 1600, height: 1200))
        #expect(try old.files("previews").count == 2)
        let path = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: path)).state == .finished)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.firstRange(of: Data("preview_".utf8)) == nil)
        let new = try await TestLibrary("restored")
        let restored = try await new.run(RestoreBackup(path: path))
        #expect(restored.state == .finished && !restored.needsAttention, "\(restored)")
        #expect(try new.files("previews").isEmpty)
        for photo in try await new.allPhotos() {
            let opened = try await new.mesh.send(OpenPhoto(id: photo.id, .preview))
            #expect(opened.mediaType == "image/webp")
            #expect(try new.bytes(photo.previewPath) == old.bytes(photo.previewPath))
        }
        await old.library.close()
        await new.library.close()
    }

    // MARK: Thumbnails

    /// That they are used can be seen by two that were exchanged.
    @Test func thumbnailsOfABackupAreUsedWhereTheyCanBe() async throws {
        let (old, path) = try await library()
        let photos = try await old.allPhotos().filter { $0.width > 1 }
        let thumbnails = try photos.map { try old.bytes($0.thumbnailPath) }
        let cases: [(String, Data?, Bool)] = [
            ("another photo's", thumbnails[1], true), ("none", nil, false), ("no JPEG", Data("thumbnail".utf8), false),
            ("a photo", try old.bytes(photos[0].path), false), ("half of one", thumbnails[0].prefix(600), false),
            ("a large one", Data(count: 1 << 20), false),
        ]
        for (number, (name, bytes, isUsed)) in cases.enumerated() {
            let edited = old.folder.file("edited-\(number).zip")
            try EditedBackup.write(
                path, to: edited, entry: { entry, whole in entry == photos[0].thumbnailPath ? bytes : whole }
            ) { _ in }
            let new = try await empty(like: old)
            let job = try await new.run(RestoreBackup(path: edited))
            #expect(job.state == .finished && !job.needsAttention, "\(name): \(job)")
            let there = try new.bytes(photos[0].thumbnailPath)
            #expect(there == (isUsed ? bytes : thumbnails[0]), "\(name)")
            await new.library.close()
        }
        await old.library.close()
    }

    @Test func whatIsTakenForAThumbnailIsSmallAndWhole() throws {
        func jpeg(_ width: Int, _ height: Int, words: String = "SmilePile thumbnail 1", end: [UInt8] = [0xFF, 0xD9])
            -> Data
        {
            let comment = Array(words.utf8)
            let size = [UInt8(height >> 8), UInt8(height & 255), UInt8(width >> 8), UInt8(width & 255)]
            return Data(
                [0xFF, 0xD8, 0xFF, 0xFE, 0, UInt8(comment.count + 2)] + comment + [0xFF, 0xDB, 0, 3, 0]
                    + [0xFF, 0xC0, 0, 11, 8] + size + [1, 1, 0x11, 0] + end)
        }
        #expect(StoredThumbnail.isUsable(jpeg(300, 200)) && StoredThumbnail.isUsable(jpeg(1, 300)))
        #expect(!StoredThumbnail.isUsable(jpeg(301, 200)) && !StoredThumbnail.isUsable(jpeg(0, 200)))
        #expect(!StoredThumbnail.isUsable(jpeg(300, 65_535)) && !StoredThumbnail.isUsable(jpeg(300, 200, end: [])))
        #expect(!StoredThumbnail.isUsable(jpeg(300, 200, words: "Lavc")))
        let whole = jpeg(300, 200)
        for count in 0..<whole.count { #expect(!StoredThumbnail.isUsable(whole.prefix(count)), "\(count)") }
    }

    // MARK: Damage and lies

    @Test func aDamagedOriginalIsSavedAsItIsAndOneThatIsGoneIsTold() async throws {
        let (old, _) = try await library()
        let photos = try await old.allPhotos()
        let pixel = try #require(photos.first { $0.width == 1 }?.originalPath)
        let sidecar = try #require(photos.flatMap(\.sidecars).first?.path)
        var bytes = try old.bytes(pixel)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: old.path + "/" + pixel))
        try FileManager.default.removeItem(atPath: old.path + "/" + sidecar)
        try FileManager.default.removeItem(atPath: old.path + "/" + photos[0].thumbnailPath)
        let path = old.folder.file("damaged.zip")
        let made = try await old.run(CreateBackup(path: path))
        #expect(made.state == .finished && made.outcomes == ["damaged": 1, "missing": 1], "\(made)")
        #expect(made.receipt?["damaged"] == 2 && made.receipt?["photos"] == 5)
        let new = try await empty(like: old)
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["photosAdded"] == 5, "\(job)")
        #expect(try new.bytes(pixel) == bytes)
        #expect(try new.files("thumbnails").count == 5)
        await old.library.close()
        await new.library.close()
    }

    private static let lies: [(String, @Sendable (inout [String: Any]) -> Void)] = [
        ("an original that climbs", { $0["originalPath"] = "originals/../../../x" }),
        ("an original elsewhere", { $0["originalPath"] = "/etc/passwd" }),
        ("another photo's original", { $0["originalPath"] = "photos/x.jpg" }),
        (
            "a sidecar without an entry",
            {
                $0["sidecars"] = [
                    [
                        "name": "a.xmp", "path": "originals/a.xmp", "fileSize": 1,
                        "contentDigest": String(repeating: "0", count: 64),
                    ] as [String: Any]
                ]
            }
        ),
        (
            "a sidecar of a folder's name",
            {
                $0["sidecars"] = [
                    [
                        "name": "../a.xmp", "path": "originals/a.xmp", "fileSize": 1,
                        "contentDigest": String(repeating: "0", count: 64),
                    ] as [String: Any]
                ]
            }
        ),
        ("a source that is another", { $0["sourceDigest"] = String(repeating: "1", count: 64) }),
    ]

    @Test(arguments: 0..<lies.count) func liesAboutFilesAreRefused(_ index: Int) async throws {
        let (old, path) = try await library()
        let (name, lie) = Self.lies[index]
        let bad = old.folder.file("bad.zip")
        try EditedBackup.write(path, to: bad) { metadata in
            metadata["photos"] = (metadata["photos"] as? [Object] ?? []).map { photo in
                guard photo["originalPath"] != nil else { return photo }
                var photo = photo
                lie(&photo)
                return photo
            }
        }
        let new = try await TestLibrary("target")
        let job = try await new.run(RestoreBackup(path: bad))
        #expect(job.state == .failed && job.error?.status == .dataLoss, "\(name): \(job)")
        for kind in ["photos", "originals", "thumbnails", "staging"] { #expect(try new.files(kind).isEmpty) }
        await old.library.close()
        await new.library.close()
    }
}
