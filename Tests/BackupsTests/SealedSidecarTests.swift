import Foundation
import LibraryModel
import LibraryTestSupport
@testable import BackupFormats
import SampleAlbum
import ServiceMesh
import ServiceMeshTesting
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// Sidecars that name a place, on their way through a backup: nobody reads where a child was who has nothing but the file.
@Suite(.timeLimit(.minutes(3))) struct SealedSidecarTests {
    private static let passphrase = "correct horse Möwe"

    private static func takeout(_ title: String, latitude: String) -> Data {
        Data(
            (#"{"title": "\#(title)", "photoTakenTime": {"timestamp": "1560000000"}, "#
                + #""geoData": {"latitude": \#(latitude), "longitude": \#(latitude)}}"#).utf8)
    }

    private static func xmp(_ property: String) -> Data {
        Data(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmlns:exif="http://ns.adobe.com/exif/1.0/"
            \(property)/></rdf:RDF></x:xmpmeta>
            """.utf8)
    }

    /// Three photos: one whose Takeout document names a place and whose XMP names none, the other way round, and one that has a
    /// document without a place.
    private func library(_ purpose: String = "sealed") async throws -> TestLibrary {
        let test = try await TestLibrary(purpose)
        let album = test.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: album)
        let names = try FileManager.default.contentsOfDirectory(atPath: album).sorted()
        func put(_ bytes: Data, beside name: String, _ ending: String) throws {
            try bytes.write(to: URL(fileURLWithPath: album + "/" + name + ending))
        }
        try put(Self.takeout(names[0], latitude: "48.15917"), beside: names[0], ".json")
        try put(Self.xmp(#"xmp:Rating="4""#), beside: names[0], ".xmp")
        try put(Self.takeout(names[1], latitude: "0.0"), beside: names[1], ".json")
        try put(
            Self.xmp(#"exif:GPSLatitude="48,9.55917N" exif:GPSLongitude="11,30.55917E""#), beside: names[1], ".xmp")
        try put(Self.takeout(names[2], latitude: "0.0"), beside: names[2], ".json")
        let job = try await test.importing(album)
        #expect(job.outcomes == ["imported": 3])
        #expect(try await test.allPhotos().reduce(0) { $0 + $1.sidecars.count } == 5)
        return test
    }

    private func backUp(_ test: TestLibrary, with passphrase: String? = nil, as name: String = "b.zip") async throws
        -> (path: String, job: JobSnapshot)
    {
        let key: BackupKey? =
            if let passphrase { try await test.mesh.send(MakeBackupKey(passphrase: passphrase)) } else { nil }
        let path = test.folder.file(name)
        let job = try await test.run(CreateBackup(path: path, key: key))
        #expect(job.state == .finished, "\(job)")
        return (path, job)
    }

    private func entries(_ path: String) throws -> [String] {
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        return try ZipReader(descriptor: input.fileDescriptor).entries.map(\.name)
    }

    /// What a photo has beside it: names, digests and bytes.
    private func sidecars(_ test: TestLibrary) async throws -> [String: [[String]]] {
        var found: [String: [[String]]] = [:]
        for photo in try await test.allPhotos() {
            found[photo.uuid] = try photo.sidecars.map { sidecar in
                let bytes = try test.bytes(sidecar.path)
                #expect(ContentDigest(of: bytes).sha256.hex == sidecar.contentDigest)
                return [sidecar.name, sidecar.path, sidecar.contentDigest, bytes.base64EncodedString()]
            }
        }
        return found
    }

    // MARK: There and back

    @Test(arguments: [nil, passphrase])
    func noPlaceLiesOpenInABackup(_ passphrase: String?) async throws {
        let test = try await library()
        let (path, job) = try await backUp(test, with: passphrase)
        #expect(!job.needsAttention && job.receipt?["sealedValues"] == 4, "\(job)")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.range(of: Data("15917".utf8)) == nil && bytes.range(of: Data("9.55917".utf8)) == nil)
        let beside = try entries(path).filter { $0.hasPrefix("originals/") }
        #expect(beside.count == 5 && beside.count { $0.hasSuffix(".sealed") } == 2, "\(beside)")
        // Nor is there anything by which a guess could be proven.
        let sealed = try await test.allPhotos().flatMap(\.sidecars).filter { sidecar in
            beside.contains(sidecar.path + ".sealed")
        }
        #expect(sealed.count == 2)
        for sidecar in sealed { #expect(bytes.range(of: Data(sidecar.contentDigest.utf8)) == nil) }
        #expect(try await test.run(VerifyBackup(path: path)).state == .finished)
        await test.library.close()
    }

    /// Sealed once more for each snapshot, and so in its own file: what an earlier one names stays what it was.
    @Test func aBackupFolderHasThemInEachSnapshot() async throws {
        let old = try await library("old")
        let key = try await old.mesh.send(MakeBackupKey(passphrase: Self.passphrase))
        let folder = old.folder.file("stick")
        var paths: [String] = []
        for key in [key, nil] {
            let job = try await old.run(CreateBackup(path: folder, incremental: true, key: key))
            guard case .string(let path)? = job.receipt?["path"] else {
                Issue.record("\(String(describing: job.error))")
                return
            }
            paths.append(path)
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder + "/originals") {
            let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/originals/" + name))
            #expect(
                bytes.range(of: Data("15917".utf8)) == nil && bytes.range(of: Data("9.55917".utf8)) == nil, "\(name)")
        }
        for path in paths {
            #expect(try entries(path).count { $0.hasSuffix(".sealed") } == 2)
            #expect(try await old.run(VerifyBackup(path: path)).state == .finished)
        }
        let new = try await TestLibrary("new")
        let opened = try await new.mesh.send(OpenBackupKey(path: paths[0], passphrase: Self.passphrase))
        let job = try await new.run(RestoreBackup(path: paths[0], mode: .replace, key: opened))
        #expect(job.state == .finished, "\(String(describing: job.error))")
        #expect(try await sidecars(new) == sidecars(old))
        await old.library.close()
        await new.library.close()
    }

    @Test func withThePassphraseAllComesBackElsewhere() async throws {
        let old = try await library()
        let before = try await sidecars(old)
        let (path, _) = try await backUp(old, with: Self.passphrase)
        let new = try await TestLibrary("elsewhere")
        let key = try await new.mesh.send(OpenBackupKey(path: path, passphrase: Self.passphrase))
        let preview = try await new.run(RestoreBackup(path: path, dryRun: true, key: key))
        #expect(preview.state == .finished && preview.receipt?["sealedValuesAdded"] == 4, "\(preview)")
        let job = try await new.run(RestoreBackup(path: path, key: key))
        #expect(job.state == .finished && !job.needsAttention, "\(job)")
        #expect(job.receipt?["sealedValuesAdded"] == 4)
        #expect(try await sidecars(new) == before)
        #expect(try await new.allPhotos() == old.allPhotos())
        // Once more changes nothing, also where nothing of it opens.
        for key in [key, nil] {
            let again = try await new.run(RestoreBackup(path: path, key: key))
            #expect(again.outcomes.isEmpty && again.receipt?["sealedValuesAdded"] == 0, "\(again)")
        }
        #expect(try await sidecars(new) == before)
        #expect(try new.files("staging").isEmpty)
        await old.library.close()
        await new.library.close()
    }

    @Test func withoutTheKeysTheOthersComeBackAndTheRestLater() async throws {
        let old = try await library()
        let before = try await sidecars(old)
        let (path, _) = try await backUp(old)
        let new = try await TestLibrary("elsewhere")
        let first = try await new.run(RestoreBackup(path: path))
        #expect(first.outcomes == [BackupFormat.sealedOutcome: 1], "\(first)")
        let line = try await new.lines(first.id).first?.detail ?? ""
        #expect(line.contains("4 sealed values of 2 photos") && line.contains("smilepile keys import"), "\(line)")
        #expect(try await new.allPhotos().map(\.sidecars.count).sorted() == [1, 1, 1])

        let keys = try await old.mesh.send(ExportKeys(passphrase: "correct horse"))
        _ = try await new.mesh.send(ImportKeys(text: keys.text, passphrase: "correct horse"))
        let second = try await new.run(RestoreBackup(path: path, mode: .replace))
        #expect(second.state == .finished, "\(second)")
        let after = try await sidecars(new)
        #expect(
            after.mapValues { $0.map { [$0[0], $0[2], $0[3]] } }
                == before.mapValues { $0.map { [$0[0], $0[2], $0[3]] } })
        await old.library.close()
        await new.library.close()
    }

    /// A merge completes photos that have no sidecars at all.
    @Test func aMergeBringsSidecarsThatAPhotoLacks() async throws {
        let old = try await library()
        let (path, _) = try await backUp(old)
        let bare = try await TestLibrary("bare")
        let album = bare.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: album)
        #expect(try await bare.importing(album).outcomes == ["imported": 3])
        let keys = try await old.mesh.send(ExportKeys(passphrase: "correct horse"))
        _ = try await bare.mesh.send(ImportKeys(text: keys.text, passphrase: "correct horse"))
        let job = try await bare.run(RestoreBackup(path: path))
        #expect(job.state == .finished && job.outcomes["completed"] == 3, "\(job)")
        let lines = try await bare.lines(job.id).filter { $0.outcome == "completed" }
        #expect(lines.allSatisfy { $0.detail?.contains(".json") == true }, "\(lines)")
        let found = try await sidecars(bare).values.flatMap { $0 }
        #expect(try await Set(found.map { $0[3] }) == Set(sidecars(old).values.flatMap { $0 }.map { $0[3] }))
        #expect(try bare.files("staging").isEmpty && bare.files("originals").count == 5)
        let again = try await bare.run(RestoreBackup(path: path))
        #expect(again.outcomes["completed"] == nil, "\(again)")
        await old.library.close()
        await bare.library.close()
    }

    /// Through a close in the middle: what was sealed before is sealed again.
    @Test func aBackupThatIsBrokenOffGoesOn() async throws {
        let test = try await library()
        let before = try await sidecars(test)
        let key = try await test.mesh.send(MakeBackupKey(passphrase: Self.passphrase))
        let path = test.folder.file("b.zip")
        let job = try await test.mesh.send(CreateBackup(path: path, key: key)).job
        try await test.mesh.firstValue(of: WatchJob(job: job)) { $0.progress.phase == "copying" }
        await test.library.close()
        let library = try await test.reopened()
        #expect(try await library.mesh.send(WaitForJob(job: job)).state == .finished)
        await library.close()
        let new = try await TestLibrary("elsewhere")
        let opened = try await new.mesh.send(OpenBackupKey(path: path, passphrase: Self.passphrase))
        #expect(try await new.run(RestoreBackup(path: path, key: opened)).outcomes.isEmpty)
        #expect(try await sidecars(new) == before)
        await new.library.close()
    }

    // MARK: Damage

    @Test func oneThatIsDamagedWhenItIsSavedIsSavedAsItIs() async throws {
        let test = try await library()
        let names = try await test.allPhotos().flatMap(\.sidecars).map(\.path)
        let damaged = try #require(
            names.first { try! test.bytes($0).range(of: Data("GPSLatitude".utf8)) != nil })
        let changed = try test.bytes(damaged) + Data("<!-- more -->".utf8)
        try changed.write(to: URL(fileURLWithPath: test.path + "/" + damaged))
        let (path, job) = try await backUp(test, with: Self.passphrase)
        #expect(job.needsAttention && job.outcomes == ["damaged": 1], "\(job)")
        let new = try await TestLibrary("elsewhere")
        let key = try await new.mesh.send(OpenBackupKey(path: path, passphrase: Self.passphrase))
        let restored = try await new.run(RestoreBackup(path: path, key: key))
        #expect(restored.outcomes == ["damaged": 1], "\(restored)")
        #expect(try new.bytes(damaged) == changed)
        await test.library.close()
        await new.library.close()
    }

    @Test(arguments: [false, true])
    func aSalvageBringsTheOthers(_ losesManifest: Bool) async throws {
        let test = try await library()
        let before = try await sidecars(test)
        let (path, _) = try await backUp(test)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let reader = try ZipReader(descriptor: input.fileDescriptor)
        let hit = try #require(
            try reader.entries.map { $0 }.first {
                losesManifest ? $0.name == "manifest.json" : $0.name.hasSuffix(".json.sealed")
            })
        let content = try reader.read(hit.index, limit: 1 << 20)
        let place = try #require(bytes.range(of: content)).lowerBound
        bytes[place + 60] ^= 1
        try bytes.write(to: URL(fileURLWithPath: path))
        _ = try await test.mesh.send(DeletePhotos(ids: test.allPhotos().map(\.id)))
        #expect(try await test.run(RestoreBackup(path: path)).state == .failed)
        let keys = try await test.mesh.send(ExportKeys(passphrase: "correct horse"))
        let new = try await TestLibrary("elsewhere")
        _ = try await new.mesh.send(ImportKeys(text: keys.text, passphrase: "correct horse"))
        let job = try await new.run(RestoreBackup(path: path, salvage: true))
        let damaged = try await new.lines(job.id).filter { $0.outcome == "damaged" }
        #expect(job.state == .finished && damaged.map(\.item) == [hit.name], "\(damaged)")
        let after = try await sidecars(new)
        let (kept, wanted) = (after.values.flatMap { $0 }.map { $0[3] }, before.values.flatMap { $0 }.map { $0[3] })
        #expect(kept.count == (losesManifest ? 5 : 4) && Set(kept).isSubset(of: wanted), "\(kept.count)")
        await test.library.close()
        await new.library.close()
    }

    /// A place that cannot be sealed is not in the backup, which says so.
    @Test func withoutAKeyItIsLeftOut() async throws {
        let test = try await library()
        await test.library.close()
        try FileManager.default.removeItem(atPath: test.keyFile)
        let library = try await test.reopened()
        let path = test.folder.file("b.zip")
        let job = try await library.mesh.send(
            WaitForJob(job: library.mesh.send(CreateBackup(path: path)).job))
        #expect(job.state == .finished && job.outcomes == ["unreadable": 2], "\(job)")
        let lines = try await library.mesh.send(GetJobReceipt(job: job.id)).lines
        #expect(lines.allSatisfy { $0.detail?.contains("it names a place") == true }, "\(lines)")
        #expect(try entries(path).count { $0.hasPrefix("originals/") } == 3)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(bytes.range(of: Data("15917".utf8)) == nil)
        await library.close()
    }
}
