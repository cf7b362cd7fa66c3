import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// Backups of ours that somebody has unpacked, and packed again: by other means, and with the folder around them.
@Suite(.timeLimit(.minutes(3))) struct RepackedBackupTests {
    private let xmp = Data(
        """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"/></rdf:RDF></x:xmpmeta>
        """.utf8)
    private let png = Data(
        base64Encoded:
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==")!

    /// With an original, a sidecar, sealed fields, a review, a caption and preferences.
    private func library() async throws -> (test: TestLibrary, path: String) {
        let test = try await TestLibrary("repacked")
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 4, to: album)
        let first = try #require(try FileManager.default.contentsOfDirectory(atPath: album).sorted().first)
        try xmp.write(to: URL(fileURLWithPath: album + "/" + first + ".xmp"))
        try png.write(to: URL(fileURLWithPath: album + "/pixel.png"))
        #expect(try await test.importing(album).outcomes == ["imported": 5])
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(SetPhotoDetail(id: photos[0].id, notes: "first steps", location: "Kiel"))
        _ = try await test.mesh.send(SetCaption(id: photos[1].id, caption: "waves"))
        _ = try await test.mesh.send(ChangeSettings(swipeThreshold: 0.7))
        let session = try await test.mesh.send(StartSwipeSession())
        _ = try await test.mesh.send(
            RecordSwipe(
                sessionID: session.sessionID, photoIdentifier: photos[0].uuid, contentDigest: photos[0].contentDigest,
                action: .keep))
        let path = test.folder.file("b.zip")
        let job = try await test.run(CreateBackup(path: path))
        #expect(job.state == .finished && !job.needsAttention, "\(job)")
        return (test, path)
    }

    private func run(_ arguments: [String], in folder: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardOutput = FileHandle.nullDevice
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments)")
    }

    /// The contents of the backup in a folder, and what `arguments` make of that: the archive's place stands for `OUT`.
    private func repack(_ path: String, in test: TestLibrary, _ arguments: [String]) throws -> String {
        let name = UUID().uuidString
        let folder = test.folder.file(name)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try run(["unzip", "-q", path, "-d", "family"], in: folder)
        let packed = folder + ".zip"
        try run(arguments.map { $0 == "OUT" ? packed : $0 }, in: folder)
        return packed
    }

    /// With the keys of the library that wrote the backup.
    private func empty(like old: TestLibrary) async throws -> TestLibrary {
        let new = try await TestLibrary("new")
        let keys = try await old.mesh.send(ExportKeys(passphrase: "correct horse"))
        _ = try await new.mesh.send(ImportKeys(text: keys.text, passphrase: "correct horse"))
        return new
    }

    private func expectSame(_ new: TestLibrary, _ old: TestLibrary) async throws {
        let photos = try await old.allPhotos()
        #expect(try await new.allPhotos() == photos)
        for photo in photos {
            for file in photo.filePaths where file != photo.previewPath {
                #expect(try new.bytes(file) == old.bytes(file), "\(file)")
            }
            #expect(
                try await new.mesh.send(GetPhotoDetail(id: photo.id))
                    == old.mesh.send(GetPhotoDetail(id: photo.id)))
        }
        #expect(try await new.mesh.send(ListSwipeSessions()) == old.mesh.send(ListSwipeSessions()))
        #expect(try await new.mesh.send(GetSettings()).swipeThreshold == 0.7)
    }

    private static let packers = [
        ["zip", "-q", "-r", "OUT", "family"], ["zip", "-q", "-r", "-0", "OUT", "family"],
        ["zip", "-q", "-r", "-fd", "OUT", "family"], ["zip", "-q", "-r", "-D", "OUT", "family"],
        ["7z", "a", "-tzip", "OUT", "family"], ["bsdtar", "-a", "-cf", "OUT", "family"],
    ]

    @Test(arguments: packers) func aBackupOneFolderDeepIsRestoredWhole(_ packer: [String]) async throws {
        let (old, path) = try await library()
        let packed = try repack(path, in: old, packer)
        let (summary, before) = (
            try await old.mesh.send(InspectBackup(path: packed)), try await old.mesh.send(InspectBackup(path: path))
        )
        #expect(summary == before && summary.dialect == "smilepile")
        let verified = try await old.run(VerifyBackup(path: packed))
        #expect(verified.state == .finished && !verified.needsAttention && verified.outcomes.isEmpty, "\(verified)")
        for salvage in [nil, true] {
            let new = try await empty(like: old)
            let job = try await new.run(RestoreBackup(path: packed, salvage: salvage))
            #expect(job.state == .finished && !job.needsAttention && job.outcomes.isEmpty, "\(job)")
            try await expectSame(new, old)
            await new.library.close()
        }
        await old.library.close()
    }

    /// What is not in our form throughout was packed by others, or they have added something: no damage.
    @Test(arguments: [
        ["zip", "-q", "OUT", "note.txt"], ["zip", "-q", "-0", "-D", "-r", "OUT", "."],
        ["7z", "a", "OUT", "note.txt"],
        ["python3", "-m", "zipfile", "-c", "OUT", "."], ["bash", "-c", "echo ours | zip -q -z $0", "OUT"],
        ["python3", "-c", "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'a').write('note.txt')", "OUT"],
    ])
    func whatOthersPackOrAddIsNoDamage(_ packer: [String]) async throws {
        let (old, path) = try await library()
        let folder = old.folder.file("unpacked")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        var packed = path
        if packer.contains(".") {
            try run(["unzip", "-q", path], in: folder)
            packed = old.folder.file("packed.zip")
        }
        try Data("a note".utf8).write(to: URL(fileURLWithPath: folder + "/note.txt"))
        try run(packer.map { $0 == "OUT" ? packed : $0 }, in: folder)
        let verified = try await old.run(VerifyBackup(path: packed))
        #expect(verified.state == .finished && Set(verified.outcomes.keys).isSubset(of: ["ignored"]), "\(verified)")
        let new = try await empty(like: old)
        let job = try await new.run(RestoreBackup(path: packed))
        #expect(job.state == .finished && Set(job.outcomes.keys).isSubset(of: ["ignored"]), "\(job)")
        try await expectSame(new, old)
        await old.library.close()
        await new.library.close()
    }

    @Test func whatLiesBesideTheFolderIsIgnoredAndListed() async throws {
        let (old, path) = try await library()
        let photo = try await old.allPhotos()[0]
        let script = """
            mkdir photos && echo other > \(photo.path) && echo note > note.txt && echo more > family/more.txt
            zip -q -r "$0" .
            """
        let packed = try repack(path, in: old, ["bash", "-e", "-c", script, "OUT"])
        for salvage in [nil, true] {
            let new = try await empty(like: old)
            let job = try await new.run(RestoreBackup(path: packed, salvage: salvage))
            #expect(job.state == .finished && job.outcomes == ["ignored": 3], "\(job)")
            let ignored = Set(try await new.lines(job.id).map(\.item))
            #expect(ignored == [photo.path, "note.txt", "family/more.txt"])
            try await expectSame(new, old)
            await new.library.close()
        }
        await old.library.close()
    }

    @Test func oneThatIsDamagedIsRefusedAndSalvaged() async throws {
        let (old, path) = try await library()
        let packed = try repack(path, in: old, ["zip", "-q", "-r", "-0", "OUT", "family"])
        let photo = try await old.allPhotos()[2]
        var bytes = try Data(contentsOf: URL(fileURLWithPath: packed))
        let start = try #require(bytes.range(of: try old.bytes(photo.path))).lowerBound
        bytes[start + 100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: packed))
        #expect(try await old.run(VerifyBackup(path: packed)).error?.details["entry"] == .string(photo.path))
        let new = try await empty(like: old)
        let job = try await new.run(RestoreBackup(path: packed, salvage: true))
        #expect(job.state == .finished && job.outcomes == ["damaged": 1], "\(job)")
        #expect(try await new.lines(job.id).map(\.item) == [photo.path])
        #expect(try await new.allPhotos() == old.allPhotos().filter { $0.uuid != photo.uuid })
        await old.library.close()
        await new.library.close()
    }
}
