import Foundation
import LibraryModel
import ServiceMesh
import TestSupport
import Testing

@testable import CommandLineInterface
@testable import Diagnosis

/// The command, against a daemon of the test's.
@Suite("The doctor")
struct DoctorTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("doctor")
        try FileManager.default.createDirectory(
            atPath: folder.file("library"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        _ = FileManager.default.createFile(atPath: folder.file("library/catalogue"), contents: nil)
    }

    private var library: String { folder.file("library") }

    private func stage(version: String = Release.version, columns: Int? = nil, findings: [String: Int] = [:]) throws
        -> Stage
    {
        let stage = Stage(
            terminalColumns: columns,
            environment: [
                "HOME": folder.path, "SMILEPILE_SOCKET": folder.file("control.sock"), "NO_COLOR": "1",
                "PATH": "/usr/bin:/bin",
            ])
        stage.answer(
            "rpc.hello",
            Sample.hello.replacing("/srv/photos", with: library).replacing("4711", with: "\(getpid())")
                .replacing(Release.version, with: version))
        try stage.answer(
            "library.status", Sample.status(.init(started: 0, crashed: 0, timedOut: 0, pids: [], peakMemoryBytes: 0)))
        try stage.answer(
            "key.status",
            KeyStatus(
                state: .unused, keyFile: folder.file("sealing.key"), problem: nil, keys: [], values: 0, photos: 0,
                foreignValues: 0))
        try stage.answer(ListWatchedFolders.method, WatchedFolderList(folders: []))
        try stage.answer("backup.list", BackupList(backups: []))
        try stage.answer("backup.places", BackupPlaceList(folders: [], files: []))
        for method in ["library.rescan", "thumbnail.rebuild"] { stage.answer(method, #"{"job":"import-3f9a2c"}"#) }
        stage.answer(
            "job.watch",
            try Sample.job(
                "library.rescan",
                receipt: RescanReceipt(photos: 5, bytes: 12, findings: findings, ending: .complete)))
        return stage
    }

    /// `id severity` of what concerns the library alone: the rest is as the machine has it on which this runs.
    private func findings(_ stage: Stage, fixed: Bool? = nil) throws -> [String] {
        guard case .array(let findings) = try #require(try stage.json()["findings"]) else { return [] }
        return findings.compactMap { finding in
            guard case .string(let id) = finding["id"], case .string(let severity) = finding["severity"],
                case .string(let area) = finding["area"], case .string = finding["what"],
                ["library", "files", "backups", "keys"].contains(area) || id == "library-mode",
                fixed == nil || fixed == (finding["fixed"] != nil)
            else { return nil }
            return id + " " + severity
        }
    }

    private func command(of id: String, in report: JSONValue) throws -> String? {
        guard case .array(let findings) = try #require(report["findings"]) else { return nil }
        return findings.first { $0["id"] == .string(id) }?["command"]?.stringValue
    }

    @Test("One document for programs, with what is fine too")
    func json() async throws {
        let stage = try stage(findings: ["damaged": 1, "no_thumbnail": 2])
        #expect(await stage.run("doctor", "--json") == .doneWithProblems)
        #expect(
            try findings(stage) == [
                "library-mode ok", "catalogue ok", "keys ok", "backup-none warning", "backup-schedule advice",
                "files problem", "thumbnails advice",
            ])
        #expect(try stage.json()["worst"] == "problem")
        #expect(try stage.json()["library"] == .string(library))
        #expect(stage.params("library.rescan")?["digests"] == true)
        #expect(!stage.methods.contains("thumbnail.rebuild"))
    }

    @Test("--quick reads names and sizes")
    func quick() async throws {
        let stage = try stage()
        _ = await stage.run("doctor", "--quick", "--json")
        #expect(stage.params("library.rescan")?["digests"] == false)
    }

    @Test("--fix takes rights from others and has thumbnails made, and what is put right does not count")
    func fix() async throws {
        let stage = try stage(findings: ["no_thumbnail": 2])
        let made = ThumbnailReceipt(photos: 5, made: 2, problems: 0, ending: .complete)
        stage.answer("job.watch", try Sample.job("thumbnail.rebuild", receipt: made))
        #expect(chmod(library, 0o755) == 0)
        let key = folder.file("sealing.key")
        try Data(repeating: 65, count: 81).write(to: URL(fileURLWithPath: key))
        #expect(chmod(key, 0o644) == 0)
        _ = await stage.run("doctor", "--fix", "--json")
        #expect(
            try findings(stage, fixed: true) == ["library-mode warning", "key-file-mode problem", "thumbnails advice"])
        for (path, mode) in [(library, 0o700), (key, 0o600)] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
        #expect(try stage.json()["worst"] == "warning")
    }

    @Test("Thumbnails that cannot be made stay to be done")
    func unmade() async throws {
        let stage = try stage(findings: ["no_thumbnail": 2])
        let made = ThumbnailReceipt(photos: 5, made: 1, problems: 1, ending: .completeWithProblems)
        stage.answer("job.watch", try Sample.job("thumbnail.rebuild", receipt: made))
        _ = await stage.run("doctor", "--fix", "--json")
        #expect(try findings(stage, fixed: true) == [])
        #expect(try findings(stage).contains("thumbnails advice"))
    }

    @Test("What is a parent's is told once, and nothing else is asked")
    func kids() async throws {
        let refused = Stage(environment: ["HOME": folder.path, "SMILEPILE_SOCKET": folder.file("control.sock")])
        refused.answer("rpc.hello", Sample.hello.replacing("/srv/photos", with: library))
        refused.fail("library.status", .refused(MeshError(.permissionDenied, "This is a parent's.")))
        #expect(await refused.run("doctor", "--json") == .doneWithProblems)
        #expect(try findings(refused) == ["library-mode ok", "library problem"])
        #expect(refused.methods == ["rpc.hello", "library.status"])
    }

    @Test("A check that the daemon refuses is a finding, and the others go on")
    func refusedCheck() async throws {
        let stage = Stage(environment: ["HOME": folder.path, "SMILEPILE_SOCKET": folder.file("control.sock")])
        stage.answer("rpc.hello", Sample.hello.replacing("/srv/photos", with: library))
        try stage.answer("library.status", Sample.status)
        stage.fail("library.rescan", .refused(MeshError(.failedPrecondition, "The library is being restored.")))
        #expect(await stage.run("doctor", "--json") == .doneWithProblems)
        #expect(
            try findings(stage) == [
                "library-mode ok", "catalogue ok", "watched-folders problem", "keys problem", "backups problem",
                "files problem",
            ])
    }

    @Test("Without a daemon it looks at what it can, and says so")
    func withoutDaemon() async throws {
        let stage = Stage(environment: ["HOME": folder.path, "SMILEPILE_SOCKET": folder.file("control.sock")])
        stage.fail("rpc.hello", .notRunning(socket: folder.file("control.sock")))
        #expect(await stage.run("doctor", "--json", "--library", library) == .doneWithProblems)
        #expect(try findings(stage) == ["library-mode ok"])
        #expect(try stage.json()["daemon"] == nil)
        #expect(stage.results.contains(#""id":"daemon""#) && stage.methods == ["rpc.hello"])
    }

    @Test("Commands name the socket where it is not the usual one")
    func otherSocket() async throws {
        let other = folder.file("other control.sock")
        let old = try stage(version: "0.0.9")
        _ = await old.run("doctor", "--json", "--socket", other)
        let json = try old.json()
        #expect(
            try command(of: "daemon", in: json)
                == "smilepile down --socket '\(other)' && smilepile up --library \(library) --socket '\(other)'")
        #expect(try command(of: "backup-none", in: json) == "smilepile backup create FOLDER --socket '\(other)'")
    }

    @Test("A check that is cancelled is no finding")
    func cancelled() async throws {
        let stage = Stage(environment: ["HOME": folder.path, "SMILEPILE_SOCKET": folder.file("control.sock")])
        stage.answer("rpc.hello", Sample.hello.replacing("/srv/photos", with: library))
        try stage.answer("library.status", Sample.status)
        stage.answer("library.rescan", #"{"job":"import-3f9a2c"}"#)
        stage.answer("job.watch", try Sample.job("library.rescan", state: .cancelled))
        #expect(await stage.run("doctor") == .cancelled)
        #expect(stage.results.isEmpty)
    }

    @Test("Lines fit into a terminal, but for what is typed off it", arguments: [40, 60, 80, 300])
    func widths(columns: Int) async throws {
        let stage = try stage(columns: columns, findings: ["damaged": 1, "no_thumbnail": 2, "unknown": 1])
        #expect(await stage.run("doctor", "--verbose") == .doneWithProblems)
        for line in stage.results.split(separator: "\n") where !line.drop(while: { $0 == " " }).hasPrefix("smilepile ")
        {
            let isOneWord = line.split(separator: " ").count <= 2
            #expect(TextWidth.of(String(line)) <= min(columns, 100) || isOneWord, "\(line)")
        }
        #expect(stage.results.contains("  problem  Files of photos"))
        #expect(stage.results.contains(" smilepile storage thumbnails\n"))
        #expect(stage.results.contains("  ok       "))
    }
}
