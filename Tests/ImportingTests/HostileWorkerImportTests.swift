import Foundation
import Imaging
import LibraryModel
import SampleAlbum
import ServiceMesh
import SmilePile
import TestSupport
import Testing
import ZipArchive

/// An import whose workers are taken over by their photos (`cell-probe`): each lie costs its own photo, and nothing else.
@Suite struct HostileWorkerImportTests {
    private static let lies = [
        "change the photo later", "a page for a photo", "a page for a thumbnail", "a thumbnail of 300 MiB",
        "another digest", "another type", "a larger source, kept", "take over",
    ]

    @Test func eachLieCostsItsOwnPhoto() async throws {
        let folder = try TemporaryFolder("lies")
        let worker = try #require(ImageWorkerPool.defaultExecutable())
        let probe = URL(fileURLWithPath: worker).deletingLastPathComponent().appendingPathComponent("cell-probe").path
        let library = try await PhotoLibrary.open(
            at: folder.file("library"), options: .init(imageWorker: probe, workers: 2))
        try SampleAlbum(width: 8, height: 8).write(count: 1, to: folder.file("album"))
        let album = URL(fileURLWithPath: folder.file("album"))
        let sample = try #require(
            FileManager.default.contentsOfDirectory(at: album, includingPropertiesForKeys: nil).first)
        let picture = Array(try Data(contentsOf: sample))
        try FileManager.default.removeItem(at: sample)
        var sources: [String: [UInt8]] = [:]
        // True ones between the lies, each of other bytes.
        for (index, lie) in Self.lies.enumerated() {
            for (name, words) in [("\(index)-lie", lie), ("\(index)-true", "nothing, kept")] {
                let comment = Array("lie: \(words)".utf8)
                let bytes: [UInt8] =
                    picture[..<2] + [0xFF, 0xFE, 0, UInt8(comment.count + 2)] + comment
                    + [0xFF, 0xFE, 0, 3, UInt8(index)] + picture[2...]
                sources[name] = bytes
                try Data(bytes).write(to: album.appendingPathComponent(name + ".jpg"))
            }
        }
        let started = try await library.mesh.send(ImportPhotos(paths: [album.path]))
        let job = try await library.mesh.send(WaitForJob(job: started.job))
        let lines = try await library.mesh.send(GetJobReceipt(job: job.id)).lines
        func outcome(_ name: String) -> String? { lines.first { $0.item.hasSuffix("/\(name).jpg") }?.outcome }
        for (index, lie) in Self.lies.enumerated() {
            #expect(outcome("\(index)-true") == "imported", "after: \(lie)")
            let expected = lie == "take over" ? "imported" : lie == "another digest" ? "changed" : "damaged"
            #expect(outcome("\(index)-lie") == expected, "\(lie)")
        }
        // What was imported is the source, byte for byte, and is what the catalogue says.
        let photos = try await library.mesh.send(SearchPhotos(limit: 100)).photos
        #expect(photos.count == Self.lies.count + 1)
        for photo in photos {
            let stored = try Data(contentsOf: URL(fileURLWithPath: folder.file("library/" + photo.path)))
            #expect(photo.contentDigest == ContentDigest(of: stored).sha256.hex)
            if photo.name.hasSuffix("true") { #expect(Array(stored) == sources[photo.name]) }
        }
        let staged = try FileManager.default.contentsOfDirectory(atPath: folder.file("library/staging"))
        #expect(staged.isEmpty, "\(staged)")
        await library.close()
    }
}
