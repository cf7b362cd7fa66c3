import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// What programs of devices send: it becomes photos, and each program sees its own device's and nothing else.
@Suite(.timeLimit(.minutes(2))) struct SentFileTests {
    /// A program, as the page's program asks for it: nobody, from afar.
    private struct Program {
        let mesh: Mesh
        var device: String
        var password: String

        init(_ mesh: Mesh, _ name: String = "phone") async throws {
            let code = try await mesh.send(InviteDevice()).code
            device = try await mesh.send(PairDevice(code: code, name: name)).device.id
            password = try await mesh.send(MakeDevicePassword(id: device)).password
            self.mesh = mesh
        }

        /// The same one, of a library that was opened again.
        init(_ mesh: Mesh, device: String, password: String) {
            (self.mesh, self.device, self.password) = (mesh, device, password)
        }

        func send<M: HandledMessage>(_ message: M) async throws -> M.Reply {
            try await mesh.send(message, in: .root(mesh: mesh, role: .nobody, isFromAfar: true))
        }

        func begin(_ path: SentPath, _ bytes: [UInt8], size: Int64? = nil, modifiedAt: Timestamp? = nil) async throws
            -> String
        {
            let opened = try await send(
                BeginSentFile(
                    password: password, path: path, size: size ?? Int64(bytes.count), modifiedAt: modifiedAt))
            let content = try #require(opened.content)
            #expect(content.withDescriptor { Foundation.write($0, bytes, bytes.count) } == bytes.count)
            return opened.upload
        }

        @discardableResult
        func put(_ path: SentPath, _ bytes: [UInt8], modifiedAt: Timestamp? = nil) async throws -> FinishedSentFile {
            let upload = try await begin(path, bytes, modifiedAt: modifiedAt)
            return try await send(FinishSentFile(password: password, upload: upload))
        }

        func list(_ path: SentPath, after: String? = nil) async throws -> SentFilePage {
            try await send(ListSentFiles(password: password, path: path, after: after))
        }

        func makeFolder(_ path: SentPath) async throws {
            _ = try await send(MakeSentFolder(password: password, path: path))
        }
    }

    private func pictures(_ count: Int, _ test: TestLibrary) throws -> [[UInt8]] {
        let folder = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: count, to: folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".jpg") }.sorted()
        return try names.prefix(count).map { Array(try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0))) }
    }

    @Test func eachFileIsAPhotoOfItsFoldersCategoryWhenTheReplyIsThere() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(3, test)
        try await program.makeFolder(["Phone"])
        try await program.makeFolder(["Phone", "2026"])
        let time = Timestamp(milliseconds: 1_560_340_800_000)
        let first = try await program.put(["Phone", "2026", "a.jpg.part"], bytes[0], modifiedAt: time)
        #expect(first.isNew && first.file.size == Int64(bytes[0].count) && first.file.modifiedAt == time)
        try await program.put(["Family", "b.jpg"], bytes[1])
        try await program.put(["c.jpg"], bytes[2])
        let photos = try await test.allPhotos()
        #expect(photos.map(\.sourceName).compactMap(\.self).sorted() == ["a.jpg", "b.jpg", "c.jpg"])
        let categories = try await test.mesh.send(ListCategories()).categories
        func category(_ name: String) -> String? {
            let id = photos.first { $0.sourceName == name }?.categoryId
            return categories.first { $0.id == id }?.displayName
        }
        #expect(category("a.jpg") == "Phone" && category("b.jpg") == "Family")
        #expect(category("c.jpg") == categories.first?.displayName)
        // One burst is one job, with a receipt of all.
        let job = try #require(try await test.mesh.send(ListJobs()).jobs.last?.id)
        let lines = try await test.lines(job)
        #expect(lines.map(\.item).sorted() == ["Family/b.jpg", "Phone/2026/a.jpg", "c.jpg"])
        #expect(lines.allSatisfy { $0.outcome == "imported" })
        await test.library.close()
    }

    @Test func whatWasSentIsThereAgainAfterARestartAndADeletion() async throws {
        let test = try await TestLibrary()
        var program = try await Program(test.mesh)
        let bytes = try pictures(1, test)[0]
        try await program.put(["a.jpg"], bytes)
        let photo = try #require(try await test.allPhotos().first)
        let opened = try await program.send(OpenSentFile(password: program.password, path: ["a.jpg"]))
        let content = try #require(opened.content)
        var read = [UInt8](repeating: 0, count: bytes.count)
        #expect(content.withDescriptor { pread($0, &read, read.count, off_t(opened.offset ?? 0)) } == bytes.count)
        #expect(read == bytes)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        await test.library.close()
        let library = try await test.reopened()
        let (device, password) = (program.device, program.password)
        program = Program(library.mesh, device: device, password: password)
        #expect(try await program.list(["a.jpg"]).file.size == Int64(bytes.count))
        let asked = OpenSentFile(password: password, path: ["a.jpg"])
        #expect(await status { _ = try await program.send(asked) } == .notFound)
        #expect(try await program.put(["a.jpg"], bytes).isNew == false)
        await library.close()
    }

    @Test func aSecondTimeIsADuplicateAndAnotherFileOfTheNameIsAPhotoOfItsOwn() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(2, test)
        #expect(try await program.put(["a.jpg"], bytes[0]).isNew)
        #expect(try await !program.put(["a.jpg"], bytes[0]).isNew)
        #expect(try await test.allPhotos().count == 1)
        #expect(try await !program.put(["a.jpg"], bytes[1]).isNew)
        #expect(try await test.allPhotos().count == 2)
        #expect(try await program.list([]).contents.filter { !$0.isFolder }.map(\.size) == [Int64(bytes[1].count)])
        await test.library.close()
    }

    @Test func whatIsNoPhotoIsRefusedAndNothingOfItIsKept() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let files: [(String, [UInt8])] = [
            ("notes.txt", Array("hello".utf8)), ("a.pdf", Array("%PDF-1.7".utf8)),
            ("broken.jpg", [0xFF, 0xD8, 0xFF, 0xE0, 0, 1]),
            ("unknown", [1, 2, 3]), ("IMG.AAE", Array("<xml/>".utf8)),
        ]
        for (name, bytes) in files {
            #expect(await status { try await program.put([name], bytes) } == .invalidArgument, "\(name)")
            #expect(await status { _ = try await program.list([name]) } == .notFound, "\(name)")
        }
        let empty = BeginSentFile(password: program.password, path: ["empty.jpg"], size: 0)
        #expect(await status { _ = try await program.send(empty) } == .invalidArgument)
        #expect(try await test.allPhotos().isEmpty)
        #expect(try test.files("uploads").filter { $0.hasSuffix(".part") }.isEmpty)
        await test.library.close()
    }

    @Test func bytesThatAreMissingOrTooManyAreNoFile() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(1, test)[0]
        for size in [bytes.count + 1, bytes.count - 1] {
            let upload = try await program.begin(["a.jpg"], bytes, size: Int64(size))
            let finish = FinishSentFile(password: program.password, upload: upload)
            #expect(await status { _ = try await program.send(finish) } == .failedPrecondition)
            // Given up: it is begun anew.
            #expect(await status { _ = try await program.send(finish) } == .notFound)
        }
        #expect(try test.files("uploads").filter { $0.hasSuffix(".part") }.isEmpty)
        await test.library.close()
    }

    @Test func eachDeviceSeesItsOwnAndFinishesItsOwn() async throws {
        let test = try await TestLibrary()
        let (one, other) = (try await Program(test.mesh), try await Program(test.mesh, "another"))
        let bytes = try pictures(2, test)
        try await one.put(["a.jpg"], bytes[0])
        #expect(await status { _ = try await other.list(["a.jpg"]) } == .notFound)
        #expect(try await other.list([]).contents.allSatisfy(\.isFolder))
        let opening = OpenSentFile(password: other.password, path: ["a.jpg"])
        #expect(await status { _ = try await other.send(opening) } == .notFound)
        let upload = try await one.begin(["b.jpg"], bytes[1])
        let finish = FinishSentFile(password: other.password, upload: upload)
        #expect(await status { _ = try await other.send(finish) } == .notFound)
        _ = try await other.send(DiscardSentFile(password: other.password, upload: upload))
        #expect(try await one.send(FinishSentFile(password: one.password, upload: upload)).isNew)
        await test.library.close()
    }

    @Test func aPasswordEndsWithItsDeviceItsRoleAndTheNextOne() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let (mesh, device) = (test.mesh, program.device)
        func isKnown(_ password: String) async -> Bool {
            await status { _ = try await program.send(ListSentFiles(password: password, path: [])) } == nil
        }
        let spelled = program.password.uppercased().replacing("-", with: " ")
        for text in [program.password, spelled] { #expect(await isKnown(text)) }
        for text in [
            "", String(program.password.dropLast()), program.password + "0", "7k3m-aaaa-bbbb-cccc-dddd-eeee-ffff",
        ] {
            #expect(await !isKnown(text))
        }
        #expect(try await mesh.send(ListDevices()).devices.map(\.hasPassword) == [true])
        let next = try await mesh.send(MakeDevicePassword(id: device)).password
        #expect(await !isKnown(program.password))
        #expect(await isKnown(next))
        _ = try await mesh.send(EndDevicePassword(id: device))
        #expect(await !isKnown(next))
        let third = try await mesh.send(MakeDevicePassword(id: device)).password
        _ = try await mesh.send(SetDeviceRole(id: device, role: .looker))
        #expect(await !isKnown(third))
        #expect(await status { _ = try await mesh.send(MakeDevicePassword(id: device)) } == .failedPrecondition)
        _ = try await mesh.send(SetDeviceRole(id: device, role: .parent))
        #expect(await !isKnown(third))
        let last = try await mesh.send(MakeDevicePassword(id: device)).password
        _ = try await mesh.send(ForgetDevice(id: device))
        #expect(await !isKnown(last))
        #expect(await status { _ = try await mesh.send(MakeDevicePassword(id: device)) } == .notFound)
        await test.library.close()
    }

    @Test func foldersAreCategoriesAndStayThoseTheyWere() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(2, test)
        try await program.makeFolder(["Phone"])
        #expect(await status { try await program.makeFolder(["Phone"]) } == .alreadyExists)
        #expect(await status { try await program.makeFolder(["Family"]) } == .alreadyExists)
        #expect(await status { try await program.makeFolder(["none", "x"]) } == .failedPrecondition)
        #expect(try await program.list([]).contents.map(\.name).contains("Family"))
        let phone = try await test.mesh.send(GetCategory(displayName: "Phone"))
        _ = try await test.mesh.send(EditCategory(id: phone.id, displayName: "Ada's phone"))
        try await program.put(["Phone", "a.jpg"], bytes[0])
        #expect(try await test.allPhotos().map(\.categoryId) == [phone.id])
        _ = try await test.mesh.send(DeleteCategory(id: phone.id, deletePhotos: true))
        try await program.put(["Phone", "b.jpg"], bytes[1])
        let first = try #require(try await test.mesh.send(ListCategories()).categories.first)
        #expect(try await test.allPhotos().map(\.categoryId) == [first.id])
        await test.library.close()
    }

    @Test func aFileIsCalledOtherwiseAndAFolderIsNot() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(2, test)
        for (name, bytes) in zip(["a.jpg.part", "b.jpg"], bytes) { try await program.put([name], bytes) }
        func move(_ from: String, _ to: SentPath, replaces: Bool = false) async throws -> Bool {
            try await program.send(
                MoveSentFile(password: program.password, from: [from], to: to, replaces: replaces)
            ).isNew
        }
        #expect(try await move("a.jpg.part", ["a.jpg"]))
        #expect(await status { _ = try await move("a.jpg", ["b.jpg"]) } == .alreadyExists)
        #expect(try await !move("a.jpg", ["b.jpg"], replaces: true))
        #expect(await status { _ = try await move("a.jpg", ["c.jpg"]) } == .notFound)
        #expect(await status { _ = try await move("Family", ["x"]) } == .permissionDenied)
        #expect(await status { _ = try await move("b.jpg", ["Family"]) } == .failedPrecondition)
        #expect(await status { _ = try await move("b.jpg", ["none", "x"]) } == .failedPrecondition)
        #expect(try await program.list(["b.jpg"]).file.size == Int64(bytes[0].count))
        #expect(try await test.allPhotos().count == 2)
        await test.library.close()
    }

    @Test(arguments: [
        [".."], ["."], [""], ["a/b"], ["a\u{0}"], ["a\n"], [String(repeating: "a", count: 256)],
        Array(repeating: "a", count: 13), ["Family", "..", "a"],
    ])
    func whatIsNoNameIsRefused(_ path: SentPath) async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        #expect(await status { _ = try await program.list(path) } == .invalidArgument)
        #expect(await status { try await program.makeFolder(path) } == .invalidArgument)
        #expect(
            await status {
                _ = try await program.send(BeginSentFile(password: program.password, path: path, size: 1))
            } == .invalidArgument)
        await test.library.close()
    }

    /// An old one ends for a new one, and takes nothing with it.
    @Test func fewFilesAreOnTheirWayAtOnce() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(1, test)[0]
        var uploads: [String] = []
        for number in 0...SentFile.maximumBegun { uploads.append(try await program.begin(["\(number).jpg"], bytes)) }
        let first = FinishSentFile(password: program.password, upload: uploads[0])
        #expect(await status { _ = try await program.send(first) } == .notFound)
        for upload in uploads.dropFirst() {
            _ = try await program.send(FinishSentFile(password: program.password, upload: upload))
        }
        #expect(try await test.allPhotos().count == 1)
        await test.library.close()
    }

    @Test func filesThatComeTogetherAreAllImported() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(12, test)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, bytes) in bytes.enumerated() {
                group.addTask {
                    let folder = ["Family", "Cars"][number % 2]
                    try await program.put([folder, "\(number).jpg"], bytes)
                }
            }
            try await group.waitForAll()
        }
        let counts = try await test.mesh.send(ListCategories()).categories.filter { $0.photoCount > 0 }
        #expect(counts.map(\.displayName) == ["Family", "Cars"] && counts.map(\.photoCount) == [6, 6])
        let jobs = try await test.mesh.send(ListJobs()).jobs
        #expect(jobs.count == 1)
        await test.library.close()
    }

    /// Its bytes are safe meanwhile, and it is imported after a restart too.
    @Test func aFileWhoseTurnHasNotComeIsKept() async throws {
        let test = try await TestLibrary()
        let bytes = try pictures(2, test)
        let session = UUID().uuidString.lowercased()
        let job = try await test.mesh.send(ImportUploads(session: session, endsWhenIdle: true)).job
        _ = try await test.mesh.send(PauseJob(job: job))
        // Nobody is to choose files for it, and no page shows it.
        #expect(try await test.mesh.send(ListUploadSessions()).sessions.isEmpty)
        // The same bytes under the same name twice are two files.
        for bytes in [bytes[0], bytes[1], bytes[1]] {
            let added = try await test.mesh.send(
                AddUpload(session: session, upload: upload(bytes, test.mesh), categoryId: nil, waitMs: 1),
                in: .root(mesh: test.mesh, role: .service))
            #expect(added.line == nil && added.digest.count == 64)
        }
        await test.library.close()
        let library = try await test.reopened()
        _ = try await library.mesh.send(ResumeJob(job: job))
        let end = try await library.mesh.send(WaitForJob(job: job))
        #expect(end.outcomes == ["imported": 2, "duplicate": 1])
        let lines = try await library.mesh.send(GetJobReceipt(job: job)).lines
        #expect(lines.map(\.item).sorted() == ["a (2).jpg", "a (3).jpg", "a.jpg"])
        await library.close()
    }

    /// A program deletes what it was told that it has sent, and an import may still refuse it, or be called off.
    @Test func onlyWhatIsInTheLibraryIsToldAsSent() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        let bytes = try pictures(4, test)
        try await program.put(["0.jpg"], bytes[0])
        let job = try #require(try await test.mesh.send(ListJobs()).jobs.first).id
        _ = try await test.mesh.send(PauseJob(job: job))
        // An import that waits for a file already takes that one before it pauses.
        var sent = 1
        while sent < bytes.count, let upload = try? await program.begin(["\(sent).jpg"], bytes[sent]) {
            let finish = FinishSentFile(password: program.password, upload: upload, waitMs: 0)
            #expect(await status { _ = try await program.send(finish) } == .unavailable)
            sent += 1
        }
        // It does not come again and again while it waits.
        #expect((2...3).contains(sent))
        #expect(await status { _ = try await program.begin(["more.jpg"], bytes[3]) } == .unavailable)
        #expect(try await files(program) == ["0.jpg"])
        _ = try await test.mesh.send(ResumeJob(job: job))
        #expect(try await test.mesh.send(WaitForJob(job: job)).outcomes == ["imported": sent])
        #expect(try await program.put(["1.jpg"], bytes[1]).isNew)
        #expect(try await files(program) == ["0.jpg", "1.jpg"])
        await test.library.close()
    }

    private func files(_ program: Program) async throws -> [String] {
        try await program.list([]).contents.filter { !$0.isFolder }.map(\.name)
    }

    private func upload(_ bytes: [UInt8], _ mesh: Mesh) async throws -> String {
        let opened = try await mesh.send(BeginUpload(name: "a.jpg", size: Int64(bytes.count)))
        let content = try #require(opened.content)
        #expect(content.withDescriptor { Foundation.write($0, bytes, bytes.count) } == bytes.count)
        return opened.upload
    }

    @Test func aSessionOfAPageTakesNoWholeFiles() async throws {
        let test = try await TestLibrary()
        let session = UUID().uuidString.lowercased()
        _ = try await test.mesh.send(ImportUploads(session: session))
        let upload = try await upload(try pictures(1, test)[0], test.mesh)
        for (session, wanted) in [(session, MeshStatus.failedPrecondition), ("none", .notFound)] {
            let add = AddUpload(session: session, upload: upload, categoryId: nil, waitMs: 1)
            let refused = await status { _ = try await test.mesh.send(add, in: .root(mesh: test.mesh, role: .service)) }
            #expect(refused == wanted)
        }
        await test.library.close()
    }

    @Test func aLongFolderIsToldPageByPage() async throws {
        let test = try await TestLibrary()
        let program = try await Program(test.mesh)
        for number in 0..<ListSentFiles.maximumCount + 1 {
            try await program.makeFolder(["Family", "f\(1_000_000 + number)"])
        }
        let first = try await program.list(["Family"])
        #expect(first.contents.count == ListSentFiles.maximumCount && first.next == first.contents.last?.name)
        let second = try await program.list(["Family"], after: first.next)
        #expect(second.contents.map(\.name) == ["f1001000"] && second.next == nil)
        await test.library.close()
    }
}
