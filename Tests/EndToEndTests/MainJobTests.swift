import ControlSocket
import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Synchronization
import TestSupport
import Testing

/// The main job with the real programs: the daemon is started, photos go in, are found, and are backed up.
@Suite(.serialized) struct MainJobTests {
    @Test func aNewUserGetsFromNothingToABackup() async throws {
        let place = try Installation()
        try SampleAlbum(width: 640, height: 480).write(count: 16, to: place.folder.file("album"))

        let early = try await place.smilepile("photos")
        #expect(early.status == 3 && early.errors.contains("smilepile up"))

        try await place.up()
        let imported = try await place.smilepile("import", place.folder.file("album"), "--category", "family")
        #expect(imported.status == 0, "\(imported.errors)")
        let list = try await place.smilepile("photos", "list", "--json")
        let page = try JSONDecoder().decode(PhotoPage.self, from: Data(list.output.utf8))
        #expect(page.photos.count == 16)
        #expect(page.photos.allSatisfy { $0.width == 640 && $0.height == 480 })

        let added = try await place.smilepile("categories", "add", "Été", "--color", "#00aa11")
        #expect(added.status == 0)
        let again = try await place.smilepile("categories", "add", "ÉTÉ")
        #expect(again.status == 1 && again.errors.contains("already"))

        let photo = String(page.photos[0].id)
        #expect(try await place.smilepile("photos", "caption", photo, "Sandburg").status == 0)
        #expect(try await place.smilepile("photos", "favorite", photo).status == 0)
        let found = try await place.smilepile("photos", "search", "sandBURG", "--favorites", "--json")
        #expect(try JSONDecoder().decode(PhotoPage.self, from: Data(found.output.utf8)).photos.count == 1)

        let backup = place.folder.file("backup.zip")
        #expect(try await place.smilepile("backup", "create", backup).status == 0)
        #expect(try await place.smilepile("backup", "verify", backup).status == 0)

        let other = try Installation("e2e-other")
        try await other.up()
        let restored = try await other.smilepile("backup", "restore", backup, "--replace", "--yes")
        // What waits for a key alone, where the photos were taken, makes a restore no failure: the line says what opens it.
        #expect(restored.status == 0 && restored.output.contains("smilepile keys import"), "\(restored.errors)")
        let (one, two) = (try place.client(), try other.client())
        let photos = try await place.allPhotos(one)
        #expect(try await other.allPhotos(two) == photos)
        #expect(try await one.call(ListCategories()) == two.call(ListCategories()))
        for photo in photos {
            #expect(
                FileManager.default.contentsEqual(
                    atPath: place.library + "/" + photo.path, andPath: other.library + "/" + photo.path))
        }
        #expect(try await place.smilepile("down").status == 0)
        // Neither the socket nor what waited for the daemon's readiness is left.
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.file("run")) == ["smilepile"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.folder.file("run/smilepile")).isEmpty)
        #expect(try await other.smilepile("down").status == 0)
        #expect(place.daemonPID == nil)
    }

    @Test func wrongUseIsExplained() async throws {
        let place = try Installation()
        for arguments in [["imprt"], ["import"], ["photos", "--bogus"], ["categories", "reorder"]] {
            let outcome = try await place.run("smilepile", arguments)
            #expect(outcome.status == 2, "\(arguments)")
            #expect(!outcome.errors.isEmpty && outcome.output.isEmpty)
        }
        #expect(try await place.run("smilepile", ["imprt"]).errors.contains("import"))
        let help = try await place.smilepile("import", "--help")
        #expect(help.status == 0 && help.output.contains("smilepile import"))
        let daemon = try await place.run("smilepiled", ["--bogus"])
        #expect(daemon.status == 2)
    }

    @Test func aSecondDaemonIsRefusedWithTheFirstOnesPid() async throws {
        let place = try Installation()
        try await place.up()
        let pid = try #require(place.daemonPID)
        let second = try await place.run(
            "smilepiled", ["--library", place.library, "--socket", place.folder.file("run/second.sock")])
        #expect(second.status != 0 && second.errors.contains(String(pid)), "\(second.errors)")
        #expect(try await place.smilepile("up", "--library", place.library).status == 0)
        #expect(place.daemonPID == pid)
        #expect(try await place.smilepile("status").status == 0)
    }

    @Test func ctrlCInAnImportPrintsTheReceiptAndTheNextRunCompletesIt() async throws {
        let place = try Installation()
        let album = place.folder.file("album")
        try SampleAlbum(width: 1200, height: 900).write(count: 60, to: album)
        try await place.up()
        let client = try place.client()
        let running = try place.start("smilepile", ["import", album])
        try await place.interruptJob(of: running, at: 20, client)
        let stopped = try await running.outcome()
        #expect(stopped.status == 130, "\(stopped.errors)")
        #expect((stopped.output + stopped.errors).contains("cancelled"))
        #expect(try await place.isConsistent(client))
        let imported = try await place.allPhotos(client).count
        #expect(imported >= 20 && imported < 60)
        let again = try await place.smilepile("import", album)
        #expect(again.status == 0)
        #expect(try await place.allPhotos(client).count == 60)
        #expect(try await place.isConsistent(client))
    }

    @Test func ctrlCInABackupLeavesNoFile() async throws {
        let place = try Installation()
        let album = place.folder.file("album")
        try SampleAlbum(width: 1200, height: 900).write(count: 40, to: album)
        try await place.up()
        let client = try place.client()
        #expect(try await place.smilepile("import", album).status == 0)
        let target = place.folder.file("stopped.zip")
        let running = try place.start("smilepile", ["backup", "create", target])
        try await place.interruptJob(of: running, at: 1, client)
        let stopped = try await running.outcome()
        // A backup this small may be done when the signal arrives: then it is whole.
        if FileManager.default.fileExists(atPath: target) {
            #expect(try await place.smilepile("backup", "verify", target).status == 0)
        } else {
            #expect(stopped.status == 130)
        }
        #expect(!FileManager.default.fileExists(atPath: target + ".partial"))
        #expect(try await place.isConsistent(client))
    }

    @Test func theSocketAnswersAOneLineShellCommand() async throws {
        let place = try Installation()
        try await place.up()
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/socat") else {
            withKnownIssue("socat is not installed: Scripts/setup --tests installs it") { Issue.record("no socat") }
            return
        }
        let line = #"{"jsonrpc":"2.0","id":1,"method":"category.list"}"#
        let answered = try await place.run("/bin/sh", ["-c", "echo '\(line)' | socat - UNIX:\(place.socket)"])
        #expect(answered.output.contains("\"Family\"") && answered.output.hasSuffix("\n"))
    }
}

extension Installation {
    /// Sends SIGINT to a command line once its job has done `items`.
    func interruptJob(of program: RunningProgram, at items: Int64, _ client: ControlClient) async throws {
        var job: JobSnapshot?
        while job == nil { job = try await client.call(ListJobs()).jobs.first { !$0.state.hasEnded } ?? job }
        let id = try #require(job?.id)
        let sent = Atomic<Bool>(false)
        let _: JobSnapshot = try await client.observe(WatchJob(job: id)) { (update: ControlUpdate<JobSnapshot>) in
            let progress = update.value.progress
            guard progress.itemsDone >= items, progress.phase != "reading folders" else { return }
            if !sent.exchange(true, ordering: .relaxed) { kill(program.pid, SIGINT) }
        }
    }
}
