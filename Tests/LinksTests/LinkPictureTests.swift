import Foundation
import LibraryModel
import LibraryTestSupport
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing

/// What is in the pictures that visitors get: pixels, and nothing that says where, with what, or of whom they are.
@Suite(.timeLimit(.minutes(4))) struct LinkPictureTests {
    private static let secrets = ["Cam 7", "Ada Lovelace", "Kita Sonnenschein", "52.5200", "maker-notes"]

    /// A JPEG of a camera, with EXIF and GPS, XMP, IPTC, a comment, and what stands behind its end.
    private static func told(width: Int) throws -> Data {
        let plain = try SampleAlbum(width: width, height: width * 3 / 4, model: "Cam 7").photo(0)
        func segment(_ marker: UInt8, _ content: [UInt8]) -> Data {
            let count = content.count + 2
            return Data([0xFF, marker, UInt8(count >> 8), UInt8(count & 255)] + content)
        }
        let xmp = """
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:exif="http://ns.adobe.com/exif/1.0/"
            xmlns:e="http://iptc.org/std/Iptc4xmpExt/2008-02-29/" exif:GPSLatitude="52,31.2N" exif:GPSLongitude="13,24.3E"
            xmlns:p="http://ns.adobe.com/photoshop/1.0/" p:City="Kita Sonnenschein 52.5200">
            <e:PersonInImage><rdf:Bag><rdf:li>Ada Lovelace</rdf:li></rdf:Bag></e:PersonInImage>
            </rdf:Description></rdf:RDF></x:xmpmeta>
            """
        let words = Array("Ada Lovelace".utf8)
        let iptc: [UInt8] = [0x1C, 2, 120, 0, UInt8(words.count)] + words
        let resource: [UInt8] = Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(iptc.count)] + iptc + [0]
        return plain.prefix(2)
            + segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\u{0}".utf8) + Array(xmp.utf8))
            + segment(0xED, Array("Photoshop 3.0\u{0}".utf8) + resource) + segment(0xFE, Array("maker-notes".utf8))
            + plain.dropFirst(2) + Data("maker-notes Ada Lovelace".utf8)
    }

    private func stage(width: Int) async throws -> (stage: LinkStage, photo: Photo) {
        let stage = try await LinkStage(photos: 0)
        let path = stage.folder.file("Ada at Kita Sonnenschein.jpg")
        try Self.told(width: width).write(to: URL(fileURLWithPath: path))
        try await stage.importing(path)
        let photo = try #require(try await stage.allPhotos().first)
        _ = try await stage.mesh.send(SetCaption(id: photo.id, caption: "Ada Lovelace"))
        return (stage, photo)
    }

    /// Markers of a JPEG's segments up to its scan.
    private static func markers(_ bytes: Data) -> [UInt8] {
        let bytes = Array(bytes)
        var markers: [UInt8] = []
        var at = 2
        while at + 4 <= bytes.count, bytes[at] == 0xFF, bytes[at + 1] != 0xDA {
            markers.append(bytes[at + 1])
            at += 2 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
        }
        return markers
    }

    /// Kept as it came, and reduced on its way in.
    @Test(arguments: [640, 2400]) func everySizeIsPixelsAlone(_ width: Int) async throws {
        let (stage, photo) = try await stage(width: width)
        // The library knows all of it: else nothing would be shown here.
        let stored = try Data(contentsOf: URL(fileURLWithPath: stage.library.path + "/" + photo.path))
        #expect(stored.range(of: Data("Cam 7".utf8)) != nil && stored.range(of: Data("Ada Lovelace".utf8)) != nil)
        let made = try await stage.mesh.send(CreateLink(photoIds: [photo.id]))
        let shown = try await stage.photos(made.token)
        #expect(shown.count == 1 && shown[0].caption == nil && !shown[0].hasOriginal && shown[0].date == "2024-06-01")
        let listed = String(decoding: try JSONEncoder().encode(shown), as: UTF8.self)
        for secret in Self.secrets + ["jpg", "Kita"] { #expect(!listed.contains(secret)) }
        for kind in [PhotoFileKind.thumbnail, .preview, .photo] {
            let bytes = try await stage.picture(made.token, photo.uuid, kind)
            #expect(bytes.count > 500)
            for secret in Self.secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(kind)") }
            if bytes.starts(with: [0xFF, 0xD8]) {
                // JFIF, and a thumbnail's word about its maker.
                let extra = Self.markers(bytes).filter {
                    (0xE1...0xEF).contains($0) || ($0 == 0xFE && kind != .thumbnail)
                }
                #expect(extra.isEmpty, "\(kind)")
            } else {
                #expect(bytes.starts(with: Data("RIFF".utf8)))
                for chunk in ["EXIF", "XMP ", "ICCP"] { #expect(bytes.range(of: Data(chunk.utf8)) == nil) }
            }
            guard Tool.exiftool.isPresent else { continue }
            let file = stage.folder.file("\(kind)")
            try bytes.write(to: URL(fileURLWithPath: file))
            let found = String(decoding: try Tool.exiftool.run(["-G1", "-a", "-u", "-s", file]), as: UTF8.self)
            for group in ["[GPS]", "[IFD0]", "[ExifIFD]", "[XMP", "[IPTC]", "[Photoshop]", "[MakerNotes]"] {
                #expect(!found.contains(group), "\(kind): \(found)")
            }
        }
        for kind in [PhotoFileKind.original, .film] {
            #expect(await status { _ = try await stage.picture(made.token, photo.uuid, kind) } == .permissionDenied)
        }
        await stage.library.close()
    }

    @Test func originalsAndDetailsComeWhereTheyAreGivenAndNowhereElse() async throws {
        let (stage, photo) = try await stage(width: 2400)
        let originals = try await stage.mesh.send(CreateLink(photoIds: [photo.id], originals: true)).token
        let bytes = try await stage.picture(originals, photo.uuid, .original)
        #expect(bytes == (try Self.told(width: 2400)))
        let shown = try await stage.photos(originals)
        #expect(shown[0].hasOriginal && shown[0].caption == nil)
        // What is shown is pixels here too.
        let still = try await stage.picture(originals, photo.uuid, .photo)
        #expect(still.range(of: Data("Ada Lovelace".utf8)) == nil)

        let details = try await stage.mesh.send(CreateLink(photoIds: [photo.id], details: true)).token
        #expect(try await stage.photos(details)[0].caption == "Ada Lovelace")
        let whole = try await stage.picture(details, photo.uuid, .photo)
        #expect(whole == (try Data(contentsOf: URL(fileURLWithPath: stage.library.path + "/" + photo.path))))
        #expect(await status { _ = try await stage.picture(details, photo.uuid, .original) } == .permissionDenied)
        await stage.library.close()
    }

    /// Each of a visitor's pictures, also the one that is made for visitors alone.
    @Test func whatIsTurnedIsTurnedForVisitors() async throws {
        let (stage, photo) = try await stage(width: 2400)
        let token = try await stage.mesh.send(CreateLink(photoIds: [photo.id])).token
        let kinds = [PhotoFileKind.thumbnail, .preview, .photo]
        func versions() async throws -> [String] {
            var versions: [String] = []
            for kind in kinds {
                let request = OpenLinkPhoto(token: token, uuid: photo.uuid, kind)
                versions.append(try await stage.mesh.send(request, in: stage.nobody).version)
            }
            return versions
        }
        let before = try await versions()
        _ = try await stage.mesh.send(RotatePhotos(turns: [PhotoTurn(photo, by: 90)]))
        let shown = try await stage.photos(token)[0]
        // Its pictures come turned: there is nothing for the page to turn.
        #expect((shown.width, shown.height) == (1536, 2048) && shown.rotation == nil)
        // What caches know it by is another.
        let after = try await versions()
        for (old, new) in zip(before, after) { #expect(old != new) }
        for kind in kinds {
            let bytes = Array(try await stage.picture(token, photo.uuid, kind))
            let (width, height) = kind == .preview ? Self.previewSize(bytes) : Self.jpegSize(bytes)
            #expect(width > 0 && width * 4 == height * 3, "\(kind): \(width) x \(height)")
            for secret in Self.secrets { #expect(Data(bytes).range(of: Data(secret.utf8)) == nil, "\(kind)") }
        }
        let details = try await stage.mesh.send(CreateLink(photoIds: [photo.id], details: true)).token
        let (width, height) = Self.jpegSize(Array(try await stage.picture(details, photo.uuid, .photo)))
        #expect((width, height) == (1536, 2048))
        await stage.library.close()
    }

    /// The film of a photo that moves is as the camera held it: who plays it is told the turn, and nobody else.
    @Test(.enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the film"))
    func whoPlaysTheFilmOfATurnedPhotoIsToldItsTurn() async throws {
        let stage = try await LinkStage(photos: 0)
        let folder = stage.folder.file("pair")
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        let picture = SamplePair().picture(try SampleAlbum(width: 640, height: 480).photo(0))
        try picture.write(to: URL(fileURLWithPath: folder + "/IMG_1.JPG"))
        try SamplePair().writeFilm(to: folder + "/IMG_1.MOV")
        try await stage.importing(folder)
        let photo = try #require(try await stage.allPhotos().first)
        #expect(photo.kind == .moving)
        let details = try await stage.mesh.send(CreateLink(photoIds: [photo.id], details: true)).token
        let plain = try await stage.mesh.send(CreateLink(photoIds: [photo.id])).token
        #expect(try await stage.photos(details).map(\.rotation) == [nil])
        _ = try await stage.mesh.send(RotatePhotos(turns: [PhotoTurn(photo, by: 90)]))
        let shown = try await stage.photos(details)
        #expect(shown.map(\.plays) == [true] && shown.map(\.rotation) == [.quarter])
        #expect(try await stage.photos(plain).map(\.rotation) == [nil])
        await stage.library.close()
    }

    /// Of its frame.
    private static func jpegSize(_ bytes: [UInt8]) -> (width: Int, height: Int) {
        var place = 2
        while place + 9 < bytes.count, bytes[place] == 0xFF {
            if [0xC0, 0xC1, 0xC2].contains(bytes[place + 1]) {
                return (
                    Int(bytes[place + 7]) << 8 + Int(bytes[place + 8]),
                    Int(bytes[place + 5]) << 8 + Int(bytes[place + 6])
                )
            }
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
        }
        return (0, 0)
    }

    private static func previewSize(_ bytes: [UInt8]) -> (width: Int, height: Int) {
        guard bytes.count > 30, bytes.starts(with: Array("RIFF".utf8)) else { return (0, 0) }
        return (Int(bytes[24]) + Int(bytes[25]) << 8 + 1, Int(bytes[27]) + Int(bytes[28]) << 8 + 1)
    }

    /// A library from elsewhere may have anything in a thumbnail's or preview's place.
    @Test func whatIsNotOursIsMadeAnew() async throws {
        let (stage, photo) = try await stage(width: 2400)
        let foreign = try Self.told(width: 200)
        for path in [photo.thumbnailPath, photo.previewPath] {
            try foreign.write(to: URL(fileURLWithPath: stage.library.path + "/" + path))
        }
        let made = try await stage.mesh.send(CreateLink(photoIds: [photo.id])).token
        for kind in [PhotoFileKind.thumbnail, .preview] {
            let bytes = try await stage.picture(made, photo.uuid, kind)
            for secret in Self.secrets { #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(kind)") }
        }
        await stage.library.close()
    }

    @Test(.enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films"))
    func aFilmIsAPictureUnlessMoreIsGiven() async throws {
        let stage = try await LinkStage(photos: 0)
        let path = stage.folder.file("a.mp4")
        try SampleFilm { ($0.width, $0.height, $0.duration) = (160, 120, 1) }.write(to: path)
        try await stage.importing(path)
        let photo = try #require(try await stage.allPhotos().first)
        #expect(photo.isFilm)
        let plain = try await stage.mesh.send(CreateLink(photoIds: [photo.id])).token
        let shown = try await stage.photos(plain)[0]
        #expect(shown.isFilm && !shown.plays && (shown.duration ?? 0) > 0)
        #expect(try await stage.picture(plain, photo.uuid, .photo).starts(with: [0xFF, 0xD8]))
        #expect(await status { _ = try await stage.picture(plain, photo.uuid, .film) } == .permissionDenied)
        let details = try await stage.mesh.send(CreateLink(photoIds: [photo.id], details: true)).token
        #expect(try await stage.photos(details)[0].plays)
        #expect(
            try await stage.picture(details, photo.uuid, .film) == (try Data(contentsOf: URL(fileURLWithPath: path))))
        await stage.library.close()
    }
}
