import EndToEndSupport
import Foundation
import SampleAlbum
import TestSupport
import Testing

/// The programs as services of a user's own systemd: the real one, in namespaces of its own.
@Suite(.serialized, .timeLimit(.minutes(4)), .enabled(if: UserSystemd.isPossible, "a systemd of one's own takes root"))
struct ServiceTests {
    private struct Status: Decodable {
        struct Unit: Decodable {
            let name, activity: String
            let pid: Int32
            let restarts: Int
            let installed, enabled: Bool
        }
        let units: [Unit]
        var daemon: Unit { units[0] }
        var page: Unit { units[1] }
    }

    private func withSystemd(_ purpose: String, _ body: (Installation) async throws -> Void) async throws {
        let place = try Installation(purpose)
        let systemd = try UserSystemd(place)
        do {
            try await systemd.untilReady()
            try await body(place)
        } catch {
            await systemd.end()
            throw error
        }
        await systemd.end()
    }

    private func status(_ place: Installation) async throws -> Status {
        let outcome = try await place.smilepile("service", "--json")
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
    }

    @Test func whatIsKilledIsStartedAgainAndWhatIsStoppedIsNot() async throws {
        try await withSystemd("service") { place in
            // It serves this library on, as a service.
            try await place.up()
            let before = try #require(place.daemonPID)
            let installed = try await place.smilepile("service", "install")
            #expect(installed.status == 0 && installed.errors.contains("process \(before)"), "\(installed.errors)")
            let first = try await status(place)
            #expect(first.units.allSatisfy { $0.installed && $0.enabled && $0.activity == "active" })
            #expect(first.daemon.pid == place.daemonPID && first.daemon.pid != before)
            #expect(try await place.smilepile("web", "status", "--json").output.contains("\"pid\":\(first.page.pid)"))

            // Workers are shut in as they are elsewhere.
            try SampleAlbum(width: 320, height: 240).write(count: 4, to: place.folder.file("album"))
            #expect(try await place.smilepile("import", place.folder.file("album")).status == 0)
            let protection = try await place.smilepile("status")
            #expect(protection.status == 0 && !protection.output.contains("Not protected by"), "\(protection.output)")

            kill(first.daemon.pid, SIGKILL)
            kill(first.page.pid, SIGKILL)
            try await poll(for: "both to run again") {
                let now = try await status(place)
                return now.units.allSatisfy { $0.activity == "active" && $0.restarts == 1 }
            }
            let second = try await status(place)
            #expect(second.daemon.pid == place.daemonPID && second.daemon.pid != first.daemon.pid)
            #expect(try await place.smilepile("photos", "--ids").output.split(separator: "\n").count == 4)

            #expect(try await place.smilepile("down").status == 0)
            #expect(try await place.smilepile("web", "stop").status == 0)
            #expect(try await status(place).units.allSatisfy { $0.activity == "inactive" && $0.enabled })
            // The doctor finds the library by the unit that would serve it.
            let stopped = try await place.smilepile("doctor", "--json").output
            #expect(stopped.contains("\"library\":\"\(place.library)\""), "\(stopped)")
            #expect(stopped.contains(#""id":"service","severity":"ok""#), "\(stopped)")
            let up = try await place.smilepile("up")
            #expect(up.status == 0 && up.errors.contains("The daemon is running.\n"), "\(up.errors)")
            #expect(try await place.smilepile("web").status == 0)
            let third = try await status(place)
            #expect(third.units.allSatisfy { $0.activity == "active" } && third.daemon.pid == place.daemonPID)

            // Without the page, and then not at all.
            #expect(try await place.smilepile("service", "install", "--no-page").status == 0)
            #expect(try await status(place).units.map(\.installed) == [true, false])
            #expect(try await place.smilepile("service", "remove").status == 0)
            #expect(try await place.smilepile("ping").status == 3)
            #expect(
                place.daemonPID == nil && FileManager.default.fileExists(atPath: place.library + "/catalogue.sqlite"))
            let units = place.folder.file("home/.config/systemd/user")
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: units).filter { $0.hasSuffix("service") }.isEmpty)
            #expect(try await place.smilepile("service").output.hasPrefix("Nothing is installed."))
        }
    }

    @Test func systemdReadsNamesAsTheyAreWritten() async throws {
        try await withSystemd("service-names") { place in
            let library = place.folder.file(#"100 % "our" $HOME\photos ä"#)
            let installed = try await place.smilepile("service", "install", "--no-page", "--library", library)
            #expect(installed.status == 0, "\(installed.errors)")
            #expect(try await place.smilepile("status").output.contains(library))
            // A library that is gone is not made anew, and the reason is said.
            #expect(try await place.smilepile("down").status == 0)
            try FileManager.default.moveItem(atPath: library, toPath: library + " elsewhere")
            let up = try await place.smilepile("up")
            #expect(up.status == 1 && up.errors.contains("did not start"), "\(up.errors)")
            try FileManager.default.moveItem(atPath: library + " elsewhere", toPath: library)
            // By itself, once its disk is there.
            try await poll(for: "the daemon to run again") { try await place.smilepile("ping").status == 0 }
            #expect(try await place.smilepile("service", "remove").status == 0)
        }
    }
}

/// A systemd of the user's own. It has namespaces for its mounts, because it looks whether the machine was started by systemd,
/// and for its network, because the page's port may be somebody else's.
private final class UserSystemd: Sendable {
    private static let program = "/lib/systemd/systemd"
    /// Within a shell that stays: systemd closes everything that it is given, and Foundation takes that for its end.
    private static let command = [
        "--mount", "--net", "--propagation", "private", "/bin/sh", "-c",
        "ip link set lo up && mount -t tmpfs none /run/systemd && mkdir /run/systemd/system"
            + " && { \(program) --user & trap \"kill $!\" TERM; wait; wait; }",
    ]
    private let place: Installation
    private let running: RunningProgram

    static let isPossible: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = command.dropLast() + ["ip link set lo up && mount -t tmpfs none /run/systemd"]
        process.standardError = FileHandle.nullDevice
        guard access(program, X_OK) == 0, (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    init(_ place: Installation) throws {
        self.place = place
        running = try place.start("/usr/bin/unshare", Self.command)
    }

    func untilReady() async throws {
        try await poll(for: "systemd") {
            try await place.run("/usr/bin/systemctl", ["--user", "show", "--property=Version"]).status == 0
        }
    }

    /// With all that it has started.
    func end() async {
        kill(running.pid, SIGTERM)
        _ = try? await running.outcome()
    }
}
