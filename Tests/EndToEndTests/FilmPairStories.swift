import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import TestSupport
import Testing

/// A phone's photo that moves, out of a library and into another one.
@Suite(.enabled(if: Tool.ffmpeg.isPresent, "ffmpeg makes the films")) struct FilmPairStories {
    @Test func anExportGivesBothFilesBackAndTheyAreOneAgain() async throws {
        let place = try Installation("pairs")
        let album = place.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        // Of two that are called alike, each has its own film.
        for number in 0..<2 {
            let folder = "\(album)/\(number)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let pair = SamplePair {
                $0.seed = number
                $0.identifier = "PAIR-\(number)"
            }
            let picture = pair.picture(try SampleAlbum(width: 2400, height: 1800).photo(number))
            try picture.write(to: URL(fileURLWithPath: folder + "/IMG_1.JPG"))
            try pair.writeFilm(to: folder + "/IMG_1.MOV")
        }
        try await place.up()
        let imported = try await place.smilepile("import", album)
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(
            imported.output.contains("2 photos move: their films came as files of their own."), "\(imported.output)")
        let out = place.folder.file("out")
        let exported = try await place.smilepile("photos", "export", "--all", "--to", out, "--sidecars", "never")
        #expect(exported.status == 0, "\(exported.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: out).sorted()
        #expect(names == ["IMG_1 (2).MOV", "IMG_1 (2).jpg", "IMG_1.MOV", "IMG_1.jpg"])
        let sources = try Set(
            ["0/IMG_1.JPG", "0/IMG_1.MOV", "1/IMG_1.JPG", "1/IMG_1.MOV"].map {
                try Data(contentsOf: URL(fileURLWithPath: album + "/" + $0))
            })
        #expect(try Set(names.map { try Data(contentsOf: URL(fileURLWithPath: out + "/" + $0)) }) == sources)

        let other = try Installation("pairs-again")
        try await other.up()
        #expect(try await other.smilepile("import", out).status == 0)
        let photos = try await other.allPhotos(other.client())
        #expect(photos.count == 2 && photos.allSatisfy { $0.kind == .moving })
        for photo in photos {
            let film = try #require(photo.companionFilm)
            #expect((film.name as NSString).deletingPathExtension == photo.name)
        }
    }
}
