import CatalogueTestSupport
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// Folders that are imported from by themselves: real files, and pauses of milliseconds.
@Suite(.serialized) struct WatchedFolderTests {
    private let folder: TemporaryFolder
    private let watched: String

    init() throws {
        folder = try TemporaryFolder("watched")
        watched = folder.file("phone")
        try FileManager.default.createDirectory(atPath: watched, withIntermediateDirectories: false)
    }

    private func openLibrary() async throws -> PhotoLibrary {
        var options = PhotoLibrary.Options.repeating(workers: 2)
        options.keyFile = folder.file("config/sealing.key")
        options.folderPauses.quiet = .milliseconds(20)
        options.folderPauses.unsettled = .milliseconds(50)
        options.folderPauses.missing = .milliseconds(50)
        options.folderPauses.polling = .milliseconds(200)
        return try await PhotoLibrary.open(at: folder.file("library"), options: options)
    }

    /// Pictures that are like no other's.
    private func samples(_ range: Range<Int>) throws -> [Data] {
        let album = folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: range.upperBound, to: album)
        let names = try FileManager.default.contentsOfDirectory(atPath: album).filter { $0.hasSuffix(".jpg") }.sorted()
        return try range.map { try Data(contentsOf: URL(fileURLWithPath: album + "/" + names[$0])) }
    }

    private func put(_ picture: Data, _ name: String) throws {
        try picture.write(to: URL(fileURLWithPath: watched + "/" + name))
    }

    private func count(_ library: PhotoLibrary) async throws -> Int {
        try await library.mesh.send(CountPhotos()).count
    }

    private func only(_ library: PhotoLibrary) async throws -> WatchedFolder {
        let folders = try await library.mesh.send(ListWatchedFolders()).folders
        return try #require(folders.count == 1 ? folders.first : nil)
    }

    @Test func whatIsThereAndWhatComesIsImportedOnceItsWriterHasClosedIt() async throws {
        let library = try await openLibrary()
        let pictures = try samples(0..<5)
        try put(pictures[0], "a.jpg")
        let category = try await library.mesh.send(AddCategory(displayName: "Phone"))
        let added = try await library.mesh.send(WatchFolder(path: watched + "/", categoryId: category.id))
        #expect(added.path == watched && added.state == .watching)
        try await poll(for: "what was there") { try await count(library) == 1 }

        // One is written in two parts, while another one comes whole.
        let slow = open(watched + "/slow.jpg", O_WRONLY | O_CREAT, 0o644)
        let bytes = Array(pictures[1])
        #expect(write(slow, bytes, bytes.count / 2) == bytes.count / 2)
        try FileManager.default.createDirectory(atPath: watched + "/2024", withIntermediateDirectories: false)
        try put(pictures[2], "2024/b.jpg")
        try put(pictures[3], "c.jpg.part")
        try await poll(for: "the one that is whole") { try await count(library) == 2 }
        let folderOfSlow = try await only(library)
        let job = try #require(folderOfSlow.job)
        let end = try await library.mesh.send(WaitForJob(job: job))
        #expect(end.state == .finished && end.outcomes["damaged"] == nil)
        let rest = Array(bytes[(bytes.count / 2)...])
        #expect(write(slow, rest, rest.count) == rest.count)
        close(slow)
        try FileManager.default.moveItem(atPath: watched + "/c.jpg.part", toPath: watched + "/c.jpg")
        try await poll(for: "both") { try await count(library) == 4 }
        let photos = try await library.mesh.send(SearchPhotos(limit: 10)).photos
        #expect(photos.allSatisfy { $0.categoryId == category.id })
        let slowPhoto = try #require(photos.first { $0.sourceName == "slow.jpg" })
        #expect(slowPhoto.fileSize == bytes.count)

        // Over a restart, with what came meanwhile; what is deleted there stays here.
        await library.close()
        try put(pictures[4], "d.jpg")
        try FileManager.default.removeItem(atPath: watched + "/a.jpg")
        let again = try await openLibrary()
        try await poll(for: "what came meanwhile") { try await count(again) == 5 }
        #expect(try await only(again).categoryId == category.id)

        // And then no more.
        #expect(try await again.mesh.send(UnwatchFolder(path: watched)).folders.isEmpty)
        try put(try samples(5..<6)[0], "e.jpg")
        #expect(try await again.mesh.send(ListWatchedFolders()).folders.isEmpty)
        await again.close()
        let last = try await openLibrary()
        #expect(try await last.mesh.send(ListWatchedFolders()).folders.isEmpty)
        #expect(try await count(last) == 5)
        await last.close()
    }

    @Test func aFolderThatGoesIsWaitedFor() async throws {
        let library = try await openLibrary()
        _ = try await library.mesh.send(WatchFolder(path: watched))
        let pictures = try samples(0..<2)
        try put(pictures[0], "a.jpg")
        try await poll(for: "the first") { try await count(library) == 1 }
        try FileManager.default.moveItem(atPath: watched, toPath: watched + " elsewhere")
        try await poll(for: "it to be missed") { try await only(library).state == .missing }
        try Data(pictures[1]).write(to: URL(fileURLWithPath: watched + " elsewhere/b.jpg"))
        try FileManager.default.moveItem(atPath: watched + " elsewhere", toPath: watched)
        try await poll(for: "what is in it now") { try await count(library) == 2 }
        #expect(try await only(library).state == .watching)
        await library.close()
    }

    @Test func onlyFoldersThatCanBeWatchedAre() async throws {
        let library = try await openLibrary()
        try FileManager.default.createDirectory(atPath: watched + "/below", withIntermediateDirectories: false)
        try Data().write(to: URL(fileURLWithPath: folder.file("file")))
        func refusal(_ path: String, _ category: Int64? = nil) async -> MeshStatus? {
            do {
                _ = try await library.mesh.send(WatchFolder(path: path, categoryId: category))
                return nil
            } catch {
                return MeshError(describing: error).status
            }
        }
        #expect(await refusal("phone") == .invalidArgument)
        #expect(await refusal(folder.file("file")) == .invalidArgument)
        #expect(await refusal(folder.file("nothing")) == .notFound)
        #expect(await refusal(library.path) == .invalidArgument)
        #expect(await refusal(library.path + "/photos") == .invalidArgument)
        #expect(await refusal(folder.path) == .invalidArgument)
        #expect(await refusal(watched, 4711) == .notFound)
        #expect(try await library.mesh.send(ListWatchedFolders()).folders.isEmpty)
        // By another way to it, it is the same folder.
        try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: watched)
        #expect(await refusal(folder.file("link")) == nil)
        #expect(try await only(library).path == watched)
        #expect(await refusal(watched) == .alreadyExists)
        #expect(await refusal(watched + "/below") == .alreadyExists)
        #expect(try await library.mesh.send(UnwatchFolder(path: folder.file("link"))).folders.isEmpty)
        await #expect(throws: MeshError.self) { try await library.mesh.send(UnwatchFolder(path: watched)) }
        for number in 0..<WatchFolder.maximumCount {
            let path = folder.file("many-\(number)")
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
            #expect(await refusal(path) == nil)
        }
        #expect(await refusal(watched) == .resourceExhausted)
        await library.close()
    }
}
