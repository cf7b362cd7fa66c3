import Executors
import Files
import Foundation
import Imaging
import LibraryModel
import LibraryStorage
import PhotoFolder
import SQLiteCatalogue
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What every way to keep the files of photos promises.
@Suite(.timeLimit(.minutes(4))) struct PhotoFilesTests {
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case folder, objects

        var testDescription: String { rawValue }

        func make(in root: String) throws -> any PhotoFiles {
            switch self {
            case .objects: return try FlatObjects(root)
            case .folder:
                let folder = LibraryFolder(path: root)
                // The second time files are there that a folder without a catalogue must not have.
                if !FileManager.default.fileExists(atPath: folder.photos) { try folder.make() }
                return folder
            }
        }
    }

    private func stage(_ text: String, in files: any PhotoFiles) throws -> String {
        let (name, descriptor) = try files.stage()
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        return name
    }

    /// A photo of this name, its thumbnail, its original, a sidecar and its preview.
    private func staged(_ name: String, in files: any PhotoFiles) throws -> [StagedFile] {
        try names(name).map { StagedFile(try stage("\($0.kind.rawValue) \(name)", in: files), as: $0) }
    }

    private func names(_ fileName: String) throws -> [StoredName] {
        PhotoNames(
            photo: try #require(StoredName(.photos, fileName)), originalExtension: ".heic",
            sidecarExtensions: [".xmp"]
        ).all
    }

    private func text(_ name: StoredName, in files: any PhotoFiles) throws -> String {
        try files.withReader(name) { source in
            var bytes = [UInt8](repeating: 0, count: 100)
            let count = try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: 0) }
            let rest = try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: Int64(count)) }
            #expect(rest == 0)
            let tail = try bytes.withUnsafeMutableBytes { buffer in
                try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<3]), at: 1)
            }
            #expect(tail == 3)
            _ = try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: 0) }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
    }

    @Test(arguments: Way.allCases) func publishedFilesAreThereAndSettled(_ way: Way) throws {
        let folder = try TemporaryFolder("files")
        let files = try way.make(in: folder.path)
        let photo = try #require(StoredName(.photos, "a.jpg"))
        #expect(try files.facts(photo) == nil)
        try files.publish(staged("a.jpg", in: files) + staged("b.jpg", in: files))
        #expect(try files.leftovers() == (names("a.jpg") + names("b.jpg")).sorted())
        #expect(try text(photo, in: files) == "photos a.jpg" && text(photo.thumbnail, in: files) == "thumbnails a.jpg")
        #expect(try text(photo.original(".heic"), in: files) == "originals a.jpg")
        let facts = try #require(try files.facts(photo))
        #expect(facts.size == 12 && facts.isFile)
        try files.settle(names("a.jpg") + names("b.jpg"))
        #expect(try files.leftovers().isEmpty)
        #expect(try files.list(.photos, after: nil).map(\.name.fileName) == ["a.jpg", "b.jpg"])
        #expect(try files.list(.photos, after: "a.jpg").map(\.size) == [12])
        #expect(try files.list(.thumbnails, after: nil).map(\.name.fileName) == ["thumb_a.jpg", "thumb_b.jpg"])
        #expect(
            try files.list(.originals, after: nil).map(\.name.fileName) == [
                "a.heic", "a.jpg.1.xmp", "b.heic", "b.jpg.1.xmp",
            ])
        #expect(files.remove([photo]) == [photo] && files.remove([photo]) == [photo])
        #expect(try files.facts(photo) == nil && files.facts(photo.thumbnail) != nil)
        #expect(try files.room() > 0)
    }

    @Test(arguments: Way.allCases) func aNameIsNeverTakenFromAnotherFile(_ way: Way) throws {
        let folder = try TemporaryFolder("files")
        let files = try way.make(in: folder.path)
        try files.publish(staged("a.jpg", in: files))
        try files.settle(names("a.jpg"))
        for name in try names("a.jpg") {
            let other = StagedFile(try stage("other", in: files), as: name)
            #expect(throws: NameTaken.self) { try files.publish([other]) }
            files.unstage([other.staged])
        }
        let photo = try #require(StoredName(.photos, "a.jpg"))
        #expect(try text(photo, in: files) == "photos a.jpg")
        #expect(try files.leftovers().isEmpty)
    }

    @Test(arguments: Way.allCases) func whatIsWithdrawnLeavesNothing(_ way: Way) throws {
        let folder = try TemporaryFolder("files")
        var files = try way.make(in: folder.path)
        try files.publish(staged("a.jpg", in: files))
        try files.settle(names("a.jpg"))
        try files.publish(staged("b.jpg", in: files))
        _ = try stage("begun", in: files)
        // As after a kill: another one finds what was under way.
        files = try way.make(in: folder.path)
        let left = try files.leftovers()
        #expect(try left.count == 6 && Set(left).isSuperset(of: names("b.jpg")))
        try files.withdraw(left)
        #expect(try files.leftovers().isEmpty)
        #expect(try files.list(.photos, after: nil).map(\.name.fileName) == ["a.jpg"])
        #expect(try files.list(.thumbnails, after: nil).map(\.name.fileName) == ["thumb_a.jpg"])
        #expect(try files.list(.originals, after: nil).map(\.name.fileName) == ["a.heic", "a.jpg.1.xmp"])
    }

    @Test(arguments: Way.allCases, [StoredName.Kind.thumbnails, .previews])
    func whatCanBeMadeAgainIsReplaced(_ way: Way, _ kind: StoredName.Kind) throws {
        let folder = try TemporaryFolder("files")
        var files = try way.make(in: folder.path)
        let photo = try #require(StoredName(.photos, "a.jpg"))
        let name = kind == .previews ? photo.preview : photo.thumbnail
        try files.publish(staged("a.jpg", in: files))
        // Over what an import has not settled, over what is there, and where nothing is.
        for text in ["the first", "the second"] {
            try files.replace(StagedFile(stage(text, in: files), as: name))
            #expect(try self.text(name, in: files) == text)
        }
        _ = files.remove([name])
        try files.replace(StagedFile(stage("the third", in: files), as: name))
        try files.settle(names("a.jpg"))
        #expect(try files.leftovers().isEmpty && files.list(kind, after: nil).count == 1)

        // As after a kill, or where the photo has gone: the record takes the file with it.
        try files.replace(StagedFile(stage("the fourth", in: files), as: name))
        files = try way.make(in: folder.path)
        #expect(try files.leftovers() == [name] && text(name, in: files) == "the fourth")
        try files.withdraw(files.leftovers())
        #expect(try files.leftovers().isEmpty && files.list(kind, after: nil).isEmpty)
        #expect(try text(photo, in: files) == "photos a.jpg")
    }

    @Test(arguments: Way.allCases) func aStoredFileIsOpened(_ way: Way) throws {
        let folder = try TemporaryFolder("files")
        let files = try way.make(in: folder.path)
        let photo = try #require(StoredName(.photos, "a.jpg"))
        #expect(throws: FileSystem.Failure.self) { try files.open(photo) }
        try files.publish(staged("a.jpg", in: files))
        let descriptor = try files.open(photo)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        #expect(String(decoding: bytes[..<max(0, count)], as: UTF8.self) == "photos a.jpg")
    }

    /// Whoever removes a photo's files does not know of one that is being made.
    @Test func aThumbnailOfAPhotoThatGoesMeanwhileGoesToo() async throws {
        let folder = try TemporaryFolder("objects")
        try SampleAlbum(width: 64, height: 48).write(count: 2, to: folder.file("album"))
        let library = try await ObjectLibrary(folder)
        #expect(try await library.run(ImportPhotos(paths: [folder.file("album")])).outcomes == ["imported": 2])
        let photos = try await library.mesh.send(SearchPhotos()).photos
        let thumbnail = try #require(StoredName(path: photos[0].thumbnailPath))
        _ = library.files.remove([thumbnail])
        let (isReplacing, isPhotoGone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        library.files.beforeReplacing.withLock {
            $0 = {
                isReplacing.signal()
                isPhotoGone.wait()
            }
        }
        let mesh = library.mesh
        let asking = Task { try await mesh.send(GetThumbnail(id: photos[0].id)) }
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                isReplacing.wait()
                continuation.resume()
            }
        }
        _ = try await mesh.send(DeletePhotos(ids: [photos[0].id]))
        #expect(try await mesh.send(PurgeTrash(all: true)).count == 1)
        isPhotoGone.signal()
        await #expect(throws: MeshError.self) { try await asking.value }
        #expect(try library.files.facts(thumbnail) == nil && library.files.leftovers().isEmpty)
        #expect(try library.files.list(.thumbnails, after: nil).count == 1)
        await library.close()
    }

    /// A library whose photos are kept as objects does what every library does.
    @Test func aLibraryOfObjectsServes() async throws {
        let folder = try TemporaryFolder("objects")
        let album = folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 6, to: album)
        for number in 0..<6 {
            // Without a place: there is no key to seal with.
            let taken = #""photoTakenTime": {"timestamp": "156000000\#(number)"}"#
            let sidecar = "{\"title\": \"sample-000\(number).jpg\", \(taken)}"
            try Data(sidecar.utf8).write(to: URL(fileURLWithPath: "\(album)/sample-000\(number).jpg.json"))
        }
        let backup = folder.file("b.zip")
        var library = try await ObjectLibrary(folder)
        #expect(try await library.run(ImportPhotos(paths: [album])).outcomes == ["imported": 6])
        #expect(try await library.run(ImportPhotos(paths: [album])).outcomes == ["duplicate": 6])
        let saved = try await library.run(CreateBackup(path: backup))
        #expect(saved.state == .finished && !saved.needsAttention, "\(saved)")
        #expect(try await library.run(VerifyBackup(path: backup)).state == .finished)

        let photos = try await library.mesh.send(SearchPhotos()).photos
        #expect(try await library.mesh.send(DeletePhotos(ids: photos.prefix(3).map(\.id))).count == 3)
        #expect(try await library.mesh.send(RestorePhotos(ids: [photos[0].id])).count == 1)
        #expect(try await library.mesh.send(PurgeTrash(all: true)).count == 2)
        #expect(library.files.objects.count == 12)
        #expect(try await library.mesh.send(GetStorageUsage()).photoCount == 4)

        await library.close()
        library = try await ObjectLibrary(folder)
        let restored = try await library.run(RestoreBackup(path: backup))
        #expect(restored.state == .finished && restored.receipt?["photosAdded"] == 2, "\(restored)")
        // Their photos, thumbnails and sidecars.
        #expect(library.files.objects.count == 18)
        let again = try await library.run(CreateBackup(path: folder.file("again.zip")))
        #expect(again.receipt?["photos"] == 6 && !again.needsAttention)

        _ = library.files.remove(try library.files.list(.thumbnails, after: nil).prefix(2).map(\.name))
        #expect(try await library.run(RebuildThumbnails()).receipt?["made"] == 2)
        let checked = try await library.run(RescanLibrary(digests: true))
        #expect(checked.state == .finished && checked.outcomes.isEmpty, "\(checked)")
        let lost = try #require(StoredName(path: photos[5].path))
        _ = library.files.remove([lost])
        #expect(try await library.run(RescanLibrary()).outcomes == ["missing": 1])
        let replaced = try await library.run(RestoreBackup(path: backup, mode: .replace))
        #expect(replaced.state == .finished, "\(replaced)")
        #expect(try await library.run(RescanLibrary(digests: true)).outcomes["missing"] == 1)
        #expect(try await library.mesh.send(GetLibraryStatus()).photos == 6)
        await library.close()
    }
}

