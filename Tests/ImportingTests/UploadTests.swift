import Executors
import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// Files that come in pieces.
@Suite struct UploadTests {
    /// The bytes of a picture that no other test's is.
    private func picture(_ test: TestLibrary, _ number: Int = 0) throws -> [UInt8] {
        let folder = test.folder.file("album-\(number)")
        try SampleAlbum(width: 64, height: 48).write(count: number + 1, to: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
        return Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + names[number])))
    }

    private func write(_ bytes: some Collection<UInt8>, to opened: OpenedUpload) throws {
        let content = try #require(opened.content)
        let bytes = Array(bytes)
        #expect(content.withDescriptor { Foundation.write($0, bytes, bytes.count) } == bytes.count)
    }

    private func upload(
        _ name: String, in folder: String? = nil, _ bytes: [UInt8], _ test: TestLibrary
    ) async throws -> String {
        let opened = try await test.mesh.send(BeginUpload(name: name, folder: folder, size: Int64(bytes.count)))
        try write(bytes, to: opened)
        return opened.upload
    }

    private func left(_ test: TestLibrary) throws -> [String] { try test.files("uploads") }

    @Test func anUploadThatWasCutGoesOnAndBecomesAPhoto() async throws {
        let test = try await TestLibrary()
        let bytes = try picture(test)
        let taken = Timestamp(milliseconds: 1_560_340_800_000)
        let begun = try await test.mesh.send(
            BeginUpload(name: "Ferien.jpg", size: Int64(bytes.count), modifiedAt: taken))
        try write(bytes.prefix(100), to: begun)
        #expect(begun.rest == Int64(bytes.count) && begun.room > begun.rest)
        let half = try await test.mesh.send(ResumeUpload(upload: begun.upload))
        #expect(half.offset == 100 && half.rest == Int64(bytes.count) - 100)
        let state = try await test.mesh.send(GetUploads(ids: [begun.upload, "nobody", begun.upload.uppercased()]))
            .uploads
        #expect(state.count == 2 && state[0].received == 100 && state[0].name == "Ferien.jpg")
        #expect(state[0].size == Int64(bytes.count))
        // Not before all of it is there.
        let early = await #expect(throws: MeshError.self) {
            try await test.mesh.send(ImportPhotos(uploads: [begun.upload]))
        }
        #expect(early?.status == .failedPrecondition && early?.details["received"] == 100)

        let resumed = try await test.mesh.send(ResumeUpload(upload: begun.upload))
        #expect(resumed.offset == 100)
        try write(bytes.dropFirst(100), to: resumed)
        let job = try await test.run(ImportPhotos(uploads: [begun.upload]))
        #expect(job.outcomes == ["imported": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.name == "Ferien")
        #expect(try test.bytes(photo.path) == Data(bytes))
        // Nobody who uploads knows of the folder that it was put into.
        #expect(try await test.lines(job.id).map(\.item) == ["Ferien.jpg"])
        #expect(try left(test).isEmpty)
        #expect(try await test.mesh.send(GetUploads(ids: [begun.upload])).uploads.isEmpty)
        #expect(await status { _ = try await test.mesh.send(ResumeUpload(upload: begun.upload)) } == .notFound)
        #expect(await status { _ = try await test.mesh.send(ImportPhotos(uploads: [begun.upload])) } == .notFound)
        await test.library.close()
    }

    @Test func uploadsAreImportedTogetherWithWhatBelongsToThem() async throws {
        let test = try await TestLibrary()
        let sidecar = #"{"title":"a.jpg","description":"At the beach","photoTakenTime":{"timestamp":"1560340800"}}"#
        let ids = [
            try await upload("a.jpg", picture(test, 0), test),
            try await upload("a.jpg.json", Array(sidecar.utf8), test),
            try await upload("A.jpg", picture(test, 1), test), try await upload("notes.txt", Array("x".utf8), test),
            try await upload("broken.jpg", [0xFF, 0xD8, 0xFF, 0xE0, 0, 1], test),
        ]
        let job = try await test.run(ImportPhotos(uploads: ids))
        #expect(job.outcomes["imported"] == 2 && job.outcomes.count == 2)
        let photos = try await test.allPhotos()
        #expect(Set(photos.map(\.name)) == ["a", "A (2)"])
        #expect(photos.first { $0.name == "a" }?.caption == "At the beach")
        #expect(try left(test).isEmpty)
        await test.library.close()
    }

    /// Cameras begin to count anew, and each folder has its `IMG_0001.jpg`.
    @Test func filesOfOneNameHaveTheSidecarsOfTheirFolders() async throws {
        let test = try await TestLibrary()
        func sidecar(_ caption: String) -> [UInt8] {
            Array(#"{"title":"a.jpg","description":"\#(caption)","photoTakenTime":{"timestamp":"1560340800"}}"#.utf8)
        }
        let ids = [
            try await upload("a.jpg", in: "Trip/Day 1", picture(test, 0), test),
            try await upload("a.jpg", in: "Trip\\Day 2/", picture(test, 1), test),
            try await upload("a.jpg", picture(test, 2), test),
            try await upload("a.jpg.json", in: "Trip/Day 2", sidecar("Second"), test),
            try await upload("a.jpg.json", in: "Trip/Day 1", sidecar("First"), test),
            try await upload("c.jpg", in: "\u{C9}t\u{E9}", picture(test, 4), test),
            try await upload("c.jpg", in: "E\u{301}te\u{301}", picture(test, 5), test),
            try await upload("b.jpg", in: "../../..", Array("no picture".utf8), test),
            // A folder that is called as a file, and the other way round.
            try await upload("A.JPG", in: "a.jpg/b.jpg", picture(test, 3), test),
        ]
        let job = try await test.run(ImportPhotos(uploads: ids))
        #expect(job.outcomes["imported"] == 6 && job.outcomes["unsupported"] == 1, "\(job.outcomes)")
        let captions = try await test.allPhotos().map { $0.caption ?? "" }
        #expect(captions.sorted() == ["", "", "", "", "First", "Second"])
        let items = try await test.lines(job.id).map(\.item)
        #expect(
            Set(items) == [
                "Trip/Day 1/a.jpg", "Trip/Day 2/a.jpg", "a (2).jpg", "b.jpg", "a.jpg/b.jpg/A.JPG", "Été/c.jpg",
                "Été/c (2).jpg",
            ],
            "\(items)")
        #expect(try left(test).isEmpty)
        await test.library.close()
    }

    /// A clock that is wrong, and numbers that no file system takes, keep no picture out.
    @Test(arguments: [Int64.min, -1, 0, 4_102_444_800_000, Int64.max]) func timesThatCannotBeAreNone(
        _ milliseconds: Int64
    ) async throws {
        let test = try await TestLibrary()
        let bytes = try picture(test)
        let begun = try await test.mesh.send(
            BeginUpload(
                name: "a.jpg", size: Int64(bytes.count), modifiedAt: Timestamp(milliseconds: milliseconds)))
        try write(bytes, to: begun)
        #expect(try await test.run(ImportPhotos(uploads: [begun.upload])).outcomes == ["imported": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect((photo.takenAt.map { "\($0)" } ?? "") < "2100")
        await test.library.close()
    }

    @Test func whatANameCannotBeIsLeftOut() async throws {
        for (name, harmless) in [
            ("../../etc/passwd", "passwd"), ("C:\\Users\\ada\\x.jpg", "x.jpg"), ("..", nil), ("", nil), ("/", nil),
            (".hidden.jpg", "hidden.jpg"), ("a\nb\0c\u{202E}gpj.jpg", "a_b_c_gpj.jpg"), (" x.jpg. ", "x.jpg"),
            ("été 🎉.jpg", "été 🎉.jpg"), (String(repeating: "x", count: 5_000), nil),
        ] as [(String, String?)] {
            #expect(UploadName.harmless(name) == harmless, "\(name)")
        }
        for (folder, harmless) in [
            ("Trip/Day 1", "Trip/Day 1"), ("../../x", "x"), ("/a//b/./", "a/b"), ("..", nil), ("", nil),
            ("a/\u{301}b/.\u{301}c", "a/\u{301}b/\u{301}c"), ("C:\\Fotos\\.hidden", "C:/Fotos/hidden"),
            ("1/2/3/4/5/6/7/8/9", "2/3/4/5/6/7/8/9"),
        ] as [(String, String?)] {
            #expect(UploadName.harmless(folder: folder) == harmless, "\(folder)")
        }
        let long = try #require(UploadName.harmless(String(repeating: "é", count: 500) + ".jpeg"))
        #expect(long.utf8.count <= 200 && long.hasSuffix("é.jpeg"))
        #expect(UploadName.numbered("a.tar.jpg", 3) == "a.tar (3).jpg" && UploadName.numbered("a", 1) == "a")
        let test = try await TestLibrary()
        let bytes = try picture(test)
        let id = try await upload("../../../catalogue.sqlite", bytes, test)
        #expect(try await test.mesh.send(GetUploads(ids: [id])).uploads.map(\.name) == ["catalogue.sqlite"])
        #expect(try await test.run(ImportPhotos(uploads: [id])).outcomes == ["imported": 1])
        await test.library.close()
    }

    @Test func whatCannotBeAnUploadIsRefused() async throws {
        let test = try await TestLibrary()
        #expect(await status { _ = try await test.mesh.send(BeginUpload(name: "..")) } == .invalidArgument)
        #expect(await status { _ = try await test.mesh.send(BeginUpload(name: "a.jpg", size: -1)) } == .invalidArgument)
        let huge = BeginUpload(name: "a.jpg", size: BeginUpload.maximumBytes + 1)
        #expect(await status { _ = try await test.mesh.send(huge) } == .resourceExhausted)
        #expect(await status { _ = try await test.mesh.send(ResumeUpload(upload: "../../x")) } == .notFound)
        let id = try await upload("a.jpg", picture(test), test)
        for wrong in [
            ImportPhotos(uploads: []), ImportPhotos(uploads: [id, id]),
            ImportPhotos(uploads: [id]).with(list: "list"),
        ] where wrong.uploads != nil {
            #expect(await status { _ = try await test.mesh.send(wrong) } == .invalidArgument)
        }
        // A refusal uses nothing up.
        #expect(await status { _ = try await test.mesh.send(ImportPhotos(uploads: [id], categoryId: 99)) } == .notFound)
        #expect(await status { _ = try await test.mesh.send(ImportPhotos(uploads: [id, "nobody"])) } == .notFound)
        #expect(try await test.mesh.send(GetUploads(ids: [id])).uploads.count == 1)
        for _ in 1...2 { _ = try await test.mesh.send(DiscardUpload(upload: id)) }
        #expect(try await test.mesh.send(GetUploads(ids: [id])).uploads.isEmpty)
        #expect(try left(test).isEmpty)
        await test.library.close()
    }

    @Test func moreThanWasAnnouncedIsDiscarded() async throws {
        let test = try await TestLibrary()
        let begun = try await test.mesh.send(BeginUpload(name: "a.jpg", size: 10))
        try write(Array(repeating: UInt8(1), count: 11), to: begun)
        #expect(
            await status { _ = try await test.mesh.send(ImportPhotos(uploads: [begun.upload])) } == .failedPrecondition)
        #expect(try await test.mesh.send(GetUploads(ids: [begun.upload])).uploads.isEmpty)
        #expect(try left(test).isEmpty)
        await test.library.close()
    }

    @Test func uploadsOutliveTheDaemonForADay() async throws {
        let test = try await TestLibrary()
        let (young, old) = (
            try await upload("young.jpg", picture(test, 0), test), try await upload("old.jpg", picture(test, 1), test)
        )
        await test.library.close()
        let folder = test.path + "/uploads/"
        for name in [old + ".part", old + ".json"] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -86_500)], ofItemAtPath: folder + name)
        }
        // What an import that never ran has left.
        let claimed = folder + "import-00000000-0000-4000-8000-000000000000"
        try FileManager.default.createDirectory(atPath: claimed, withIntermediateDirectories: true)
        try Data("x".utf8).write(to: URL(fileURLWithPath: claimed + "/x.jpg"))
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -8 * 86_400)], ofItemAtPath: claimed)
        let library = try await test.reopened()
        #expect(try await library.mesh.send(GetUploads(ids: [young, old])).uploads.map(\.upload) == [young])
        #expect(try left(test).sorted() == [young + ".json", young + ".part"])
        await library.close()
    }

    // MARK: From afar

    /// A full pipe makes its writer wait.
    private static let writers = BlockingPool(name: "test-writer", threads: 1)

    private func afar<M: HandledMessage>(_ message: M, _ test: TestLibrary) async throws -> M.Reply {
        try await test.mesh.send(message, in: .root(mesh: test.mesh, role: .parent, isFromAfar: true, caller: "phone"))
    }

    /// Writes until no more is taken; the signal that such a writer gets too is not for the tests.
    private func pour(_ count: Int, into opened: OpenedUpload) async throws -> Int {
        let content = try #require(opened.content)
        return try await Self.writers.run {
            signal(SIGPIPE, SIG_IGN)
            let bytes = [UInt8](repeating: 0xFF, count: count)
            return content.withDescriptor { Foundation.write($0, bytes, bytes.count) }
        }
    }

    /// Whether nobody takes any more what is written. A process that is just being started has the pipe's other end too, until it runs its
    /// own program.
    private func isEnded(_ opened: OpenedUpload) async throws -> Bool {
        for _ in 0..<10_000 { if try await pour(1, into: opened) < 0 { return true } }
        return false
    }

    /// Whoever speaks for a browser may be somebody else's by now: however much they write, no more is kept than was announced
    /// and the one byte that tells of it.
    @Test func fromAfarNoMoreIsKeptThanWasAnnounced() async throws {
        let test = try await TestLibrary()
        let begun = try await afar(BeginUpload(name: "a.jpg", size: 10), test)
        // The first write may fill the pipe; then nobody takes it any more.
        var refused = false
        for _ in 0..<8 where !refused { refused = try await pour(1 << 20, into: begun) < 0 }
        #expect(refused)
        let size = try FileManager.default.attributesOfItem(atPath: test.path + "/uploads/\(begun.upload).part")[.size]
        #expect(size as? Int == 11)
        let content = try #require(begun.content)
        #expect(content.withDescriptor { ftruncate($0, 1 << 40) } != 0)
        #expect(
            await status { _ = try await test.mesh.send(ImportPhotos(uploads: [begun.upload])) } == .failedPrecondition)
        #expect(try await test.mesh.send(GetUploads(ids: [begun.upload])).uploads.isEmpty)
        #expect(try left(test).isEmpty)
        await test.library.close()
    }

    @Test func fromAfarWhatWasWrittenIsThereOnceItIsAskedFor() async throws {
        let test = try await TestLibrary()
        let bytes = try picture(test)
        let first = try await afar(BeginUpload(name: "a.jpg", size: Int64(bytes.count)), test)
        try write(bytes.prefix(100), to: first)
        #expect(try await afar(GetUploads(ids: [first.upload]), test).uploads.map(\.received) == [100])
        try write(bytes[100..<200], to: first)
        let second = try await afar(ResumeUpload(upload: first.upload), test)
        #expect(second.offset == 200 && second.rest == Int64(bytes.count) - 200)
        // Who wrote before has nothing more to say.
        #expect(try await isEnded(first))
        try write(bytes.dropFirst(200), to: second)
        let job = try await test.run(ImportPhotos(uploads: [first.upload]))
        #expect(job.outcomes == ["imported": 1])
        #expect(try await isEnded(second))
        let photo = try #require(try await test.allPhotos().first)
        #expect(try test.bytes(photo.path) == Data(bytes))
        #expect(try left(test).isEmpty)
        await test.library.close()
    }

    /// Each costs the daemon two descriptors, whoever opens them.
    @Test func fromAfarAHundredUploadsAreOpenAtOnceAndTheOldestEnd() async throws {
        let test = try await TestLibrary()
        var opened: [OpenedUpload] = []
        for number in 0..<100 { opened.append(try await afar(BeginUpload(name: "\(number).jpg", size: 3), test)) }
        // The pipe of one that has ended is closed a moment later: what goes into it until then is lost, and not told as received.
        for upload in opened { _ = try await pour(3, into: upload) }
        #expect(try await isEnded(opened[0]))
        let states = try await afar(GetUploads(ids: opened.map(\.upload)), test).uploads
        #expect(
            states.filter { $0.received == 3 }.map(\.upload) == opened.suffix(BeginUpload.maximumPipes).map(\.upload))
        // And can be gone on with.
        let again = try await afar(ResumeUpload(upload: opened[0].upload), test)
        #expect(try await pour(3, into: again) == 3)
        await test.library.close()
    }

    /// The library's own files are no sources, whatever lies beside uploads.
    @Test func nothingElseOfTheLibraryIsImported() async throws {
        let test = try await TestLibrary()
        _ = try await test.importSamples(1)
        _ = try await upload("a.jpg", picture(test, 3), test)
        let job = try await test.run(ImportPhotos(paths: [test.path + "/photos", test.path]))
        #expect(job.outcomes["imported"] == nil && job.outcomes["unreadable"] == 2)
        await test.library.close()
    }
}
