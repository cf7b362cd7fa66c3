import EndToEndSupport
import Foundation
import Testing

/// The daemon holds no folder but its library: the one in which it was started can be unmounted.
@Suite(.serialized, .timeLimit(.minutes(5))) struct WorkingFolderTests {
    private func workingFolder(of pid: Int32?) throws -> String {
        try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(try #require(pid))/cwd")
    }

    @Test func aDaemonStartedByUpStandsInTheRoot() async throws {
        let place = try Installation("cwd")
        let started = try await place.run(
            "/bin/sh",
            [
                "-c", "cd \"$0\" && exec \"$1\" up --library library", place.folder.path,
                Installation.programs + "/smilepile",
            ])
        #expect(started.status == 0, "\(started)")
        #expect(try workingFolder(of: place.daemonPID) == "/")
        #expect(try place.files("photos") == [])
        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func relativePathsOnItsOwnCommandLineAreThoseOfTheFolderItWasStartedIn() async throws {
        let place = try Installation("cwd")
        let said = place.folder.file("said")
        try #require(mkfifo(said, 0o600) == 0)
        let daemon = try place.start(
            "/bin/sh",
            [
                "-c",
                "cd \"$0\" && exec \"$1\" --library library --socket here/c.sock 2> \"$2\"", place.folder.path,
                Installation.programs + "/smilepiled", said,
            ])
        let line = await withCheckedContinuation { continuation in
            // Opening waits for the daemon, and reading for its first line.
            Thread.detachNewThread {
                let handle = FileHandle(forReadingAtPath: said)
                continuation.resume(returning: String(decoding: handle?.availableData ?? Data(), as: UTF8.self))
            }
        }
        #expect(line.contains("serving \(place.library) at \(place.folder.file("here/c.sock"))"), "\(line)")
        #expect(try workingFolder(of: place.daemonPID) == "/")
        #expect(place.daemonPID == daemon.pid)
        kill(daemon.pid, SIGTERM)
        _ = try await daemon.outcome()
    }
}
