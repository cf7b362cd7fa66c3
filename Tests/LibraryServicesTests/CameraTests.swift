import CatalogueTestSupport
import Database
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
@testable import SQLiteCatalogue
import Testing

/// With which camera photos were taken: from the picture into every list, and kept wherever a photo goes.
@Suite(.timeLimit(.minutes(2))) struct CameraTests {
    /// Two photos each of two cameras, and one whose picture says nothing.
    private func library() async throws -> TestLibrary {
        let test = try await TestLibrary()
        let folder = test.folder.file("album")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for (number, model) in ["Phone 12", "Phone 12", "SMILEPILE Mark II", "SMILEPILE Mark II"].enumerated() {
            let album = SampleAlbum(width: 32, height: 24, seed: UInt64(number + 1), model: model)
            try album.photo(number).write(to: URL(fileURLWithPath: folder + "/\(number).jpg"))
        }
        // Without its EXIF: its segment stands behind the first two bytes.
        let whole = try SampleAlbum(width: 32, height: 24, seed: 9).photo(4)
        let length = Int(whole[4]) << 8 | Int(whole[5])
        try (whole.prefix(2) + whole.dropFirst(4 + length)).write(to: URL(fileURLWithPath: folder + "/4.jpg"))
        _ = try await test.importing(folder)
        return test
    }

    private static let names = [
        "SmilePile Phone 12", "SmilePile Phone 12", "SMILEPILE Mark II", "SMILEPILE Mark II", nil,
    ]

    private func cameras(_ mesh: Mesh) async throws -> [String?] {
        try await mesh.send(SearchPhotos()).photos.sorted { $0.name < $1.name }.map(\.camera)
    }

    @Test func everyMessageWithFiltersKnowsIt() async throws {
        let test = try await library()
        #expect(try await cameras(test.mesh) == Self.names)
        for (camera, isKnown, wanted) in [
            ("phone", nil, ["0", "1"]), ("12 smilepile", nil, ["0", "1"]), ("mark ii", nil, ["2", "3"]),
            ("smilepile", true, ["0", "1", "2", "3"]), (nil, true, ["0", "1", "2", "3"]), (nil, false, ["4"]),
            ("nikon", nil, []),
        ] as [(String?, Bool?, [String])] {
            let filter = PhotoFilter(camera: camera, hasCamera: isKnown)
            let photos = try await test.mesh.send(SearchPhotos(filter)).photos
            #expect(photos.map(\.name).sorted() == wanted)
            #expect(
                try await test.mesh.send(CountPhotos(filter)).count
                    == wanted.count)
            #expect(
                try await test.mesh.send(SelectPhotos(filter)).ids
                    == photos.map(\.id).sorted())
            #expect(try await test.mesh.send(GetTimeline(filter)).count == wanted.count)
            let watched = Watched.follow(ObservePhotos(filter), on: test.mesh)
            await watched.value { $0.photos == photos && $0.total == photos.count }
            await watched.end()
            #expect(try await test.mesh.send(MakeSheetPage(filter)).photos == wanted.count)
            let redated = try await test.run(RedatePhotos(filter))
            #expect(redated.receipt?["photos"] == .integer(Int64(wanted.count)) && redated.outcomes.isEmpty)
        }
        let list = try await test.mesh.send(ListCameras())
        #expect(list.cameras.map(\.name) == ["SMILEPILE Mark II", "SmilePile Phone 12"])
        #expect(list.cameras.map(\.photoCount) == [2, 2] && list.count == 2 && list.withoutCamera == 1)
        await test.library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }

    @Test func whatMakesNoSenseIsRefused() async throws {
        let test = try await TestLibrary()
        let wrong = [
            PhotoFilter(camera: "canon", hasCamera: false),
            PhotoFilter(camera: String(repeating: "x", count: 1001)),
            PhotoFilter(camera: String(repeating: "x ", count: 17)),
        ]
        for filter in wrong {
            #expect(await status { _ = try await test.mesh.send(SearchPhotos(filter)) } == .invalidArgument)
            #expect(await status { _ = try await test.mesh.send(GetTimeline(filter)) } == .invalidArgument)
        }
        for limit in [0, 1001] {
            #expect(await status { _ = try await test.mesh.send(ListCameras(limit: limit)) } == .invalidArgument)
        }
        for camera in ["%", "'", "\"", "\u{0}", "none", "[\"", String(repeating: "x ", count: 16)] {
            #expect(try await test.mesh.send(CountPhotos(PhotoFilter(camera: camera))).count == 0)
        }
        await test.library.close()
    }

    @Test func itStaysThroughTrashEditingAndBackups() async throws {
        let test = try await library()
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(EditPhoto(id: photos[0].id, name: "0 edited", isFavorite: true))
        _ = try await test.mesh.send(DeletePhotos(ids: photos.map(\.id)))
        #expect(try await test.mesh.send(ListCameras()).cameras.isEmpty)
        #expect(
            try await Set(test.mesh.send(ListTrash()).photos.map(\.photo.camera)) == Set(photos.map(\.camera)))
        _ = try await test.mesh.send(RestorePhotos(ids: photos.map(\.id)))
        let now = try await test.allPhotos().map(\.camera)
        #expect(now == photos.map(\.camera))
        let backup = test.folder.file("b.zip")
        #expect(try await test.run(CreateBackup(path: backup)).state == .finished)

        let other = try await TestLibrary()
        #expect(try await other.run(RestoreBackup(path: backup, mode: .merge)).state == .finished)
        #expect(try await other.allPhotos().map(\.camera) == now)
        // A backup from before says nothing of it: what the pictures here are known to be of stays.
        let old = test.folder.file("old.zip")
        try EditedBackup.write(backup, to: old) { metadata in
            metadata["photos"] = (metadata["photos"] as? [EditedBackup.Object])?.map { photo in
                photo.filter { $0.key != "camera" }
            }
        }
        #expect(try await other.run(RestoreBackup(path: old, mode: .replace)).state == .finished)
        #expect(try await other.allPhotos().map(\.camera) == now)
        let third = try await TestLibrary()
        #expect(try await third.run(RestoreBackup(path: old, mode: .replace)).state == .finished)
        #expect(try await third.allPhotos().allSatisfy { $0.camera == nil })
        // Then the files are asked.
        let found = try await third.run(RedatePhotos(PhotoFilter(hasCamera: false)))
        #expect(found.outcomes == ["camera_found": 4] && !found.needsAttention, "\(found)")
        #expect(try await third.allPhotos().map(\.camera) == now)
        for library in [test, other, third] { await library.library.close() }
    }

    @Test(arguments: ["", " ", "a\nb", "a\u{202E}b", "a\u{1B}[2J", String(repeating: "x", count: 129)])
    func aBackupSaysNoCameraThatNoneIs(_ camera: String) async throws {
        let test = try await library()
        let (good, bad) = (test.folder.file("good.zip"), test.folder.file("bad.zip"))
        _ = try await test.run(CreateBackup(path: good))
        try EditedBackup.write(good, to: bad) { metadata in
            metadata["photos"] = (metadata["photos"] as? [EditedBackup.Object])?.map {
                $0.merging(["camera": camera]) { $1 }
            }
        }
        let other = try await TestLibrary()
        let job = try await other.run(RestoreBackup(path: bad, mode: .merge))
        #expect(job.state == .failed && job.error?.message.contains("out of range") == true, "\(job)")
        #expect(try await other.allPhotos().isEmpty)
        for library in [test, other] { await library.library.close() }
    }

    /// A library from before: its photos have none until their files are read again.
    @Test func photosFromBeforeGetIt() async throws {
        let test = try await library()
        await test.library.close()
        let database = try await DatabasePool.open(at: test.path + "/catalogue.sqlite", schema: CatalogueSchema.schema)
        try await database.write { try $0.execute("UPDATE photos SET camera = NULL") }
        await database.close()
        let library = try await test.reopened()
        #expect(try await library.mesh.send(CountPhotos(PhotoFilter(hasCamera: false))).count == 5)
        func run(_ request: RedatePhotos) async throws -> JobSnapshot {
            let job = try await library.mesh.send(request).job
            return try await library.mesh.send(WaitForJob(job: job))
        }
        let preview = try await run(RedatePhotos(dryRun: true))
        #expect(preview.outcomes == ["camera_found": 4] && preview.receipt?["camerasFound"] == 4)
        #expect(try await library.mesh.send(ListCameras()).cameras.isEmpty)
        let done = try await run(RedatePhotos(PhotoFilter(hasCamera: false)))
        #expect(done.outcomes == ["camera_found": 4] && done.receipt?["photos"] == 5)
        #expect(
            try await library.mesh.send(GetJobReceipt(job: done.id)).lines.allSatisfy {
                ($0.detail ?? "").lowercased().hasPrefix("smilepile ")
            })
        #expect(try await cameras(library.mesh) == Self.names)
        let again = try await run(RedatePhotos(PhotoFilter(hasCamera: false)))
        #expect(again.outcomes.isEmpty && again.receipt?["photos"] == 1)
        await library.close()
        #expect(try await catalogueProblems(at: test.path + "/catalogue.sqlite").isEmpty)
    }
}
