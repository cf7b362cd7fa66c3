import EndToEndSupport
import Foundation
import SampleAlbum
import Testing

/// A daemon that may have few files open.
@Suite(.serialized, .timeLimit(.minutes(5))) struct OpenFilesTests {
    private let prlimit = "/usr/bin/prlimit"

    @Test func itSaysHowManyItNeedsAndServesWithNoMore() async throws {
        let place = try Installation("few-files")
        let program = Installation.programs + "/smilepile"
        func up(_ limit: Int) async throws -> Outcome {
            try await place.run(prlimit, ["--nofile=\(limit)", program, "up", "--library", place.library])
        }
        let refused = try await up(24)
        #expect(refused.status != 0)
        let needed = try #require(
            refused.errors.firstMatch(of: #/needs ([0-9]+) open files at once, and may have 24/#).flatMap { Int($0.1) },
            "\(refused)")
        #expect(try await up(needed - 1).status != 0)
        #expect(try await up(needed).status == 0)
        // Everything goes on with so few, however many connect.
        try SampleAlbum(width: 320, height: 240).write(count: 40, to: place.folder.file("album"))
        let held = try (0..<40).map { _ in try place.client() }
        let imported = try await place.smilepile("import", place.folder.file("album"))
        #expect(imported.status == 4 && imported.errors.contains("which is the most"), "\(imported)")
        for client in held { client.close() }
        let again = try await place.smilepile("import", place.folder.file("album"))
        #expect(again.status == 0, "\(again)")
        let saved = try await place.smilepile("backup", "create", place.folder.file("saved.zip"))
        #expect(saved.status == 0, "\(saved)")
    }

    /// Another's doing, as of a machine that has no more: what it had planned with is not there.
    @Test func whoCannotBeServedIsToldAndNotKept() async throws {
        let place = try Installation("no-files")
        try await place.up()
        let pid = try #require(place.daemonPID)
        let before = try await place.run(prlimit, ["--pid", "\(pid)", "--nofile", "--noheadings", "--output=SOFT"])
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        #expect(try await place.run(prlimit, ["--pid", "\(pid)", "--nofile=\(open + 3):"]).status == 0)
        let held = try (0..<20).map { _ in try place.client() }
        for _ in 0..<3 {
            let refused = try await place.smilepile("ping")
            #expect(refused.status == 4 && refused.errors.contains("as many files open as it may"), "\(refused)")
        }
        let limit = before.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await place.run(prlimit, ["--pid", "\(pid)", "--nofile=\(limit):"]).status == 0)
        for client in held { client.close() }
        #expect(try await place.smilepile("ping").status == 0)
        let path = place.folder.file("home/.local/state/smilepile/daemon.log")
        let log = try String(contentsOfFile: path, encoding: .utf8)
        #expect(log.contains("closed: this process has as many files open"), "\(log)")
    }

    /// Address space is taken for more than memory is: a daemon that may have little of it does not hang, or end with a signal, where
    /// a thread finds none for its stack.
    @Test func inASmallAddressSpaceItServesOrSaysWhyNot() async throws {
        let place = try Installation("small")
        let program = Installation.programs + "/smilepile"
        func up(_ mebibytes: Int) async throws -> Outcome {
            try await place.run(
                prlimit, ["--as=\(mebibytes << 20)", program, "up", "--library", place.library])
        }
        let refused = try await up(400)
        #expect(refused.status != 0)
        let needed = try #require(
            refused.errors.firstMatch(of: #/needs ([0-9]+) MiB of address space, and may have 400/#)
                .flatMap { Int($0.1) }, "\(refused)")
        let served = try await up(needed)
        #expect(served.status == 0, "\(served)")
        try SampleAlbum(width: 1600, height: 1200).write(count: 30, to: place.folder.file("album"))
        let imported = try await place.smilepile("import", place.folder.file("album"))
        #expect(imported.status == 0, "\(imported)")
        let saved = try await place.smilepile("backup", "create", place.folder.file("saved.zip"))
        #expect(saved.status == 0, "\(saved)")
        let pid = try #require(place.daemonPID)
        let threads = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task").count
        #expect(threads > 15, "those that were wanted have started")
    }
}
