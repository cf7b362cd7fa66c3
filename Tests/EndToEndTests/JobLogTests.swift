import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import Testing

/// What the daemon's log says of jobs, and what is found of them after it was stopped.
@Suite(.serialized) struct JobLogTests {
    @Test func theLogHasALineForTheBeginningAndTheEndOfAJob() async throws {
        let place = try Installation("job-log")
        let album = place.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: album)
        try Data("not a picture".utf8).write(to: URL(fileURLWithPath: album + "/odd\nname.jpg"))
        try await place.up()
        let imported = try await place.smilepile("import", album, "--json")
        #expect(imported.status == 5, "\(imported.errors)")
        let job = try JSONDecoder().decode(JobSnapshot.self, from: Data(imported.output.utf8)).id
        #expect(try await place.smilepile("down").status == 0)

        let log = try String(
            contentsOfFile: place.folder.file("home/.local/state/smilepile/daemon.log"), encoding: .utf8)
        let lines = log.split(separator: "\n").filter { $0.contains("job \(job): ") }
        #expect(lines.count == 2, "\(log)")
        #expect(lines.first?.hasSuffix("library.import started, asked for by the parent role") == true)
        #expect(lines.last?.contains("library.import finished, with problems, after ") == true)
        #expect(lines.last?.hasSuffix(" s: 3 imported, 1 unsupported") == true)
        #expect(log.hasSuffix("stopped\n"))

        try await place.up()
        let shown = try await place.smilepile("jobs", "show", String(job.prefix(9)))
        #expect(shown.status == 5 && shown.output.contains("odd␊name.jpg"), "\(shown)")
        let all = try await place.smilepile("jobs", "list", "--all")
        #expect(all.status == 0 && all.output.contains(job), "\(all)")
        #expect(try await place.smilepile("down").status == 0)
    }

    /// A log on a full disk, and one whose descriptor is closed.
    @Test(arguments: ["2>/dev/full", "2>&-", "<&- >&- 2>&-"])
    func aLogThatCannotBeWrittenIsCountedAndNothingElse(redirection: String) async throws {
        let place = try Installation("job-log")
        let album = place.folder.file("album")
        try SampleAlbum(width: 64, height: 48).write(count: 3, to: album)
        let script = "exec \"$0\" --library \"$1\" --socket \"$2\" \(redirection)"
        let daemon = try place.start(
            "/bin/sh", ["-c", script, Installation.programs + "/smilepiled", place.library, place.socket])
        // Nothing is said where nothing can be written, so this asks until there is an answer.
        while try await place.run("smilepile", ["status"]).status != 0 {
            try #require(kill(daemon.pid, 0) == 0)
        }
        #expect(try await place.smilepile("import", album).status == 0)
        let status = try await place.client().call(GetLibraryStatus())
        // It serves, the import began, and it ended.
        #expect(status.photos == 3 && status.lostLogLines ?? 0 >= 2, "\(status)")
        #expect(try await place.smilepile("status").output.contains("could not be written"))
        kill(daemon.pid, SIGTERM)
        #expect(try await daemon.outcome().status == 0)
    }
}
