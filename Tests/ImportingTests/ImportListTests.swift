import Foundation
import LibraryModel
import LibraryTestSupport
@testable import Importing
import SampleAlbum
import ServiceMesh
import SmilePile
import Testing

/// Paths that come in several requests make one import.
@Suite struct ImportListTests {
    @Test func aListMakesOneJobWithOneReceiptAndIsUsedUpByThat() async throws {
        let test = try await TestLibrary()
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 6, to: album)
        let files = try FileManager.default.contentsOfDirectory(atPath: album).sorted().map { album + "/" + $0 }
        let first = try await test.mesh.send(CollectImportPaths(paths: Array(files.prefix(2))))
        #expect(first.count == 2)
        // The same path twice is one file.
        let second = try await test.mesh.send(CollectImportPaths(paths: Array(files.dropFirst()), list: first.list))
        #expect(second == ImportPathList(list: first.list, count: 7))
        let job = try await test.run(ImportPhotos(list: first.list))
        #expect(job.state == .finished && job.outcomes == ["imported": 6])
        #expect(try await test.lines(job.id).map(\.item).sorted() == files)
        let again = await status { _ = try await test.mesh.send(ImportPhotos(list: first.list)) }
        #expect(again == .notFound)
        await test.library.close()
    }

    @Test func whatIsWrongWithAListIsSaidBeforeAnythingStarts() async throws {
        let test = try await TestLibrary()
        let mesh = test.mesh
        #expect(await status { _ = try await mesh.send(CollectImportPaths(paths: [])) } == .invalidArgument)
        #expect(await status { _ = try await mesh.send(CollectImportPaths(paths: ["a"])) } == .invalidArgument)
        #expect(await status { _ = try await mesh.send(CollectImportPaths(paths: ["/a"], list: "no")) } == .notFound)
        let list = try await mesh.send(CollectImportPaths(paths: ["/nowhere"])).list
        let json = Data(#"{"paths":["/a"],"list":"\#(list)"}"#.utf8)
        let both = try JSONDecoder().decode(ImportPhotos.self, from: json)
        #expect(await status { _ = try await mesh.send(both) } == .invalidArgument)
        #expect(await status { _ = try await mesh.send(ImportPhotos(list: list)) } == .notFound)
        #expect(try await mesh.send(ListJobs()).jobs.isEmpty)
        await test.library.close()
    }

    @Test func listsHaveBoundsAndAreForgotten() throws {
        var lists = PathLists()
        let minute: UInt64 = 60_000_000_000
        var last = ""
        for _ in 0..<CollectImportPaths.lists { last = try lists.add(["/a"], to: nil, now: minute).list }
        #expect(throws: MeshError.self) { try lists.add(["/a"], to: nil, now: 2 * minute) }
        // Those that nobody has touched for ten minutes are gone, and make room.
        #expect(try lists.add(["/b"], to: last, now: 5 * minute).count == 2)
        _ = try lists.add(["/a"], to: nil, now: 12 * minute)
        #expect(try lists.take(last, now: 12 * minute) == ["/a", "/b"])
        // Also where nobody has added anything since.
        let forgotten = try lists.add(["/a"], to: nil, now: 12 * minute).list
        #expect(throws: MeshError.self) { try lists.take(forgotten, now: 22 * minute) }

        let long = "/" + String(repeating: "x", count: 1 << 20)
        let full = try lists.add(Array(repeating: long, count: 15), to: nil, now: 12 * minute)
        do {
            _ = try lists.add([long], to: full.list, now: 12 * minute)
            Issue.record("16 MiB and 16 bytes were taken")
        } catch let error as MeshError {
            #expect(error.shortage == .size)
        }
        #expect(try lists.take(full.list, now: 12 * minute).count == 15)

        // Short ones take memory too.
        let most = CollectImportPaths.bytes / 33
        let short = try lists.add(Array(repeating: "/", count: most), to: nil, now: 12 * minute)
        #expect(throws: MeshError.self) { try lists.add(["/"], to: short.list, now: 12 * minute) }
    }
}
