import Foundation
import LibraryModel
import LibraryTestSupport
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Where a backup may be written: anywhere but among the library's own files.
@Suite struct BackupPlaceTests {
    private static let own = ["", "/photos", "/thumbnails", "/staging", "/album", "/photos/deeper"]

    private func refusal(_ test: TestLibrary, _ path: String) async -> MeshError? {
        do {
            _ = try await test.mesh.send(CreateBackup(path: path))
            return nil
        } catch {
            return MeshError(describing: error)
        }
    }

    @Test(arguments: own) func aPlaceInTheLibraryIsRefusedHoweverItIsReached(_ place: String) async throws {
        let test = try await TestLibrary()
        let folder = test.path + place
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let link = test.folder.file("link")
        symlink(folder, link)
        var places = [folder, folder + "/b.zip", link + "/b.zip", test.path + "/backups/.." + place + "/b.zip"]
        let mounted = test.folder.file("mounted")
        // Of what lies deeper, a mount shows nothing of where it is from.
        let isMounted = SmallDisk.isPossible && place != "/photos/deeper"
        if isMounted {
            try FileManager.default.createDirectory(atPath: mounted, withIntermediateDirectories: true)
            #expect(mount(folder, mounted, nil, UInt(MS_BIND), nil) == 0)
            places += [mounted, mounted + "/b.zip"]
        }
        defer { if isMounted { umount2(mounted, Int32(MNT_DETACH)) } }
        for path in places {
            let error = await refusal(test, path)
            #expect(error?.status == .invalidArgument && error?.details["reason"] == "inside_library", "\(path)")
            #expect(error?.message.contains(test.path + "/backups") == true)
        }
        let left = FileManager.default.enumerator(atPath: test.path)?.compactMap { $0 as? String } ?? []
        #expect(!left.contains { $0.hasSuffix(".zip") || $0.hasSuffix(".partial") }, "\(left)")
        await test.library.close()
    }

    @Test func oneOnTheLibrarysOwnDiskIsToldToBe() async throws {
        let test = try await TestLibrary()
        #expect(try await test.run(CreateBackup()).receipt?["isOnLibraryDisk"] == true)
        if SmallDisk.isPossible {
            let disk = try SmallDisk()
            defer { disk.unmount() }
            let job = try await test.run(CreateBackup(path: disk.folder.path))
            #expect(job.state == .finished && job.receipt?["isOnLibraryDisk"] == nil, "\(job)")
        }
        await test.library.close()
    }

    @Test func theLibrarysOwnFolderForThemIsOneHoweverItIsReached() async throws {
        let test = try await TestLibrary()
        let link = test.folder.file("link")
        symlink(test.path + "/backups", link)
        try FileManager.default.createDirectory(
            atPath: test.path + "/backups/older", withIntermediateDirectories: true)
        for path in [test.path + "/backups/1.zip", link + "/2.zip", test.path + "/backups/older/3.zip"] {
            #expect(try await test.run(CreateBackup(path: path)).state == .finished)
            #expect(FileManager.default.fileExists(atPath: path))
        }
        #expect(try await test.run(CreateBackup()).state == .finished)
        #expect(try await test.run(CreateBackup(path: test.folder.path)).state == .finished)
        await test.library.close()
    }
}
