import Foundation
import LibraryModel
import LibraryServices
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

@testable import Importing

/// A raw file and a JPEG of one shot: one photo with two originals, in whichever order they come.
@Suite(.timeLimit(.minutes(4))) struct RawPairTests {
    private func library(imageMemory: UInt64? = nil) async throws -> TestLibrary {
        let test = try await TestLibrary("shots", imageMemory: imageMemory)
        try FileManager.default.createDirectory(
            atPath: test.folder.file("album"), withIntermediateDirectories: false)
        return test
    }

    private func write(_ bytes: Data, _ name: String, _ test: TestLibrary) throws {
        try bytes.write(to: URL(fileURLWithPath: test.folder.file("album/" + name)))
    }

    private func writeJPEG(
        _ test: TestLibrary, _ shot: SampleShot = SampleShot(), name: String = "DSCF1.JPG", width: Int = 640,
        seed: Int = 0
    ) throws {
        try write(shot.jpeg(SampleAlbum(width: width, height: width * 3 / 4).photo(seed)), name, test)
    }

    private func writeRaw(
        _ test: TestLibrary, _ shot: SampleShot = SampleShot(), name: String = "DSCF1.RAF", seed: Int = 100
    ) throws {
        try write(shot.raw(SampleAlbum(width: 1_600, height: 1_200).photo(seed)), name, test)
    }

    private func source(_ name: String, _ test: TestLibrary) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: test.folder.file("album/" + name)))
    }

    /// That there is one photo, shown by its JPEG, with both files.
    private func check(_ test: TestLibrary) async throws -> Photo {
        let photos = try await test.allPhotos()
        let photo = try #require(photos.first)
        #expect(photos.count == 1 && photo.kind == nil && photo.sourceName == "DSCF1.JPG", "\(photos)")
        let kept = try #require(photo.companionRaw)
        #expect(kept.name == "DSCF1.RAF" && kept.path == "originals/\(photo.fileName).1.raf" && !kept.isFilm)
        #expect(try test.bytes(kept.path) == source("DSCF1.RAF", test))
        #expect(try test.bytes(#require(photo.originalPath)) == source("DSCF1.JPG", test))
        #expect(try test.files("staging").isEmpty)
        let stored = try ["photos", "originals"].flatMap { try test.files($0) }
        #expect(stored.count == Set([photo.path, photo.originalPath, kept.path]).count, "\(stored)")
        #expect(try test.files("thumbnails").count == 1)
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)
        #expect(try await test.mesh.send(IdentifyPath(path: test.path + "/" + kept.path)).photoId == photo.id)
        let opened = try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .raw))
        #expect(opened.mediaType == "image/x-fuji-raf" && opened.size == kept.fileSize)
        return photo
    }

    /// Shown as it came, and reduced.
    @Test(arguments: [640, 2_400]) func bothTogetherAreOnePhoto(_ width: Int) async throws {
        let test = try await library()
        try writeJPEG(test, width: width)
        try writeRaw(test)
        let ended = try await test.importing(test.folder.file("album"))
        #expect(ended.outcomes == ["imported": 1, "completed": 1] && !ended.needsAttention, "\(ended)")
        let photo = try await check(test)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        #expect(try await test.allPhotos() == [photo])
        await test.library.close()
    }

    @Test func aRawFileThatComesLaterJoinsItsPicture() async throws {
        let test = try await library()
        try writeJPEG(test)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["imported": 1])
        let before = try #require(try await test.allPhotos().first)
        try writeRaw(test)
        let job = try await test.importing(test.folder.file("album/DSCF1.RAF"))
        #expect(job.outcomes == ["completed": 1])
        let photo = try await check(test)
        #expect(photo.id == before.id && photo.uuid == before.uuid && photo.contentDigest == before.contentDigest)
        #expect(
            try await test.lines(job.id)[0].detail
                == "photo \(photo.id) has its raw file now, \(photo.companionRaw?.path ?? "")")
        await test.library.close()
    }

    @Test func aPictureThatComesLaterTakesItsRawFileIn() async throws {
        let test = try await library()
        try writeRaw(test)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["imported": 1])
        let raw = try #require(try await test.allPhotos().first)
        #expect(try await test.mesh.send(OpenPhoto(uuid: raw.uuid, .raw)).mediaType == "image/x-fuji-raf")
        try writeJPEG(test)
        let job = try await test.importing(test.folder.file("album/DSCF1.JPG"))
        #expect(job.outcomes == ["imported": 1])
        #expect(try await test.lines(job.id)[0].detail?.contains("with the raw file that was photo \(raw.id)") == true)
        #expect(try await check(test).uuid != raw.uuid)
        #expect(try await test.mesh.send(ListTrash()).photos.isEmpty)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        // One that is lost is put back by its own file.
        let kept = try #require(try await test.allPhotos().first?.companionRaw)
        try FileManager.default.removeItem(atPath: test.path + "/" + kept.path)
        #expect(try await test.run(RescanLibrary()).outcomes == ["missing": 1])
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 1, "completed": 1])
        _ = try await check(test)
        await test.library.close()
    }

    @Test(arguments: ["favourite", "name", "caption", "category", "rotation", "link"])
    func aRawFileThatSomebodyMeansStays(_ what: String) async throws {
        let test = try await library()
        try writeRaw(test)
        _ = try await test.importing(test.folder.file("album"))
        let raw = try #require(try await test.allPhotos().first)
        switch what {
        case "favourite": _ = try await test.mesh.send(SetFavorite(ids: [raw.id], isFavorite: true))
        case "name": _ = try await test.mesh.send(EditPhoto(id: raw.id, name: "First steps"))
        case "caption": _ = try await test.mesh.send(SetCaption(id: raw.id, caption: "First steps"))
        case "rotation": _ = try await test.mesh.send(RotatePhotos(turns: [PhotoTurn(id: raw.id, to: 90)]))
        case "link": _ = try await test.mesh.send(CreateLink(photoIds: [raw.id]))
        default:
            let other = try await test.mesh.send(AddCategory(displayName: "Raws"))
            _ = try await test.mesh.send(MovePhotos(ids: [raw.id], categoryId: other.id))
        }
        try writeJPEG(test)
        #expect(try await test.importing(test.folder.file("album/DSCF1.JPG")).outcomes == ["imported": 1])
        let photos = try await test.allPhotos()
        #expect(photos.count == 2 && photos.allSatisfy { $0.sidecars.isEmpty })
        await test.library.close()
    }

    /// What its own sidecars say of it has no place beside the JPEG.
    @Test(arguments: ["DSCF1.RAF.xmp", "DSCF1.xmp"], [true, false])
    func aRawFileWithASidecarOfItsOwnStays(_ name: String, isFirst: Bool) async throws {
        let test = try await library()
        let sidecar = Data(
            """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">\
            <rdf:Description xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>\
            <rdf:li xml:lang="x-default">First steps</rdf:li></rdf:Alt></dc:description></rdf:Description>\
            </rdf:RDF></x:xmpmeta>
            """.utf8)
        try writeJPEG(test)
        try writeRaw(test)
        try write(sidecar, name, test)
        for file in isFirst ? ["DSCF1.RAF", "DSCF1.JPG"] : ["DSCF1.JPG", "DSCF1.RAF"] {
            #expect(try await test.importing(test.folder.file("album/" + file)).outcomes == ["imported": 1])
        }
        let photos = try await test.allPhotos()
        let raw = try #require(photos.first { $0.sourceName == "DSCF1.RAF" })
        let picture = try #require(photos.first { $0.sourceName == "DSCF1.JPG" })
        #expect(photos.count == 2 && raw.caption == "First steps" && picture.caption == nil)
        #expect(try raw.sidecars.map { try test.bytes($0.path) } == [sidecar] && picture.sidecars.isEmpty)
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": 2])
        #expect(try test.files("staging").isEmpty)
        await test.library.close()
    }

    /// Its preview asks for more memory than there is, so that nobody has seen it.
    @Test(arguments: [true, false]) func aRawFileThatCannotBeSeenStays(isFirst: Bool) async throws {
        let test = try await library(imageMemory: 1 << 20)
        try writeJPEG(test)
        var picture = [UInt8](try SampleAlbum(width: 1_600, height: 1_200).photo(100))
        let frames: [[UInt8]] = [[0xFF, 0xC0, 0x00, 0x11, 0x08], [0xFF, 0xC2, 0x00, 0x11, 0x08]]
        let bytes = picture
        let found = bytes.indices.dropLast(9).first { frames.contains(Array(bytes[$0..<$0 + 5])) }
        let frame = try #require(found)
        // A progressive JPEG of 12,000 x 12,000, all of which has to be held.
        picture[frame + 1] = 0xC2
        let sides: [UInt8] = [0x2E, 0xE0, 0x2E, 0xE0]
        picture.replaceSubrange(frame + 5..<frame + 9, with: sides)
        let padding = Data(repeating: 0, count: 1 << 18)
        try write(SampleShot().raw(Data(picture)) + padding, "DSCF1.RAF", test)
        for file in isFirst ? ["DSCF1.RAF", "DSCF1.JPG"] : ["DSCF1.JPG", "DSCF1.RAF"] {
            let outcome = file == "DSCF1.RAF" ? "kept_unseen" : "imported"
            #expect(try await test.importing(test.folder.file("album/" + file)).outcomes == [outcome: 1])
        }
        let photos = try await test.allPhotos()
        #expect(photos.count == 2 && photos.allSatisfy { $0.sidecars.isEmpty }, "\(photos)")
        let raw = try #require(photos.first { $0.unseenBy != nil })
        #expect(raw.dateSource == .exif && raw.originalPath?.lowercased().hasSuffix(".raf") == true)
        // As it is asked for when it is entered: one that found its picture then was prepared anew, three times.
        #expect(
            try await test.mesh.send(
                FindOtherHalf(photo: raw), in: .root(mesh: test.mesh, role: .service)
            ).photo == nil)
        await test.library.close()
    }

    /// By content; the endings are as various as the cameras.
    @Test(arguments: ["RWL", "raw", "gpr", "IIQ"]) func whateverItIsCalledItIsARawFile(_ ending: String) async throws {
        let test = try await library()
        try writeJPEG(test)
        try writeRaw(test, name: "DSCF1." + ending)
        for file in ["DSCF1.JPG", "DSCF1." + ending] {
            #expect(try await test.importing(test.folder.file("album/" + file)).state == .finished)
        }
        let photos = try await test.allPhotos()
        let photo = try #require(photos.first)
        #expect(photos.count == 1 && photo.companionRaw?.path == "originals/\(photo.fileName).1.\(ending.lowercased())")
        #expect(try await test.mesh.send(OpenPhoto(uuid: photo.uuid, .raw)).mediaType.hasPrefix("image/x-"))
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        await test.library.close()
    }

    @Test func everyEndingOfARawFileIsOneEverywhere() {
        for ending in StoredName.rawExtensions {
            #expect(StoredName(.originals, "IMG_1" + ending)?.mediaType.hasPrefix("image/x-") == true, "\(ending)")
            #expect(FileContent.isNamedPicture("IMG_1" + ending) == (ending != ".raw"), "\(ending)")
        }
        #expect(Set(StoredName.rawExtensions).count == StoredName.rawExtensions.count)
    }

    /// Another second, another name, another camera, a JPEG that is called like a raw file, two pictures of one name.
    @Test(arguments: ["later", "other name", "other camera", "no raw file", "two pictures"])
    func whatIsNotOneShotStaysTwo(_ what: String) async throws {
        let test = try await library()
        var (shot, name, count) = (SampleShot(), "DSCF1.RAF", 2)
        switch what {
        case "later": shot.taken = "2023-06-12T14:05:35"
        case "other name": name = "DSCF2.RAF"
        case "other camera": shot.make = "NIKON"
        case "two pictures":
            try writeJPEG(test, name: "DSCF1.jpeg", seed: 1)
            count = 3
        default: break
        }
        try writeJPEG(test)
        if what == "no raw file" {
            try writeJPEG(test, name: "DSCF1.DNG", width: 2_400, seed: 2)
        } else {
            try writeRaw(test, shot, name: name)
        }
        let ended = try await test.importing(test.folder.file("album"))
        #expect(ended.state == .finished && !ended.needsAttention, "\(ended)")
        let photos = try await test.allPhotos()
        if what == "two pictures" {
            // Whichever came when there was one of them may have it; nothing is lost.
            #expect(photos.count == count || photos.count == count - 1, "\(photos)")
        } else {
            #expect(photos.count == count && photos.allSatisfy { $0.sidecars.isEmpty }, "\(photos)")
        }
        #expect(try await test.importing(test.folder.file("album")).outcomes == ["duplicate": count])
        await test.library.close()
    }

    @Test func whoeverIsFasterTheyAreOne() async throws {
        let test = try await library()
        for number in 0..<8 {
            let shot = SampleShot { $0.taken = "2023-06-12T14:05:\(10 + number / 4)" }
            try writeJPEG(test, shot, name: "DSCF\(number).JPG", seed: number)
            try writeRaw(
                test, shot, name: number % 2 == 0 ? "DSCF\(number).RAF" : "dscf\(number).raf", seed: 100 + number)
        }
        let album = test.folder.file("album")
        async let first = test.importing(album)
        async let second = test.importing(album)
        let ended = try await [first, second]
        #expect(ended.allSatisfy { $0.state == .finished && !$0.needsAttention }, "\(ended)")
        let photos = try await test.allPhotos()
        #expect(photos.count == 8, "\(photos.map(\.sourceName))")
        for photo in photos {
            let kept = try #require(photo.companionRaw)
            #expect(kept.name.dropLast(4).lowercased() == photo.name.lowercased())
            #expect(try test.bytes(kept.path) == source(kept.name, test))
        }
        #expect(try await test.run(RescanLibrary(digests: true)).outcomes.isEmpty)
        #expect(try await test.mesh.send(CleanStorage(unknownPhotos: true)).unknownCount == 0)
        await test.library.close()
    }

    // MARK: What becomes of it

    @Test func itGoesIntoTheTrashAndOutOfItWithItsPicture() async throws {
        let test = try await library()
        try writeJPEG(test)
        try writeRaw(test)
        _ = try await test.importing(test.folder.file("album"))
        let photo = try #require(try await test.allPhotos().first)
        _ = try await test.mesh.send(DeletePhotos(ids: [photo.id]))
        let trashed = try await test.mesh.send(OpenTrashedPhoto(uuid: photo.uuid, .raw))
        #expect(trashed.mediaType == "image/x-fuji-raf")
        _ = try await test.mesh.send(RestorePhotos(ids: [photo.id]))
        _ = try await check(test)
        let again = try #require(try await test.allPhotos().first)
        _ = try await test.mesh.send(DeletePhotos(ids: [again.id]))
        _ = try await test.mesh.send(PurgeTrash(all: true))
        #expect(try ["photos", "originals", "thumbnails"].allSatisfy { try test.files($0).isEmpty })
        await test.library.close()
    }
}
