import Foundation
import LibraryModel
import LibraryStorage
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What stood beside a picture is kept with its photo, byte for byte, for as long as the photo is.
@Suite struct KeptSidecarTests {
    private static let xmp = """
        <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:xmp="http://ns.adobe.com/xap/1.0/" xmp:Rating="5"/></rdf:RDF></x:xmpmeta>
        """
    private static let picture = "sample-0000.jpg"

    /// A library, and a folder `album` with a picture and these files beside it.
    private func library(_ sidecars: [String: String], pictures: Int = 1) async throws -> TestLibrary {
        let test = try await TestLibrary()
        try SampleAlbum(width: 64, height: 48).write(count: pictures, to: test.folder.file("album"))
        for (name, text) in sidecars { try write(text, name, test) }
        return test
    }

    private func write(_ text: String, _ name: String, _ test: TestLibrary) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: test.folder.file("album/" + name)))
    }

    private func texts(_ photo: Photo, _ test: TestLibrary) throws -> [String: String] {
        try Dictionary(
            uniqueKeysWithValues: photo.sidecars.map {
                ($0.name, String(decoding: try test.bytes($0.path), as: UTF8.self))
            })
    }

    @Test func allThatCouldBeReadAreKeptUnderThePhotosName() async throws {
        let sidecars = [Self.picture + ".xmp": Self.xmp, Self.picture + ".supplemental-metadata.json": "{ not JSON"]
        let test = try await library(sidecars)
        let job = try await test.importing(test.folder.file("album"))
        #expect(job.outcomes == ["imported": 1])
        #expect(try await test.lines(job.id)[0].detail?.contains("supplemental-metadata.json was not used") == true)
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.isFavorite && photo.originalPath == photo.path)
        #expect(try texts(photo, test) == sidecars)
        let stored = photo.sidecars.map(\.path)
        #expect(stored == ["originals/\(photo.fileName).1.xmp", "originals/\(photo.fileName).2.json"])
        #expect(stored.map { StoredName(path: $0)?.photo.path } == [photo.path, photo.path])
        #expect(try test.files("originals").count == 2 && test.files("staging").isEmpty)
        #expect(try await test.mesh.send(GetStorageUsage()).originalCount == 2)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await test.mesh.send(IdentifyPath(path: test.path + "/" + stored[0])).photoId == photo.id)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 1])
        await test.library.close()
    }

    @Test func whatIsNoFileOrTooLongOrPerhapsAnothersIsNotKept() async throws {
        let test = try await library(
            ["sample-0001.jpg.xmp": String(repeating: " ", count: 1 << 20 | 1), "x.xmp": Self.xmp], pictures: 2)
        let album = test.folder.file("album")
        symlink("/etc/hostname", album + "/" + Self.picture + ".xmp")
        try FileManager.default.createDirectory(
            atPath: album + "/" + Self.picture + ".json", withIntermediateDirectories: false)
        #expect(mkfifo(album + "/" + Self.picture + ".supplemental-metadata.json", 0o600) == 0)
        // Either of these may be the one that x.xmp is about.
        for (name, source) in [("x.png", "sample-0000.jpg"), ("x.jpg", "sample-0001.jpg")] {
            try FileManager.default.copyItem(atPath: album + "/" + source, toPath: album + "/" + name)
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: album + "/" + name))
            try file.seekToEnd()
            try file.write(contentsOf: Data("other".utf8))
            try file.close()
        }
        let job = try await test.importing(album)
        #expect(job.outcomes["imported"] == 4)
        let lines = try await test.lines(job.id).filter { $0.outcome == "imported" }
        #expect(lines.allSatisfy { $0.detail?.contains("sidecar") == true })
        #expect(try await test.allPhotos().allSatisfy(\.sidecars.isEmpty))
        #expect(try test.files("originals").isEmpty && test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func theyFollowTheSettingOfOriginals() async throws {
        let test = try await library([Self.picture + ".xmp": Self.xmp])
        #expect(try await test.importing(test.folder.file("album"), originals: false).outcomes == ["imported": 1])
        let photo = try #require(try await test.allPhotos().first)
        #expect(photo.isFavorite && photo.sidecars.isEmpty)
        #expect(try test.files("originals").isEmpty)
        #expect(try await test.importing(test.folder.file("album"), originals: false).outcomes == ["duplicate": 1])
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["completed": 1])
        #expect(try await texts(test.mesh.send(GetPhoto(id: photo.id)), test) == [Self.picture + ".xmp": Self.xmp])
        await test.library.close()
    }

    @Test func aPhotoGetsTheSidecarsThatItLacks() async throws {
        let test = try await library([Self.picture + ".xmp": Self.xmp])
        let album = test.folder.file("album")
        _ = try await test.importing(album)
        let before = try #require(try await test.allPhotos().first)
        // The one that it has stays as it was.
        try write("changed since", Self.picture + ".xmp", test)
        try write("{}", Self.picture + ".json", test)
        let preview = try await test.importing(album, dryRun: true)
        #expect(preview.outcomes == ["completed": 1])
        #expect(try await test.lines(preview.id)[0].detail?.hasSuffix("would get \(Self.picture).json") == true)
        let job = try await test.importing(album)
        #expect(job.outcomes == ["completed": 1] && !job.needsAttention)
        #expect(try await test.lines(job.id)[0].detail?.contains("its sidecars \(Self.picture).json") == true)
        var after = try #require(try await test.allPhotos().first)
        #expect(try texts(after, test) == [Self.picture + ".xmp": Self.xmp, Self.picture + ".json": "{}"])
        after.sidecars = before.sidecars
        #expect(after == before)

        // One that is gone is put back, by what stands beside the source now.
        try FileManager.default.removeItem(atPath: test.path + "/" + before.sidecars[0].path)
        let checked = try await test.run(RescanLibrary())
        #expect(checked.outcomes == ["missing": 1])
        #expect(try await test.lines(checked.id)[0].detail?.contains("a sidecar of photo \(before.id)") == true)
        #expect(try await test.importing(album).outcomes == ["completed": 1])
        let restored = try #require(try await test.allPhotos().first)
        #expect(try texts(restored, test)[Self.picture + ".xmp"] == "changed since")
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try test.files("originals").count == 2 && test.files("staging").isEmpty)
        await test.library.close()
    }

    @Test func moreThanThereIsRoomForAreNamed() async throws {
        let names = ["xmp", "XMP", "Xmp", "xMp", "xmP", "XMp", "xMP", "XmP"].map { Self.picture + "." + $0 }
        let test = try await library(
            Dictionary(uniqueKeysWithValues: (names + [Self.picture + ".json"]).map { ($0, Self.xmp) }))
        let job = try await test.importing(test.folder.file("album"))
        #expect(try await test.lines(job.id)[0].detail?.contains("the first 8 are used and kept") == true)
        #expect(try await test.allPhotos().first?.sidecars.count == KeptSidecar.maximumCount)
        // One more teaches nothing: it could not be kept, and would be new each time.
        for name in names { try FileManager.default.removeItem(atPath: test.folder.file("album/\(name)")) }
        try write(
            #"{"title": "", "description": "The lake", "photoTakenTime": {"timestamp": "1560000000"}}"#,
            Self.picture + ".json", test)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 1])
        #expect(try await test.allPhotos().first?.caption != "The lake")
        await test.library.close()
    }

    @Test func theyGoWhereTheirPhotoGoes() async throws {
        let test = try await library([Self.picture + ".xmp": Self.xmp, "sample-0001.jpg.xmp": Self.xmp], pictures: 2)
        _ = try await test.importing(test.folder.file("album"))
        let photos = try await test.allPhotos()
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        #expect(try await test.mesh.send(ListTrash()).photos.map(\.photo.sidecars) == [photos[0].sidecars])
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        _ = try await test.mesh.send(RestorePhotos(ids: [photos[0].id]))
        #expect(try await test.mesh.send(GetPhoto(id: photos[0].id)) == photos[0])
        _ = try await test.mesh.send(DeletePhotos(ids: [photos[0].id]))
        _ = try await test.mesh.send(PurgeTrash(all: true))
        #expect(try test.files("originals") == [photos[1].fileName + ".1.xmp"])
        let forgotten = try await test.mesh.send(ForgetPhotos(ids: [photos[1].id]))
        #expect(forgotten.paths == [photos[1].path, photos[1].sidecars[0].path])
        #expect(try await test.mesh.send(CleanStorage()).unknownPhotos.sorted() == forgotten.paths.sorted())
        await test.library.close()
    }

    @Test func aReplacementByABackupLeavesThemWithTheirPhoto() async throws {
        let test = try await library([Self.picture + ".xmp": Self.xmp])
        _ = try await test.importing(test.folder.file("album"))
        let photos = try await test.allPhotos()
        let backup = test.folder.file("b.zip")
        let saved = try await test.run(CreateBackup(path: backup))
        #expect(saved.receipt?["originalsLeftOut"] == 0)
        #expect(try await test.run(RestoreBackup(path: backup, mode: .replace)).state == .finished)
        #expect(try await test.allPhotos() == photos)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await test.library.close()
    }

    /// As after a kill between the files and the row, and between the row and the staging names.
    @Test func whatAKillLeavesOfASidecarIsSettled() async throws {
        let test = try await library([Self.picture + ".xmp": Self.xmp])
        _ = try await test.importing(test.folder.file("album"))
        let photo = try #require(try await test.allPhotos().first)
        await test.library.close()
        let stored = photo.fileName + ".1.xmp"
        for name in [stored, photo.fileName + ".2.json", "IMG_2.jpg.1.xmp"] {
            if name != stored {
                try Data("nobody's".utf8).write(to: URL(fileURLWithPath: test.path + "/originals/" + name))
            }
            try FileManager.default.linkItem(
                atPath: test.path + "/originals/" + name, toPath: test.path + "/staging/original_" + name)
        }
        let library = try await PhotoLibrary.open(at: test.path, options: .init(workers: 1))
        #expect(try test.files("staging").isEmpty && test.files("originals") == [stored])
        #expect(try await library.mesh.send(GetPhoto(id: photo.id)) == photo)
        await library.close()
    }

    @Test func aCatalogueCannotNameOthersFilesAsSidecars() throws {
        let photo = "photos/IMG_1.jpg"
        func kept(_ path: String, name: String = "a.xmp") -> KeptSidecar {
            KeptSidecar(name: name, path: path, fileSize: 1, contentDigest: String(repeating: "0", count: 64))
        }
        func found(_ sidecars: [KeptSidecar]) -> [KeptSidecar] {
            KeptSidecar.list(KeptSidecar.text(sidecars), ofPhoto: photo)
        }
        let own = kept("originals/IMG_1.jpg.1.xmp")
        #expect(found([own]) == [own])
        for path in [
            "/etc/passwd", "../x.xmp", "originals/../x.1.xmp", "photos/IMG_1.jpg", "originals/IMG_1.heic",
            "originals/IMG_2.jpg.1.xmp", "originals/IMG_1.jpg.01.xmp", "originals/IMG_1.jpg.1000.xmp",
            "originals/IMG_1.jpg.1.sh", "originals/IMG_1.jpg..xmp", "staging/IMG_1.jpg.1.xmp", "",
        ] {
            #expect(found([kept(path), own]) == [own], "\(path)")
        }
        for name in ["", "..", "a/b.xmp", "a\0.xmp", String(repeating: "x", count: 256)] {
            #expect(found([kept(own.path, name: name)]).isEmpty, "\(name)")
        }
        #expect(found(Array(repeating: own, count: 9)).count == KeptSidecar.maximumCount)
        for text in ["", "[", "{}", "[1]", "null", String(repeating: "[", count: 1 << 20)] {
            #expect(KeptSidecar.list(text, ofPhoto: photo).isEmpty)
        }
        #expect(KeptSidecar.text([]) == nil && KeptSidecar.list(nil, ofPhoto: photo).isEmpty)
    }

    /// An original whose name could be a sidecar's belongs to its own photo all the same.
    @Test func namesTellOriginalsAndSidecars() throws {
        let photo = try #require(StoredName(.photos, "IMG_1.jpg"))
        let sidecar = photo.sidecar(12, ".json")
        #expect(sidecar.path == "originals/IMG_1.jpg.12.json" && sidecar.photo == photo)
        #expect(StoredName(staged: sidecar.stagedName) == sidecar)
        let odd = try #require(StoredName(.photos, "IMG_1.jpg.12.jpg"))
        #expect(odd.original(".json") == sidecar && Set(sidecar.photos) == [photo, odd])
        let original = try #require(StoredName(.originals, "IMG_1.xmp"))
        #expect(original.photoOfSidecar == nil && original.photo == photo)
    }

    @Test func theyKeepTheirFormBesideAnExportedFile() {
        for (name, expected) in [
            ("x.jpg.xmp", "beach.jpg.xmp"), ("x.xmp", "beach.jpg.xmp"), ("x.JPG.XMP", "beach.jpg.xmp"),
            ("x.jpg.json", "beach.jpg.json"), ("x.jpg(1).json", "beach.jpg.json"),
            ("x.jpg.supplemental-metadata.json", "beach.jpg.supplemental-metadata.json"),
            ("x.jpg.supplemental-me(2).json", "beach.jpg.supplemental-metadata.json"),
            ("x.jpg.s.json", "beach.jpg.supplemental-metadata.json"),
        ] {
            let sidecar = KeptSidecar(name: name, path: "", fileSize: 0, contentDigest: "")
            #expect(sidecar.name(beside: "beach.jpg") == expected, "\(name)")
        }
    }
}
