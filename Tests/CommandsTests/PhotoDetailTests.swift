import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@Suite("Sealed fields")
struct PhotoDetailTests {
    @Test("Fields are shown one to a line")
    func show() async throws {
        let stage = Stage()
        try stage.answer(
            "photo.detail",
            PhotoDetail(photoId: 12, childName: "Ylva", tags: ["sea", "sun"], unreadable: [.notes]))
        #expect(await stage.run("photos", "detail", "12") == .done)
        #expect(stage.params("photo.detail") == ["id": 12])
        #expect(
            stage.results == """
                childName  Ylva
                notes      (does not open: smilepile keys status)
                tags       sea, sun

                """, "\(stage.results)")
    }

    @Test("A photo without any says so")
    func nothing() async throws {
        let stage = Stage()
        try stage.answer("photo.detail", PhotoDetail(photoId: 12))
        #expect(await stage.run("photos", "detail", "12") == .done)
        #expect(stage.results.isEmpty && stage.messages.contains("nothing in its sealed fields"))
    }

    @Test("Several are written and cleared at once")
    func write() async throws {
        let stage = Stage()
        try stage.answer("photo.setDetail", PhotoDetail(photoId: 12, notes: "a=b"))
        let arguments = [
            "photos", "detail", "12", "--set", "notes=a=b", "--set", "tags=sea, sun", "--clear", "location", "--clear",
            "milestone",
        ]
        #expect(await stage.program.run(arguments) == .done)
        #expect(
            stage.params("photo.setDetail") == [
                "id": 12, "notes": "a=b", "tags": ["sea", " sun"], "clear": ["location", "milestone"],
            ])
    }

    @Test("A field that there is not is refused before anything is asked", arguments: ["nots=x", "notes", "=x", ""])
    func wrongField(_ pair: String) async throws {
        let stage = Stage()
        #expect(await stage.run("photos", "detail", "12", "--set", pair) == .usage)
        #expect(stage.messages.contains("childName, childAge"))
        #expect(await stage.run("photos", "detail", "12", "--set", "notes=a", "--set", "notes=b") == .usage)
        #expect(await stage.run("photos", "detail", "12", "--clear", "nots") == .usage)
    }

    @Test("Photos are found by what is sealed")
    func find() async throws {
        let stage = Stage()
        let none = DetailMatches(photos: [], next: nil, total: 0, unreadable: 2)
        try stage.answer("photo.searchDetails", none)
        #expect(
            await stage.run("photos", "sealed", "Ylva", "--field", "childName", "--limit", "5") == .doneWithProblems)
        #expect(
            stage.params("photo.searchDetails") == ["text": "Ylva", "fields": ["childName"], "limit": 5])
        #expect(stage.messages.contains("2 values could not be looked into"))
        try stage.answer("photo.listSealed", SealedPhotos(photos: [], next: nil, total: 0))
        #expect(await stage.run("photos", "sealed") == .done)
        #expect(await stage.run("photos", "sealed", "--field", "notes") == .usage)
    }
}

