import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import TestSupport
import Testing

/// A camera's shot in two files, out of a library and into another one.
@Suite struct RawPairStories {
    @Test func anExportGivesBothFilesBackAndTheyAreOneAgain() async throws {
        let place = try Installation("shots")
        let album = place.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        for number in 0..<2 {
            let shot = SampleShot { $0.taken = "2023-06-12T14:05:\(10 + number)" }
            let (picture, seen) = try (
                SampleAlbum(width: 2_400, height: 1_800).photo(number),
                SampleAlbum(width: 1_600, height: 1_200).photo(number + 10)
            )
            try shot.jpeg(picture).write(to: URL(fileURLWithPath: "\(album)/DSCF\(number).JPG"))
            try shot.raw(seen).write(to: URL(fileURLWithPath: "\(album)/DSCF\(number).RAF"))
        }
        try await place.up()
        let imported = try await place.smilepile("import", album)
        #expect(imported.status == 0, "\(imported.errors)")
        let before = try await place.allPhotos(place.client())
        #expect(before.count == 2 && before.allSatisfy { $0.companionRaw != nil }, "\(before)")
        let shown = try await place.smilepile("photos", "show", "\(before[0].id)")
        #expect(shown.output.contains("Raw file") && shown.output.contains("which came as DSCF"), "\(shown.output)")
        let out = place.folder.file("out")
        let exported = try await place.smilepile("photos", "export", "--all", "--to", out, "--sidecars", "never")
        #expect(exported.status == 0, "\(exported.errors)")
        let names = try FileManager.default.contentsOfDirectory(atPath: out).sorted()
        #expect(names == ["DSCF0.RAF", "DSCF0.jpg", "DSCF1.RAF", "DSCF1.jpg"])
        for name in names {
            let source = (name as NSString).deletingPathExtension + "." + (name as NSString).pathExtension.uppercased()
            #expect(
                try Data(contentsOf: URL(fileURLWithPath: out + "/" + name))
                    == Data(contentsOf: URL(fileURLWithPath: album + "/" + source)))
        }

        let other = try Installation("shots-again")
        try await other.up()
        #expect(try await other.smilepile("import", out).status == 0)
        let photos = try await other.allPhotos(other.client())
        #expect(photos.count == 2 && photos.allSatisfy { $0.companionRaw != nil })
    }
}
