import Foundation
import LibraryModel
import LibraryTestSupport
@testable import BackupFormats
@testable import LibraryServices
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing

/// Sealed fields on their way through a backup: to the same library, to one with other keys, and through bad hands.
@Suite(.timeLimit(.minutes(3))) struct SealedBackupTests {
    private let passphrase = "correct horse Möwe"
    private let said = SetPhotoDetail(
        id: 0, childName: "Ylva-Möwe", childAge: "3½", notes: "took her first steps\non the beach 🏖",
        tags: ["Sea", "first"], milestone: "Walks", location: "Kiel, Schilksee", metadata: "{\"camera\": \"old\"}")

    /// Everything that the photo entity has, and its name: what the twelve fields of the source document hold.
    private func library(_ count: Int = 3) async throws -> (test: TestLibrary, photo: Photo) {
        let test = try await TestLibrary("sealed")
        _ = try await test.importSamples(count, album: SampleAlbum(width: 64, height: 48))
        let photo = try await test.allPhotos()[1]
        for other in try await test.allPhotos() {
            _ = try await test.mesh.send(SetPhotoDetail(id: other.id, clear: [.location]))
        }
        _ = try await test.mesh.send(detail(of: photo.id))
        _ = try await test.mesh.send(SetFavorite(ids: [photo.id], isFavorite: true))
        _ = try await test.mesh.send(SetCaption(id: photo.id, caption: "on the beach"))
        let category = try await test.mesh.send(AddCategory(displayName: "Sea", colorHex: "#123abc"))
        _ = try await test.mesh.send(MovePhotos(ids: [photo.id], categoryId: category.id))
        return (test, try await test.mesh.send(GetPhoto(uuid: photo.uuid)))
    }

    private func detail(of id: Int64) -> SetPhotoDetail {
        SetPhotoDetail(
            id: id, childName: said.childName, childAge: said.childAge, notes: said.notes, tags: said.tags,
            milestone: said.milestone, location: said.location, metadata: said.metadata)
    }

    private func isWhole(_ detail: PhotoDetail) -> Bool {
        SealedField.allCases.allSatisfy { field in
            switch field {
            case .tags: detail.tags == said.tags
            case .childName: detail.childName == said.childName
            case .childAge: detail.childAge == said.childAge
            case .notes: detail.notes == said.notes
            case .milestone: detail.milestone == said.milestone
            case .location: detail.location == said.location
            case .metadata: detail.metadata == said.metadata
            }
        } && detail.unreadable.isEmpty
    }

    private func backUp(_ test: TestLibrary, with passphrase: String?, as name: String = "b.zip") async throws -> String
    {
        let key: BackupKey? =
            if let passphrase { try await test.mesh.send(MakeBackupKey(passphrase: passphrase)) } else { nil }
        let path = test.folder.file(name)
        let job = try await test.run(CreateBackup(path: path, key: key))
        #expect(job.state == .finished && !job.needsAttention, "\(job)")
        return path
    }

    private func detail(_ test: TestLibrary, _ uuid: String) async throws -> PhotoDetail {
        try await test.mesh.send(GetPhotoDetail(id: test.mesh.send(GetPhoto(uuid: uuid)).id))
    }

    /// What is in the trash is the library's own too: a merge brings the photo back, and what was said of it since stays.
    @Test func aMergeLeavesWhatIsNewerOfAPhotoInTheTrash() async throws {
        let (test, photo) = try await library()
        let path = try await backUp(test, with: nil)
        _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, childName: "Ylva", clear: [.notes]))
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        let job = try await test.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.receipt?["photosAdded"] == 1, "\(job)")
        let after = try await detail(test, photo.uuid)
        #expect(after.childName == "Ylva" && after.notes == said.notes && after.tags == said.tags)
        #expect(try await test.lines(job.id).contains { $0.detail?.contains("sealed fields") == true })
        await test.library.close()
    }

    // MARK: There and back

    @Test(arguments: [RestoreMode.merge, .replace])
    func allFieldsComeBackElsewhereWithThePassphrase(_ mode: RestoreMode) async throws {
        let (old, before) = try await library()
        _ = try await old.mesh.send(DeletePhotos(ids: [before.id]))
        _ = try await old.mesh.send(RestorePhotos(ids: [before.id]))
        let photo = try await old.mesh.send(GetPhoto(uuid: before.uuid))
        #expect(photo == before)
        let path = try await backUp(old, with: passphrase)
        let summary = try await old.mesh.send(InspectBackup(path: path))
        #expect(summary.sealedWith == "passphrase" && summary.sealedValues == 7)

        let new = try await TestLibrary("elsewhere")
        // Something is sealed there already, under a key of its own.
        _ = try await new.importSamples(1, album: SampleAlbum(width: 32, height: 32, seed: 7))
        let key = try await new.mesh.send(OpenBackupKey(path: path, passphrase: passphrase))
        let job = try await new.run(RestoreBackup(path: path, mode: mode, key: key))
        #expect(job.state == .finished && job.outcomes[BackupFormat.sealedOutcome] == nil, "\(job)")
        #expect(job.receipt?["sealedValuesAdded"] == 7)
        let there = try await new.mesh.send(GetPhoto(uuid: photo.uuid))
        #expect(try isWhole(await detail(new, photo.uuid)))
        let category = try await new.mesh.send(ListCategories()).categories.first { $0.id == there.categoryId }
        #expect(category?.displayName == "Sea")
        var expected = photo
        (expected.id, expected.categoryId) = (there.id, there.categoryId)
        #expect(there == expected)
        // Under its own key, so nothing of the other library is needed from here on.
        let status = try await new.mesh.send(GetKeyStatus())
        #expect(status.keys.count == 1 && status.foreignValues == 0)
        // Once more changes nothing.
        let again = try await new.run(RestoreBackup(path: path, key: key))
        #expect(again.receipt?["sealedValuesAdded"] == 0 && again.outcomes["conflict"] == nil)
        await old.library.close()
        await new.library.close()
    }

    @Test func withoutThePassphraseEverythingElseComesBackAndTheRestLater() async throws {
        let (old, photo) = try await library()
        let path = try await backUp(old, with: passphrase)
        let new = try await TestLibrary("elsewhere")
        let job = try await new.run(RestoreBackup(path: path))
        #expect(job.state == .finished && !job.needsAttention && job.outcomes == [BackupFormat.sealedOutcome: 1])
        let line = try await new.lines(job.id).first
        #expect(line?.detail?.contains("7 sealed values of 1 photo are") == true, "\(String(describing: line))")
        #expect(line?.detail?.contains("--passphrase") == true)
        #expect(try await new.allPhotos().count == 3)
        #expect(!FileManager.default.fileExists(atPath: new.keyFile), "nothing is sealed, so there is no key")

        let key = try await new.mesh.send(OpenBackupKey(path: path, passphrase: passphrase))
        let second = try await new.run(RestoreBackup(path: path, key: key))
        #expect(second.receipt?["sealedValuesAdded"] == 7 && second.receipt?["photosAdded"] == 0)
        // Now that they are here, there is nothing to tell of what cannot be compared.
        #expect(try await new.run(RestoreBackup(path: path)).outcomes.isEmpty)
        #expect(try isWhole(await detail(new, photo.uuid)))
        await old.library.close()
        await new.library.close()
    }

    /// The library that made it needs no passphrase; nor does one that has the keys of a backup without.
    @Test(arguments: [nil, "correct horse Möwe"])
    func theKeysOfTheLibraryAreEnough(_ passphrase: String?) async throws {
        let (old, photo) = try await library()
        let path = try await backUp(old, with: passphrase)
        _ = try await old.mesh.send(SetPhotoDetail(id: photo.id, clear: SealedField.allCases))
        // What was sealed with the key before stays readable with it, and the new one is what seals.
        let job = try await old.run(RestoreBackup(path: path))
        #expect(job.receipt?["sealedValuesAdded"] == 7, "\(job)")
        #expect(try isWhole(await detail(old, photo.uuid)))

        let new = try await TestLibrary("elsewhere")
        let first = try await new.run(RestoreBackup(path: path))
        #expect(first.outcomes == [BackupFormat.sealedOutcome: 1])
        if passphrase == nil {
            #expect(try await new.lines(first.id).first?.detail?.contains("smilepile keys import") == true)
        }
        let keys = try await old.mesh.send(ExportKeys(passphrase: "another passphrase"))
        _ = try await new.mesh.send(ImportKeys(text: keys.text, passphrase: "another passphrase"))
        let second = try await new.run(RestoreBackup(path: path))
        #expect(second.receipt?["sealedValuesAdded"] == 7 && second.outcomes.isEmpty, "\(second)")
        #expect(try isWhole(await detail(new, photo.uuid)))
        await old.library.close()
        await new.library.close()
    }

    /// The same picture was imported there: its values are sealed for the uuid that it has there.
    @Test func theyFollowTheirPhotoUnderAnotherUUID() async throws {
        let (old, photo) = try await library()
        let path = try await backUp(old, with: passphrase)
        let new = try await TestLibrary("elsewhere")
        #expect(try await new.importing(old.folder.file("album")).outcomes["imported"] == 3)
        for other in try await new.allPhotos() {
            _ = try await new.mesh.send(SetPhotoDetail(id: other.id, clear: [.location]))
        }
        let same = try #require(
            try await new.allPhotos().first { $0.contentDigest == photo.contentDigest && $0.uuid != photo.uuid })
        _ = try await new.mesh.send(SetPhotoDetail(id: same.id, notes: "mine", milestone: said.milestone))
        let key = try await new.mesh.send(OpenBackupKey(path: path, passphrase: passphrase))
        let job = try await new.run(RestoreBackup(path: path, key: key))
        #expect(job.receipt?["sealedValuesAdded"] == 5, "\(job)")
        let found = try await detail(new, same.uuid)
        #expect(found.notes == "mine" && found.childName == said.childName && found.unreadable.isEmpty)
        // Which fields they are is not said, and least of all what they say.
        let lines = try await new.lines(job.id).filter { $0.item == same.path }
        #expect(
            lines.contains { $0.outcome == "conflict" && $0.detail == "the library's sealed fields stay" }
        )
        await old.library.close()
        await new.library.close()
    }

    @Test func aPartHasTheValuesOfItsPhotosOnly() async throws {
        let (test, photo) = try await library()
        let other = try #require(try await test.allPhotos().first { $0.id != photo.id })
        _ = try await test.mesh.send(SetPhotoDetail(id: other.id, notes: "of another category"))
        let path = test.folder.file("part.zip")
        let job = try await test.run(CreateBackup(path: path, categoryIds: [other.categoryId]))
        #expect(job.receipt?["sealedValues"] == 1 && job.receipt?["sealedWith"] != nil)
        _ = try await test.mesh.send(SetPhotoDetail(id: other.id, clear: [.notes]))
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        let without = test.folder.file("none.zip")
        #expect(try await test.run(CreateBackup(path: without)).receipt?["sealedValues"] == nil)
        #expect(try await test.mesh.send(InspectBackup(path: without)).sealedWith == nil)
        await test.library.close()
    }

    // MARK: What is not to be seen

    @Test func nothingOfItIsInTheFileNorAnyPassphraseInTheLibrary() async throws {
        let (test, _) = try await library()
        let path = try await backUp(test, with: passphrase)
        let plain = try await backUp(test, with: nil, as: "plain.zip")
        await test.library.close()
        var files = [path, plain]
        let inside = try #require(FileManager.default.enumerator(atPath: test.path))
        for case let name as String in inside { files.append(test.path + "/" + name) }
        let texts = ["Ylva", "first steps", "Walks", "Schilksee", "3½", passphrase]
        for file in files {
            guard let bytes = FileManager.default.contents(atPath: file) else { continue }
            for text in texts { #expect(bytes.range(of: Data(text.utf8)) == nil, "'\(text)' is in \(file)") }
        }
    }

    // MARK: Interrupted

    @Test(arguments: ["reading the catalogue", "copying", "verifying"], [true, false])
    func abrokenOffBackupHasThemAll(_ phase: String, _ hasPassphrase: Bool) async throws {
        let (test, photo) = try await library(40)
        let path = test.folder.file("b.zip")
        let key: BackupKey? =
            if hasPassphrase { try await test.mesh.send(MakeBackupKey(passphrase: passphrase)) } else { nil }
        let job = try await test.mesh.send(CreateBackup(path: path, key: key)).job
        try await test.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.phase == phase }
        await test.library.close()
        let library = try await test.reopened()
        let ended = try await library.mesh.send(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["sealedValues"] == 7, "\(ended)")
        #expect(ended.receipt?["sealedWith"] == .string("passphrase") || !hasPassphrase)
        _ = try await library.mesh.send(SetPhotoDetail(id: photo.id, clear: SealedField.allCases))
        let restore = try await library.mesh.send(RestoreBackup(path: path)).job
        #expect(try await library.mesh.send(WaitForJob(job: restore)).receipt?["sealedValuesAdded"] == 7)
        #expect(try isWhole(await library.mesh.send(GetPhotoDetail(id: photo.id))))
        await library.close()
    }

    // MARK: Keys

    @Test func wrongKeysAndPassphrasesAreRefused() async throws {
        let (test, _) = try await library()
        let path = try await backUp(test, with: passphrase)
        let other = try await backUp(test, with: "another passphrase", as: "other.zip")
        let plain = try await backUp(test, with: nil, as: "plain.zip")
        let new = try await TestLibrary("elsewhere")
        for wrong in ["", "wrong", "another passphrase"] {
            #expect(
                await status { _ = try await new.mesh.send(OpenBackupKey(path: path, passphrase: wrong)) }
                    == .invalidArgument)
        }
        #expect(await status { _ = try await new.mesh.send(MakeBackupKey(passphrase: "short")) } == .invalidArgument)
        #expect(
            await status { _ = try await new.mesh.send(OpenBackupKey(path: plain, passphrase: self.passphrase)) }
                == .invalidArgument)
        let missing = OpenBackupKey(path: plain + "-", passphrase: passphrase)
        #expect(await status { _ = try await new.mesh.send(missing) } == .notFound)
        // The key of another backup, of another library, and one whose halves do not belong together.
        let key = try await test.mesh.send(OpenBackupKey(path: path, passphrase: passphrase))
        let foreign = try await test.mesh.send(OpenBackupKey(path: other, passphrase: "another passphrase"))
        let mixed = BackupKey(export: key.export, sealed: foreign.sealed)
        for wrong in [foreign, mixed] {
            let job = try await test.run(RestoreBackup(path: path, key: wrong))
            #expect(job.state == .failed && job.error?.status == .invalidArgument, "\(job)")
        }
        let job = try await new.run(RestoreBackup(path: path, key: key))
        #expect(job.state == .failed && job.error?.status == .invalidArgument)
        #expect(try await new.allPhotos().isEmpty)
        let target = test.folder.file("c.zip")
        #expect(
            await status { _ = try await test.mesh.send(CreateBackup(path: target, key: mixed)) } == .invalidArgument)
        await test.library.close()
        await new.library.close()
    }

    @Test func verifyingOpensWhatItCan() async throws {
        let (test, _) = try await library()
        let path = try await backUp(test, with: passphrase)
        #expect(try await test.run(VerifyBackup(path: path)).receipt?["sealedOpened"] == 7)
        let new = try await TestLibrary("elsewhere")
        let without = try await new.run(VerifyBackup(path: path))
        #expect(without.receipt?["sealedOpened"] == nil && !without.needsAttention, "\(without)")
        let key = try await new.mesh.send(OpenBackupKey(path: path, passphrase: passphrase))
        #expect(try await new.run(VerifyBackup(path: path, key: key)).receipt?["sealedOpened"] == 7)
        await test.library.close()
        await new.library.close()
    }

    // MARK: Bad hands

    @Test(arguments: 0..<SealedLie.all.count) func hostileDocumentsLoseNothing(_ index: Int) async throws {
        let lie = SealedLie.all[index]
        let (test, photo) = try await library()
        let good = try await backUp(test, with: nil)
        let bad = test.folder.file("bad.zip")
        let isOfOtherName = lie.name == "another key's name"
        try EditedBackup.write(
            good, to: bad, sealed: lie.change,
            manifestChange: { manifest in
                // The values may say what they like; the manifest says the same.
                if isOfOtherName { manifest["sealedWith"] = "passphrase" }
                if lie.name == "a key that nobody has" {
                    let own = manifest["sealedWith"] as? String ?? ""
                    manifest["sealedWith"] = [own, String(repeating: "ab", count: 16)].sorted().joined(separator: " ")
                }
            }
        ) { _ in }
        _ = try await test.mesh.send(SetPhotoDetail(id: photo.id, clear: SealedField.allCases))
        let job = try await test.run(RestoreBackup(path: bad, mode: .replace))
        if let taken = lie.taken {
            #expect(
                job.state == .finished && (job.outcomes[BackupFormat.sealedOutcome] ?? 0) == 1, "\(lie.name): \(job)")
            #expect(
                job.receipt?["sealedValuesAdded"] == (taken > 0 ? .integer(Int64(taken)) : nil), "\(lie.name): \(job)")
            #expect(try await test.mesh.send(GetKeyStatus()).values == taken, "\(lie.name)")
        } else {
            #expect(job.state == .failed && job.error?.status == .dataLoss, "\(lie.name): \(job)")
            #expect(try await test.mesh.send(GetKeyStatus()).values == 0)
        }
        #expect(try await test.allPhotos().count == 3)
        #expect(try await detail(test, photo.uuid).unreadable.isEmpty)
        await test.library.close()
    }

    /// What somebody sealed who has the passphrase, and no manners.
    @Test func whatNoRequestCouldHaveWrittenIsNotTakenOver() throws {
        #expect(DetailText.isValid(Array("notes\nof two lines".utf8), .notes))
        #expect(DetailText.isValid(Array(#"["a","b"]"#.utf8), .tags))
        for (text, field) in [
            ("two\nlines", SealedField.childName), ("a\u{1B}[31m", .notes), ("", .notes), ("[]", .tags), ("{", .tags),
            (#"["a","A"]"#, .tags), (String(repeating: "x", count: 201), .childName),
        ] {
            #expect(!DetailText.isValid(Array(text.utf8), field), "\(text.prefix(20))")
        }
        #expect(!DetailText.isValid([0xFF, 0xFE], .notes))
    }
}