/// A library over ``FlatObjects``.
private struct ObjectLibrary {
    let files: FlatObjects
    let mesh: Mesh
    private let catalogue: SQLiteCatalogue
    private let pools: [BlockingPool]

    init(_ folder: TemporaryFolder) async throws {
        let root = folder.file("library")
        let (files, pools) = (try FlatObjects(root), ["files", "bulk"].map { BlockingPool(name: $0, threads: 2) })
        let catalogue = try await SQLiteCatalogue(at: root + "/catalogue.sqlite")
        try FileManager.default.createDirectory(atPath: root + "/backups", withIntermediateDirectories: true)
        let worker = try #require(ImageWorkerPool.defaultExecutable())
        let filmWorker = try #require(ImageWorkerPool.defaultFilmExecutable())
        mesh = try Mesh(
            services: await PhotoLibrary.services(
                catalogue: catalogue, photoFiles: files,
                namedFiles: NamedFiles(library: root, files: SQLiteCatalogue.files(at: root), folders: []), path: root,
                scratch: root + "/staging", keyFile: nil, files: pools[0], bulk: pools[1],
                workers: ImageWorkerPool(executable: worker, workers: 2),
                filmWorkers: ImageWorkerPool(executable: filmWorker, workers: 2), width: 2),
            journal: catalogue.journal)
        (self.files, self.catalogue, self.pools) = (files, catalogue, pools)
        try await mesh.start()
    }

    func run<M: HandledJob>(_ message: M) async throws -> JobSnapshot {
        try await mesh.send(WaitForJob(job: try await mesh.send(message).job))
    }

    func close() async {
        await mesh.stop()
        await catalogue.close()
        for pool in pools { await pool.shutDown() }
    }
}
