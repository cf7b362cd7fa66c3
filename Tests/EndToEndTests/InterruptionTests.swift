import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// The daemon is stopped or killed under a job, started again, and the job goes on by itself.
@Suite(.serialized) struct InterruptionTests {
    /// Ends the daemon by a signal and returns when it is gone.
    private func end(_ place: Installation, by signal: Int32) async throws {
        let pid = try #require(place.daemonPID)
        kill(pid, signal)
        await place.daemonIsGone()
    }

    private func reach(_ items: Int64, _ job: JobID, _ client: ControlClient) async throws {
        try await poll(for: "\(items) items of \(job)") {
            let progress = try await client.call(GetJob(job: job)).progress
            return progress.itemsDone >= items && progress.phase != "reading folders"
        }
    }

    private func unfinishedJob(_ client: ControlClient) async throws -> JobID {
        var job: JobID?
        try await poll(for: "a job that has not ended") {
            job = try await client.call(ListJobs()).jobs.first { !$0.state.hasEnded }?.id
            return job != nil
        }
        return try #require(job)
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func anImportGoesOnByItselfAndItsReceiptCoversBothRuns(_ signal: Int32) async throws {
        let place = try Installation("interrupted-import")
        let album = place.folder.file("album")
        try SampleAlbum(width: 640, height: 480).write(count: 150, to: album)
        try await place.up()
        let client = try place.client()
        let following = try place.start("smilepile", ["import", album])
        let job = try await unfinishedJob(client)
        try await reach(50, job, client)
        try await end(place, by: signal)
        let left = try await following.outcome()
        if signal == SIGTERM {
            // Who follows it is told, how far it came and how it goes on.
            #expect(left.status == 3 && (left.output + left.errors).contains("goes on"), "\(left)")
            #expect(!FileManager.default.fileExists(atPath: place.socket))
        } else {
            #expect(left.status != 0 && left.errors.contains(job), "\(left)")
        }

        try await place.up()
        let again = try place.client()
        let ended = try await again.call(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["imported": 150], "\(ended)")
        let lines = try await again.call(GetJobReceipt(job: job)).lines
        #expect(lines.count == 150 && Set(lines.map(\.item)).count == 150)
        let photos = try await place.allPhotos(again)
        #expect(photos.count == 150 && Set(lines.compactMap(\.detail)) == Set(photos.map(\.path)))
        #expect(try await place.isConsistent(again))
        let shown = try await place.smilepile("jobs", "show", job)
        #expect(shown.status == 0 && shown.output.contains("150 of 150"), "\(shown)")
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func aBackupGoesOnByItself(_ signal: Int32) async throws {
        let place = try Installation("interrupted-backup")
        let album = place.folder.file("album")
        try SampleAlbum(width: 1600, height: 1200).write(count: 60, to: album)
        try await place.up()
        #expect(try await place.smilepile("import", album).status == 0)
        let target = place.folder.file("b.zip")
        let client = try place.client()
        let job = try await client.call(CreateBackup(path: target)).job
        var now = try await client.call(GetJob(job: job))
        while !now.state.hasEnded, now.progress.phase != "copying" || now.progress.itemsDone < 20 {
            if now.progress.phase == "verifying" { break }
            now = try await client.call(GetJob(job: job))
        }
        try await end(place, by: signal)
        try await place.up()
        let again = try place.client()
        let ended = try await again.call(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.receipt?["photos"] == 60, "\(ended)")
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        #expect(try await place.smilepile("backup", "verify", target).status == 0)
    }

    @Test func aPausedImportStaysPausedUntilItIsResumed() async throws {
        let place = try Installation("paused-import")
        let album = place.folder.file("album")
        try SampleAlbum(width: 640, height: 480).write(count: 90, to: album)
        try await place.up()
        let client = try place.client()
        let job = try await client.call(ImportPhotos(paths: [album])).job
        try await reach(30, job, client)
        #expect(try await place.smilepile("jobs", "pause", job).status == 0)
        try await end(place, by: SIGTERM)
        try await place.up()
        let listed = try await place.smilepile("jobs")
        #expect(listed.output.contains("paused"), "\(listed)")
        let again = try place.client()
        let before = try await place.allPhotos(again).count
        #expect(before < 90)
        #expect(try await again.call(GetJob(job: job)).state == .paused)
        #expect(try await place.smilepile("jobs", "resume", job).status == 0)
        let ended = try await again.call(WaitForJob(job: job))
        #expect(ended.state == .finished && ended.outcomes == ["imported": 90], "\(ended)")
        #expect(try await place.isConsistent(again))
    }
}
