import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// Backups that other programs wrote, made here as those make them: streamed, deflated, with whatever their documents leave
/// out.
@Suite(.timeLimit(.minutes(3))) struct ForeignBackupTests {
    private typealias Object = [String: Any]

    private let album = SampleAlbum(width: 64, height: 48)
    /// One red pixel.
    private let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")!

    private func json(_ object: Object) throws -> Data { try JSONSerialization.data(withJSONObject: object) }

    private func lines(_ test: TestLibrary, _ job: JobSnapshot, _ outcome: String) async throws -> [ReceiptLine] {
        try await test.lines(job.id).filter { $0.outcome == outcome }
    }

    /// A second run of a merge changes nothing, and a replacement leads to the same library.
    private func expectAgain(_ test: TestLibrary, _ path: String) async throws {
        let photos = try await test.allPhotos()
        let again = try await test.run(RestoreBackup(path: path))
        #expect(again.receipt?["photosAdded"] == 0 && again.receipt?["categoriesAdded"] == 0, "\(again)")
        #expect(try await test.allPhotos() == photos)
        let replaced = try await test.run(RestoreBackup(path: path, mode: .replace))
        #expect(replaced.state == .finished, "\(replaced)")
        let after = try await test.allPhotos()
        #expect(after.map(\.contentDigest).sorted() == photos.map(\.contentDigest).sorted())
        #expect(after.map(\.uuid).sorted() == photos.map(\.uuid).sorted())
        #expect(Set(after.compactMap(\.originalPath)) == Set(photos.compactMap(\.originalPath)))
        #expect(try await test.mesh.send(ListTrash()).photos.isEmpty)
        #expect(try test.files("staging").isEmpty)
        // And it can be saved, and comes back from a backup of ours.
        let own = test.folder.file("own-\(photos.count).zip")
        #expect(try await test.run(CreateBackup(path: own)).state == .finished)
        #expect(try await test.run(VerifyBackup(path: own)).state == .finished)
    }

    // MARK: The source document's

    private func story(_ change: (inout Object, inout Object) -> Void = { _, _ in }) throws -> [(String, Data)] {
        var metadata: Object = [
            "version": "1.0", "timestamp": "2025-10-01T14:30:22Z",
            "categories": [
                ["id": 1, "displayName": "Family", "colorHex": "#FF5722", "orderIndex": 1, "isDefault": true],
                ["id": 7, "displayName": "Sea", "colorHex": "blue", "orderIndex": 0, "isDefault": false],
            ],
            "photos": [
                [
                    "id": 1, "path": "photos/IMG_001.jpg", "categoryId": 1, "caption": "Summer vacation",
                    "timestamp": "2025-06-15T10:00:00Z", "isFavorite": true,
                ],
                [
                    "id": 2, "path": "photos/pixel.png", "categoryId": 7, "timestamp": "2025-06-16T10:00:00Z",
                    "isFavorite": false,
                ],
                [
                    "id": 3, "path": "photos/gone.jpg", "categoryId": 1, "timestamp": "2025-06-17T10:00:00Z",
                    "isFavorite": false,
                ],
            ],
            "settings": ["hasPIN": true, "kidsModeEnabled": false],
        ]
        var manifest: Object = [
            "backupVersion": "1.0", "appVersion": "1.0.0", "platform": "iOS", "timestamp": "2025-10-01T14:30:22Z",
            "photoCount": 3, "categoryCount": 2,
        ]
        change(&metadata, &manifest)
        return [
            ("photos/IMG_001.jpg", try album.photo(0)), ("photos/pixel.png", png), ("photos/stranger.jpg", png + [0]),
            ("backup_metadata.json", try json(metadata)), ("manifest.json", try json(manifest)),
        ]
    }

    @Test func aBackupOfTheSourceDocumentIsRestored() async throws {
        let test = try await TestLibrary("story")
        let path = test.folder.file("SmilePileBackup_2025-10-01_143022.zip")
        try StreamedZIP.write(try story(), to: path)
        let summary = try await test.mesh.send(InspectBackup(path: path))
        #expect(summary.dialect == "story" && summary.photoCount == 2 && summary.categoryCount == 2)
        #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
        let dry = try await test.run(RestoreBackup(path: path, dryRun: true))
        #expect(dry.receipt?["photosAdded"] == 2)
        #expect(try await test.allPhotos().isEmpty)

        let job = try await test.run(RestoreBackup(path: path))
        #expect(job.state == .finished, "\(job)")
        let photos = try await test.allPhotos()
        #expect(photos.count == 2)
        let first = try #require(photos.first { $0.caption == "Summer vacation" })
        #expect(first.isFavorite && first.createdAt == Timestamp(rfc3339: "2025-06-15T10:00:00Z"))
        #expect(first.name == "IMG_001" && [first.width, first.height].sorted() == [48, 64] && first.takenAt != nil)
        #expect(try test.bytes(first.path) == album.photo(0) && first.originalPath == first.path)
        let second = try #require(photos.first { $0.caption == nil })
        #expect(second.width == 1 && second.mediaType == "image/jpeg")
        // The picture's own date, else the one by which the app showed it.
        #expect(first.dateSource == .exif)
        #expect(
            second.dateSource == .app
                && second.takenAt == Timestamp(rfc3339: "2025-06-16T10:00:00Z").map { LocalDateTime(here: $0) })
        #expect(try test.bytes(try #require(second.originalPath)) == png)
        let sea = try await test.mesh.send(GetCategory(displayName: "Sea"))
        #expect(sea.colorHex == "#4CAF50" && second.categoryId == sea.id)
        for photo in photos { #expect(try !test.bytes(photo.thumbnailPath).isEmpty) }
        // Where it was taken is sealed, as in an import.
        #expect(try await test.mesh.send(GetPhotoDetail(id: first.id)).location != nil)

        #expect(try await lines(test, job, "missing").map(\.item) == ["photos/gone.jpg"])
        #expect(try await lines(test, job, "ignored").map(\.item) == ["photos/stranger.jpg"])
        #expect(try await lines(test, job, "defaulted").map(\.item) == ["Sea"])
        #expect(try await lines(test, job, "left").count == 1)
        try await expectAgain(test, path)
        await test.library.close()
    }

    // MARK: The Android app's

    private func android() throws -> [(String, Data)] {
        let metadata: Object = [
            // No version, no format: both are the usual ones.
            "exportDate": 1_720_000_000_000, "appVersion": "1.4", "somethingNew": ["a": 1],
            "categories": [
                [
                    "id": 12, "name": "été_à_la_mer", "displayName": "Été à la mer", "position": 1,
                    "colorHex": "#2196f3", "createdAt": 1_600_000_000_000,
                ],
                ["id": 13, "name": "dogs", "displayName": "", "createdAt": 1_600_000_000_000],
                ["id": 14, "displayName": "ÉTÉ À LA MER", "colorHex": "#000000"],
            ],
            "photos": [
                [
                    "id": -1_234_567, "path": "content://media/external/images/12", "categoryId": 12, "name": "beach",
                    "createdAt": 1_650_000_000_000,
                ],
                [
                    "id": 99, "path": "/storage/emulated/0/DCIM/dog.png", "categoryId": 13, "isFavorite": true,
                    "createdAt": 1_650_000_000_001,
                ],
                ["id": 100, "path": "/storage/../../etc/passwd", "categoryId": 14],
                ["id": 101, "path": "/x/twin.jpg", "categoryId": 14],
                ["id": 102, "path": "/x/broken.jpg", "categoryId": 77],
                [
                    "id": 104, "path": "/x/plain.png", "categoryId": 13, "createdAt": 1_650_000_000_002,
                    "isFavorite": false,
                ],
                ["id": 103, "path": "/x/lost.jpg", "categoryId": 77, "createdAt": -5],
            ],
            "settings": ["securitySettings": ["hasPattern": true]],
            "photoManifest": [
                [
                    "photoId": -1_234_567, "originalPath": "content://media/external/images/12",
                    "zipEntryName": "photos/-1234567_12.jpg", "fileName": "12.jpg", "checksum": "00",
                ]
            ],
        ]
        let broken = try album.photo(3).prefix(40)
        return [
            ("backup/", Data()), ("backup/metadata.json", try json(metadata)),
            ("backup/photos/-1234567_12.jpg", try album.photo(0)), ("backup/photos/99_dog.png", try album.photo(1)),
            ("backup/photos/104_plain.png", png), ("backup/photos/101_twin.jpg", try album.photo(0)),
            ("backup/photos/102_broken.jpg", broken),
            ("__MACOSX/backup/._metadata.json", Data("x".utf8)),
        ]
    }

    @Test func aBackupOfTheAndroidAppIsRestored() async throws {
        let test = try await TestLibrary("android")
        let path = test.folder.file("SmilePile_Backup_20240703_120000.smilepile")
        try StreamedZIP.write(try android(), to: path)
        let summary = try await test.mesh.send(InspectBackup(path: path))
        #expect(summary.dialect == "phone" && summary.backupVersion == "2" && summary.categoryCount == 2)
        let job = try await test.run(RestoreBackup(path: path))
        #expect(job.state == .finished, "\(job)")
        let photos = try await test.allPhotos()
        #expect(photos.count == 3)
        let plain = try #require(photos.first { $0.name == "104_plain" })
        #expect(
            plain.dateSource == .app
                && plain.takenAt == LocalDateTime(here: Timestamp(milliseconds: 1_650_000_000_002)))
        let beach = try #require(photos.first { $0.name == "beach" })
        let dog = try #require(photos.first { $0.name == "99_dog" })
        // A JPEG is what it is, whatever its name says.
        #expect(try test.bytes(dog.path) == album.photo(1) && dog.path.hasSuffix(".jpg") && dog.isFavorite)
        #expect(beach.createdAt.milliseconds == 1_650_000_000_000 && !beach.isFavorite)
        let sea = try await test.mesh.send(GetCategory(displayName: "Été à la mer"))
        #expect(beach.categoryId == sea.id && sea.colorHex == "#2196F3")
        #expect(try await test.mesh.send(GetCategory(displayName: "dogs")).id == dog.categoryId)

        #expect(try await lines(test, job, "duplicate").map(\.item) == ["backup/photos/101_twin.jpg"])
        #expect(try await lines(test, job, "damaged").map(\.item) == ["backup/photos/102_broken.jpg"])
        #expect(
            try await Set(lines(test, job, "missing").map(\.item)) == ["/storage/../../etc/passwd", "/x/lost.jpg"])
        #expect(try await lines(test, job, "merged").map(\.item) == ["ÉTÉ À LA MER"])
        #expect(try await lines(test, job, "left").count == 2)
        let assumed = try await lines(test, job, "assumed").compactMap(\.detail)
        #expect(assumed.contains("not said 3 times, 'isFavorite' of photos: false"), "\(assumed)")
        #expect(assumed.contains("not said 2 times, 'isDefault' of categories: false"), "\(assumed)")
        let defaulted = try await lines(test, job, "defaulted").map(\.item)
        #expect(
            Set(defaulted) == ["dogs", "backup/photos/101_twin.jpg", "backup/photos/102_broken.jpg"], "\(defaulted)")
        try await expectAgain(test, path)
        await test.library.close()
    }

    /// One entry that is none costs its photo, and not all others.
    @Test func aDamagedBackupOfTheAndroidAppIsSalvaged() async throws {
        let test = try await TestLibrary("salvage")
        let path = test.folder.file("phone.smilepile")
        try StreamedZIP.write(try android(), to: path)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let name = Data("backup/photos/99_dog.png".utf8)
        // The local header's signature stands 30 bytes before its name.
        let header = try #require(bytes.range(of: name)).lowerBound - 30
        #expect(bytes[header] == UInt8(ascii: "P"))
        bytes[header] = 0
        // The directory knows the rest, but not where its bytes are.
        bytes[header + 26] = 0
        try bytes.write(to: URL(fileURLWithPath: path))
        let refused = try await test.run(RestoreBackup(path: path))
        #expect(refused.error?.status == .dataLoss, "\(refused)")
        let job = try await test.run(RestoreBackup(path: path, salvage: true))
        #expect(job.state == .finished && job.needsAttention, "\(job)")
        #expect(try await test.allPhotos().map(\.name).sorted() == ["104_plain", "beach"])
        let damaged = try await lines(test, job, "damaged").map(\.item)
        #expect(Set(damaged) == ["backup/photos/99_dog.png", "backup/photos/102_broken.jpg"], "\(damaged)")
        await test.library.close()
    }

    // MARK: The iOS app's

    @Test func aBackupOfTheIOSAppIsRestored() async throws {
        let test = try await TestLibrary("ios")
        let folder = "/var/mobile/Containers/Data/Application/0A/Documents/photos/"
        let metadata: Object = [
            "version": 2, "exportDate": 1_720_000_000_000, "appVersion": "2.0", "format": "ZIP",
            "categories": [
                [
                    "id": 1, "name": "family", "displayName": "Family", "position": 0, "iconResource": "house",
                    "colorHex": "#E91E63", "isDefault": true, "createdAt": 1_600_000_000_000,
                ]
            ],
            "photos": (0..<3).map { number in
                [
                    "id": number + 1, "path": folder + "IMG_\(number).jpg", "categoryId": 1, "name": "IMG_\(number)",
                    "isFromAssets": false, "createdAt": 1_650_000_000_000 + number, "fileSize": 0, "width": 0,
                    "height": 0,
                ] as Object
            },
            "settings": [
                "isDarkMode": true,
                "securitySettings": [
                    "hasPIN": true, "hasPattern": false, "kidSafeModeEnabled": true, "deleteProtectionEnabled": true,
                ],
            ],
            "photoManifest": try (0..<3).map { number in
                [
                    "photoId": number + 1, "originalPath": folder + "IMG_\(number).jpg",
                    "zipEntryName": "photos/IMG_\(number).jpg", "fileName": "IMG_\(number).jpg", "fileSize": 1,
                    // The right one of the first, and that of nothing.
                    "checksum": number == 0 ? md5(try album.photo(0)) : "d41d8cd98f00b204e9800998ecf8427e",
                ] as Object
            },
        ]
        let path = test.folder.file("SmilePileBackup_2024-07-03_120000.zip")
        try StreamedZIP.write(
            [("metadata.json", try json(metadata))] + (0..<3).map { ("photos/IMG_\($0).jpg", try album.photo($0)) },
            to: path)
        let job = try await test.run(RestoreBackup(path: path, mode: .replace))
        #expect(job.state == .finished, "\(job)")
        let photos = try await test.allPhotos()
        #expect(photos.map(\.id).sorted() == [1, 2, 3] && Set(photos.map(\.name)) == ["IMG_0", "IMG_1", "IMG_2"])
        #expect(try await test.mesh.send(ListCategories()).categories.map(\.displayName) == ["Family"])
        #expect(try await test.mesh.send(ListCategories()).categories.first?.iconResource == "house")
        #expect(try await lines(test, job, "left").count == 3)
        #expect(try await lines(test, job, "unlike").map(\.item) == ["photos/IMG_1.jpg", "photos/IMG_2.jpg"])
        let check = try await test.run(VerifyBackup(path: path))
        #expect(check.state == .finished && check.needsAttention && check.outcomes["unlike"] == 2, "\(check)")
        // Who uses this machine is nobody's business on that phone.
        let settings = try await test.mesh.send(GetSettings())
        #expect(!settings.parentalLockEnabled && settings.currentAppMode == .parent)
        try await expectAgain(test, path)
        await test.library.close()
    }

    private func md5(_ bytes: Data) -> String {
        guard let hasher = MD5Hasher() else { return "" }
        bytes.withUnsafeBytes { hasher.update($0) }
        return hasher.finish()
    }

    // MARK: The first version

    @Test func theFirstVersionHasCategoriesAndNoPictures() async throws {
        let test = try await TestLibrary("first")
        let document: Object = [
            "version": 1, "exportDate": 1_600_000_000_000, "appVersion": "0.9", "format": "JSON",
            "categories": [["id": 5, "name": "boats", "displayName": "Boats", "position": 0, "colorHex": "#123456"]],
            "photos": [
                ["id": 1, "path": "/sdcard/a.jpg", "categoryId": 5, "isFavorite": true, "createdAt": 1_600_000_000_000]
            ],
            "settings": ["isDarkMode": false, "cameraAccessAllowed": true],
        ]
        for (name, start) in [("plain.json", Data()), ("marked.json", Data([0xEF, 0xBB, 0xBF, 0x0A]))] {
            let path = test.folder.file(name)
            try (start + json(document)).write(to: URL(fileURLWithPath: path))
            let summary = try await test.mesh.send(InspectBackup(path: path))
            #expect(summary.dialect == "phone" && summary.backupVersion == "1")
            #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
            let job = try await test.run(RestoreBackup(path: path))
            #expect(job.state == .finished && job.needsAttention, "\(job)")
            #expect(try await lines(test, job, "missing").map(\.item) == ["/sdcard/a.jpg"])
            #expect(try await test.mesh.send(GetCategory(displayName: "Boats")).colorHex == "#123456")
        }
        #expect(try await test.allPhotos().isEmpty)
        await test.library.close()
    }

    // MARK: Refused

    private func refusal(_ test: TestLibrary, _ entries: [(String, Data)]) async throws -> MeshError? {
        let path = test.folder.file("wrong.zip")
        try? FileManager.default.removeItem(atPath: path)
        try StreamedZIP.write(entries, to: path)
        let job = try await test.run(RestoreBackup(path: path))
        #expect(try test.files("staging").isEmpty && test.files("photos").isEmpty)
        return job.error
    }

    @Test func whatALaterVersionWroteIsRefusedByName() async throws {
        let test = try await TestLibrary("later")
        let phone = try await refusal(
            test, [("metadata.json", Data(#"{"version": 3, "categories": {}, "photos": 1}"#.utf8))])
        #expect(
            phone?.status == .unimplemented && phone?.message.contains("version 3") == true,
            "\(String(describing: phone))")
        for (version, status) in [
            ("2.0", MeshStatus.unimplemented), ("1.1", .unimplemented), ("0.9", .dataLoss), ("one", .dataLoss),
        ] {
            let manifests = try story { _, manifest in manifest["backupVersion"] = version }
            let documents = try story { document, _ in document["version"] = version }
            for entries in [manifests, documents] {
                let own = try await refusal(test, entries)
                #expect(
                    own?.status == status && own?.message.contains("'\(version)'") == true, "\(String(describing: own))"
                )
            }
        }
        await test.library.close()
    }

    @Test func faultsOfDocumentsAreSaidInWords() async throws {
        let test = try await TestLibrary("faults")
        let faults: [(String, String)] = [
            (#"{"version": 2, "categories": [{"id": "x"}]}"#, "'categories[0].id' is not a whole number"),
            (#"{"photos": [{"id": 1}, {"createdAt": true}]}"#, "'photos[1].createdAt' is not a whole number"),
            (#"{"photos": [{"id": 1e300}]}"#, "too large"), (#"{"photos": "#, "not JSON, or not whole"),
            (#"{"photos": {}}"#, "'photos' is not a list"),
            ("{\"photos\": " + String(repeating: "[", count: 100_000), "not JSON, or not whole"),
        ]
        for (document, words) in faults {
            let error = try await refusal(test, [("metadata.json", Data(document.utf8))])
            #expect(
                error?.status == .dataLoss && error?.message.contains(words) == true, "\(String(describing: error))")
        }
        for names in [["photos/a.jpg"], ["a/metadata.json", "b/metadata.json"], ["a/b/metadata.json"]] {
            let error = try await refusal(test, names.map { ($0, Data("{}".utf8)) })
            #expect(error?.status == .invalidArgument, "\(names): \(String(describing: error))")
        }
        let counts = try await refusal(test, try story { _, manifest in manifest["photoCount"] = 4 })
        #expect(counts?.status == .dataLoss)
        await test.library.close()
    }
}