@Suite("Erasing")
struct ErasureCommandTests {
    private func stage(person: String?) throws -> Stage {
        let stage = Stage(personSays: person)
        stage.answer("photo.eraseDetails", #"{"job":"erase-1"}"#)
        let receipt = ErasureReceipt(
            photos: 2, values: 5, photosWithFiles: 1, blanked: 3, mentions: 1, unreadable: 0, isLogEmpty: true,
            ending: .complete)
        stage.answer("job.watch", try Sample.job("photo.eraseDetails", receipt: receipt))
        stage.answer("job.receipt", #"{"lines":[]}"#)
        return stage
    }

    @Test("A child's data goes after a yes, and the report tells what is left")
    func child() async throws {
        let stage = try stage(person: "y")
        #expect(await stage.run("photos", "erase", "--child", "Ylva", "--files") == .done)
        #expect(stage.params("photo.eraseDetails") == ["childName": "Ylva", "files": true])
        #expect(stage.questions.count == 1 && stage.questions[0].contains("'Ylva', with originals"))
        #expect(stage.results.contains("Erased 5 sealed values of 2 photos."))
        #expect(stage.results.contains("smilepile photos search NAME"))
    }

    @Test("Without a yes nothing is asked of the daemon")
    func refused() async throws {
        let stage = try stage(person: "n")
        #expect(await stage.run("photos", "erase", "12") == .failed)
        let nobody = try self.stage(person: nil)
        #expect(await nobody.run("photos", "erase", "12") == .usage)
        #expect(stage.methods.isEmpty && nobody.methods.isEmpty)
        #expect(await stage.run("photos", "erase") == .usage)
        #expect(await stage.run("photos", "erase", "12", "--child", "Ylva", "--yes") == .usage)
        #expect(await stage.run("photos", "erase", "12", "13", "--yes") == .done)
        #expect(stage.params("photo.eraseDetails") == ["ids": [12, 13]])
    }
}

@Suite("Keys of the sealed fields")
struct KeyCommandTests {
    private let key = KeySummary(
        id: "0123456789abcdef0123456789abcdef", isActive: true, createdAt: Timestamp(milliseconds: 0), values: 3,
        exportedAt: nil)

    @Test("Locked keys are a failure, with what to do")
    func status() async throws {
        let stage = Stage()
        try stage.answer(
            "key.status",
            KeyStatus(
                state: .locked, keyFile: "/home/ada/key", problem: "The key file is missing.", keys: [key], values: 3,
                photos: 2, foreignValues: 0))
        #expect(await stage.run("keys") == .failed)
        #expect(stage.results.contains("3 values of 2 photos") && stage.results.contains("do not open"))
        #expect(stage.results.contains("01234567,") && stage.messages.contains("The key file is missing."))
    }

    @Test("Keys that were never saved elsewhere are a reason to say so")
    func unsaved() async throws {
        let stage = Stage()
        try stage.answer(
            "key.status",
            KeyStatus(
                state: .ready, keyFile: "/home/ada/key", problem: nil, keys: [key], values: 3, photos: 2,
                foreignValues: 1))
        #expect(await stage.run("keys", "status") == .done)
        #expect(stage.messages.contains("smilepile keys export FILE") && stage.results.contains("of another library"))
    }

    @Test("An export goes into a file of its owner's, and replaces none")
    func export() async throws {
        let folder = try TemporaryFolder("keys")
        let stage = Stage(currentFolder: folder.path, input: Array("seven words\r\nnot this".utf8))
        try stage.answer("key.export", ExportedKeys(text: "smilepile-keys-1 AAAA\n", keys: 1))
        #expect(await stage.run("keys", "export", "keys.txt") == .done)
        #expect(stage.params("key.export") == ["passphrase": "seven words"])
        let path = folder.file("keys.txt")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "smilepile-keys-1 AAAA\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(await stage.run("keys", "export", "keys.txt") == .failed)
        #expect(stage.methods.filter { $0 == "key.export" }.count == 1)
        try stage.answer("key.import", ImportedKeys(imported: 0, known: 1))
        #expect(await stage.run("keys", "import", "keys.txt") == .done)
        #expect(
            stage.params("key.import") == ["text": "smilepile-keys-1 AAAA\n", "passphrase": "seven words"])
    }

    @Test("A passphrase comes from a file, where nobody else may read that")
    func passphraseFile() async throws {
        let folder = try TemporaryFolder("keys")
        let (file, keys) = (folder.file("words"), folder.file("keys.txt"))
        let stage = Stage(currentFolder: folder.path, input: Array("another one".utf8))
        try stage.answer("key.export", ExportedKeys(text: "smilepile-keys-1 AAAA\n", keys: 1))
        try stage.answer("key.import", ImportedKeys(imported: 1, known: 0))
        try Data("seven words\nnot this".utf8).write(to: URL(fileURLWithPath: file))
        for mode in [0o644, 0o640, 0o604, 0o620] {
            #expect(chmod(file, mode_t(mode)) == 0)
            #expect(await stage.run("keys", "export", "keys.txt", "--passphrase-file", "words") == .failed)
            #expect(stage.messages.contains("chmod 600 '\(file)'"), "\(stage.messages)")
        }
        #expect(stage.methods.isEmpty && !FileManager.default.fileExists(atPath: keys))
        #expect(chmod(file, 0o600) == 0)
        #expect(await stage.run("keys", "export", "keys.txt", "--passphrase-file", "words") == .done)
        #expect(stage.params("key.export") == ["passphrase": "seven words"])
        #expect(await stage.run("keys", "import", "keys.txt", "--passphrase-file", "words") == .done)
        #expect(stage.params("key.import")?["passphrase"] == "seven words")
        // What a shell makes of <(command) is a pipe.
        let pipe = Pipe()
        try pipe.fileHandleForWriting.write(contentsOf: Data("from a pipe\n".utf8))
        try pipe.fileHandleForWriting.close()
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        #expect(await stage.run("keys", "import", "keys.txt", "--passphrase-file", path) == .done)
        #expect(stage.params("key.import")?["passphrase"] == "from a pipe")
    }

    @Test("Without a passphrase nothing is asked")
    func noPassphrase() async throws {
        let folder = try TemporaryFolder("keys")
        let stage = Stage(currentFolder: folder.path)
        #expect(await stage.run("keys", "export", "keys.txt") == .usage)
        #expect(!FileManager.default.fileExists(atPath: folder.file("keys.txt")))
        #expect(await stage.run("keys", "import", "none.txt") == .failed)
        #expect(await stage.run("keys", "import", "/dev/zero") == .failed)
    }

    @Test("A rotation ends with what to do next")
    func rotate() async throws {
        let stage = Stage()
        stage.answer("key.rotate", #"{"job":"rotate-1"}"#)
        let receipt = RotationReceipt(key: key.id, resealed: 12, unreadable: 0, removedKeys: 1, ending: .complete)
        stage.answer("job.watch", try Sample.job("key.rotate", receipt: receipt))
        stage.answer("job.receipt", #"{"lines":[]}"#)
        #expect(await stage.run("keys", "rotate") == .done)
        #expect(stage.results.contains("Sealed 12 values with the new key. The old key is gone."))
        #expect(stage.results.contains("smilepile keys export FILE"))
    }
}
