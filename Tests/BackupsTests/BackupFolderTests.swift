import Files
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import Scratch
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import BackupFormats
@testable import Backups

/// Backups into a folder that holds each file once.
@Suite(.timeLimit(.minutes(3))) struct BackupFolderTests {
    private let album = SampleAlbum(width: 160, height: 120)

    private func library(_ photos: Int = 6) async throws -> (TestLibrary, String) {
        let test = try await TestLibrary()
        _ = try await test.importSamples(photos, album: album)
        return (test, test.folder.file("stick"))
    }

    @discardableResult
    private func backUp(_ test: TestLibrary, _ folder: String) async throws -> BackupReceipt {
        let job = try await test.run(CreateBackup(path: folder, incremental: true))
        let receipt = try #require(job.receipt, "\(String(describing: job.error))")
        return try JSONDecoder().decode(BackupReceipt.self, from: JSONEncoder().encode(receipt))
    }

    private func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    }

    /// What tells whether a file was written again.
    private func inodes(_ folder: String) throws -> [String: UInt64] {
        try names(folder).reduce(into: [:]) { inodes, name in
            inodes[name] = try FileSystem.status(folder + "/" + name).map { UInt64($0.st_ino) }
        }
    }

    @Test func onlyWhatIsNewIsCopiedAndTheLibraryComesBackEqual() async throws {
        let (old, folder) = try await library()
        let first = try await backUp(old, folder)
        #expect(first.photos == 6 && first.ending == .complete && first.mended == nil)
        #expect(first.path.hasPrefix(folder + "/snapshots/SmilePileSnapshot_"))
        #expect(try names(folder) == ["README.txt", "originals", "photos", "snapshots", "thumbnails"])
        for name in try names(folder + "/photos") {
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: folder + "/photos/" + name)) == old.bytes("photos/" + name))
        }
        let before = try inodes(folder + "/photos")
        try album.write(count: 8, to: old.folder.file("more"))
        _ = try await old.importing(old.folder.file("more"))
        _ = try await old.mesh.send(SetCaption(id: old.allPhotos()[0].id, caption: "At the sea"))
        let second = try await backUp(old, folder)
        // A photo and its thumbnail each; these photos are their own originals.
        #expect(second.photos == 8 && second.added == 4)
        #expect(try inodes(folder + "/photos").filter { before[$0.key] != nil } == before)
        #expect(try await backUp(old, folder).added == 0)
        let new = try await TestLibrary("restored")
        let job = try await new.run(RestoreBackup(path: folder, mode: .replace))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        #expect(try await new.allPhotos() == old.allPhotos())
        for photo in try await old.allPhotos() { #expect(try new.bytes(photo.path) == old.bytes(photo.path)) }
        await old.library.close()
        await new.library.close()
    }

    @Test func eachSnapshotIsTheLibraryOfItsTime() async throws {
        let (test, folder) = try await library()
        let first = try await backUp(test, folder)
        let gone = try await test.allPhotos()[2]
        _ = try await test.mesh.send(DeletePhotos(ids: [gone.id]))
        let second = try await backUp(test, folder)
        #expect(first.path != second.path)
        let date = try #require(first.path.split(separator: "_", maxSplits: 1).last?.dropLast(4)).description
        let newest = try await test.mesh.send(InspectBackup(path: folder))
        #expect(newest.photoCount == 5)
        // Both of one second: the date alone means the newer.
        let named = try await test.mesh.send(InspectBackup(path: first.path))
        #expect(named.photoCount == 6 && named.timestamp < newest.timestamp)
        #expect(try await test.mesh.send(InspectBackup(path: folder, snapshot: String(date.prefix(10)))) == newest)
        for (date, expected) in [("1999-01-01", MeshStatus.notFound), ("the last one", .invalidArgument)] {
            #expect(
                await status { _ = try await test.mesh.send(InspectBackup(path: folder, snapshot: date)) } == expected)
        }
        #expect(
            await status { _ = try await test.mesh.send(InspectBackup(path: test.path, snapshot: "2026")) }
                == .invalidArgument)
        let job = try await test.run(RestoreBackup(path: first.path))
        #expect(job.state == .finished && job.receipt?["photosAdded"] == 1)
        for path in [folder, first.path, second.path] {
            #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
        }
        await test.library.close()
    }

    @Test func whatIsWrongIsNamedAndMendedByTheNextBackup() async throws {
        let (test, folder) = try await library()
        let first = try await backUp(test, folder)
        let photos = try names(folder + "/photos").map { "photos/" + $0 }
        try FileManager.default.removeItem(atPath: folder + "/" + photos[0])
        truncate(folder + "/" + photos[1], 100)
        try FileManager.default.removeItem(atPath: folder + "/" + photos[2])
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/" + photos[2], withDestinationPath: test.path + "/" + photos[2])
        try FileManager.default.removeItem(atPath: folder + "/" + photos[3])
        #expect(mkfifo(folder + "/" + photos[3], 0o600) == 0)
        let check = try await test.run(VerifyBackup(path: folder))
        #expect(check.error?.status == .dataLoss)
        let told = try await test.lines(check.id).filter { $0.outcome == "damaged" }.map(\.item)
        #expect(Set(told) == Set(photos.prefix(4)))
        #expect(try await test.run(RestoreBackup(path: folder)).error?.status == .dataLoss)
        let second = try await test.run(CreateBackup(path: folder, incremental: true))
        #expect(second.state == .finished && second.receipt?["mended"] == 4, "\(String(describing: second.error))")
        let mended = try await test.lines(second.id).filter { $0.outcome == "mended" }.map(\.item)
        #expect(Set(mended) == Set(photos.prefix(4)))
        for path in [first.path, folder] {
            #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
        }
        // Of what the library has no more, the rest can be had.
        try FileManager.default.removeItem(atPath: folder + "/" + photos[0])
        let other = try await TestLibrary("salvaged")
        let salvage = try await other.run(RestoreBackup(path: folder, salvage: true))
        #expect(salvage.receipt?["photosAdded"] == 5, "\(String(describing: salvage.error))")
        await other.library.close()
        await test.library.close()
    }

    @Test func aByteThatHasChangedIsFoundWithinThirtyDays() throws {
        let names = (0..<200).map { "photos/IMG_\($0).jpg" }
        let day: Int64 = 86_400_000
        func due(after days: Int64...) -> [Int] {
            var times: [String: Int] = [:]
            var last = Timestamp(milliseconds: 1000 * day)
            for step in days {
                let now = Timestamp(milliseconds: last.milliseconds + step * day)
                let inventory = FolderInventory(
                    of: SnapshotFolder("/nowhere"),
                    known: SpooledList(names.map { BackupManifest.File(path: $0, size: 1, sha256: "a") }), last: last)
                for name in names where inventory.isDue(name, at: now) { times[name, default: 0] += 1 }
                last = now
            }
            return names.map { times[$0] ?? 0 }
        }
        #expect(due(after: 30).allSatisfy { $0 == 1 })
        #expect(due(after: 7, 7, 7, 7, 2).allSatisfy { $0 == 1 }, "each once in thirty days of weekly backups")
        #expect(due(after: 0).allSatisfy { $0 == 0 }, "twice on one day nothing is read again")
        #expect(due(after: 400).allSatisfy { $0 == 1 })
        #expect(due(after: -3).allSatisfy { $0 == 1 }, "of a clock that went back nobody knows how long it was")
        #expect(due(after: 1).filter { $0 == 1 }.count < 40)
    }

    @Test func aFolderIsOneLibrarysAndOneWritersAtATime() async throws {
        let (test, folder) = try await library(2)
        try await backUp(test, folder)
        let (other, _) = try await library(1)
        let refused = try await other.run(CreateBackup(path: folder, incremental: true))
        #expect(refused.error?.status == .failedPrecondition)
        #expect(refused.error?.message.contains("another library") == true)
        let identity = try #require(try await test.library.catalogue.read { try $0.settings.libraryID() })
        let hold = try SnapshotFolderHold(folder, library: identity)
        let second = try await test.run(CreateBackup(path: folder, incremental: true))
        #expect(second.error?.status == .failedPrecondition)
        // Though it is still open, as it is in a process that is about to start another one.
        hold.release()
        try await backUp(test, folder)
        withExtendedLifetime(hold) {}
        // Somebody's own photos are not taken for ours.
        let album = test.folder.file("somebody")
        try FileManager.default.createDirectory(atPath: album + "/photos", withIntermediateDirectories: true)
        try Data("mine".utf8).write(to: URL(fileURLWithPath: album + "/photos/cat.jpg"))
        for refused in [
            await status { _ = try await test.mesh.send(CreateBackup(path: album, incremental: true)) },
            await status { _ = try await test.mesh.send(ScheduleBackups(folder: album)) },
        ] { #expect(refused == .alreadyExists) }
        #expect(try await test.mesh.send(ScheduleBackups(folder: album, zip: true)).schedule?.isZip == true)
        #expect(try names(album) == ["photos"])
        try Data("{\"version\":9,\"library\":\"\(identity)\"}".utf8).write(
            to: URL(fileURLWithPath: folder + "/snapshots/library.json"))
        let later = try await test.run(CreateBackup(path: folder, incremental: true))
        #expect(later.error?.message.contains("newer version") == true)
        for place in ["/photos", "/staging/x", "/originals"] {
            let inside = await status {
                _ = try await test.mesh.send(CreateBackup(path: test.path + place, incremental: true))
            }
            #expect(inside == .invalidArgument)
        }
        await test.library.close()
        await other.library.close()
    }

    @Test func whatARunHasLeftThatWasBrokenOffIsTakenOver() async throws {
        let (test, folder) = try await library()
        try await backUp(test, folder)
        // As after a kill behind the files and before the snapshot; and one in the middle of a file.
        for name in try names(folder + "/snapshots") where name.hasSuffix(".zip") {
            try FileManager.default.removeItem(atPath: folder + "/snapshots/" + name)
        }
        let photos = try names(folder + "/photos")
        let half = folder + "/photos/" + photos[0]
        try FileManager.default.moveItem(atPath: half, toPath: half + ".partial")
        // Whole in length, and not what was written.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/photos/" + photos[1]))
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: URL(fileURLWithPath: folder + "/photos/" + photos[1]))
        let receipt = try await backUp(test, folder)
        // The thumbnails are not known without a snapshot, and are copied anew.
        #expect(receipt.added == 2 + 6 && receipt.ending == .complete)
        #expect(try names(folder + "/photos") == photos)
        #expect(try await test.run(VerifyBackup(path: folder)).state == .finished)
        await test.library.close()
    }

    @Test func aDamagedPhotoIsSavedAsItIsAndNotForever() async throws {
        let (test, folder) = try await library(3)
        let photo = try await test.allPhotos()[0]
        let whole = try test.bytes(photo.path)
        try Data("not what it was".utf8).write(to: URL(fileURLWithPath: test.path + "/" + photo.path))
        let first = try await test.run(CreateBackup(path: folder, incremental: true))
        #expect(first.receipt?["damaged"] == 1 && first.receipt?["ending"] == "completeWithProblems")
        #expect(try !names(folder + "/photos").contains(String(photo.path.dropFirst(7))))
        try whole.write(to: URL(fileURLWithPath: test.path + "/" + photo.path))
        let second = try await backUp(test, folder)
        #expect(second.damaged == 0 && second.added == 1)
        #expect(try await test.run(VerifyBackup(path: folder)).state == .finished)
        let old = try #require(first.receipt?["path"])
        guard case .string(let path) = old else { return }
        let check = try await test.run(VerifyBackup(path: path))
        #expect(check.state == .finished && check.receipt?["ending"] == "completeWithProblems")
        await test.library.close()
    }

    @Test func theOldestSnapshotsGoAndThenWhatOnlyTheyHad() async throws {
        let (test, folder) = try await library()
        try await backUp(test, folder)
        let gone = try await test.allPhotos()[0]
        _ = try await test.mesh.send(DeletePhotos(ids: [gone.id]))
        for _ in 0..<3 { try await backUp(test, folder) }
        #expect(try names(folder + "/photos").count == 6)
        let preview = try await test.mesh.send(PruneBackups(folder: folder, keep: 2, dryRun: true))
        #expect(preview.removed.count == 2 && preview.kept == 2)
        #expect(try names(folder + "/photos").count == 6)
        let pruned = try await test.mesh.send(PruneBackups(folder: folder, keep: 2))
        // Its picture and its thumbnail.
        #expect(pruned.removed.count == 2 && pruned.files == 2)
        #expect(try names(folder + "/photos").count == 5)
        #expect(try await test.run(VerifyBackup(path: folder)).state == .finished)
        // A snapshot that cannot be read may name anything.
        let snapshots = try names(folder + "/snapshots").filter { $0.hasSuffix(".zip") }
        truncate(folder + "/snapshots/" + snapshots[0], 50)
        _ = try await test.mesh.send(DeletePhotos(ids: [test.allPhotos()[0].id]))
        try await backUp(test, folder)
        _ = try await test.mesh.send(PruneBackups(folder: folder, keep: 1))
        #expect(try names(folder + "/photos").count == 5)
        await test.library.close()
    }

    /// Whatever a snapshot says, nothing outside of the folder is read.
    @Test(arguments: ["../../library/catalogue.sqlite", "photos/../../secret", "/etc/passwd", "snapshots/library.json"])
    func aSnapshotThatNamesOthersFilesIsRefused(_ name: String) async throws {
        let (test, folder) = try await library(1)
        let receipt = try await backUp(test, folder)
        try Data("secret".utf8).write(to: URL(fileURLWithPath: folder + "/../secret"))
        let digest = String(repeating: "0", count: 64)
        let named = try BackupArchive.promisedFiles(
            ofSnapshot: receipt.path, NamedFiles(library: test.path, files: [], folders: [])
        ).files.compactMap { ["path": $0.path, "size": $0.size, "sha256": $0.sha256] as [String: Any] }
        let edited = folder + "/snapshots/SmilePileSnapshot_2031-01-01_000000.zip"
        func edit(_ more: [[String: Any]]) throws {
            try EditedBackup.write(
                receipt.path, to: edited,
                manifestChange: { $0["files"] = ($0["files"] as? [[String: Any]] ?? []) + named + more }
            ) { _ in }
        }
        try edit([])
        #expect(try await test.mesh.send(InspectBackup(path: folder)).photoCount == 1)
        try edit([["path": name, "size": 6, "sha256": digest]])
        let refusal = await refusal { _ = try await test.mesh.send(InspectBackup(path: folder)) }
        #expect(refusal?.status == .dataLoss && refusal?.message.contains("not in the archive") == true)
        await test.library.close()
    }
}
