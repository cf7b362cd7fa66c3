import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// Uploads that are imported as they arrive, with one receipt.
@Suite struct UploadSessionTests {
    private struct Sender {
        let mesh: Mesh
        var device: String? = "phone"
        var session = UUID().uuidString.lowercased()

        func send<M: HandledMessage>(_ message: M) async throws -> M.Reply {
            try await mesh.send(
                message, in: .root(mesh: mesh, role: .parent, isFromAfar: device != nil, caller: device))
        }

        func begin() async throws -> JobID { try await send(ImportUploads(session: session)).job }

        func announce(_ files: [AnnouncedFile], more: Bool = false) async throws -> [UploadPlace] {
            try await send(AnnounceUploads(session: session, files: files, more: more)).files
        }

        /// Sends one file, from where it is, as the web program does.
        func upload(_ bytes: [UInt8], as file: Int, until end: Int? = nil) async throws {
            let opened = try await send(BeginUpload(name: "x", session: session, file: file))
            let content = try #require(opened.content)
            let rest = Array(bytes[Int(opened.offset)..<(end ?? bytes.count)])
            #expect(content.withDescriptor { Foundation.write($0, rest, rest.count) } == rest.count)
            _ = try await send(GetUploads(ids: [opened.upload]))
        }

        func state() async throws -> UploadSessionState? { try await send(ListUploadSessions()).sessions.first }
    }

