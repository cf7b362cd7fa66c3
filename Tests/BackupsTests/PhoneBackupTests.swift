import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Backups for the phone apps, read as the apps do.
@Suite(.timeLimit(.minutes(3))) struct PhoneBackupTests {
    /// The apps' form, version 2. What is not optional here has no default there.
    private struct Document: Decodable {
        struct Category: Decodable {
            let id: Int64
            let name: String
            let displayName: String
            let position: Int
            let iconResource: String?
            let colorHex: String?
            let isDefault: Bool
            let createdAt: Int64
        }
        struct Photo: Decodable {
            let id: Int64
            let path: String
            let categoryId: Int64
            let name: String
            let isFromAssets: Bool
            let createdAt: Int64
            let fileSize: Int64
            let width: Int
            let height: Int
            let isFavorite: Bool?
        }
        struct Settings: Decodable {
            struct Security: Decodable {
                let hasPIN: Bool
                let hasPattern: Bool
                let kidSafeModeEnabled: Bool
                let deleteProtectionEnabled: Bool
            }
            let isDarkMode: Bool
            let securitySettings: Security
        }
        struct Entry: Decodable {
            let photoId: Int64
            let originalPath: String
            let zipEntryName: String
            let fileName: String
            let fileSize: Int64
            let checksum: String?
        }
        let version: Int
        let exportDate: Int64
        let appVersion: String
        let format: String
        let categories: [Category]
        let photos: [Photo]
        let settings: Settings
        let photoManifest: [Entry]
    }

    private struct NoStream: Error {}

    /// Stored entries one after the other, by their local headers alone, as `ZipInputStream` reads them.
    private func stream(_ bytes: Data) throws -> [(name: String, bytes: Data)] {
        func number(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        var entries: [(String, Data)] = []
        var place = 0
        while number(place, 4) == 0x0403_4B50 {
            // Neither encrypted nor with its size behind it, and not deflated.
            guard number(place + 6, 2) & 0b1001 == 0, number(place + 8, 2) == 0 else { throw NoStream() }
            let (size, name, extra) = (number(place + 22, 4), number(place + 26, 2), number(place + 28, 2))
            guard number(place + 18, 4) == size else { throw NoStream() }
            let start = place + 30 + name + extra
            entries.append(
                (String(decoding: bytes[place + 30..<place + 30 + name], as: UTF8.self), bytes[start..<start + size]))
            place = start + size
        }
        guard number(place, 4) == 0x0201_4B50 else { throw NoStream() }
        return entries
    }

    /// Two photos with everything that a phone cannot be told of one of them.
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary("phone")
        #expect(try await test.importSamples(2, album: SampleAlbum(width: 64, height: 48)).state == .finished)
        let photo = try await test.allPhotos()[0]
        _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, childName: "Ylva-Möwe", notes: "first steps"))
        _ = try await test.mesh.send(SetCaption(id: photo.id, caption: "on the beach"))
        _ = try await test.mesh.send(SetFavorite(ids: [photo.id], isFavorite: true))
        let session = try await test.mesh.send(StartSwipeSession()).sessionID
        _ = try await test.mesh.send(
            RecordSwipe(
                sessionID: session, photoIdentifier: photo.uuid, contentDigest: photo.contentDigest, action: .keep))
        return test
    }

    @Test func theAppsReadAllThatTheyKnow() async throws {
        let test = try await library()
        let job = try await test.run(CreateBackup(path: test.folder.path, forPhone: true))
        #expect(job.state == .finished && !job.needsAttention, "\(job)")
        #expect(job.receipt?["isForPhone"] == true && job.receipt?["sealedValues"] == nil)
        let path = try #require(job.receipt?["path"]?.stringValue)
        #expect(path.contains(#/\/SmilePile_Backup_[0-9]{8}_[0-9]{6}\.zip$/#))

        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let entries = try stream(bytes)
        #expect(entries.map { $0.name.prefix { $0 != "/" } } == ["metadata.json", "photos", "photos"])
        for hidden in ["Ylva", "first steps", "on the beach"] { #expect(bytes.range(of: Data(hidden.utf8)) == nil) }

        let document = try JSONDecoder().decode(Document.self, from: entries[0].bytes)
        #expect(document.version == 2 && document.format == "ZIP" && !document.appVersion.isEmpty)
        #expect(abs(document.exportDate - Timestamp.now().milliseconds) < 3_600_000)
        #expect(!document.settings.isDarkMode && !document.settings.securitySettings.hasPIN)
        let categories = try await test.mesh.send(ListCategories()).categories
        #expect(document.categories.map(\.id) == categories.map(\.id))
        #expect(document.categories.map(\.displayName) == categories.map(\.displayName))
        #expect(document.categories.map(\.position) == categories.map(\.position))
        #expect(document.categories.map(\.colorHex) == categories.map(\.colorHex))
        let photos = try await test.allPhotos()
        #expect(document.photos.count == 2 && document.photoManifest.count == 2)
        for photo in photos {
            let said = try #require(document.photos.first { $0.id == photo.id })
            #expect(said.categoryId == photo.categoryId && said.name == photo.name && !said.isFromAssets)
            #expect(said.createdAt == photo.createdAt.milliseconds && said.isFavorite == photo.isFavorite)
            #expect(said.fileSize == photo.fileSize && said.width == 64 && said.height == 48)
            let listed = try #require(document.photoManifest.first { $0.photoId == photo.id })
            #expect(listed.originalPath == said.path && listed.zipEntryName == "photos/" + listed.fileName)
            #expect(listed.fileSize == photo.fileSize)
            let entry = try #require(entries.first { $0.name == listed.zipEntryName })
            #expect(try entry.bytes == test.bytes(photo.path))
        }
        await test.library.close()
    }

    @Test func whatCannotBeSaidIsTold() async throws {
        let test = try await library()
        let path = test.folder.file("phone.zip")
        let job = try await test.run(CreateBackup(path: path, forPhone: true))
        let lines = try await test.lines(job.id)
        #expect(lines.allSatisfy { $0.outcome == "left" && $0.item == "metadata.json" }, "\(lines)")
        let told = lines.compactMap(\.detail)
        for what in ["captions (1)", "decisions of reviews (1)", "reviews (1)", "preferences"] {
            #expect(told.contains("not in it: " + what), "\(told)")
        }
        #expect(told.contains { $0.hasPrefix("not in it: sealed fields (") }, "\(told)")
        // It is no backup of the library.
        #expect(try await test.mesh.send(ListBackups()).backups.isEmpty)
        #expect(try await test.mesh.send(GetLibraryStatus()).lastBackupDate == nil)
        let key = try await test.mesh.send(MakeBackupKey(passphrase: "correct horse"))
        let other = test.folder.file("other.zip")
        #expect(
            await status { _ = try await test.mesh.send(CreateBackup(path: other, forPhone: true, key: key)) }
                == .invalidArgument)
        await test.library.close()
    }

    @Test func ourOwnReaderTakesItForAPhones() async throws {
        let old = try await library()
        let path = old.folder.file("phone.zip")
        _ = try await old.run(CreateBackup(path: path, forPhone: true))
        let summary = try await old.mesh.send(InspectBackup(path: path))
        #expect(summary.dialect == "phone" && summary.backupVersion == "2" && summary.photoCount == 2)
        #expect(try await old.run(VerifyBackup(path: path)).state == .finished)
        let new = try await TestLibrary("restored")
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["photosAdded"] == 2, "\(job)")
        let (before, after) = (try await old.allPhotos(), try await new.allPhotos())
        #expect(Set(after.map(\.contentDigest)) == Set(before.map(\.contentDigest)))
        #expect(after.filter(\.isFavorite).map(\.contentDigest) == before.filter(\.isFavorite).map(\.contentDigest))
        #expect(after.allSatisfy { $0.caption == nil })
        await old.library.close()
        await new.library.close()
    }
}
