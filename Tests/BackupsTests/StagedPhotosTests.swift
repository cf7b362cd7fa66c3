import Executors
import Files
import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import PhotoFolder
import SampleAlbum
import Scratch
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Backups

/// What a restore has staged is known until it is in the library or gone, however much it is.
@Suite(.timeLimit(.minutes(3))) struct StagedPhotosTests {
    private func name(_ number: Int) throws -> StoredName { try #require(StoredName(.photos, "IMG_\(number).jpg")) }

    @Test func whatIsStagedIsFoundAsItWas() async throws {
        let folder = try TemporaryFolder("staged")
        let pool = BlockingPool(name: "staged", threads: 1)
        let sourced = SourcedPhoto(
            photo: Photo(
                id: 1, uuid: "u", path: "photos/a.jpg", categoryId: 1, name: "a", caption: nil, isFromAssets: false,
                createdAt: .now(), fileSize: 1, width: 1, height: 1, isFavorite: false,
                takenAt: LocalDateTime(milliseconds: 5), contentDigest: "c", mediaType: "image/jpeg"),
            sourceDigest: "s", sourceSize: 9)
        let record = StagingRecord(in: Scratch(in: folder.path))
        for number in 0..<5000 {
            let name = try name(number)
            let sidecar = KeptSidecar(
                name: "x.xmp", path: name.sidecar(1, ".xmp").path, fileSize: 3, contentDigest: "d")
            try record.append([
                StagedPhoto(
                    uuid: "uuid \(number)",
                    names: PhotoNames(
                        photo: name, originalExtension: number % 2 == 0 ? ".heic" : nil, sidecarExtensions: [".xmp"]),
                    files: [StagedFile("\(number).new", as: name), StagedFile("t.new", as: name.thumbnail)],
                    line: number % 3 == 0 ? ReceiptLine(item: "\(number)", outcome: "no_thumbnail") : nil,
                    made: number % 5 == 0
                        ? MadePhoto(sourced: sourced, position: GeoPosition(latitude: 1.5, longitude: -2)) : nil,
                    sidecars: number % 7 == 0 ? [sidecar] : [],
                    completed: number % 4 == 0
                        ? CompletedPhoto(path: "p", original: number % 8 == 0 ? name.original(".heic") : nil) : nil)
            ])
        }
        var staged = StagedPhotos()
        try await staged.add(record.finish(), pool)
        // As they are staged once more, they count.
        let later = StagingRecord(in: .memory)
        try later.append([StagedPhoto(uuid: "uuid 7"), StagedPhoto(uuid: "uuid 5000")])
        try await staged.add(later.finish(), pool)
        #expect(try staged["uuid 7"]?.names == nil && staged["uuid 5000"]?.files.isEmpty == true)
        #expect(try staged["uuid 5001"] == nil)
        for number in stride(from: 0, to: 5000, by: 7) where number != 7 {
            let found = try #require(try staged["uuid \(number)"])
            let name = try name(number)
            #expect(found.names?.photo == name && found.names?.sidecars == [name.sidecar(1, ".xmp")])
            #expect(found.names?.original == (number % 2 == 0 ? name.original(".heic") : nil))
            #expect(found.files.map(\.name) == [name, name.thumbnail] && found.files[0].staged == "\(number).new")
            #expect(found.line?.item == (number % 3 == 0 ? "\(number)" : nil))
            #expect(found.made?.position?.longitude == (number % 5 == 0 ? -2 : nil))
            #expect(found.made?.sourced.photo == (number % 5 == 0 ? sourced.photo : nil))
            #expect(found.sidecars.count == 1)
            #expect(found.completed?.path == (number % 4 == 0 ? "p" : nil))
            #expect(found.completed?.original == (number % 8 == 0 ? name.original(".heic") : nil))
        }
        await pool.shutDown()
    }

    /// More files than are published at once. A name of the last ones is taken: none stays, and that file is nobody's to remove.
    @Test func whatCannotBePublishedGoesWithAllThatWas() throws {
        let temporary = try TemporaryFolder("published")
        let folder = LibraryFolder(path: temporary.path)
        try folder.make()
        let count = SpooledList<StagedPhoto>.portion + 100
        let record = StagingRecord(in: Scratch(in: temporary.path))
        for number in 0..<count {
            let name = try name(number)
            let files = try [name, name.thumbnail].map { name in
                let staged = try folder.stage(as: number % 2 == 0 ? name : nil)
                close(staged.descriptor)
                return StagedFile(staged.name, as: name)
            }
            try record.append([StagedPhoto(uuid: "\(number)", names: PhotoNames(photo: name), files: files)])
        }
        let staged = try record.finish()
        let theirs = folder.photos + "/" + (try name(count - 1)).fileName
        try Data("theirs".utf8).write(to: URL(fileURLWithPath: theirs))
        try folder.publish(staged, .thumbnails)
        let names = { try FileManager.default.contentsOfDirectory(atPath: $0) }
        #expect(try names(folder.thumbnails).count == count)
        #expect(throws: NameTaken.self) { try folder.publish(staged, .photos) }
        #expect(try names(folder.photos).count > 1)
        folder.abandon(staged)
        #expect(try names(folder.photos).count == 1 && names(folder.thumbnails).isEmpty)
        #expect(try folder.leftovers().isEmpty)
        #expect(try Data(contentsOf: URL(fileURLWithPath: theirs)) == Data("theirs".utf8))
    }

    /// Called off while some are staged and others are not, and when all are.
    @Test(arguments: [1, 100, 180]) func aRestoreThatIsCalledOffLeavesNothing(_ staged: Int) async throws {
        let old = try await TestLibrary("old")
        _ = try await old.importSamples(90, album: SampleAlbum(width: 64, height: 48))
        let backup = old.folder.file("b.zip")
        #expect(try await old.run(CreateBackup(path: backup)).state == .finished)
        await old.library.close()
        let test = try await TestLibrary("new")
        await test.library.close()
        let library = try await SteppedLibrary(test)
        let staging = library.folder.staging
        library.steps.hold {
            ((try? FileManager.default.contentsOfDirectory(atPath: staging)) ?? []).count >= staged
        }
        let job = try await library.mesh.send(RestoreBackup(path: backup)).job
        await library.steps.arrived()
        _ = try await library.mesh.send(CancelJob(job: job))
        library.steps.letGo()
        #expect(try await library.mesh.send(WaitForJob(job: job)).state == .cancelled)
        for folder in ["photos", "thumbnails", "originals", "staging"] {
            #expect(try test.files(folder).isEmpty, "\(folder)")
        }
        #expect(try await library.photos().isEmpty)
        #expect(try await library.run(RestoreBackup(path: backup)).receipt?["photosAdded"] == 90)
        await library.close()
    }
}