    /// The bytes of pictures of which no two are alike.
    private func pictures(_ count: Int, _ test: TestLibrary) throws -> [[UInt8]] {
        let folder = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: count, to: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jpg") }.sorted()
        return try names.prefix(count).map { Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))) }
    }

    private func announced(_ name: String, _ bytes: [UInt8], in folder: String? = nil) -> AnnouncedFile {
        AnnouncedFile(name: name, folder: folder, size: Int64(bytes.count), modifiedAt: nil)
    }

    private func lines(_ job: JobID, _ mesh: Mesh) async throws -> [String: String] {
        let lines = try await mesh.send(GetJobReceipt(job: job)).lines
        return Dictionary(lines.map { ($0.item, $0.outcome) }, uniquingKeysWith: { "\($0), \($1)" })
    }

    @Test func eachFileIsAPhotoWhenItIsThere() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(3, test)
        let job = try await sender.begin()
        let places = try await sender.announce(bytes.enumerated().map { announced("IMG_\($0).jpg", $1) })
        #expect(places == (0..<3).map { UploadPlace(file: $0, isMissing: true) })
        for number in 0..<2 {
            try await sender.upload(bytes[number], as: number)
            try await poll(for: "photo \(number)") { try await test.allPhotos().count == number + 1 }
        }
        let state = try #require(try await sender.state())
        #expect(state.job == job && state.files == 3 && state.missing == 1)
        #expect(state.missingBytes == Int64(bytes[2].count))
        #expect(try await sender.send(ListMissingUploads(session: sender.session)).names == ["IMG_2.jpg"])
        try await sender.upload(bytes[2], as: 2)
        let end = try await test.mesh.send(WaitForJob(job: job))
        #expect(end.state == .finished && end.outcomes == ["imported": 3] && !end.needsAttention)
        #expect(end.progress.itemsDone == 3 && end.progress.itemsTotal == 3)
        #expect(
            try await lines(job, test.mesh)
                == ["IMG_0.jpg": "imported", "IMG_1.jpg": "imported", "IMG_2.jpg": "imported"])
        #expect(try await sender.state() == nil)
        #expect(try test.files("uploads").isEmpty)
        await test.library.close()
    }

    @Test func theReceiptNamesEveryFile() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(2, test)
        let sidecar = Array(
            #"{"title":"a.jpg","description":"At the beach","photoTakenTime":{"timestamp":"1560340800"}}"#.utf8)
        let film: [UInt8] = [0, 0, 0, 24] + Array("ftypqt  ".utf8) + Array(repeating: 0, count: 64)
        let files: [(String, String?, [UInt8])] = [
            ("a.jpg", "Trip", bytes[0]), ("a.jpg.json", "Trip", sidecar), ("A.JPG", "Trip", bytes[1]),
            ("copy.jpg", nil, bytes[0]), ("empty.jpg", nil, []), ("film.mov", nil, film),
            ("notes.txt", nil, Array("x".utf8)), ("broken.jpg", nil, [0xFF, 0xD8, 0xFF, 0xE0, 0, 1]),
            (".hidden.jpg", nil, [1, 2, 3]),
        ]
        let job = try await sender.begin()
        var announcing = files.map { announced($0.0, $0.2, in: $0.1) }
        announcing.append(AnnouncedFile(name: "huge.mov", size: BeginUpload.maximumBytes + 1))
        announcing.append(AnnouncedFile(name: "never.jpg", size: 10))
        let places = try await sender.announce(announcing)
        #expect(places.map(\.isMissing) == Array(repeating: true, count: files.count) + [false, true])
        for (number, file) in files.enumerated() { try await sender.upload(file.2, as: number) }
        try await poll(for: "the photos") { try await test.allPhotos().count == 2 }
        _ = try await sender.send(EndUploadSession(session: sender.session))
        let end = try await test.mesh.send(WaitForJob(job: job))
        #expect(end.state == .finished && end.needsAttention)
        let lines = try await lines(job, test.mesh)
        #expect(lines.count == announcing.count, "\(lines)")
        #expect(lines["Trip/a.jpg"] == "imported" && lines["Trip/A (2).JPG"] == "imported")
        #expect(lines["Trip/a.jpg.json"] == "beside")
        #expect(lines["copy.jpg"] == "duplicate")
        #expect(lines["notes.txt"] == "passed_over")
        #expect(lines["huge.mov"] == "too_large" && lines["never.jpg"] == "not_sent")
        for name in ["empty.jpg", "broken.jpg", "hidden.jpg", "film.mov"] { #expect(lines[name] != nil, "\(name)") }
        #expect(try await test.allPhotos().contains { $0.caption == "At the beach" })
        #expect(try test.files("uploads").isEmpty)
        await test.library.close()
    }

    /// What comes before its sidecar waits for it.
    @Test func whatBelongsTogetherIsImportedTogether() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(2, test)
        let sidecar = Array(
            #"{"title":"a.jpg","description":"At the beach","photoTakenTime":{"timestamp":"1560340800"}}"#.utf8)
        let job = try await sender.begin()
        _ = try await sender.announce([
            announced("a.jpg", bytes[0]), announced("b.jpg", bytes[1]), announced("a.jpg.json", sidecar),
        ])
        try await sender.upload(bytes[0], as: 0)
        try await sender.upload(bytes[1], as: 1)
        try await poll(for: "the one without") { try await test.allPhotos().count == 1 }
        try await sender.upload(sidecar, as: 2)
        #expect(try await test.mesh.send(WaitForJob(job: job)).outcomes == ["imported": 2, "beside": 1])
        #expect(Set(try await test.allPhotos().map { $0.caption ?? "" }) == ["At the beach", ""])
        await test.library.close()
    }

    @Test func whatWasSentIsNotSentAgainAfterAReload() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(3, test)
        let files = bytes.enumerated().map { announced("IMG_\($0).jpg", $1, in: "DCIM") }
        let job = try await sender.begin()
        #expect(try await sender.announce(files, more: true).count == 3)
        try await sender.upload(bytes[0], as: 0)
        try await sender.upload(bytes[1], as: 1, until: 100)
        // The reply to the first request was lost, or another tab asks: the session stays the one that it is.
        #expect(await status { _ = try await sender.begin() } == .alreadyExists)
        #expect(try await sender.announce(files, more: true).map(\.isMissing) == [false, true, true])
        #expect(await status { try await sender.upload(bytes[0], as: 0) } == .alreadyExists)
        // From where it was.
        let opened = try await sender.send(BeginUpload(name: "x", session: sender.session, file: 1))
        #expect(opened.offset == 100)
        for number in 1...2 { try await sender.upload(bytes[number], as: number) }
        let others = try await sender.send(
            AnnounceUploads(session: sender.session, files: [announced("other.jpg", [1]), files[2]], onlyKnown: true))
        #expect(others.files == [UploadPlace(file: nil, isMissing: false), UploadPlace(file: 2, isMissing: false)])
        #expect(try await sender.announce(files).map(\.isMissing) == [false, false, false])
        #expect(try await test.mesh.send(WaitForJob(job: job)).outcomes == ["imported": 3])
        await test.library.close()
    }

    @Test func aSessionOutlivesTheDaemon() async throws {
        let test = try await TestLibrary()
        var sender = Sender(mesh: test.mesh)
        let bytes = try pictures(4, test)
        let files = bytes.enumerated().map { announced("IMG_\($0).jpg", $1) }
        let job = try await sender.begin()
        _ = try await sender.announce(files)
        try await sender.upload(bytes[0], as: 0)
        try await poll(for: "the first") { try await test.allPhotos().count == 1 }
        // It stands still, so that what comes lies on the disk when the daemon ends.
        _ = try await test.mesh.send(PauseJob(job: job))
        try await sender.upload(bytes[1], as: 1)
        try await sender.upload(bytes[2], as: 2, until: 50)
        await test.library.close()

        let library = try await test.reopened()
        sender = Sender(mesh: library.mesh, session: sender.session)
        let state = try #require(try await sender.state())
        #expect(state.job == job && state.missing == 2 && state.files == 4)
        #expect(try await sender.announce(files).map(\.isMissing) == [false, false, true, true])
        _ = try await library.mesh.send(ResumeJob(job: job))
        try await sender.upload(bytes[2], as: 2)
        try await sender.upload(bytes[3], as: 3)
        let end = try await library.mesh.send(WaitForJob(job: job))
        #expect(end.state == .finished && end.outcomes == ["imported": 4])
        #expect(try await lines(job, library.mesh).count == 4)
        #expect(try FileManager.default.contentsOfDirectory(atPath: test.path + "/uploads").isEmpty)
        await library.close()
    }

    /// A session that was broken off between any two of its steps has one line for each file, and each photo once.
    @Test func aBatchThatWasBrokenOffIsTakenUpAgain() async throws {
        let test = try await TestLibrary()
        var sender = Sender(mesh: test.mesh)
        let bytes = try pictures(3, test)
        let files = bytes.enumerated().map { announced("IMG_\($0).jpg", $1) }
        let job = try await sender.begin()
        _ = try await sender.announce(files)
        _ = try await test.mesh.send(PauseJob(job: job))
        // It may just be waiting for a file, and would take the first; begun anew it stands still before it waits.
        await test.library.close()
        let still = try await test.reopened()
        sender = Sender(mesh: still.mesh, session: sender.session)
        for number in 0..<3 { try await sender.upload(bytes[number], as: number) }
        await still.close()
        // As a kill leaves it that comes while the files of a batch are moved: one is in it, the others are not; and a line is cut.
        let folder = test.path + "/uploads"
        let batch = "import-00000000-0000-4000-8000-000000000001"
        try FileManager.default.createDirectory(atPath: "\(folder)/\(batch)", withIntermediateDirectories: false)
        let parts = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".part") }
        let moved = try #require(
            parts.first { name in
                FileManager.default.contents(atPath: "\(folder)/\(name)").map(Array.init) == bytes[0]
            })
        try FileManager.default.moveItem(atPath: "\(folder)/\(moved)", toPath: "\(folder)/\(batch)/IMG_0.jpg")
        let file = SessionFile(sender.session, in: folder)
        try file.append([
            SessionFile.Line(taken: UploadSession.Batch(folder: batch, files: [0, 1, 2]))
        ])
        let handle = try #require(FileHandle(forWritingAtPath: file.path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data("{\"settled\":\"import-0".utf8))
        try handle.close()

        let library = try await test.reopened()
        sender = Sender(mesh: library.mesh, session: sender.session)
        _ = try await library.mesh.send(ResumeJob(job: job))
        let end = try await library.mesh.send(WaitForJob(job: job))
        #expect(end.state == .finished && end.outcomes == ["imported": 3], "\(end.outcomes)")
        #expect(try await lines(job, library.mesh).count == 3)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        await library.close()
    }

    /// A batch that could not be moved is written down all the same; the next line about files says so.
    @Test func aBatchThatCouldNotBeMovedIsNoneAfterARestart() throws {
        let folder = try TemporaryFolder("session")
        let file = SessionFile("x", in: folder.path)
        let names = (0..<3).map { UploadSession.File(name: "\($0).jpg", folder: nil, size: 10, modifiedAt: nil) }
        let (first, second) = (
            UploadSession.Batch(folder: "import-1", files: [0, 1]), UploadSession.Batch(folder: "import-2", files: [1])
        )
        try file.append([
            SessionFile.Line(opened: SessionFile.Opened(device: "phone", categoryId: nil)),
            SessionFile.Line(added: names), SessionFile.Line(isWhole: true), SessionFile.Line(taken: first),
            SessionFile.Line(taken: second), SessionFile.Line(settled: "import-2"),
        ])
        let session = try #require(try file.read())
        #expect(session.states == [.missing(upload: nil), .settled, .missing(upload: nil)])
        #expect(session.missing == 2 && session.missingBytes == 20 && session.settled == 1 && session.batch == nil)
    }

    /// Whoever sent the last byte was cut off before anybody asked how much is there.
    @Test func aFileThatIsWholeWhenItIsGoneOnWithHasArrived() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(1, test)
        let job = try await sender.begin()
        _ = try await sender.announce([announced("a.jpg", bytes[0])])
        let opened = try await sender.send(BeginUpload(name: "x", session: sender.session, file: 0))
        let content = try #require(opened.content)
        #expect(content.withDescriptor { Foundation.write($0, bytes[0], bytes[0].count) } == bytes[0].count)
        let again = try await sender.send(BeginUpload(name: "x", session: sender.session, file: 0))
        #expect(again.offset == Int64(bytes[0].count))
        #expect(try await test.mesh.send(WaitForJob(job: job)).outcomes == ["imported": 1])
        await test.library.close()
    }

    /// What is half there stays for as long as its session, and a session that nobody goes on with ends by itself.
    @Test(arguments: [(days: 3, isThere: true), (days: 8, isThere: false)]) func aSessionLastsAWeek(
        days: Int, isThere: Bool
    ) async throws {
        let test = try await TestLibrary()
        var sender = Sender(mesh: test.mesh)
        let bytes = try pictures(2, test)
        let job = try await sender.begin()
        _ = try await sender.announce(bytes.enumerated().map { announced("IMG_\($0).jpg", $1) })
        try await sender.upload(bytes[0], as: 0)
        try await poll(for: "the first") { try await test.allPhotos().count == 1 }
        try await sender.upload(bytes[1], as: 1, until: 50)
        await test.library.close()
        let folder = test.path + "/uploads/"
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -86_400 * Double(days))], ofItemAtPath: folder + name)
        }
        let library = try await test.reopened()
        sender = Sender(mesh: library.mesh, session: sender.session)
        if isThere {
            #expect(try await sender.send(BeginUpload(name: "x", session: sender.session, file: 1)).offset == 50)
            try await sender.upload(bytes[1], as: 1)
        }
        let end = try await library.mesh.send(WaitForJob(job: job))
        #expect(end.outcomes == (isThere ? ["imported": 2] : ["imported": 1, "not_sent": 1]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        await library.close()
    }

    /// What has arrived is not lost because its place is gone.
    @Test func aCategoryThatIsDeletedMeanwhileLosesNothing() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(1, test)
        let category = try await test.mesh.send(AddCategory(displayName: "Phone")).id
        let job = try await sender.send(ImportUploads(session: sender.session, categoryId: category)).job
        _ = try await sender.announce([announced("a.jpg", bytes[0])])
        _ = try await test.mesh.send(PauseJob(job: job))
        await test.library.close()
        let library = try await test.reopened()
        _ = try await library.mesh.send(DeleteCategory(id: category))
        try await Sender(mesh: library.mesh, session: sender.session).upload(bytes[0], as: 0)
        _ = try await library.mesh.send(ResumeJob(job: job))
        #expect(try await library.mesh.send(WaitForJob(job: job)).outcomes == ["imported": 1])
        await library.close()
    }

    @Test func anotherDeviceIsRefused() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        let bytes = try pictures(1, test)
        let job = try await sender.begin()
        _ = try await sender.announce([announced("a.jpg", bytes[0]), announced("b.jpg", bytes[0])])
        try await sender.upload(bytes[0], as: 0, until: 10)
        let upload = try await sender.send(BeginUpload(name: "x", session: sender.session, file: 0)).upload
        let other = Sender(mesh: test.mesh, device: "tablet", session: sender.session)
        #expect(try await other.state() == nil)
        #expect(await status { _ = try await other.begin() } == .permissionDenied)
        #expect(await status { _ = try await other.announce([announced("c.jpg", [1])]) } == .permissionDenied)
        #expect(await status { try await other.upload(bytes[0], as: 1) } == .permissionDenied)
        #expect(
            await status { _ = try await other.send(ListMissingUploads(session: other.session)) } == .permissionDenied)
        #expect(
            await status { _ = try await other.send(EndUploadSession(session: other.session)) } == .permissionDenied)
        #expect(await status { _ = try await other.send(ResumeUpload(upload: upload)) } == .permissionDenied)
        #expect(await status { _ = try await other.send(DiscardUpload(upload: upload)) } == .permissionDenied)
        // A person at this machine may end what a lost phone left.
        let here = Sender(mesh: test.mesh, device: nil, session: sender.session)
        #expect(try await here.state()?.missing == 2)
        _ = try await here.send(EndUploadSession(session: sender.session))
        let end = try await test.mesh.send(WaitForJob(job: job))
        #expect(end.outcomes == ["not_sent": 2])
        #expect(try test.files("uploads").isEmpty)
        await test.library.close()
    }

    @Test func whatIsNoSessionIsRefused() async throws {
        let test = try await TestLibrary()
        var sender = Sender(mesh: test.mesh)
        #expect(await status { _ = try await sender.announce([]) } == .notFound)
        sender.session = "../../x"
        #expect(await status { _ = try await sender.begin() } == .invalidArgument)
        sender.session = UUID().uuidString.lowercased()
        let unknown = ImportUploads(session: sender.session, categoryId: 99)
        #expect(await status { _ = try await sender.send(unknown) } == .notFound)
        let job = try await sender.begin()
        for file in [-1, 0, 1] {
            #expect(await status { try await sender.upload([1], as: file) } == .invalidArgument)
        }
        #expect(await status { _ = try await sender.send(BeginUpload(name: "x", file: 0)) } == .invalidArgument)
        let negative = AnnouncedFile(name: "a.jpg", size: -1)
        #expect(await status { _ = try await sender.announce([negative]) } == .invalidArgument)
        _ = try await sender.announce([AnnouncedFile(name: "..", size: 1)])
        #expect(await status { _ = try await sender.announce([announced("b.jpg", [1])]) } == .failedPrecondition)
        #expect(try await sender.send(ListMissingUploads(session: sender.session)).names == ["file-0"])
        _ = try await test.mesh.send(CancelJob(job: job))
        let end = try await test.mesh.send(WaitForJob(job: job))
        #expect(end.state == .cancelled && end.outcomes == ["cancelled": 1])
        #expect(try await sender.state() == nil)
        for _ in 0..<ImportUploads.maximumSessions {
            sender.session = UUID().uuidString.lowercased()
            _ = try await sender.begin()
        }
        sender.session = UUID().uuidString.lowercased()
        #expect(await status { _ = try await sender.begin() } == .resourceExhausted)
        await test.library.close()
    }

    /// Of a hundred thousand names as many are taken as a session may have, and the rest is refused before it is kept.
    @Test func aSessionOfAHundredThousandNamesIsBounded() async throws {
        let test = try await TestLibrary()
        let sender = Sender(mesh: test.mesh)
        _ = try await sender.begin()
        var (taken, refused) = (0, 0)
        for page in 0..<(100_000 / AnnounceUploads.maximumCount) {
            let files = (0..<AnnounceUploads.maximumCount).map {
                AnnouncedFile(
                    name: "IMG_\(page * AnnounceUploads.maximumCount + $0).jpg", folder: "DCIM", size: 4_000_000)
            }
            do {
                taken += try await sender.announce(files, more: true).count
            } catch let error as MeshError where error.status == .resourceExhausted {
                refused += 1
            }
        }
        #expect(taken == AnnounceUploads.maximumFiles && refused == 160)
        let state = try #require(try await sender.state())
        #expect(state.files == AnnounceUploads.maximumFiles)
        let file = SessionFile(sender.session, in: test.path + "/uploads")
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        #expect(size < 4 << 20)
        let tooMany = (0...AnnounceUploads.maximumCount).map { AnnouncedFile(name: "\($0).jpg", size: 1) }
        #expect(await status { _ = try await sender.announce(tooMany) } == .invalidArgument)
        await test.library.close()
        let library = try await test.reopened()
        #expect(try await Sender(mesh: library.mesh, session: sender.session).state()?.files == state.files)
        await library.close()
    }

    @Test(arguments: [
        ("Trip/IMG_1.jpg", "trip/img_1"), ("IMG_1.jpg.supplemental-metadata.json", "img_1"), ("IMG_1(2).jpg", "img_1"),
        ("IMG_1-edited.jpg", "img_1"), ("IMG_1-bearbeitet(1).jpg", "img_1"), ("2019.06.12 0001.jpg", "2019"),
        ("-a.jpg", "-a"), ("(1).jpg", "(1)"), ("a/b/c", "a/b/c"), (".", ""),
    ]) func whatBelongsTogetherIsToldByNames(_ item: String, _ key: String) {
        #expect(UploadGroup.key(of: item) == key)
    }
}
