import EndToEndSupport
import Foundation
import LibraryModel
import SampleAlbum
import ServiceMesh
import TestSupport
import Testing

/// `smilepile doctor` beside the real programs.
@Suite(.serialized) struct DoctorStories {
    private struct Report: Decodable {
        struct Finding: Decodable {
            let id, severity, what: String
            let remedy, command, fixed: String?
        }
        struct Daemon: Decodable { let pid: Int32 }
        let findings: [Finding]
        let worst: String
        let daemon: Daemon?

        /// `id severity` of all that is not fine, but for what another machine may have otherwise.
        func left(fixed: Bool = false) -> [String] {
            let machine: Set = [
                "service", "free-space", "file-system", "worker-cell", "library-libwebp", "library-libheif",
            ]
            return findings.filter {
                $0.severity != "ok" && ($0.fixed != nil) == fixed && !machine.contains($0.id)
            }.map { "\($0.id) \($0.severity)" }
        }
    }

    private func doctor(_ place: Installation, _ more: String...) async throws -> (report: Report, status: Int32) {
        let outcome = try await place.run("smilepile", ["doctor", "--json"] + more)
        return (try JSONDecoder().decode(Report.self, from: Data(outcome.output.utf8)), outcome.status)
    }

    private func mode(_ path: String) throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    @Test func whatIsWrongIsFoundAndWhatIsSafeIsPutRight() async throws {
        let place = try Installation("e2e-doctor")
        // Another disk than that of temporary folders, on every Linux.
        let stick = "/dev/shm/smilepile-doctor-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: stick) }
        try SampleAlbum(width: 320, height: 240).write(count: 4, to: place.folder.file("album"))
        try await place.up()
        #expect(try await place.smilepile("import", place.folder.file("album")).status == 0)

        // Sound, but for what has yet to be done: where its photos were taken is sealed.
        #expect(
            try await doctor(place).report.left() == [
                "key-copy warning", "backup-none warning", "backup-schedule advice",
            ])
        let passphrase = place.folder.file("passphrase")
        try Data("correct horse battery\n".utf8).write(to: URL(fileURLWithPath: passphrase))
        let export = ["keys", "export", place.folder.file("keys.txt"), "--passphrase-file", passphrase]
        #expect(chmod(passphrase, 0o600) == 0)
        let exported = try await place.run("smilepile", export)
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(try await place.smilepile("backup", "create", stick + "/all.zip").status == 0)
        #expect(try await place.smilepile("backup", "schedule", stick).status == 0)
        let well = try await doctor(place)
        #expect(well.report.left().isEmpty, "\(well.report.findings)")
        #expect(well.status == (["ok", "advice"].contains(well.report.worst) ? 0 : 5))
        #expect(well.report.daemon?.pid == place.daemonPID)

        // All that may go wrong at once.
        let key = place.folder.file("home/.config/smilepile/sealing.key")
        #expect(chmod(key, 0o644) == 0 && chmod(place.library, 0o755) == 0)
        let photos = try await place.allPhotos(place.client())
        #expect(truncate(place.library + "/" + photos[0].path, 100) == 0)
        let thumbnail = place.library + "/thumbnails/thumb_" + photos[1].fileName
        try FileManager.default.removeItem(atPath: thumbnail)
        try FileManager.default.removeItem(atPath: stick)
        #expect(try await place.smilepile("backup", "schedule", "--off").status == 0)
        try FileManager.default.createDirectory(atPath: stick, withIntermediateDirectories: true)
        // It has a damaged photo in it, and says so.
        #expect(try await place.smilepile("backup", "create", place.folder.file("copy.zip")).status == 5)
        let ill = try await doctor(place)
        #expect(ill.status == 5)
        #expect(
            ill.report.left() == [
                "library-mode warning", "key-file-mode problem", "backup-place warning",
                "backup-schedule advice", "files problem", "thumbnails advice",
            ])
        #expect(try mode(key) == 0o644)

        let fixed = try await doctor(place, "--fix")
        #expect(fixed.status == 5)
        #expect(
            fixed.report.left(fixed: true) == ["library-mode warning", "key-file-mode problem", "thumbnails advice"])
        #expect(
            fixed.report.left() == [
                "backup-place warning", "backup-schedule advice", "files problem",
            ])
        #expect(try mode(key) == 0o600 && mode(place.library) == 0o700)
        #expect(FileManager.default.fileExists(atPath: thumbnail))
        // Names and sizes are enough for a file that was cut.
        #expect(try await doctor(place, "--quick").report.left().contains("files problem"))

        #expect(try await place.smilepile("down").status == 0)
    }

    @Test func withoutADaemonItSaysSoAndLooksAtTheRest() async throws {
        let place = try Installation("e2e-doctor-alone")
        let first = try await doctor(place)
        #expect(first.status == 5 && first.report.daemon == nil)
        #expect(first.report.left() == ["daemon warning", "library-folder advice"])
        try await place.up()
        try await place.killDaemon()
        #expect(chmod(place.library, 0o755) == 0)
        let ended = try await doctor(place, "--library", place.library)
        #expect(ended.status == 5 && ended.report.left() == ["daemon warning", "library-mode warning"])
        let human = try await place.smilepile("doctor", "--fix", "--library", place.library)
        #expect(human.status == 5)
        #expect(human.output.contains("  fixed    Other users"), "\(human.output)")
        #expect(try mode(place.library) == 0o700)
        // A socket that nobody listens at is left to the daemon that comes next.
        #expect(FileManager.default.fileExists(atPath: place.socket))
    }
}
