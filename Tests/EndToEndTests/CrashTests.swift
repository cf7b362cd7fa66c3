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
        var acknowledged: Set<String> = []
        // Ten moments, each a little further into what is left.
        for moment in 0..<10 {
            try await place.up()
            let client = try place.client()
            #expect(try await place.isConsistent(client), "after kill \(moment)")
            let present = Set(try await place.allPhotos(client).map(\.path))
            #expect(acknowledged.isSubset(of: present), "after kill \(moment)")
            let started = try await client.call(ImportPhotos(paths: [album]))
            var lines: [ReceiptLine] = []
            let wanted = lines.count + moment * 3 % 7
            while lines.filter({ $0.outcome == "imported" }).count < wanted {
                let job = try await client.call(GetJob(job: started.job))
                lines = try await client.call(GetJobReceipt(job: started.job)).lines
                if job.state.hasEnded { break }
            }
            acknowledged.formUnion(lines.filter { $0.outcome == "imported" }.compactMap(\.detail))
            try await place.killDaemon()
        }
        try await place.up()
        let client = try place.client()
        #expect(try await place.isConsistent(client))
        #expect(acknowledged.isSubset(of: Set(try await place.allPhotos(client).map(\.path))))
        #expect(try await place.smilepile("import", album).status == 0)
        #expect(try await place.allPhotos(client).count == 60)
        #expect(try await place.isConsistent(client))
    }

    @Test func killingTheDaemonInABackupLeavesNoPartialFile() async throws {
        let place = try Installation("crash-backup")
        let album = place.folder.file("album")
        try SampleAlbum(width: 1200, height: 900).write(count: 30, to: album)
        try await place.up()
        #expect(try await place.smilepile("import", album).status == 0)
        let target = place.folder.file("killed.zip")
        _ = try await place.client().call(CreateBackup(path: target))
        try await place.killDaemon()
        try await place.up()
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        if FileManager.default.fileExists(atPath: target) {
            #expect(try await place.smilepile("backup", "verify", target).status == 0)
        }
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
            while true {
                let job = try await client.call(GetJob(job: started.job))
                if job.state.hasEnded || (job.progress.phase == "restoring" && job.progress.itemsDone >= items)
                    || job.progress.phase == "switching"
                {
                    break
                }
            }
            try await place.killDaemon()
            try await place.up()
            let again = try place.client()
            let now = try await place.allPhotos(again).map(\.contentDigest).sorted()
            #expect(now == before || now == new, "killed at \(items)")
            #expect(try place.files("staging").isEmpty)
            for photo in try await place.allPhotos(again) {
                #expect(FileManager.default.fileExists(atPath: place.library + "/" + photo.path))
            }
        }
    }

    @Test func aTerminatedDaemonEndsItsJobsAndStopsCleanly() async throws {
        let place = try Installation("terminate")
        let album = place.folder.file("album")
        try SampleAlbum(width: 1200, height: 900).write(count: 40, to: album)
        try await place.up()
        let client = try place.client()
        _ = try await client.call(ImportPhotos(paths: [album]))
        let pid = try #require(place.daemonPID)
        kill(pid, SIGTERM)
        await place.daemonIsGone()
        #expect(!FileManager.default.fileExists(atPath: place.socket))
        try await place.up()
        #expect(try await place.isConsistent(place.client()))
    }
}
