import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// Photos turned with the real programs: what goes out is turned, what is kept is not, and a kill leaves the one or the other.
@Suite(.timeLimit(.minutes(4))) struct RotationStories {
    private func home(_ count: Int) async throws -> Installation {
        let place = try Installation("rotate")
        try await place.up()
        let album = place.folder.file("album")
        try SampleAlbum(width: 640, height: 480).write(count: count, to: album)
        #expect(try await place.smilepile("import", album).status == 0)
        return place
    }

    private func sides(_ bytes: Data) -> [Int] {
        let bytes = Array(bytes)
        var place = 2
        while place + 9 < bytes.count, bytes[place] == 0xFF {
            if [0xC0, 0xC1, 0xC2].contains(bytes[place + 1]) {
                return [
                    Int(bytes[place + 7]) << 8 + Int(bytes[place + 8]),
                    Int(bytes[place + 5]) << 8 + Int(bytes[place + 6]),
                ]
            }
            place += 2 + Int(bytes[place + 2]) << 8 + Int(bytes[place + 3])
        }
        return []
    }

    private func pictures(_ folder: String) throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
        return Dictionary(
            uniqueKeysWithValues: try names.filter { !$0.hasSuffix(".xmp") }.map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: folder + "/" + $0)))
            })
    }

    @Test func aTurnedPhotoGoesOutTurnedAndItsOriginalAsItCame() async throws {
        let place = try await home(3)
        let (all, shown) = (place.folder.file("all"), place.folder.file("shown"))
        let came = try pictures(place.folder.file("album"))
        let turned = try await place.smilepile("photos", "rotate", "1-2", "--right")
        #expect(turned.status == 0 && turned.output == "2 photos turned to the right.\n", "\(turned.errors)")
        #expect(turned.errors == "Undo it with: smilepile photos rotate 1-2 --left\n")
        let facts = try await place.smilepile("photos", "show", "1")
        #expect(facts.output.contains("480×640") && facts.output.contains("90° clockwise"))

        #expect(try await place.smilepile("photos", "export", "--all", "--to", all).status == 0)
        #expect(try pictures(all) == came)
        #expect(try await place.smilepile("photos", "export", "--all", "--shown", "--to", shown).status == 0)
        let first = try pictures(shown)
        #expect(first.values.map(sides).sorted { $0[0] < $1[0] } == [[480, 640], [480, 640], [640, 480]])
        // What is the same is left alone, and what was turned since is written again.
        let again = try await place.smilepile("photos", "export", "--all", "--shown", "--update", "--to", shown)
        #expect(again.status == 0 && again.output.isEmpty, "\(again)")
        #expect(try await place.smilepile("photos", "rotate", "1", "--reset").status == 0)
        let later = try await place.smilepile("photos", "export", "--all", "--shown", "--update", "--to", shown)
        #expect(later.status == 0 && later.output.split(separator: "\n").filter { !$0.hasSuffix(".xmp") }.count == 1)

        // The sidecar of what is exported brings the turn into another library.
        let other = try Installation("rotate-to")
        try await other.up()
        let out = place.folder.file("out")
        #expect(try await place.smilepile("photos", "export", "2", "--to", out).status == 0)
        #expect(try await other.smilepile("import", out).status == 0)
        let photo = try #require(try await other.allPhotos(other.client()).first)
        #expect(photo.rotation == .quarter && (photo.width, photo.height) == (480, 640))
        let opened = try await other.client().call(GetPhotoPixels(id: photo.id, width: 48, height: 64))
        #expect((opened.width, opened.height) == (48, 64))
        // A copy of what is shown is turned already, and not once more with its sidecar.
        let flat = place.folder.file("flat")
        let copied = try await place.smilepile("photos", "export", "2", "--shown", "--sidecars", "always", "--to", flat)
        #expect(copied.status == 0 && copied.output.contains(".xmp\n"), "\(copied)")
        #expect(try await other.smilepile("import", flat).status == 0)
        let copy = try #require(try await other.allPhotos(other.client()).first { $0.id != photo.id })
        #expect(copy.rotation == nil && (copy.width, copy.height) == (480, 640))
        #expect(try await other.smilepile("storage", "check").status == 0)
        #expect(try await place.smilepile("storage", "check").status == 0)
        _ = try await (place.smilepile("down"), other.smilepile("down"))
    }

    /// Whenever it is, each photo is as it was or turned, all that is shown of it is the same, and nothing else stays.
    @Test func killingTheDaemonWhileItTurnsPhotosLeavesTheOldOrTheNew() async throws {
        let place = try await home(40)
        let program = Installation.programs + "/smilepile"
        for round in 0..<5 {
            let before = Dictionary(
                uniqueKeysWithValues: try await place.allPhotos(place.client()).map { ($0.id, $0.turned) })
            let turning = try place.start(program, ["photos", "rotate", "1-40", "--right"])
            let client = try place.client()
            // A little further each time.
            try await poll(for: "\(round * 8) photos that are turned") {
                let photos = try await place.allPhotos(client)
                return photos.count { $0.turned != before[$0.id] } >= round * 8
            }
            try await place.killDaemon()
            _ = try await turning.outcome()
            try await place.up()
            let now = try await place.allPhotos(place.client())
            for photo in now {
                let old = try #require(before[photo.id])
                #expect([old, (old + 90) % 360].contains(photo.turned), "photo \(photo.id), round \(round)")
                #expect(photo.turned % 180 == 0 ? photo.width == 640 : photo.width == 480)
                // What is shown is made to fit, whatever the kill left.
                _ = try await place.client().call(GetThumbnail(id: photo.id))
                let thumbnail = try Data(contentsOf: URL(fileURLWithPath: place.library + "/" + photo.thumbnailPath))
                #expect(sides(thumbnail) == (photo.turned % 180 == 0 ? [300, 225] : [225, 300]))
            }
            #expect(try await place.isConsistent(place.client()), "round \(round)")
        }
        let check = try await place.smilepile("storage", "check")
        #expect(check.status == 0, "\(check.output)\(check.errors)")
        #expect(try await place.smilepile("down").status == 0)
    }
}
