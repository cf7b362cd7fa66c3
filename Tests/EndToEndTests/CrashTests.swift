import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// What is acknowledged survives; what was not leaves nothing behind.
@Suite(.serialized) struct CrashTests {
    @Test func killingTheDaemonInAnImportLosesNothingAcknowledged() async throws {
        let place = try Installation("crash")
        let album = place.folder.file("album")
        try SampleAlbum(width: 640, height: 480).write(count: 60, to: album)
        try await place.up()
        let job = try await place.client().call(ImportPhotos(paths: [album])).job
        var acknowledged: Set<String> = []
        // Ten moments, each a little further into what is left.
        for moment in 0..<10 {
            let client = try place.client()
            let wanted = acknowledged.count + moment * 3 % 7
            var lines: [ReceiptLine] = []
            try await poll(for: "\(wanted) lines of \(job)") {
                lines = try await client.call(GetJobReceipt(job: job)).lines
                let hasEnded = try await client.call(GetJob(job: job)).state.hasEnded
                return lines.count >= wanted || hasEnded
            }
            acknowledged.formUnion(lines.compactMap(\.detail))
            try await place.killDaemon()
            try await place.up()
            let present = Set(try await place.allPhotos(place.client()).map(\.path))
            #expect(acknowledged.isSubset(of: present), "after kill \(moment)")
        }
        let client = try place.client()
        let ended = try await client.call(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["imported": 60], "\(ended)")
        #expect(try await place.allPhotos(client).count == 60)
        #expect(try await place.isConsistent(client))
    }

    /// Whenever it is, a picture and its film are one photo in the end, each file is kept once, and nothing else stays.
    @Test(.enabled(if: Tool.ffmpeg.isPresent)) func killingTheDaemonWhileFilmsJoinTheirPictures() async throws {
        let place = try Installation("crash-pairs")
        let album = place.folder.file("album")
        try FileManager.default.createDirectory(atPath: album, withIntermediateDirectories: false)
        let count = 16
        for number in 0..<count {
            let pair = SamplePair {
                $0.seed = number
                $0.identifier = "PAIR-\(number)"
                $0.taken = "2023-06-12T14:05:\(10 + number)"
            }
            // Of every second pair the film stands first.
            let picture = pair.picture(try SampleAlbum(width: 640, height: 480).photo(number))
            try picture.write(to: URL(fileURLWithPath: "\(album)/IMG_\(number)." + (number % 2 == 0 ? "JPG" : "jpg")))
            try pair.writeFilm(to: "\(album)/IMG_\(number).MOV")
        }
        try await place.up()
        let job = try await place.client().call(ImportPhotos(paths: [album])).job
        for lines in [1, 4, 9, 13, 20, 26] {
            let client = try place.client()
            try await poll(for: "\(lines) lines of \(job)") {
                let there = try await client.call(GetJobReceipt(job: job)).lines.count
                let hasEnded = try await client.call(GetJob(job: job)).state.hasEnded
                return there >= lines || hasEnded
            }
            try await place.killDaemon()
            try await place.up()
        }
        let client = try place.client()
        let ended = try await client.call(WaitForJob(job: job))
        #expect(ended.state == .finished && !ended.needsAttention, "\(ended)")
        let photos = try await place.allPhotos(client)
        #expect(photos.count == count && photos.allSatisfy { $0.kind == .moving }, "\(photos.map(\.sourceName))")
        for photo in photos {
            let film = try #require(photo.companionFilm)
            #expect(
                FileManager.default.contentsEqual(
                    atPath: place.library + "/" + film.path, andPath: album + "/" + film.name))
        }
        #expect(try place.files("originals").count == count && place.files("photos").count == count)
        #expect(try await place.isConsistent(client) && place.files("staging").isEmpty)
    }

    @Test func killingTheDaemonInARestoreLeavesTheOldOrTheNewLibrary() async throws {
        let place = try Installation("crash-restore")
        let old = SampleAlbum(width: 320, height: 240, seed: 1)
        try old.write(count: 8, to: place.folder.file("old"))
        try SampleAlbum(width: 320, height: 240, seed: 2).write(count: 20, to: place.folder.file("new"))
        let maker = try Installation("crash-restore-maker")
        try await maker.up()
        #expect(try await maker.smilepile("import", place.folder.file("new")).status == 0)
        let backup = place.folder.file("new.zip")
        #expect(try await maker.smilepile("backup", "create", backup).status == 0)
        let new = try await maker.allPhotos(maker.client()).map(\.contentDigest).sorted()

        try await place.up()
        #expect(try await place.smilepile("import", place.folder.file("old")).status == 0)
        let before = try await place.allPhotos(place.client()).map(\.contentDigest).sorted()
        for items in [0, 5, 15, 19, 20] {
            let client = try place.client()
            let started = try await client.call(RestoreBackup(path: backup, mode: .replace))
            try await poll(for: "\(items) items of \(started.job)") {
                let job = try await client.call(GetJob(job: started.job))
                return job.state.hasEnded || job.progress.phase == "switching"
                    || (job.progress.phase == "restoring" && job.progress.itemsDone >= items)
            }
            try await place.killDaemon()
            try await place.up()
            let again = try place.client()
            let early = try await place.allPhotos(again).map(\.contentDigest).sorted()
            #expect(early == before || early == new, "killed at \(items)")
            // It goes on by itself.
            let ended = try await again.call(WaitForJob(job: started.job))
            #expect(ended.state == .finished, "\(ended)")
            let now = try await place.allPhotos(again).map(\.contentDigest).sorted()
            #expect(now == new, "killed at \(items)")
            #expect(try place.files("staging").isEmpty)
            for photo in try await place.allPhotos(again) {
                #expect(FileManager.default.fileExists(atPath: place.library + "/" + photo.path))
            }
        }
    }
}
